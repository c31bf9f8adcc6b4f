"""One spelling of cells that files and readers write in several ways."""

from __future__ import annotations

import re

import numpy as np

_CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]+))?)?")
_CODE = re.compile(r"[+-]?\.?[0-9]")
_DATE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9:.]+)")
_TRUTHS = ("true", "false")
_DECIMAL = re.compile(r"([+-]?)(?=\.?[0-9])0*([0-9]*)(?:\.([0-9]*?)0*)?")


def spell_time(text: str) -> str:
    """Return a time of the day with seconds, and other text as it is.

    Examples
    --------
    >>> spell_time("08:00"), spell_time("08:00:00.500"), spell_time("late")
    ('08:00:00', '08:00:00.5', 'late')
    """
    match = _CLOCK.fullmatch(text)
    if match is None:
        return text
    hour, minute, second, fraction = match.groups("")
    time, fraction = f"{hour}:{minute}:{second or '00'}", fraction.rstrip("0")
    return f"{time}.{fraction}" if fraction else time


def spell_code(value) -> str:
    """Return a number, a truth value, a date or a time as text, and other text as it is.

    A gap turns integers into floats, and files have leading zeros or not: 7, 7.0, "7" and "007"
    are the same code.

    Examples
    --------
    >>> spell_code(7.0), spell_code("007.50"), spell_code("TRUE"), spell_code("V45")
    ('7', '7.5', 'True', 'V45')
    >>> spell_code(np.datetime64("2024-05-01")), spell_code("2024-05-01 08:30")
    ('2024-05-01', '2024-05-01 08:30:00')
    """
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    text = str(value).strip()
    if text.lower() in _TRUTHS:
        return text.capitalize()
    if (match := _DECIMAL.fullmatch(text)) is not None:
        sign, whole, fraction = match.groups("")
        number = f"{whole or '0'}.{fraction}" if fraction else whole or "0"
        return f"-{number}" if sign == "-" and number != "0" else number
    if (match := _DATE.fullmatch(text)) is not None:
        date, time = match[1], spell_time(match[2])
        return date if time == "00:00:00" else f"{date} {time}"
    return spell_time(str(value))


def spell_written(value) -> str:
    """Return text as it is, apart from integers with a decimal mark; spell other values as codes.

    Examples
    --------
    >>> spell_written("007"), spell_written("7.0"), spell_written(7.0), spell_written(True)
    ('007', '7', '7', 'True')
    """
    if not isinstance(value, str):
        return spell_code(value)
    if value.lower() in _TRUTHS:
        return value.capitalize()
    whole, mark, zeros = value.partition(".")
    is_integer = mark and not zeros.strip("0") and whole.lstrip("+-").isdecimal()
    return whole if is_integer else spell_time(value)


def looks_like_a_code(text: str) -> bool:
    """Tell whether text begins like a number, or is a truth value."""
    return _CODE.match(text) is not None or text.lower() in _TRUTHS
