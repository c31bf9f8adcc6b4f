"""Contributions of the columns to the scores of the rows of a table, and which rows to explain."""

from __future__ import annotations

import re

import numpy as np

from skauc.exceptions import InvalidParameterError

_RANGE = re.compile(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?")


def parse_rows(text: str) -> list[tuple[int, int]]:
    """Return ranges of row numbers from text such as "1,5,10-20". Both ends are included.

    Parameters
    ----------
    text : str
        Row numbers from 1 on, and ranges of them.

    Returns
    -------
    ranges : list of tuple of int
        First and last row of each range, counted from 0.
    """
    ranges = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        first = int(match[1]) if match else 0
        last = int(match[2] or match[1]) if match else 0
        if first < 1 or last < first:
            raise InvalidParameterError(
                f"--rows must be numbers and ranges such as 1,5,10-20; got {text!r}. Row 1 is the "
                "first row below the header."
            )
        ranges.append((first - 1, last - 1))
    return ranges


def rows_within(ranges: list[tuple[int, int]] | None, start: int, n_rows: int) -> np.ndarray:
    """Return the chosen rows of a piece of a table, counted from the start of the piece.

    Parameters
    ----------
    ranges : list of tuple of int or None
        As `parse_rows` returns them; None for all rows.
    start : int
        Number of rows before the piece.
    n_rows : int
        Number of rows in the piece.

    Returns
    -------
    rows : ndarray of int
        Sorted, each once.
    """
    if ranges is None:
        return np.arange(n_rows)
    chosen = np.zeros(n_rows, dtype=bool)
    for first, last in ranges:
        chosen[max(first - start, 0) : max(last + 1 - start, 0)] = True
    return np.flatnonzero(chosen)
