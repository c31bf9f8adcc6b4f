"""Values of a column at which a partial dependence is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from skauc.exceptions import InvalidParameterError
from skauc.explain.columns import column_names, pick_rows
from skauc.support import date_text, is_missing

# Levels of a category, most frequent first, that a grid has at most.
_MOST_LEVELS = 20
# Rows that a grid is chosen from.
_MOST_ROWS = 20_000
# Numeric grids leave out this share of the rows at each end.
_TAIL = 0.01


@dataclass(frozen=True, eq=False)
class ColumnGrid:
    """Some values of a column.

    Attributes
    ----------
    name : str
        The name of the column.
    values : ndarray of shape (n_values,)
        Values as they stand in the table.
    positions : ndarray of shape (n_values,)
        Where they are on an axis: the numbers themselves, dates in seconds since 1970, and 0, 1, 2
        and so on for the levels of a category.
    kind : {"number", "date", "level"}
        What the positions mean.
    of_rows : ndarray of shape (n_samples,)
        The position of each row of the table; NaN if it has none.
    """

    name: str
    values: np.ndarray
    positions: np.ndarray
    kind: str
    of_rows: np.ndarray

    @property
    def labels(self) -> list[str]:
        """The values as text."""
        if self.kind == "number":
            return [f"{position:.4g}" for position in self.positions]
        if self.kind == "date":
            return [date_text(position) for position in self.positions]
        return ["missing" if is_missing(value) else str(value) for value in self.values]


def find_column(X: Any, feature: Any) -> int:
    """Return the number of a column that is given by its name or number."""
    names = column_names(X)
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    is_number = isinstance(feature, int | np.integer) and not isinstance(feature, bool)
    if is_number and -len(names) <= feature < len(names):
        return int(feature) % len(names)
    raise InvalidParameterError(
        f"`features` must be names or numbers of columns; got {feature!r}. The columns are "
        f"{', '.join(map(repr, names[:10]))}{' and more' if len(names) > 10 else ''}."
    )


def make_grid(first_step: Any, X: Any, column: int, n_points: int) -> ColumnGrid:
    """Choose values of a column of the table X, from its first rows.

    A numeric column gets evenly spaced numbers between its 1st and 99th percentile, or all its
    numbers if there are few. Other columns get their most frequent values.
    """
    sample = pick_rows(X, np.arange(min(X.shape[0], _MOST_ROWS)))
    return grid_of(first_step, sample, column, n_points, read_columns(first_step, sample))


def read_columns(first_step: Any, X: Any) -> dict[str, np.ndarray]:
    """Return the columns of a table as its first step reads them, if it can tell."""
    return first_step.column_values(X) if hasattr(first_step, "column_values") else {}


def grid_of(
    first_step: Any, X: Any, column: int, n_points: int, known: Mapping[str, np.ndarray]
) -> ColumnGrid:
    """Choose values of a column from all rows of X; ``known`` is from `read_columns`."""
    name = column_names(X)[column]
    cells = _cells(X, column)
    read = _read(first_step, known.get(name), name, cells)
    if read.dtype.kind != "f":
        return _level_grid(name, cells, read)
    is_plain = cells.dtype.kind in "iuf"
    kind = "date" if _is_date(first_step, name) else "number"
    return _numeric_grid(name, cells, read, n_points, kind, is_plain=is_plain)


def with_values(X: Any, grids: list[tuple[int, np.ndarray]]) -> Any:
    """Return copies of the first row of a table with other values in some columns."""
    n_rows = len(grids[0][1])
    rows = pick_rows(X, np.zeros(n_rows, dtype=np.int64))
    if not hasattr(rows, "iloc"):
        rows = rows.copy()
        for column, values in grids:
            rows[:, column] = values
        return rows
    rows = rows.reset_index(drop=True)
    for column, values in grids:
        name = rows.columns[column]
        same = type(rows[name])(values, index=rows.index, name=name)
        dtype = rows[name].dtype
        if dtype.kind not in "iu":  # numbers between whole numbers are fine
            same = same.astype(dtype)
        rows[name] = same
    return rows


def _cells(X: Any, column: int) -> np.ndarray:
    return X.iloc[:, column].to_numpy() if hasattr(X, "iloc") else X[:, column]


def _read(first_step: Any, values: np.ndarray | None, name: str, cells: np.ndarray) -> np.ndarray:
    """Return a column as numbers, or as text for a category."""
    if values is not None and first_step.columns_[name] != "boolean":
        return values
    if cells.dtype.kind in "iuf":
        return cells.astype(np.float64)
    return np.array(["" if is_missing(cell) else str(cell) for cell in cells], dtype=object)


def _is_date(first_step: Any, name: str) -> bool:
    return getattr(first_step, "columns_", {}).get(name) == "date"


def _numeric_grid(
    name: str, cells: np.ndarray, read: np.ndarray, n_points: int, kind: str, *, is_plain: bool
) -> ColumnGrid:
    known = np.flatnonzero(np.isfinite(read))
    if len(known) == 0:
        return _level_grid(name, cells, np.full(len(cells), "", dtype=object))
    distinct, first = np.unique(read[known], return_index=True)
    if len(distinct) > n_points:
        low, high = np.quantile(read[known], [_TAIL, 1 - _TAIL])
        wanted = np.linspace(low, high, n_points)
        if is_plain:
            return ColumnGrid(name, wanted, wanted, kind, read)
        nearest = np.unique(np.searchsorted(distinct, wanted).clip(0, len(distinct) - 1))
        distinct, first = distinct[nearest], first[nearest]
    return ColumnGrid(name, cells[known[first]], distinct, kind, read)


def _level_grid(name: str, cells: np.ndarray, read: np.ndarray) -> ColumnGrid:
    levels, first, codes, counts = np.unique(
        read.astype(str), return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(-counts, kind="stable")[:_MOST_LEVELS]
    positions = np.arange(len(order), dtype=np.float64)
    of_level = np.full(len(levels), np.nan)
    of_level[order] = positions
    return ColumnGrid(name, cells[first[order]], positions, "level", of_level[codes])
