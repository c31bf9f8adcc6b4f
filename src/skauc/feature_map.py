"""How features are mapped before the kernel is evaluated: to ranks, and to their principal axes.

A kernel compares rows by distance, so a feature with a few huge values hides the others. Ranks are
a monotone map per feature and do not depend on units or tails, which is much of the advantage that
trees have over kernels on raw tables. Correlated features are compared better along their principal
axes: refinement then learns one length scale for what they share and one for how they differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from statistics import NormalDist

import numpy as np

from skauc.data.sampling import HashOrder
from skauc.data.statistics import feature_statistics
from skauc.data.training import TrainingData, WeightedRows
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.support import cached_property, quiet_overflow

SCALINGS = (None, "rank", "normal")
# Number of knots of each feature's map.
N_KNOTS = 100
# Share of the knots that goes by distinct values instead of rows. A feature that is zero in nearly
# all rows has knots among its other values.
VALUE_SHARE = 0.25
# Values that are no further apart than this many neighbouring floats are the same to ranks.
_SAME = 16
# Number of rows that knots and axes are computed from.
DECIDING_ROWS = 100_000


@dataclass(frozen=True, eq=False)
class RankScaling:
    """Piecewise linear maps from values to standardised mid-ranks, one per feature.

    ``knots[:, j]`` holds the knots of feature j in increasing order; the last knot is repeated
    where there are fewer distinct ones. ``half_steps[:, j]`` holds their mid-ranks, as integers in
    half steps between quantiles. The images ``levels[:, j]`` are the shares of rows at these
    mid-ranks (``word`` "rank") or the normal quantiles there ("normal"), minus ``mean[j]`` and
    divided by ``deviation[j]``. A map is constant before the first and after the last knot.
    """

    knots: np.ndarray
    half_steps: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    word: str = "rank"

    @classmethod
    def of(cls, data: TrainingData, word: str) -> RankScaling:
        """Return the maps for weighted rows; ``word`` is "rank" or "normal"."""
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
        mean, variance = feature_statistics(WeightedRows(raw.transform(X), weights))
        return cls(knots, half_steps, mean, np.sqrt(np.where(variance > 0, variance, 1.0)), word)

    @cached_property
    def levels(self) -> np.ndarray:
        """The images of the knots."""
        return (_SPREADS[self.word](len(self.knots))[self.half_steps] - self.mean) / self.deviation

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the images of the rows, in the dtype of the rows."""
        images = np.empty(X.shape, dtype=X.dtype)
        for column, knots, levels, image in zip(
            X.T, self.knots.T, self.levels.T, images.T, strict=True
        ):
            image[:] = _interpolate(column, knots, levels)
        return images

    def inverse(self, images: np.ndarray) -> np.ndarray:
        """Return values that have these images, clipped to the range of the knots."""
        columns = zip(np.asarray(images).T, self.levels.T, self.knots.T, strict=True)
        return np.stack([_interpolate(*column) for column in columns], axis=1)


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """Optional ranks, then an optional rotation to the axes in the columns of ``axes``."""

    ranks: RankScaling | None = None
    axes: np.ndarray | None = None

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the rows as the kernel sees them, in the dtype of the rows."""
        X = X if self.ranks is None else self.ranks.transform(X)
        return X if self.axes is None else X @ self.axes.astype(X.dtype, copy=False)

    def inverse(self, images: np.ndarray) -> np.ndarray:
        """Return rows that have these images, clipped to the range of the ranks."""
        images = self.rotate_back(np.asarray(images))
        return images if self.ranks is None else self.ranks.inverse(images)

    def rotate_back(self, images: np.ndarray) -> np.ndarray:
        """Return the images before the rotation, one column per feature."""
        return images if self.axes is None else images @ self.axes.T

    def along_features(self, scales: np.ndarray) -> np.ndarray:
        """Return the scale along each feature for scales along the axes."""
        return scales if self.axes is None else np.sqrt(self.axes**2 @ scales**2)

    def slopes_by_feature(self, slopes: np.ndarray) -> np.ndarray:
        """Return linear coefficients per feature for linear coefficients per axis."""
        return slopes if self.axes is None else self.axes @ slopes


def check_scaling(scaling) -> None:
    """Raise an error unless ``scaling`` is one of `SCALINGS`."""
    if scaling is not None and not (isinstance(scaling, str) and scaling in SCALINGS):
        raise InvalidParameterError(
            f"`scaling` must be None, 'rank' or 'normal'; got {scaling!r}. Use 'rank' or 'normal' "
            "for features with heavy tails or different units, None for scaled features."
        )


def scale(scaling: str | None, data: TrainingData) -> tuple[FeatureMap | None, TrainingData]:
    """Return the map for the parameter ``scaling``, and the mapped rows."""
    if scaling is None:
        return None, data
    ranks = FeatureMap(RankScaling.of(data, scaling))
    return ranks, data.transformed(ranks.transform)


def rotate(scaled: FeatureMap | None, data: TrainingData) -> tuple[FeatureMap, TrainingData]:
    """Add a rotation to the principal axes of the scaled rows; return the map and the rows."""
    if data.is_sparse:
        raise InvalidDataError(
            "`rotate` needs dense rows; got a sparse matrix. Use rotate=False, or pass X.toarray()."
        )
    axes = principal_axes(*_deciding_rows(data))
    rotation = FeatureMap(axes=axes)
    return replace(scaled or rotation, axes=axes), data.transformed(rotation.transform)


def principal_axes(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the axes as columns in order of decreasing variance, in single precision.

    The largest component of each axis is positive.
    """
    with quiet_overflow():
        centred = X - np.average(X, axis=0, weights=weights)
        covariance = (centred.T * weights) @ centred
    if not np.isfinite(covariance).all():
        raise InvalidDataError(
            "The variances of the features overflow, so there are no principal axes. Scale the "
            "features, for instance with sklearn.preprocessing.StandardScaler, or use rotate=False."
        )
    greatest = max(np.abs(covariance).max(), np.finfo(np.float64).tiny)
    axes = np.linalg.eigh(covariance / greatest)[1][:, ::-1]
    longest = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0)
    return (axes * np.sign(longest)).astype(np.float32).astype(np.float64)


def _deciding_rows(data: TrainingData) -> tuple[np.ndarray, np.ndarray]:
    """Return up to `DECIDING_ROWS` rows, a stratified sample of more, and their weights."""
    order = HashOrder(data, seed=0)
    share = min(DECIDING_ROWS / sum(order.counts), 1.0)
    negative, positive = (math.ceil(share * count) for count in order.counts)
    rows = data.take(order.between((0, 0), (negative, positive)))
    return np.asarray(rows.X, dtype=np.float64), rows.weights


def _shares(n_knots: int) -> np.ndarray:
    """Return the share of rows below each half step between quantiles."""
    return np.arange(2 * n_knots - 1) / (2 * (n_knots - 1))


@cache
def _normal_quantiles(n_knots: int) -> np.ndarray:
    """Return the normal quantile at each half step; the ends stay finite."""
    quantile = NormalDist().inv_cdf
    return np.array([quantile((step + 1) / (2 * n_knots)) for step in range(2 * n_knots - 1)])


_SPREADS: dict[str, Callable[[int], np.ndarray]] = {"rank": _shares, "normal": _normal_quantiles}


def _interpolate(values: np.ndarray, knots: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return `np.interp` of the values, also where the slope between two knots overflows."""
    images = np.interp(values, knots, levels)
    lost = np.flatnonzero(~np.isfinite(images))
    if len(lost):
        after = np.searchsorted(knots, values[lost], side="right")
        low, high = knots[after - 1], knots[after]
        share = (values[lost] - low) / (high - low)
        images[lost] = (1.0 - share) * levels[after - 1] + share * levels[after]
    return images


def _mid_ranks(column: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct knots at the quantiles of a feature, and twice their mean position.

    The quantiles are those of a mixture: `VALUE_SHARE` of the mass is spread evenly over the
    distinct values, the rest over the rows.
    """
    distinct, number = np.unique(column, return_inverse=True)
    of_value = np.bincount(number, weights)
    distinct, of_value = distinct[of_value > 0], of_value[of_value > 0]
    mass = (1 - VALUE_SHARE) * of_value / of_value.sum() + VALUE_SHARE / len(distinct)
    ends = np.cumsum(mass)
    quantiles = np.linspace(0.0, 1.0, N_KNOTS)
    places = np.searchsorted(ends, quantiles * ends[-1], side="left")
    values = distinct[np.minimum(places, len(distinct) - 1)]
    # Values that differ by rounding errors share a knot, or ranks would be those of the errors.
    # Errors are as large as those of usual values, also where a value is near zero. The spacing of
    # the largest numbers is infinite.
    sizes = np.minimum(np.abs(values), np.finfo(np.float64).max / 2)
    greatest = np.maximum(np.maximum(sizes[1:], sizes[:-1]), np.median(sizes))
    nearest = np.spacing(greatest)
    with quiet_overflow():
        is_new = np.diff(values) > _SAME * nearest
    values = values[np.maximum.accumulate(np.where(np.append(True, is_new), np.arange(N_KNOTS), 0))]
    distinct, first, counts = np.unique(values, return_index=True, return_counts=True)
    half_steps = (2 * first + counts - 1).astype(np.uint8)
    padding = (0, N_KNOTS - len(distinct))
    return np.pad(distinct, padding, mode="edge"), np.pad(half_steps, padding, mode="edge")
