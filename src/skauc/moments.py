"""Weighted means and variances of features, block by block, in float64 and without a copy of X."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

# Numbers in a block, a megabyte in float64.
_BLOCK = 1 << 17


def feature_moments(data) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted mean and variance of each feature, of rows wherever they are."""
    total, sums = data.add_up(_first_moments)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = sums / total[0]
        return mean, data.add_up(_squares, mean) / total[0]


def overall_variance(data) -> float:
    """Return the weighted variance of all entries together."""
    mean, variance = feature_moments(data)
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.mean(variance + (mean - mean.mean()) ** 2))


def _first_moments(rows) -> np.ndarray:
    """Return the total weight, once per feature, above the weighted sums."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = sum(w @ block for block, w in _blocks(rows.X, rows.weights))
    return np.stack((np.full(len(sums), rows.weights.sum()), sums))


def _squares(rows, mean: np.ndarray) -> np.ndarray:
    """Return the weighted squares of distances from the mean."""
    with np.errstate(over="ignore", invalid="ignore"):
        return sum(w @ (block - mean) ** 2 for block, w in _blocks(rows.X, rows.weights))


def _blocks(X, weights: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield blocks of rows, dense and in float64, with their weights."""
    width = max(X.shape[1], 1)
    n_rows = max(_BLOCK // width, 64)
    for start in range(0, X.shape[0], n_rows):
        block = X[start : start + n_rows]
        block = block.toarray() if sparse.issparse(block) else block
        yield block.astype(np.float64, copy=False), weights[start : start + n_rows]
