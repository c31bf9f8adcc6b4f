"""Rows that matter to the loss: a sample for the last steps of a refinement.

At a good model most rows have little part in the loss. A sample in which a row's chance grows with
its part in the derivative, and whose weights are divided by that chance, gives sums over the rows
with a fraction of the error of an even sample of its size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from skauc.data.sampling import N_BITS, draw_lots
from skauc.data.training import TrainingData
from skauc.model import Model

Chosen = Callable[[TrainingData], np.ndarray]

# Part of the sample that is drawn evenly, so that no weight is huge.
EVEN_SHARE = 0.3


@dataclass(frozen=True, eq=False)
class Slopes:
    """How the loss would change with the score of one more row of either class.

    A negative row of score f loses sum over positives of max(0, 1 - f_i + f), times their
    weights, and a positive one the same with signs turned; ``ends`` are the other class's scores
    in ascending order, ``totals`` its weights, and weights times scores, added up.
    """

    ends: tuple[np.ndarray, np.ndarray]
    totals: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, scores: np.ndarray, data: TrainingData) -> Slopes:
        """Return the slopes against rows that have these scores."""
        parts = []
        # What a negative row meets are positives; a positive row meets negatives, seen upside down.
        for side, sign in ((data.positive, 1.0), (~data.positive, -1.0)):
            seen, weights = sign * scores[side], data.weights[side]
            order = np.argsort(seen)
            weighted = np.stack((weights[order], weights[order] * seen[order]))
            totals = np.zeros((2, len(order) + 1))
            np.cumsum(weighted, axis=1, out=totals[:, 1:])
            parts.append((seen[order], totals))
        return cls(*zip(*parts, strict=True))

    def __call__(self, scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
        """Return the slope of each row, without its sign or its weight."""
        slopes = np.empty(len(scores))
        for side, sign, ends, totals in zip(
            (~positive, positive), (1.0, -1.0), self.ends, self.totals, strict=True
        ):
            reach = 1.0 + sign * scores[side]
            weight, weighted = totals[:, np.searchsorted(ends, reach)]
            slopes[side] = weight * reach - weighted
        return slopes


@dataclass(frozen=True, eq=False)
class HardRows:
    """Rows that are not held out, each with its own chance, and some of those that are."""

    model: Model
    slopes: Slopes
    held_out: Chosen
    kept: Chosen
    seed: int
    # By class, negative first: a row's chance is at least the first and grows by the second.
    least: np.ndarray
    growth: np.ndarray

    def chances(self, data: TrainingData) -> np.ndarray:
        """Return the chance of each row: 1 for those that are kept."""
        of_class = data.positive.view(np.int8)
        slopes = self.slopes(self.model.scores(data.X), data.positive) * data.weights
        chances = self.least[of_class] + self.growth[of_class] * slopes
        chances *= (data.weights > 0) & ~self.held_out(data)
        chances[self.kept(data)] = 1.0
        return np.minimum(chances, 1.0)

    def __call__(self, data: TrainingData) -> np.ndarray:
        """Return a mask of the rows drawn, by lot."""
        return draw_lots(data.places, self.seed) < self.chances(data) * 2.0**N_BITS


def draw_hard_rows(
    data: TrainingData,
    model: Model,
    against: TrainingData,
    n_learning: tuple[int, int],
    counts: tuple[int, int],
    held_out: Chosen,
    kept: Chosen,
    seed: int,
) -> TrainingData:
    """Return about as many rows of each class as ``counts`` says, their weights made up for it.

    ``against`` is an even sample of the ``n_learning`` rows of each class that are not held out.
    The model sees features as they are in ``data`` and says how hard a row is against those of
    the sample. Of the rows held out, those that are to be kept come too.
    """
    scores = model.scores(against.X)
    slopes = Slopes.of(scores, against)
    hardness = slopes(scores, against.positive) * against.weights
    mean = np.array([hardness[side].mean() for side in (~against.positive, against.positive)])
    share = np.array(counts) / np.maximum(n_learning, 1)
    growth = (1 - EVEN_SHARE) * share / np.maximum(mean, np.finfo(np.float64).tiny)
    rows = HardRows(model, slopes, held_out, kept, seed, EVEN_SHARE * share, growth)
    drawn = data.take(rows)
    return replace(drawn, weights=drawn.weights / rows.chances(drawn))
