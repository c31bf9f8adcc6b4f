"""Tables with their classes, and samples of them for what does not need all rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import _safe_indexing


@dataclass(frozen=True, eq=False)
class Rows:
    """A table of any kind, which of its rows are positive, and how much each counts."""

    X: object
    positive: np.ndarray
    weights: np.ndarray

    def sample(self, most: int) -> Rows:
        """Return at most that many rows, in their order."""
        if len(self.positive) <= most:
            return self
        return self.take(stratified_sample(self.positive, most))

    def take(self, rows: np.ndarray) -> Rows:
        """Return the given rows."""
        return Rows(_safe_indexing(self.X, rows), self.positive[rows], self.weights[rows])


def stratified_sample(positive: np.ndarray, most: int, random_state=0) -> np.ndarray:
    """Return ascending row numbers, at most ``most``: up to half of them of the rarer class.

    The share of a class in the sample is not its share in the rows. Ranks between classes, and
    means within one, are not touched by that.
    """
    if len(positive) <= most:
        return np.arange(len(positive))
    rng = np.random.default_rng(random_state)
    sides = sorted((np.flatnonzero(positive), np.flatnonzero(~positive)), key=len)
    n_rare = min(len(sides[0]), most // 2)
    chosen = [
        rng.choice(side, size, replace=False)
        for side, size in zip(sides, (n_rare, most - n_rare), strict=True)
    ]
    return np.sort(np.concatenate(chosen))
