"""Maps of each feature on its own: ranks, a smooth clip, logarithms.

A kernel compares rows by distance, so a feature with a few huge values hides the others. Ranks are
a monotone map per feature and do not depend on units or tails, which is much of the advantage that
trees have over kernels on raw tables. A smooth clip and logarithms keep more of the distances.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from statistics import NormalDist
from typing import ClassVar, TypeAlias

import numpy as np

from skauc.compiling import compiled
from skauc.data.sampling import HashOrder
from skauc.data.training import TrainingData
from skauc.support import cached_property, quiet_overflow, row_slices, rows_per_block

# Number of knots of each feature's map.
N_KNOTS = 32
# Share of the knots that goes by distinct values instead of rows. A feature that is zero in nearly
# all rows has knots among its other values.
VALUE_SHARE = 0.25
# Values that are no further apart than this many neighbouring floats are the same.
_SAME = 16
# Number of rows that scalings and axes are computed from.
DECIDING_ROWS = 100_000
# Rows of a block whose columns are copied one after another: they stay in the cache.
_TURNED_ROWS = 2_048
# Numbers of a block of features: eight megabytes.
_BLOCK = 1 << 20
# The scaling that gives a smaller weight to features that seem irrelevant. A feature is relevant if
# the shares of positives in its intervals differ by this many standard deviations of the
# chi-squared statistic. All other features together weigh this part of the relevant ones.
SCREENED = "screened"
# The scaling that leaves features as they are, within the range of the training rows.
BOUNDED = "bounded"
_N_INTERVALS = 8
LEAST_DEVIATIONS, IRRELEVANT_PART = 5.0, 0.3
# The smooth clip bends values to less than this many widths from the middle.
CLIP_LIMIT = 3.0
# Values further from the middle than this many widths count as this far.
FARTHEST = 1000.0
# Logarithms are taken of features that are more skewed than this.
LEAST_SKEWNESS = 1.0
# A logarithm must leave less than this part of the skewness. Two distinct values keep all of it.
_LESS_SKEWED = 0.9
# The share of the positive values below the offset of a feature that has zeros.
_OFFSET_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class RankScaling:
    """Piecewise linear maps from values to mid-ranks, one per feature.

    ``knots[:, j]`` holds the knots of feature j in increasing order; the last knot is repeated
    where there are fewer distinct ones. ``half_steps[:, j]`` holds their mid-ranks, as integers in
    half steps between quantiles. The images ``levels[:, j]`` are the shares of rows at these
    mid-ranks (``word`` "rank") or the normal quantiles there ("normal"), minus ``mean[j]`` and
    divided by ``deviation[j]``. A map is constant before the first and after the last knot.

    Mean and deviation are those of a uniform or normal distribution. Images are not standardised: a
    rare level of a category would be far from all other rows, and with few positive rows nothing
    tells that it does not matter.
    """

    knots: np.ndarray
    half_steps: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    word: str = "rank"

    @classmethod
    def of(cls, data: TrainingData, word: str) -> RankScaling:
        """Return the maps for weighted rows; ``word`` is "rank" or "normal"."""
        X, weights = as_doubles(deciding_rows(data))
        knots, half_steps = _mid_ranks(X, weights)
        mean, deviation = (np.full(X.shape[1], number) for number in _MOMENTS[word])
        return cls(knots, half_steps, mean, deviation, word)

    @property
    def parts(self) -> dict[str, np.ndarray]:
        """The numbers of the maps."""
        return {"knots": self.knots, "levels": self.levels}

    @property
    def images(self) -> np.ndarray:
        """The image of each half step, before mean and deviation."""
        return _SPREADS[self.word](len(self.knots))

    @cached_property
    def levels(self) -> np.ndarray:
        """The images of the knots."""
        return (self.images[self.half_steps] - self.mean) / self.deviation

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the images of the rows, in the dtype of the rows."""
        return _interpolate(X, self.knots, self.levels)

    def inverse(self, images: np.ndarray) -> np.ndarray:
        """Return values that have these images, clipped to the range of the knots."""
        return _interpolate(np.asarray(images, dtype=np.float64), self.levels, self.knots)


@dataclass(frozen=True, eq=False)
class ClipScaling:
    """A smooth clip, u / sqrt(1 + (u / 3)^2) of u = (x - middle) / width.

    ``middle`` is the median and ``width`` the interquartile range. If half of the values are equal,
    it is the median distance of the others. No image is further than 3 from zero. They are not
    standardised, so a value that is rare is not far from the others.
    """

    middle: np.ndarray
    width: np.ndarray
    word: ClassVar[str] = "clip"

    @classmethod
    def of(cls, data: TrainingData, word: str) -> ClipScaling:
        """Return the maps for weighted rows."""
        X, weights = as_doubles(deciding_rows(data))
        maps = np.array([_middle_and_width(column, weights) for column in X.T])
        return cls(*np.ascontiguousarray(maps.T))

    @property
    def parts(self) -> dict[str, np.ndarray]:
        """The numbers of the maps, one per feature in each array."""
        return {"middle": self.middle, "width": self.width}

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the images of the rows, in the dtype of the rows."""
        images = np.empty(X.shape, dtype=X.dtype)
        for column, image, *numbers in zip(X.T, images.T, *self.parts.values(), strict=True):
            middle, width = numbers
            with quiet_overflow():
                u = np.clip(column / width - middle / width, -FARTHEST, FARTHEST)
            image[:] = u / np.sqrt(1.0 + (u / CLIP_LIMIT) ** 2)
        return images

    def inverse(self, images: np.ndarray) -> np.ndarray:
        """Return values that have these images, at most 1,000 widths from the middle."""
        farthest = FARTHEST / math.hypot(1.0, FARTHEST / CLIP_LIMIT)
        bent = np.clip(images, -farthest, farthest)
        with quiet_overflow():
            return self.middle + self.width * bent / np.sqrt(1.0 - (bent / CLIP_LIMIT) ** 2)


@dataclass(frozen=True, eq=False)
class LogScaling:
    """Standardised features, after the logarithm of those that are positive and skewed.

    A feature with ``is_log`` becomes log(max(x, least) + offset), with its least training value.
    The offset is zero if all training values are positive, and a small positive value if some are
    zero.
    """

    is_log: np.ndarray
    least: np.ndarray
    offset: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    word: ClassVar[str] = "log"

    @classmethod
    def of(cls, data: TrainingData, word: str) -> LogScaling:
        """Return the maps for weighted rows."""
        X, weights = as_doubles(deciding_rows(data))
        X, weights = X[weights > 0], weights[weights > 0]
        least = X.min(axis=0)
        offset = np.array([_offset(column, weights) for column in X.T])
        is_log = np.array([_needs_log(*each, weights) for each in zip(X.T, offset, strict=True)])
        least, offset = np.where(is_log, least, 0.0), np.where(is_log, offset, 0.0)
        raw = cls(is_log, least, offset, np.zeros(len(least)), np.ones(len(least)))
        moments = [_mean_and_deviation(column, weights) for column in raw.transform(X).T]
        return cls(is_log, least, offset, *np.array(moments).T)

    @property
    def parts(self) -> dict[str, np.ndarray]:
        """The numbers of the maps, one per feature in each array."""
        return {
            "is_log": self.is_log,
            "least": self.least,
            "offset": self.offset,
            "mean": self.mean,
            "deviation": self.deviation,
        }

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the images of the rows, in the dtype of the rows."""
        images = np.empty(X.shape, dtype=X.dtype)
        for column, image, *numbers in zip(X.T, images.T, *self.parts.values(), strict=True):
            is_log, least, offset, mean, deviation = numbers
            values = np.log(np.maximum(column, least) + offset) if is_log else column
            image[:] = values / deviation - mean / deviation
        return images

    def inverse(self, images: np.ndarray) -> np.ndarray:
        """Return values that have these images, not below the least value of a logarithm."""
        with quiet_overflow():
            values = np.asarray(images) * self.deviation + self.mean
            powers = np.exp(np.where(self.is_log, values, 0.0)) - self.offset
        most = np.finfo(np.float64).max
        return np.where(self.is_log, np.clip(powers, self.least, most), values)


Scaling: TypeAlias = RankScaling | ClipScaling | LogScaling


def _screened(data: TrainingData, word: str) -> RankScaling:
    """Return normal scores, with larger deviations of features that seem irrelevant."""
    rows = deciding_rows(data)
    normal = RankScaling.of(rows, "normal")
    X, weights = as_doubles(rows)
    found = relevance_weights(X, rows.positive, weights, normal.knots)
    return replace(normal, deviation=normal.deviation / found)


def _bounded(data: TrainingData, word: str) -> RankScaling:
    """Return maps that change nothing between the least and the greatest value of each feature.

    They are ranks between two knots, with the mean and deviation that give the values back.
    """
    X, weights = as_doubles(deciding_rows(data))
    X = X[weights > 0]
    knots = np.array([X.min(axis=0), X.max(axis=0)])
    with quiet_overflow():
        width = np.minimum(knots[1] - knots[0], np.finfo(np.float64).max)
    varies = width > 0
    half_steps = np.array([np.zeros(len(width)), np.where(varies, 2, 0)], dtype=np.uint8)
    width = np.where(varies, width, 1.0)
    return RankScaling(knots, half_steps, mean=-knots[0] / width, deviation=1.0 / width)


_SCALINGS: dict[str, Callable[[TrainingData, str], Scaling]] = {
    "rank": RankScaling.of,
    "normal": RankScaling.of,
    SCREENED: _screened,
    BOUNDED: _bounded,
    "clip": ClipScaling.of,
    "log": LogScaling.of,
}
SCALINGS = (None, *_SCALINGS)


def make_scaling(word: str, data: TrainingData) -> Scaling:
    """Return the maps of a scaling for weighted, dense rows."""
    return _SCALINGS[word](data, word)


def deciding_rows(data: TrainingData) -> TrainingData:
    """Return up to `DECIDING_ROWS` rows, a stratified sample of more."""
    order = HashOrder(data, seed=0)
    share = min(DECIDING_ROWS / sum(order.counts), 1.0)
    negative, positive = (math.ceil(share * count) for count in order.counts)
    return data.take(order.between((0, 0), (negative, positive)))


def as_doubles(rows: TrainingData) -> tuple[np.ndarray, np.ndarray]:
    """Return the features in double precision, and the weights."""
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
# Mean and standard deviation of a uniform and of a normal distribution.
_MOMENTS = {"rank": (0.5, math.sqrt(1 / 12)), "normal": (0.0, 1.0)}


def _interpolate(X: np.ndarray, knots: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return `np.interp` of each column, also where the slope between two knots overflows."""
    images = np.empty(X.shape, dtype=X.dtype)
    for part in row_slices(len(X), _TURNED_ROWS):
        maps = zip(np.ascontiguousarray(X[part].T), knots.T, levels.T, strict=True)
        images[part] = np.array([np.interp(*values_and_map) for values_and_map in maps]).T
    lost = np.nonzero(~np.isfinite(images))
    if len(lost[0]):
        values, columns = X[lost], lost[1]
        after = np.count_nonzero(knots[:, columns] <= values, axis=0)
        low, high = knots[after - 1, columns], knots[after, columns]
        share = (values - low) / (high - low)
        images[lost] = (1.0 - share) * levels[after - 1, columns] + share * levels[after, columns]
    return images


def _mid_ranks(X: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct knots at the quantiles of each feature, and twice their mean position.

    Both have a column per feature.
    """
    values = _quantiles(X, weights)
    # Values that differ by rounding errors share a knot, or ranks would be those of the errors.
    # Errors are as large as those of usual values, also where a value is near zero. The spacing of
    # the largest numbers is infinite.
    sizes = np.minimum(np.abs(values), np.finfo(np.float64).max / 2)
    greatest = np.maximum(np.maximum(sizes[1:], sizes[:-1]), np.median(sizes, axis=0))
    nearest = np.spacing(greatest)
    with quiet_overflow():
        is_new = np.diff(values, axis=0) > _SAME * nearest
    number = np.cumsum(is_new, axis=0)
    number = np.concatenate((np.zeros_like(number[:1]), number))
    knots = np.full(values.shape, -np.inf)
    doubled, counts = np.zeros(values.shape, dtype=np.intp), np.zeros(values.shape, dtype=np.intp)
    columns = np.arange(X.shape[1])
    for place in range(N_KNOTS - 1, -1, -1):  # the first of equal values comes last, and stays
        which = number[place], columns
        knots[which], doubled[which] = values[place], 2 * place
        counts[which] += 1
    half_steps = np.where(counts > 0, doubled + counts - 1, 0)
    repeated = np.maximum.accumulate
    return repeated(knots, axis=0), repeated(half_steps, axis=0).astype(np.uint8)


def _quantiles(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return `N_KNOTS` quantiles of each feature, in a column per feature.

    They are those of a mixture: `VALUE_SHARE` of the mass is spread evenly over the distinct
    values, the rest over the rows.
    """
    found = np.empty((N_KNOTS, X.shape[1]))
    shares = np.linspace(0.0, 1.0, N_KNOTS)
    is_even, sorted_weights = bool((weights == weights[0]).all()), weights[None]
    for part in row_slices(X.shape[1], rows_per_block(len(X), _BLOCK, least=1)):
        values = np.ascontiguousarray(X[:, part].T)
        if is_even:  # values alone are sorted ten times as fast
            values = np.sort(values, axis=1)
        else:
            order = np.argsort(values, axis=1, kind="stable")
            values, sorted_weights = np.take_along_axis(values, order, axis=1), weights[order]
        found[:, part] = _find_quantiles(values, sorted_weights, shares, VALUE_SHARE).T
    return found


@compiled
def _find_quantiles(values, weights, shares, value_share):
    """Return the least values with at least these shares of the mass at or below them.

    ``values`` and ``weights`` have a sorted feature per row, ``weights`` possibly one for all.
    """
    n_rows = values.shape[1]
    distinct, mass = np.empty(n_rows), np.empty(n_rows)
    out = np.empty((len(values), len(shares)))
    for j in range(len(values)):
        row_weights = weights[min(j, len(weights) - 1)]
        n_distinct, total = 0, 0.0
        for i in range(n_rows):
            if row_weights[i] == 0.0:
                continue
            if n_distinct == 0 or values[j, i] != distinct[n_distinct - 1]:
                distinct[n_distinct], mass[n_distinct] = values[j, i], 0.0
                n_distinct += 1
            mass[n_distinct - 1] += row_weights[i]
            total += row_weights[i]
        end = 0.0
        for k in range(n_distinct):
            end += (1 - value_share) * mass[k] / total + value_share / n_distinct
            mass[k] = end
        k = 0
        for q in range(len(shares)):
            while k < n_distinct - 1 and mass[k] < shares[q] * end:
                k += 1
            out[j, q] = distinct[k]
    return out


def relevance_weights(
    X: np.ndarray, positive: np.ndarray, weights: np.ndarray, knots: np.ndarray
) -> np.ndarray:
    """Return a weight for each feature, larger if it is related to the labels on its own.

    If no feature is relevant, all weights are 1. Otherwise the mean of their squares is 1 over the
    features that vary, so that distances are as large as without weights. Rows of weight 2 count
    twice.
    """
    bounds = _interval_bounds(knots)
    share = weights[positive].sum() / weights.sum()
    is_relevant, varies = np.empty((2, X.shape[1]), dtype=bool)
    for part in row_slices(X.shape[1], rows_per_block(len(X), _BLOCK, least=1)):
        interval = np.zeros(X[:, part].shape, dtype=np.intp)
        for bound in bounds[:, part]:
            interval += bound <= X[:, part]
        counts, hits = (_sums_by_interval(interval, each) for each in (weights, weights * positive))
        with np.errstate(all="ignore"):
            # Half a row is subtracted: a single positive row in a rare interval proves nothing.
            apart = np.maximum(np.abs(hits - counts * share) - 0.5, 0.0)
            parts = apart**2 / (counts * share * (1 - share))
        n_free = np.count_nonzero(counts, axis=1) - 1
        excess = np.nansum(parts, axis=1) - n_free
        is_relevant[part] = excess > LEAST_DEVIATIONS * np.sqrt(2 * n_free)
        varies[part] = n_free > 0
    n_relevant, n_others = np.count_nonzero(is_relevant), np.count_nonzero(varies & ~is_relevant)
    if not n_relevant or n_others <= IRRELEVANT_PART * n_relevant:
        return np.ones(len(is_relevant))
    small = math.sqrt(IRRELEVANT_PART * n_relevant / n_others)
    found = np.where(is_relevant, 1.0, small)
    return found / np.sqrt(np.mean(found[varies] ** 2))


def _interval_bounds(knots: np.ndarray) -> np.ndarray:
    """Return the bounds between intervals: some of the distinct knots of each feature, or all."""
    n_distinct = 1 + np.count_nonzero(np.diff(knots, axis=0) > 0, axis=0)
    places = np.arange(1, _N_INTERVALS)[:, None] * n_distinct // _N_INTERVALS
    # The lowest knot is often that of very many rows. It gets an interval of its own.
    return np.take_along_axis(knots, np.clip(places, 1, len(knots) - 1), axis=0)


def _sums_by_interval(interval: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the sum of the values in each interval, a row per feature."""
    n_features = interval.shape[1]
    places = interval + _N_INTERVALS * np.arange(n_features)
    repeated = np.repeat(values, n_features)
    sums = np.bincount(places.ravel(), repeated, minlength=n_features * _N_INTERVALS)
    return sums.reshape(n_features, _N_INTERVALS)


def _weighted_quantiles(values: np.ndarray, weights: np.ndarray, shares: list[float]) -> np.ndarray:
    """Return the least values with at least these shares of the weight at or below them."""
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(weights[order])
    places = np.searchsorted(ends, np.array(shares) * ends[-1] * (1 - 1e-12), side="left")
    return values[order][np.minimum(places, len(order) - 1)]


def _middle_and_width(column: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the median, and the interquartile range or the median distance of other values."""
    low, middle, high = _weighted_quantiles(column, weights, [0.25, 0.5, 0.75])
    largest = np.finfo(np.float64).max
    with quiet_overflow():
        width = min(high - low, largest)
        noise = _SAME * np.spacing(min(max(abs(low), abs(high)), largest / 2))
        if width > noise:
            return middle, width
        apart = np.minimum(np.abs(column - middle), largest)
    others = (apart > noise) & (weights > 0)
    if not others.any():
        return middle, 1.0
    return middle, _weighted_quantiles(apart[others], weights[others], [0.5])[0]


def _offset(column: np.ndarray, weights: np.ndarray) -> float:
    """Return what is added before the logarithm: zero if all values are positive."""
    positive = column > 0
    if positive.all() or not positive.any():
        return 0.0
    return _weighted_quantiles(column[positive], weights[positive], [_OFFSET_SHARE])[0]


def _needs_log(column: np.ndarray, offset: float, weights: np.ndarray) -> bool:
    """Tell whether a feature is not negative, skewed, and clearly less so as a logarithm."""
    # The sum of the largest numbers and the offset overflows.
    if column.min() < 0 or not 0 < column.max() < np.finfo(np.float64).max / 2:
        return False
    before, after = (_skewness(each, weights) for each in (column, np.log(column + offset)))
    return before > LEAST_SKEWNESS and abs(after) < _LESS_SKEWED * before


def _skewness(column: np.ndarray, weights: np.ndarray) -> float:
    mean, deviation = _mean_and_deviation(column, weights)
    standard = column / deviation - mean / deviation
    return float(np.average(standard**3, weights=weights))


def _mean_and_deviation(column: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the weighted mean and standard deviation of a feature, 1 if it is constant.

    The values are divided by the largest first, because their squares may overflow.
    """
    unit = max(float(np.abs(column).max()), np.finfo(np.float64).tiny)
    mean = np.average(column / unit, weights=weights)
    deviation = np.sqrt(np.average((column / unit - mean) ** 2, weights=weights))
    noise = _SAME * np.finfo(np.float64).eps
    return mean * unit, deviation * unit if deviation > noise else 1.0
