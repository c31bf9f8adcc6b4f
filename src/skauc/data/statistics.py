"""Weighted means and variances of features, in float64 and without a copy of X."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from skauc.support import quiet_overflow, row_slices, rows_per_block

# Numbers per block of rows: one megabyte in float64.
_BLOCK = 1 << 17
# Bits that `rounded` keeps. Sums over many rows agree in more bits than these in any order.
_BITS = 30
# Where rows remember their means and variances.
_KNOWN = "_feature_statistics"


def feature_statistics(data) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted mean and variance of each feature, on one machine or on a cluster.

    They are computed once for each object, because several parts of a fit need them.
    """
    known = vars(data)
    if _KNOWN not in known:
        total, sums = data.add_up(_sums)
        with quiet_overflow():
            mean = sums / total[0]
            known[_KNOWN] = mean, data.add_up(_squares, mean) / total[0]
    return known[_KNOWN]


def overall_variance(data) -> float:
    """Return the weighted variance of all entries of X together, `rounded`."""
    mean, variance = feature_statistics(data)
    with quiet_overflow():
        overall = np.mean(variance + (mean - mean.mean()) ** 2)
        return float(rounded(overall, overall))


def rounded(values: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return values rounded to nine digits relative to ``scale``.

    The last digits of a sum depend on the partition of the rows into blocks, and refinement
    amplifies a difference in the last digit of a kernel's width into another model.
    """
    unit = np.ldexp(1.0, np.maximum(np.frexp(scale)[1] - _BITS, -1074))
    return np.rint(values / unit) * unit


def _sums(rows) -> np.ndarray:
    """Return the total weight, once per feature, above the weighted sums."""
    with quiet_overflow():
        if sparse.issparse(rows.X):
            sums = rows.X.T.astype(np.float64, copy=False) @ rows.weights
        else:
            sums = sum(w @ block for block, w in _blocks(rows.X, rows.weights))
    return np.stack((np.full(len(sums), rows.weights.sum()), sums))


def _squares(rows, mean: np.ndarray) -> np.ndarray:
    """Return the weighted sums of squared distances from the mean."""
    with quiet_overflow():
        if sparse.issparse(rows.X):
            return _sparse_squares(rows.X, rows.weights, mean)
        return sum(w @ (block - mean) ** 2 for block, w in _blocks(rows.X, rows.weights))


def _sparse_squares(X, weights: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return the same for sparse rows: stored entries one by one, zeros by their total weight."""
    by_entry = np.repeat(weights, np.diff(X.indptr))
    n_features = X.shape[1]
    stored = by_entry * (X.data.astype(np.float64, copy=False) - mean[X.indices]) ** 2
    squares = np.bincount(X.indices, weights=stored, minlength=n_features)
    seen = np.bincount(X.indices, weights=by_entry, minlength=n_features)
    is_full = np.bincount(X.indices, minlength=n_features) >= X.shape[0]
    return squares + np.where(is_full, 0.0, np.maximum(weights.sum() - seen, 0.0)) * mean**2


def _blocks(X: np.ndarray, weights: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield blocks of rows in float64, with their weights."""
    for rows in row_slices(X.shape[0], rows_per_block(X.shape[1], _BLOCK)):
        yield X[rows].astype(np.float64, copy=False), weights[rows]
