"""What is done to features before the kernel sees them: ranks, and a turn to their principal axes.

A kernel sees distances, so a feature with a few huge values hides everything else. Ranks, a
monotone map per feature, do not care about units or tails, which is much of what trees have over
kernels on raw tables. Features that go together are seen better along their principal axes: where
length scales are learnt there is one for what they share and one for what sets them apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from statistics import NormalDist

import numpy as np

from skauc.data.sampling import Lottery
from skauc.data.statistics import feature_moments
from skauc.data.training import TrainingData, WeightedRows
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.support import cached_property, quiet_overflow

SCALINGS = (None, "rank", "normal")
# Knots of each feature's map, and the rows that decide where they and the axes lie.
N_KNOTS = 100
DECIDING_ROWS = 100_000


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
        """Return the maps that spread these rows like that; a row counts as often as it weighs."""
        if data.is_sparse:
            raise InvalidDataError(
                f"`scaling`={word!r} needs dense rows; got a sparse matrix. Use `scaling`=None, "
                "or pass X.toarray()."
            )
        X, weights = _deciding_rows(data)
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


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """Ranks, if any, then a turn to the axes in the columns of ``axes``, if any."""

    ranks: RankScaling | None = None
    axes: np.ndarray | None = None

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the rows as the kernel sees them, in their own precision."""
        X = X if self.ranks is None else self.ranks.transform(X)
        return X if self.axes is None else X @ self.axes.astype(X.dtype, copy=False)

    def inverse(self, images: np.ndarray) -> np.ndarray:
        """Return rows whose images these are; beyond the range of the ranks, its ends."""
        images = self.turned_back(np.asarray(images))
        return images if self.ranks is None else self.ranks.inverse(images)

    def turned_back(self, images: np.ndarray) -> np.ndarray:
        """Return images by feature, ranks where there are ranks."""
        return images if self.axes is None else images @ self.axes.T

    def along_features(self, scales: np.ndarray) -> np.ndarray:
        """Return how far a step along each feature is for scales along the axes."""
        return scales if self.axes is None else np.sqrt(self.axes**2 @ scales**2)

    def slopes_by_feature(self, slopes: np.ndarray) -> np.ndarray:
        """Return the linear coefficients of the features for those of the axes."""
        return slopes if self.axes is None else self.axes @ slopes


def check_scaling(scaling) -> None:
    """Raise an error unless ``scaling`` is one of `SCALINGS`."""
    if scaling is not None and not (isinstance(scaling, str) and scaling in SCALINGS):
        raise InvalidParameterError(
            f"`scaling` must be None, 'rank' or 'normal'; got {scaling!r}. Use 'rank' or 'normal' "
            "for features with heavy tails or odd units, None for features that are scaled already."
        )


def scale(scaling: str | None, data: TrainingData) -> tuple[FeatureMap | None, TrainingData]:
    """Return the map that a parameter asks for, and the data behind it."""
    if scaling is None:
        return None, data
    ranks = FeatureMap(RankScaling.of(data, scaling))
    return ranks, data.transformed(ranks.transform)


def turn(scaled: FeatureMap | None, data: TrainingData) -> tuple[FeatureMap, TrainingData]:
    """Return the map with the principal axes of the data behind it, and the data along them."""
    if data.is_sparse:
        raise InvalidDataError(
            "`rotate` needs dense rows; got a sparse matrix. Use rotate=False, or pass X.toarray()."
        )
    axes = principal_axes(*_deciding_rows(data))
    turned = FeatureMap(axes=axes)
    return replace(scaled or turned, axes=axes), data.transformed(turned.transform)


def principal_axes(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the axes in columns, that of the greatest variance first, in single precision.

    Their signs are such that the greatest part of each is positive.
    """
    with quiet_overflow():
        centred = X - np.average(X, axis=0, weights=weights)
        covariance = (centred.T * weights) @ centred
    if not np.isfinite(covariance).all():
        raise InvalidDataError(
            "The variances of the features overflow, so that they have no principal axes. Scale "
            "them, for instance with sklearn.preprocessing.StandardScaler, or use rotate=False."
        )
    greatest = max(np.abs(covariance).max(), np.finfo(np.float64).tiny)
    axes = np.linalg.eigh(covariance / greatest)[1][:, ::-1]
    longest = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0)
    return (axes * np.sign(longest)).astype(np.float32).astype(np.float64)


def _deciding_rows(data: TrainingData) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows, of many some, as many of each class as is its share; and their weights."""
    lottery = Lottery(data, seed=0)
    share = min(DECIDING_ROWS / sum(lottery.counts), 1.0)
    some = tuple(math.ceil(share * count) for count in lottery.counts)
    rows = data.take(lottery.between((0, 0), some))
    return np.asarray(rows.X, dtype=np.float64), rows.weights


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
