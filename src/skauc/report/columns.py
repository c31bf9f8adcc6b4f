"""Tables of any kind, column by column and row by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from skauc.support import mix_bits, spread

# Wider tables are looked at up to this column.
MOST_COLUMNS = 2_000


@dataclass(frozen=True, eq=False)
class Column:
    """A column as it came, and as floats, missing ones as NaN, or, without numbers, as hashes."""

    name: str
    raw: np.ndarray
    values: np.ndarray
    is_number: bool
    is_float: bool


def column_names(X) -> list[str]:
    """Return the names of the columns, or x0, x1 and so on."""
    named = getattr(X, "columns", None)
    n_columns = np.shape(X)[1]
    return [f"x{i}" for i in range(n_columns)] if named is None else [str(name) for name in named]


def row_values(X, row: int) -> list:
    """Return the values of one row as plain Python objects."""
    taken = _safe_indexing(X, [int(row)])
    if sparse.issparse(taken):
        taken = taken.toarray()
    if isinstance(taken, np.ndarray | list):
        return list(np.asarray(taken)[0])
    return [np.asarray(_safe_indexing(taken, i, axis=1))[0] for i in range(taken.shape[1])]


def columns(X, most: int | None = MOST_COLUMNS) -> Iterator[Column]:
    """Yield the columns, the first ones if there are more than ``most``."""
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


def _hashes(column: np.ndarray) -> np.ndarray:
    """Return whole numbers that are equal where the values are, for this process."""
    try:
        hashes = map(hash, column.tolist())
        return np.fromiter(hashes, dtype=np.int64, count=len(column))
    except TypeError:  # lists and the like
        return np.fromiter(map(hash, map(repr, column)), dtype=np.int64, count=len(column))


def row_hashes(X) -> np.ndarray:
    """Return a 64-bit hash of each row; equal rows have equal ones, others hardly ever."""
    if sparse.issparse(X):
        return _sparse_row_hashes(X.tocsr())
    total = np.zeros(np.shape(X)[0], dtype=np.uint64)
    for place, column in enumerate(columns(X, most=None)):
        total += _mixed(_bits(column.values), np.array([place], dtype=np.uint64))
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


def _mixed(bits: np.ndarray, place) -> np.ndarray:
    """Return the bits well mixed with the place of their column (the finisher of splitmix64)."""
    return mix_bits(bits + spread(place + np.uint64(1)))
