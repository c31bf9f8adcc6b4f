"""Features by rank: a monotone map per feature that tames heavy tails and odd units.

A kernel sees distances, so a feature with a few huge values hides everything else. Ranks do not
care about units or tails, which is much of what trees have over kernels on raw tables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from statistics import NormalDist

import numpy as np

from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.lots import Lottery
from skauc.moments import feature_moments
from skauc.validation import TrainingData, WeightedRows

SCALINGS = (None, "rank", "normal")
# Knots of each feature's map, and the rows that decide where they lie.
N_KNOTS = 100
KNOT_ROWS = 100_000


@dataclass(frozen=True, eq=False)
class RankScaling:
    """Piecewise linear maps from values to standardised mid-ranks, one per feature.

    Column j has its knots in ``knots[:, j]``, distinct and increasing up to repetitions of the
    last. Their mid-ranks, in half steps between quantiles, are the whole numbers in
    ``half_steps[:, j]``; as shares of the rows (``word`` "rank") or as what a normal variable has
    there ("normal"), less ``mean[j]`` and over ``deviation[j]``, they are the images
    ``levels[:, j]``. Beyond the first and the last knot a map is flat.
    """

    knots: np.ndarray
    half_steps: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    word: str = "rank"

    @classmethod
    def of(cls, data: TrainingData, word: str) -> RankScaling:
        """Return the maps that spread these rows like that; a row counts as often as it weighs.

        Where there are many rows, some of them, as many of each class as is its share, decide.
        """
        if data.is_sparse:
            raise InvalidDataError(
                f"`scaling`={word!r} needs dense rows; got a sparse matrix. Use `scaling`=None, "
                "or pass X.toarray()."
            )
        lottery = Lottery(data, seed=0)
        share = min(KNOT_ROWS / sum(lottery.counts), 1.0)
        some = tuple(math.ceil(share * count) for count in lottery.counts)
        rows = data.take(lottery.between((0, 0), some))
        X, weights = np.asarray(rows.X, dtype=np.float64), rows.weights
        maps = [_mid_ranks(column, weights) for column in X.T]
        knots, half_steps = (np.stack(part, axis=1) for part in zip(*maps, strict=True))
        n_features = X.shape[1]
        raw = cls(knots, half_steps, np.zeros(n_features), np.ones(n_features), word)
        mean, variance = feature_moments(WeightedRows(raw.transform(X), weights))
        return cls(knots, half_steps, mean, np.sqrt(np.where(variance > 0, variance, 1.0)), word)

    @cached_property
    def levels(self) -> np.ndarray:
        """The images of the knots."""
        return (_SPREADS[self.word](len(self.knots))[self.half_steps] - self.mean) / self.deviation

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the images of the rows, in their own precision."""
        images = np.empty(X.shape, dtype=X.dtype)
        for column, knots, levels, image in zip(
            X.T, self.knots.T, self.levels.T, images.T, strict=True
        ):
            image[:] = np.interp(column, knots, levels)
        return images

    def inverse(self, images: np.ndarray) -> np.ndarray:
        """Return values whose images these are, the ends of the range for those beyond it."""
        columns = zip(np.asarray(images).T, self.levels.T, self.knots.T, strict=True)
        return np.stack([np.interp(*column) for column in columns], axis=1)


def check_scaling(scaling) -> None:
    """Raise an error unless ``scaling`` is one of `SCALINGS`."""
    if scaling is not None and not (isinstance(scaling, str) and scaling in SCALINGS):
        raise InvalidParameterError(
            f"`scaling` must be None, 'rank' or 'normal'; got {scaling!r}. Use 'rank' or 'normal' "
            "for features with heavy tails or odd units, None for features that are scaled already."
        )


def scale(scaling: str | None, data: TrainingData) -> tuple[RankScaling | None, TrainingData]:
    """Return the maps that a parameter asks for, and the data as the kernel is to see them."""
    if scaling is None:
        return None, data
    ranks = RankScaling.of(data, scaling)
    return ranks, data.transformed(ranks.transform)


def _shares(n_knots: int) -> np.ndarray:
    """Return the share of the rows below each half step between quantiles."""
    return np.arange(2 * n_knots - 1) / (2 * (n_knots - 1))


@cache
def _normal_quantiles(n_knots: int) -> np.ndarray:
    """Return what a normal variable has at each half step, the ends as far out as one knot is."""
    quantile = NormalDist().inv_cdf
    return np.array([quantile((step + 1) / (2 * n_knots)) for step in range(2 * n_knots - 1)])


_SPREADS = {"rank": _shares, "normal": _normal_quantiles}


def _mid_ranks(column: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct knots at the quantiles of a feature, and twice their mean places there."""
    order = np.argsort(column)
    ends = np.cumsum(weights[order])
    quantiles = np.linspace(0.0, 1.0, N_KNOTS)
    places = np.searchsorted(ends, quantiles * ends[-1], side="left")
    values = column[order[np.minimum(places, len(order) - 1)]]
    distinct, first, counts = np.unique(values, return_index=True, return_counts=True)
    half_steps = (2 * first + counts - 1).astype(np.uint8)
    padding = (0, N_KNOTS - len(distinct))
    return np.pad(distinct, padding, mode="edge"), np.pad(half_steps, padding, mode="edge")
