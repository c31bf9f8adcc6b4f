"""One spelling of cells that files and readers write in several ways."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

import numpy as np

# The form of a category whose levels were numbers, truth values or dates in the table.
CODES = "codes"
# The form of a category that the user has chosen, if some levels were text that begins like a
# number: "007" and "7" are two levels, and the number 7 is "7".
WRITTEN_CODES = "codes as written"
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]+))?)?")
_CODE = re.compile(r"[+-]?\.?[0-9]")
_DATE = re.compile(rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})[ T]({_CLOCK.pattern})")
_TRUTHS = ("true", "false")
_DECIMAL = re.compile(r"([+-]?)(?=\.?[0-9])0*([0-9]*)(?:\.([0-9]*?)0*)?")
# A float as programs write it. Codes such as 12e4 have no sign after the e.
_POWER = re.compile(r"[+-]?[0-9](?:\.[0-9]+)?e[+-][0-9]{2,3}")
# How levels are written that look like this, and the forms of the categories that have them so.
_RULES = (
    (_CLOCK, "times of the day are written as HH:MM:SS", (None, CODES, WRITTEN_CODES)),
    (
        _DATE,
        "dates with a time are written as YYYY-MM-DD HH:MM:SS, and as YYYY-MM-DD at midnight",
        (CODES, WRITTEN_CODES),
    ),
    (
        _DECIMAL,
        "numbers are written without zeros at either end, 7 instead of 007 and 7.0",
        (CODES,),
    ),
    (
        re.compile("True|False"),
        "truth values are written as True and False",
        (CODES, WRITTEN_CODES),
    ),
)


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
    >>> spell_code(1e20), spell_code("1e+20"), spell_code("1.5e-07")
    ('100000000000000000000', '100000000000000000000', '0.00000015')
    """
    if isinstance(value, float | np.floating):
        return _spell_float(value)
    text = f"{value:f}" if isinstance(value, Decimal) else str(value).strip()
    if text.lower() in _TRUTHS:
        return text.capitalize()
    if (match := _DECIMAL.fullmatch(text)) is not None:
        sign, whole, fraction = match.groups("")
        number = f"{whole or '0'}.{fraction}" if fraction else whole or "0"
        return f"-{number}" if sign == "-" and number != "0" else number
    if _POWER.fullmatch(text) is not None:
        return _spell_float(float(text))
    if _DATE.fullmatch(text) is not None:
        return _spell_date(text)
    return spell_time(str(value))


def spell_written(value) -> str:
    """Return text as it is, apart from integers with a decimal mark; spell other values as codes.

    Truth values, dates, times and floats with an exponent have one spelling as well.

    Examples
    --------
    >>> spell_written("007"), spell_written("7.0"), spell_written(7.0), spell_written(True)
    ('007', '7', '7', 'True')
    >>> spell_written("2024-05-01 08:30"), spell_written("1e+20")
    ('2024-05-01 08:30:00', '100000000000000000000')
    """
    if not isinstance(value, str):
        return spell_code(value)
    if value.lower() in _TRUTHS:
        return value.capitalize()
    if _POWER.fullmatch(value) is not None:
        return _spell_float(float(value))
    if _DATE.fullmatch(value) is not None:
        return _spell_date(value)
    whole, mark, zeros = value.partition(".")
    is_integer = mark and not zeros.strip("0") and whole.lstrip("+-").isdecimal()
    return whole if is_integer else spell_time(value)


def _spell_float(value: float | np.floating) -> str:
    """Return a float without an exponent, and without a decimal mark if it is an integer."""
    if float(value).is_integer():
        return str(int(value))
    return np.format_float_positional(value, trim="-")


def _spell_date(text: str) -> str:
    """Return a date and a time, or the date alone at midnight."""
    date, time = text[:10], spell_time(text[11:])
    return date if time == "00:00:00" else f"{date} {time}"


def rules_of_spelling(levels: Iterable[str], form: str | None) -> list[str]:
    """Return how the levels of a category are written, where cells may be written otherwise.

    Parameters
    ----------
    levels : iterable of str
        The levels, as they are spelled here.
    form : str or None
        `CODES`, `WRITTEN_CODES` or None, the form of the column.

    Returns
    -------
    rules : list of str
        Sentences without capitals and full stops.

    Examples
    --------
    >>> rules_of_spelling(["08:00:00", "late"], None)
    ['times of the day are written as HH:MM:SS']
    """
    levels = list(levels)
    return [
        rule
        for pattern, rule, forms in _RULES
        if form in forms and any(map(pattern.fullmatch, levels))
    ]


def looks_like_a_code(text: str) -> bool:
    """Tell whether text begins like a number, or is a truth value."""
    return _CODE.match(text) is not None or text.lower() in _TRUTHS
