"""The spaces that cutting planes live in: of the features, or of a kernel's functions."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skauc.engines.expansion import evaluate_expansion
from skauc.engines.threads import RowThreads
from skauc.kernels import Kernel, Rows

# Numbers in a block of rows, a megabyte in float64.
_BLOCK = 1 << 17


class FeatureSpace:
    """Vectors are one number a feature. A product costs one pass over the rows."""

    def __init__(self, X: Rows, threads: RowThreads):
        self._X, self._threads = X, threads
        self._n_rows, self._n_features = X.shape
        numbers = X.nnz if sparse.issparse(X) else X.size
        self._block_rows = max(_BLOCK * self._n_rows // max(numbers, 1), 64)

    def zero(self) -> np.ndarray:
        """Return a zero for each feature."""
        return np.zeros(self._n_features)

    def vector(self, coef: np.ndarray) -> np.ndarray:
        """Return X' coef, in float64 whatever X is."""
        parts = self._map(lambda start, stop: self._rows(start, stop).T @ coef[start:stop])
        return sum(parts, start=self.zero())

    def inner(self, one: np.ndarray, other: np.ndarray) -> float:
        """Return the dot product."""
        return float(one @ other)

    def scores(self, vector: np.ndarray) -> np.ndarray:
        """Return X vector."""
        out = np.empty(self._n_rows)

        def fill(start, stop):
            out[start:stop] = self._rows(start, stop) @ vector

        list(self._map(fill))
        return out

    def _rows(self, start: int, stop: int) -> Rows:
        return self._X[start:stop].astype(np.float64, copy=False)

    def _map(self, task):
        return self._threads.map(task, self._n_rows, self._block_rows)


class KernelSpace:
    """Vectors are functions: their coefficients over the rows, and their values at the rows.

    Scores and inner products are then free; a new vector costs one product with the kernel
    matrix, which is kept where it takes no more than ``most_bytes`` and else computed block by
    block each time, for the rows whose coefficients are not zero.
    """

    def __init__(self, kernel: Kernel, X: Rows, threads: RowThreads, *, most_bytes: float, n_jobs):
        self._kernel, self._X, self._threads, self._n_jobs = kernel, X, threads, n_jobs
        self._n_rows = X.shape[0]
        self._block_rows = max(_BLOCK // (self._n_rows + X.shape[1]), 64)
        self._matrix = self._make_matrix() if 8 * self._n_rows**2 <= most_bytes else None

    def zero(self) -> np.ndarray:
        """Return the function that is zero everywhere."""
        return np.zeros((2, self._n_rows))

    def vector(self, coef: np.ndarray) -> np.ndarray:
        """Return the coefficients and, below them, the kernel matrix times them."""
        return np.stack((coef, self._product(coef)))

    def inner(self, one: np.ndarray, other: np.ndarray) -> float:
        """Return the coefficients of one against the values of the other."""
        return float(one[0] @ other[1])

    def scores(self, vector: np.ndarray) -> np.ndarray:
        """Return the function's values at the rows."""
        return vector[1]

    def _product(self, coef: np.ndarray) -> np.ndarray:
        if self._matrix is None:
            centres = np.flatnonzero(coef)
            return evaluate_expansion(
                self._kernel, self._X[centres], coef[centres], self._X, self._n_jobs
            )
        matrix, out = self._matrix, np.empty(self._n_rows)

        def fill(start, stop):
            out[start:stop] = matrix[start:stop] @ coef

        list(self._threads.map(fill, self._n_rows, self._block_rows))
        return out

    def _make_matrix(self) -> np.ndarray:
        columns = self._kernel.columns(self._X, np.float64)
        out = np.empty((self._n_rows, self._n_rows))

        def fill(start, stop):
            out[start:stop] = columns(self._X[start:stop])

        list(self._threads.map(fill, self._n_rows, self._block_rows))
        return out
