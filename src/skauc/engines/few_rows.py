"""Few rows as arrays, for algorithms that are one compiled call."""

from __future__ import annotations

import numpy as np

from skauc.scratch import ScratchArrays


class FewRows:
    """Dense rows, which of them are positive, their weights, and their columns.

    Columns are float64. Coarse cells are ``cell >> merged``, see `skauc.losses.pairs`. ``scratch``
    holds the arrays of the length of the data that compiled calls need.
    """

    def __init__(
        self,
        X: np.ndarray,
        positive: np.ndarray,
        weights: np.ndarray,
        columns: np.ndarray,
        merged: int,
        scratch: ScratchArrays,
    ):
        self.X, self.positive, self.weights = X, positive, weights
        self.merged, self.scratch = merged, scratch
        # The columns of the engine, and a copy with one column after another.
        self._stored, self._columns = columns, np.empty(columns.shape[::-1])
        self._n_copied = 0

    def columns_of(self, size: int) -> np.ndarray:
        """Return the first columns, as the rows of a contiguous array."""
        new = slice(self._n_copied, size)
        if new.start < new.stop:
            self._columns[new] = self._stored[:, new].T
            self._n_copied = size
        return self._columns[:size]

    def replace_columns(self, first: int) -> None:
        """Take note that the engine has other columns from ``first`` on."""
        self._n_copied = min(self._n_copied, first)

    def room(self, name: str, n_columns: int) -> np.ndarray:
        """Return an array for columns; it lasts until the next one of this name."""
        return self.scratch.array(f"few {name}", (n_columns, len(self.positive)), np.float64)

    def factors(self, name: str, n_columns: int) -> np.ndarray:
        """Return room for Y of `skauc.solvers.few_rows`.

        There are a multiple of four rows. Their length is an odd number of cache lines, so that
        numbers below each other do not compete for the same place in the cache.
        """
        length = 8 * (len(self.positive) // 8 + 1 | 1)
        return self.scratch.array(f"few {name}", (-(-n_columns // 4) * 4, length), np.float64)
