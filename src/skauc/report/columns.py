"""Columns and rows of any kind of table: arrays, lists, sparse matrices, pandas and polars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from skauc.explain.columns import column_names
from skauc.support import mix_bits, spread

# Only the first columns of wider tables are checked.
MOST_CHECKED = 2_000


@dataclass(frozen=True, eq=False)
class Column:
    """A column.

    Attributes
    ----------
    name : str
        Its name.
    raw : ndarray
        The values as they are in the table.
    values : ndarray
        The values as floats with NaN for missing ones, or as hashes if they are not numbers.
    is_number : bool
        Whether `values` are numbers.
    is_float : bool
        Whether a number has a fractional part. True for dates.
    """

    name: str
    raw: np.ndarray
    values: np.ndarray
    is_number: bool
    is_float: bool


def row_values(X, row: int) -> list:
    """Return the values of one row."""
    taken = _safe_indexing(X, [int(row)])
    if sparse.issparse(taken):
        taken = taken.toarray()
    if isinstance(taken, np.ndarray | list):
        return list(np.asarray(taken)[0])
    return [np.asarray(_safe_indexing(taken, i, axis=1))[0] for i in range(taken.shape[1])]


def columns(X, most: int | None = MOST_CHECKED) -> Iterator[Column]:
    """Yield the first ``most`` columns, or all of them if ``most`` is None."""
    names = column_names(X)[:most]
    X = X.tocsc() if sparse.issparse(X) else X
    X = np.asarray(X) if isinstance(X, list) else X
    for i, name in enumerate(names):
        column = _safe_indexing(X, i, axis=1)
        column = column.toarray().ravel() if sparse.issparse(column) else np.asarray(column)
        yield _as_column(name, column)


def _as_column(name: str, column: np.ndarray) -> Column:
    if column.dtype.kind in "mM":
        missing = np.isnat(column)
        values = np.where(missing, np.nan, column.astype("int64").astype(float))
        return Column(name, column, values, is_number=True, is_float=True)
    try:
        values = column.astype(float)
    except (TypeError, ValueError):
        return Column(name, column, _hashes(column), is_number=False, is_float=False)
    return Column(name, column, values, is_number=True, is_float=_has_fractions(values))


def _has_fractions(values: np.ndarray) -> bool:
    finite = values[np.isfinite(values)]
    return bool((finite != np.floor(finite)).any())


def with_column_from(X, column: int, Y, rows: np.ndarray):
    """Return a copy of X whose column has the values of the same column in rows of Y.

    X and Y are tables of the same kind and columns. Raises TypeError for an unknown kind of table.
    """
    if isinstance(X, list):
        X, Y = _as_array(X), _as_array(Y)
    if sparse.issparse(X):
        parts = [X[:, :column], Y[rows][:, [column]], X[:, column + 1 :]]
        return sparse.hstack(parts, format="csr")
    if isinstance(X, np.ndarray):
        changed = X.copy()
        changed[:, column] = Y[rows, column]
        return changed
    values = _safe_indexing(_safe_indexing(Y, column, axis=1), rows)
    if hasattr(X, "isetitem"):  # pandas; a Series would be aligned by its index, an array is not
        changed = X.copy(deep=False)
        changed.isetitem(column, values.array)
        return changed
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns(values.alias(X.columns[column]))
    raise TypeError(f"columns of a {type(X).__name__} cannot be replaced")


def _as_array(rows: list) -> np.ndarray:
    """Convert a list of rows. Numbers beside texts stay numbers."""
    array = np.asarray(rows)
    return np.asarray(rows, dtype=object) if array.dtype.kind == "U" else array


def _hashes(column: np.ndarray) -> np.ndarray:
    """Return integers that are equal if and, almost always, only if the values are equal."""
    try:
        hashes = map(hash, column.tolist())
        return np.fromiter(hashes, dtype=np.int64, count=len(column))
    except TypeError:  # values without a hash, such as lists
        return np.fromiter(map(hash, map(repr, column)), dtype=np.int64, count=len(column))


def row_hashes(X) -> np.ndarray:
    """Return a 64-bit hash of each row. Equal rows have equal hashes."""
    if sparse.issparse(X):
        return _sparse_row_hashes(X.tocsr())
    total = np.zeros(np.shape(X)[0], dtype=np.uint64)
    for index, column in enumerate(columns(X, most=None)):
        total += _mixed(_bits(column.values), np.array([index], dtype=np.uint64))
    return total


def _sparse_row_hashes(X) -> np.ndarray:
    entries = _mixed(_bits(X.data.astype(float)), X.indices.astype(np.uint64))
    entries[X.data == 0] = 0
    before = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(entries, dtype=np.uint64)])
    return before[X.indptr[1:]] - before[X.indptr[:-1]]


def _bits(values: np.ndarray) -> np.ndarray:
    if values.dtype == np.int64:
        return values.view(np.uint64)
    values = values + 0.0  # -0.0 becomes 0.0
    values[np.isnan(values)] = np.nan
    return values.view(np.uint64)


def _mixed(bits: np.ndarray, column) -> np.ndarray:
    """Hash values together with the index of their column."""
    return mix_bits(bits + spread(column + np.uint64(1)))
