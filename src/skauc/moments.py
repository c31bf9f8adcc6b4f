"""Weighted means and variances of features, block by block, in float64 and without a copy of X."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

# Numbers in a block, a megabyte in float64.
_BLOCK = 1 << 17


def feature_moments(X, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted mean and variance of each feature."""
    total = weights.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        mean = sum(w @ block for block, w in _blocks(X, weights)) / total
        variance = sum(w @ (block - mean) ** 2 for block, w in _blocks(X, weights)) / total
    return mean, variance


def overall_variance(X, weights: np.ndarray) -> float:
    """Return the weighted variance of all entries of X together."""
    mean, variance = feature_moments(X, weights)
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.mean(variance + (mean - mean.mean()) ** 2))


def _blocks(X, weights: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield blocks of rows, dense and in float64, with their weights."""
    width = max(X.shape[1], 1)
    n_rows = max(_BLOCK // width, 64)
    for start in range(0, X.shape[0], n_rows):
        block = X[start : start + n_rows]
        block = block.toarray() if sparse.issparse(block) else block
        yield block.astype(np.float64, copy=False), weights[start : start + n_rows]
