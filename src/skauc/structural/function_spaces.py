"""The vector spaces that cutting planes live in: weights of features, or functions of a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from skauc.engines.policy import current_policy
from skauc.kernels import Kernel, Linear, Rows, is_sparse
from skauc.solvers.cutting_plane import Space
from skauc.threads import RowThreads

if TYPE_CHECKING:
    from skauc.engines.gram_matrix import GramMatrix


@contextmanager
def open_space(kernel: Kernel, X: Rows, *, cache_size: float, n_jobs=None) -> Iterator[Space]:
    """Yield the space of a kernel: of features for the linear kernel, else of functions."""
    if isinstance(kernel, Linear):
        with RowThreads(n_jobs) as threads:
            yield FeatureSpace(X, threads)
        return
    # Imported here because it loads numba.
    from skauc.engines.gram_matrix import GramMatrix

    with GramMatrix(kernel, X, cache_size=cache_size, n_jobs=n_jobs) as gram:
        yield KernelSpace(gram)


class FeatureSpace:
    """Vectors hold one weight per feature. A product takes one pass over the rows."""

    def __init__(self, X: Rows, threads: RowThreads):
        self._X, self._threads = X, threads
        self._n_rows, self._n_features = X.shape
        numbers = X.nnz if is_sparse(X) else X.size
        block = current_policy().float64_block
        self._block_rows = max(block * self._n_rows // max(numbers, 1), 64)

    def zero(self) -> np.ndarray:
        """Return a zero for each feature."""
        return np.zeros(self._n_features)

    def vector(self, coef: np.ndarray) -> np.ndarray:
        """Return X' coef in float64, whatever the type of X."""
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

    A new vector takes one product with the kernel matrix. Scores and inner products are then free.
    """

    def __init__(self, gram: GramMatrix):
        self._gram = gram

    def zero(self) -> np.ndarray:
        """Return the function that is zero everywhere."""
        return np.zeros((2, self._gram.n_rows))

    def vector(self, coef: np.ndarray) -> np.ndarray:
        """Return the coefficients in the first row and the values in the second."""
        return np.stack((coef, self._gram.product(coef)))

    def inner(self, one: np.ndarray, other: np.ndarray) -> float:
        """Return the product of one function's coefficients with the other's values."""
        return float(one[0] @ other[1])

    def scores(self, vector: np.ndarray) -> np.ndarray:
        """Return the function's values at the rows."""
        return vector[1]
