"""Few rows as arrays, for algorithms that are one compiled call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class FewRows:
    """Dense rows, which of them are positive, their weights, and room for their columns.

    Columns are float64. Coarse cells are ``cell >> merged``, see `skauc.losses.pairs`.
    """

    X: np.ndarray
    positive: np.ndarray
    weights: np.ndarray
    columns: np.ndarray
    merged: int

    def columns_of(self, size: int) -> np.ndarray:
        """Return the first columns, row by row in one piece."""
        return np.ascontiguousarray(self.columns[:, :size])
