"""Weighted means and variances of features, block by block, in float64 and without a copy of X."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from skauc.support import quiet_overflow, row_slices, rows_per_block

# Numbers in a block, a megabyte in float64.
_BLOCK = 1 << 17
# Bits that are kept: sums of very many rows, in whatever order, agree in more.
_BITS = 30


def feature_moments(data) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted mean and variance of each feature, of rows wherever they are."""
    total, sums = data.add_up(_first_moments)
    with quiet_overflow():
        mean = sums / total[0]
        return mean, data.add_up(_squares, mean) / total[0]


def overall_variance(data) -> float:
    """Return the weighted variance of all entries together, `rounded`."""
    mean, variance = feature_moments(data)
    with quiet_overflow():
        overall = np.mean(variance + (mean - mean.mean()) ** 2)
        return float(rounded(overall, overall))


def rounded(values: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return values to nine digits of their scales, the same wherever the rows are.

    The last digits of a sum depend on where the blocks of rows end, and a descent over centres
    turns a last digit of a kernel's width into another model.
    """
    unit = np.ldexp(1.0, np.maximum(np.frexp(scale)[1] - _BITS, -1074))
    return np.rint(values / unit) * unit


def _first_moments(rows) -> np.ndarray:
    """Return the total weight, once per feature, above the weighted sums."""
    with quiet_overflow():
        sums = sum(w @ block for block, w in _blocks(rows.X, rows.weights))
    return np.stack((np.full(len(sums), rows.weights.sum()), sums))


def _squares(rows, mean: np.ndarray) -> np.ndarray:
    """Return the weighted squares of distances from the mean."""
    with quiet_overflow():
        return sum(w @ (block - mean) ** 2 for block, w in _blocks(rows.X, rows.weights))


def _blocks(X, weights: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield blocks of rows, dense and in float64, with their weights."""
    for rows in row_slices(X.shape[0], rows_per_block(X.shape[1], _BLOCK)):
        block = X[rows].toarray() if sparse.issparse(X) else X[rows]
        yield block.astype(np.float64, copy=False), weights[rows]
