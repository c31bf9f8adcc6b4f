"""Leading axes of weighted rows: the right singular vectors, found on a sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

# Rows on which the axes are found.
_AXES_ROWS = 4000
# Subspace iterations, how many more vectors they carry than are wanted, and the smallest square of
# a singular value relative to the largest.
_N_ITERATIONS = 2
_MORE_VECTORS = 10
_SMALLEST_SQUARE = 1e-10
# With at most this many rows per vector, the products of all rows take less time.
_SHORT = 2


def leading_axes(data, n_axes: int) -> np.ndarray:
    """Return the leading right singular vectors of the weighted rows, found on a sample.

    The vectors are the columns of the result. The rows are not centred, so that sparse rows stay
    sparse.
    """
    return _leading_vectors(_weighted_sample(data), n_axes)


def _weighted_sample(data):
    """Return a sample of the rows times the roots of their weights, in a unit of a safe size."""
    sample = data.take(EvenlySpaced(_AXES_ROWS / max(data.n_rows, 1)))
    # In this unit, squares do not overflow.
    greatest = max(float(sample.X.max()), -float(sample.X.min()), np.finfo(sample.X.dtype).tiny)
    return _times(sample.X, np.sqrt(sample.weights) / greatest)


def _leading_vectors(A, n_vectors: int) -> np.ndarray:
    """Return the leading right singular vectors of a matrix as columns.

    The result depends on A^T A only, up to rounding errors, so it does not change if a row is split
    into several. Vectors of singular values that are zero but for rounding errors are left out.
    """
    is_short = A.shape[0] <= _SHORT * n_vectors
    spanning = A.T.astype(np.float64) if is_short else A.T @ _leading_span(A, n_vectors)
    products = spanning.T @ spanning
    products = products.toarray() if sparse.issparse(products) else products
    squares, turn = np.linalg.eigh(np.asarray(products, dtype=np.float64))
    kept = np.flatnonzero(squares > _SMALLEST_SQUARE * squares[-1])[::-1][:n_vectors]
    return spanning @ (turn[:, kept] / np.sqrt(squares[kept]))


def _leading_span(A, n_vectors: int) -> np.ndarray:
    """Return orthonormal columns that nearly span the leading left vectors.

    They are found by subspace iteration.
    """
    n_start = min(n_vectors + _MORE_VECTORS, *A.shape)
    start = np.random.default_rng(0).random((A.shape[1], n_start), dtype=A.dtype)
    start -= 0.5
    images = A @ start
    for _ in range(_N_ITERATIONS):
        spanning = linalg.qr(images, mode="economic")[0]
        images = A @ (A.T @ spanning)
    return linalg.qr(images, mode="economic")[0]


def _times(rows, factors: np.ndarray):
    """Return the rows, each multiplied by its factor, in their dtype."""
    factors = factors.astype(rows.dtype)
    if sparse.issparse(rows):
        return sparse.diags_array(factors, dtype=rows.dtype) @ rows
    return rows * factors[:, None]


@dataclass(frozen=True)
class EvenlySpaced:
    """A mask of about this share of the rows, by their number."""

    share: float

    def __call__(self, data) -> np.ndarray:
        """Return the mask."""
        numbers = data.row_numbers
        return np.floor((numbers + 1) * self.share) > np.floor(numbers * self.share)
