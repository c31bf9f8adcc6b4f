"""Tables that break arithmetic, and the same table in every form in which rows may come."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

Table = np.ndarray
LARGE = (1e16, 1e50, 1e104, 1e153, 1e155, 1e200, 1e300, 1.7e308)
SMALL = (1e-16, 1e-50, 1e-155, 1e-200, 1e-300, 2.3e-308, 1e-310, 5e-324)
# AdaOAM and OPAUC keep a square of the number of columns.
MOST_COLUMNS = 500


def base_rows(rng: np.random.Generator) -> Table:
    """Return a small table without a twist."""
    shape = (int(rng.integers(2, 70)), int(rng.integers(1, 7)))
    kind = rng.integers(6)
    if kind == 0:
        return rng.integers(0, 2, shape).astype(float)
    if kind == 1:
        return rng.integers(-3, 4, shape).astype(float)
    if kind == 2:
        return rng.standard_cauchy(shape)
    if kind == 3:
        return rng.lognormal(0, 3, shape)
    return rng.normal(size=shape)


def some(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return a few positions, at least one."""
    return rng.choice(size, size=int(rng.integers(1, 4)), replace=True)


def extreme_cells(X: Table, rng: np.random.Generator) -> Table:
    """Set a few cells to a huge or tiny number."""
    X = X.copy()
    cells = some(rng, X.size)
    X.flat[cells] = rng.choice(LARGE + SMALL) * rng.choice([-1.0, 1.0], len(cells))
    return X


def extreme_table(X: Table, rng: np.random.Generator) -> Table:
    """Multiply the table by a power of ten."""
    with np.errstate(over="ignore", under="ignore"):
        return np.nan_to_num(X * 10.0 ** rng.uniform(-320, 308))


def extreme_columns(X: Table, rng: np.random.Generator) -> Table:
    """Multiply each column by its own power of ten."""
    with np.errstate(over="ignore", under="ignore"):
        return np.nan_to_num(X * 10.0 ** rng.uniform(-300, 300, X.shape[1]))


def odd_units(X: Table, rng: np.random.Generator) -> Table:
    """Multiply each column by a power of ten that people have."""
    return X * 10.0 ** rng.integers(-9, 10, X.shape[1])


def offset(X: Table, rng: np.random.Generator) -> Table:
    """Add a constant that hides the differences between rows."""
    shift = rng.choice([1e4, 1e8, 1e12, 1e16, 1e100]) * rng.choice([-1.0, 1.0])
    return X + (shift if rng.random() < 0.5 else shift * (rng.random(X.shape[1]) < 0.5))


def constant_columns(X: Table, rng: np.random.Generator) -> Table:
    """Make columns constant; sometimes all of them."""
    X = X.copy()
    columns = slice(None) if rng.random() < 0.3 else some(rng, X.shape[1])
    X[:, columns] = rng.choice([0.0, -0.0, 1.0, 1e8, 1e300, 5e-324])
    return X


def duplicates(X: Table, rng: np.random.Generator) -> Table:
    """Use a few rows many times."""
    return X[rng.choice(min(len(X), int(rng.integers(1, 6))), len(X))]


def nearly_equal(X: Table, rng: np.random.Generator) -> Table:
    """Make rows differ in their last bits only."""
    with np.errstate(over="ignore"):
        return np.nan_to_num(X[:1] * (1 + rng.integers(-2, 3, X.shape) * np.finfo(float).eps))


def wide(X: Table, rng: np.random.Generator) -> Table:
    """Repeat the columns until there are more columns than rows."""
    return np.tile(X, (1, int(rng.integers(2, 30))))[:, :MOST_COLUMNS]


def not_finite(X: Table, rng: np.random.Generator) -> Table:
    """Set a cell to NaN or infinity."""
    X = X.copy()
    X.flat[some(rng, X.size)] = rng.choice([np.nan, np.inf, -np.inf])
    return X


def plain(X: Table, rng: np.random.Generator) -> Table:
    """Return the table as it is."""
    return X


TWISTS = (
    plain,
    extreme_cells,
    extreme_table,
    extreme_columns,
    odd_units,
    offset,
    constant_columns,
    duplicates,
    nearly_equal,
    wide,
)


def labels_for(X: Table, rng: np.random.Generator) -> np.ndarray:
    """Return labels of two kinds of any type; sometimes one row only has one of them."""
    n_rows = len(X)
    positive = rng.random(n_rows) < rng.choice([0.1, 0.5, 0.9])
    if rng.random() < 0.3:
        positive[:] = rng.random() < 0.5
    if positive.all() or not positive.any():
        positive[rng.integers(n_rows)] ^= True
    kinds = ([0, 1], [-1, 1], [False, True], [-1.0, 2.0], ["a", "b"], [3, 10**12])
    kind = kinds[rng.integers(len(kinds))]
    labels = np.array(kind)[positive.astype(int)]
    return labels.astype(object) if labels.dtype.kind == "U" and rng.random() < 0.5 else labels


def weights_for(n_rows: int, rng: np.random.Generator):
    """Return a form of sample weights and its name; most are not usual."""
    ones = np.ones(n_rows)
    power = float(rng.choice([-320, -308, -300, -160, -150, -100, -20, 20, 100, 150, 160, 300]))
    with np.errstate(over="ignore", under="ignore"):
        forms = {
            "none": None,
            "ones": ones,
            "equal extremes": ones * 10.0**power,
            "one extreme": np.where(np.arange(n_rows) == 0, 10.0**power, 1.0),
            "wide range": 10.0 ** rng.uniform(-100, 100, n_rows),
            "wider range": 10.0 ** rng.uniform(-300, 300, n_rows),
            "some zeros": (rng.random(n_rows) < 0.7).astype(float),
            "all zero": 0 * ones,
            "integers": rng.integers(0, 5, n_rows),
            "big-endian": rng.random(n_rows).astype(">f8"),
            "list": rng.random(n_rows).tolist(),
            "float32": rng.random(n_rows).astype(np.float32),
            "negative": -rng.random(n_rows),
            "not finite": ones * rng.choice([np.nan, np.inf]),
            "one too few": ones[1:],
        }
    name = rng.choice(sorted(forms))
    return name, forms[name]


# -- forms: how the same numbers come in -------------------------------------------------------


def _pandas(X):
    import pandas as pd

    return pd.DataFrame(X, columns=[f"c{number}" for number in range(X.shape[1])])


def _polars(X):
    import polars as pl

    return pl.DataFrame({f"c{number}": X[:, number] for number in range(X.shape[1])})


def _read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def _strided(X):
    return np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2]


# These hold the same float64 numbers: the model must be the same.
SAME_NUMBERS: dict[str, Callable] = {
    "big-endian": lambda X: X.astype(">f8"),
    "Fortran order": np.asfortranarray,
    "read-only": _read_only,
    "strided": _strided,
    "reversed": lambda X: X[::-1].copy()[::-1],
    "object": lambda X: X.astype(object),
    "list": lambda X: X.tolist(),
    "pandas": _pandas,
    "polars": _polars,
    "longdouble": lambda X: X.astype(np.longdouble),
}


def _explicit_zeros(X):
    rows = sparse.csr_array(X)
    rows.data[::3] = 0.0
    return rows


def _empty_rows(X):
    return sparse.csr_array(np.where(np.arange(len(X))[:, None] % 2, X, 0.0))


def _unsorted(X):
    rows = sparse.csr_array(X)
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        rows.indices[start:end] = rows.indices[start:end][::-1].copy()
        rows.data[start:end] = rows.data[start:end][::-1].copy()
    rows.has_sorted_indices = False
    return rows


def _repeated_entries(X):
    half = sparse.coo_array(X / 2)
    row, column = half.coords
    twice = np.r_[row, row], np.r_[column, column]
    return sparse.coo_array((np.r_[half.data, half.data], twice), shape=X.shape).tocsr()


def _long_indices(X):
    rows = sparse.csr_array(X)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return rows


def _big_endian_sparse(X):
    rows = sparse.csr_array(X)
    rows.data = rows.data.astype(">f8")
    return rows


def _integers(dtype):
    def convert(X):
        with np.errstate(invalid="ignore", over="ignore"):
            return np.clip(np.nan_to_num(X), -100, 100).astype(dtype)

    return convert


def _narrow(dtype):
    def convert(X):
        with np.errstate(over="ignore", under="ignore"):
            return X.astype(dtype)

    return convert


OTHER_NUMBERS: dict[str, Callable] = {
    "csr": sparse.csr_array,
    "csr matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "lil": sparse.lil_array,
    "explicit zeros": _explicit_zeros,
    "empty rows": _empty_rows,
    "unsorted": _unsorted,
    "repeated entries": _repeated_entries,
    "long indices": _long_indices,
    "sparse float32": lambda X: sparse.csr_array(_narrow(np.float32)(X)),
    "big-endian sparse": _big_endian_sparse,
    "float32": _narrow(np.float32),
    "big-endian float32": _narrow(">f4"),
    "float16": _narrow(np.float16),
    "bool": lambda X: X > 0,
    "int8": _integers(np.int8),
    "uint8": lambda X: np.abs(_integers(np.int16)(X)).astype(np.uint8),
    "big-endian int32": _integers(">i4"),
    "int64": _integers(np.int64),
    "strings": lambda X: X.astype(str),
    "complex": lambda X: X.astype(complex),
    "three dimensions": lambda X: X[:, :, None],
    "one dimension": lambda X: X[:, 0],
    "matrix": lambda X: np.asmatrix(X),
}
