"""Text from tables, model files and file names, made safe to print.

Labels, column names and cells come from files that others wrote. A terminal obeys the control
characters in them: they move the cursor, change its title or reverse the reading order. Every
function that prints passes its text through `printable`.
"""

from __future__ import annotations

import json

# What spreadsheet programs take for the beginning of a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def printable(value: object) -> str:
    r"""Return the text of a value with control characters written as escapes, such as ``\x1b``."""
    text = str(value)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def printable_json(text: str) -> str:
    r"""Return JSON on one line with control characters written as ``\uXXXX``."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def one_line(text: str) -> str:
    """Return a text on one line, safe to print."""
    return printable(" ".join(text.split()))


def without_formula(cell: object) -> object:
    """Return a cell of a csv file so that no spreadsheet program runs it.

    A text that begins like a formula gets an apostrophe in front, as OWASP recommends. Numbers,
    also those that are written as text, stay as they are.
    """
    if not isinstance(cell, str) or not cell.startswith(_FORMULA_STARTS) or _is_number(cell):
        return cell
    return f"'{cell}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and text == text.strip()


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
