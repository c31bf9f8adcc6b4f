"""Few rows as arrays, for algorithms that are one compiled call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skauc.scratch import ScratchArrays


@dataclass(frozen=True, eq=False)
class FewRows:
    """Dense rows, which of them are positive, their weights, and room for their columns.

    Columns are float64. Coarse cells are ``cell >> merged``, see `skauc.losses.pairs`. ``scratch``
    holds the arrays of the length of the data that compiled calls need.
    """

    X: np.ndarray
    positive: np.ndarray
    weights: np.ndarray
    columns: np.ndarray
    merged: int
    scratch: ScratchArrays

    def columns_of(self, size: int) -> np.ndarray:
        """Return the first columns as a contiguous array, which lasts until the next call."""
        if size == self.columns.shape[1]:
            return self.columns
        columns = self.room("columns", size)
        columns[:] = self.columns[:, :size]
        return columns

    def room(self, name: str, width: int) -> np.ndarray:
        """Return an array as long as the data; it lasts until the next one of this name."""
        return self.scratch.array(f"few {name}", (len(self.positive), width), np.float64)
