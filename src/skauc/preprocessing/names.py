"""Columns and rows in error messages."""

from __future__ import annotations

from difflib import get_close_matches

from skauc.exceptions import InvalidParameterError


def check_column_name(name, names: list, parameter: str | None = None) -> None:
    """Raise an error that suggests a similar name unless the name is among the names.

    Parameters
    ----------
    name : object
        The name of a column.
    names : list
        The columns of the table.
    parameter : str, default=None
        The parameter that the name was given in.
    """
    if name in names:
        return
    by_lower = {str(known).lower(): known for known in names}
    near = get_close_matches(str(name).lower(), by_lower, n=1, cutoff=0.5)
    advice = f"Did you mean {by_lower[near[0]]!r}?" if near else f"The columns are {listed(names)}."
    where = "" if parameter is None else f"`{parameter}` names a column that does not exist. "
    raise InvalidParameterError(f"{where}The table has no column {name!r}. {advice}")


def listed(values: list, most: int = 10) -> str:
    """Return the first values, and how many more there are."""
    words = ", ".join(repr(value) for value in values[:most])
    n_more = len(values) - most
    return f"{words} and {n_more} more" if n_more > 0 else words


def listed_columns(names: list) -> str:
    """Return "the column" or "the columns", and up to five names."""
    return f"the column{'s' if len(names) > 1 else ''} {listed(names, 5)}"


def row_number(column, place: int) -> int:
    """Return the number of a row, counted from 0, in the table that a column was taken from.

    An index of distinct integers without a name has these numbers, also after rows were left out.

    Parameters
    ----------
    column : pandas.Series
        A column.
    place : int
        The place of the row in the column.
    """
    index = column.index
    is_numbered = index.name is None and index.dtype.kind in "iu" and index.is_unique
    return int(index[place]) if is_numbered else place
