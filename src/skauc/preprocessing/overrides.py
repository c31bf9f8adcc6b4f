"""Kinds of columns that the user has chosen."""

from __future__ import annotations

from skauc.exceptions import InvalidParameterError
from skauc.preprocessing.names import check_column_name

_OVERRIDES = ("numeric", "category", "date", "drop")


def check_overrides(parameters, names: list[str]) -> dict[str, str]:
    """Return the kind, or "drop", of the columns that the parameters name.

    Parameters
    ----------
    parameters : object
        With the attributes ``numeric``, ``category``, ``date`` and ``drop``.
    names : list of str
        The columns of the table.
    """
    wanted: dict[str, str] = {}
    for override in _OVERRIDES:
        for name in _check_names(override, getattr(parameters, override)):
            check_column_name(name, names, override)
            if wanted.setdefault(name, override) != override:
                raise InvalidParameterError(
                    f"The column {name!r} is in `{wanted[name]}` and in `{override}`. Keep it in "
                    "one of them."
                )
    return wanted


def _check_names(override: str, names) -> list[str]:
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise InvalidParameterError(
            f"`{override}` must be a sequence of column names; got {names!r}."
        )
    return [str(name) for name in names]
