"""Maps of each feature by a formula: a smooth clip, logarithms."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skauc.data.training import TrainingData
from skauc.scalings.rows import SAME_FLOATS, as_doubles, deciding_rows, map_features
from skauc.support import quiet_overflow

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


class FormulaScaling(ABC):
    """What maps by a formula share: a few numbers for each feature."""

    @property
    def parts(self) -> dict[str, np.ndarray]:
        """The numbers of the maps, one per feature in each array."""
        return dict(vars(self))

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the images of the rows, in the dtype of the rows."""
        images = np.empty(X.shape, dtype=X.dtype)
        self.write_images(X, images)
        return images

    @abstractmethod
    def write_images(self, X: np.ndarray, images: np.ndarray) -> None:
        """Write the images of the rows."""


@dataclass(frozen=True, eq=False)
class ClipScaling(FormulaScaling):
    """A smooth clip, u / sqrt(1 + (u / 3)^2) of u = (x - middle) / width.

    ``middle`` is the median and ``width`` the interquartile range. If half of the values are equal,
    it is the median distance of the others. No image is further than 3 from zero. They are not
    standardised, so a value that is rare is not far from the others.
    """

    middle: np.ndarray
    width: np.ndarray
    word: ClassVar[str] = "clip"

    @classmethod
    def of(cls, data: TrainingData, n_jobs: int | None = None) -> ClipScaling:
        """Return the maps for weighted rows."""
        return cls(*_find_by_feature(_middle_and_width, data, n_jobs))

    def write_images(self, X: np.ndarray, images: np.ndarray) -> None:
        """Write the images of the rows."""
        for column, image, *numbers in zip(X.T, images.T, *self.parts.values(), strict=True):
            middle, width = numbers
            with quiet_overflow():
                u = np.clip(column / width - middle / width, -FARTHEST, FARTHEST)
            image[:] = u / np.sqrt(1.0 + (u / CLIP_LIMIT) ** 2)

    def inverse(self, images: np.ndarray) -> np.ndarray:
        """Return values that have these images, at most 1,000 widths from the middle."""
        farthest = FARTHEST / math.hypot(1.0, FARTHEST / CLIP_LIMIT)
        bent = np.clip(images, -farthest, farthest)
        most = np.finfo(np.float64).max
        with quiet_overflow():
            u = bent / np.sqrt(1.0 - (bent / CLIP_LIMIT) ** 2)
            return np.clip(self.middle + self.width * u, -most, most)


@dataclass(frozen=True, eq=False)
class LogScaling(FormulaScaling):
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
    def of(cls, data: TrainingData, n_jobs: int | None = None) -> LogScaling:
        """Return the maps for weighted rows."""
        is_log, *numbers = _find_by_feature(_logarithm, data, n_jobs)
        return cls(is_log > 0, *numbers)

    def write_images(self, X: np.ndarray, images: np.ndarray) -> None:
        """Write the images of the rows."""
        for column, image, *numbers in zip(X.T, images.T, *self.parts.values(), strict=True):
            is_log, least, offset, mean, deviation = numbers
            values = np.log(np.maximum(column, least) + offset) if is_log else column
            image[:] = values / deviation - mean / deviation

    def inverse(self, images: np.ndarray) -> np.ndarray:
        """Return values that have these images, not below the least value of a logarithm."""
        with quiet_overflow():
            values = np.asarray(images) * self.deviation + self.mean
            powers = np.exp(np.where(self.is_log, values, 0.0)) - self.offset
        most = np.finfo(np.float64).max
        return np.where(self.is_log, np.clip(powers, self.least, most), values)


def _find_by_feature(
    find: Callable[[np.ndarray, np.ndarray], tuple[float, ...]],
    data: TrainingData,
    n_jobs: int | None,
) -> np.ndarray:
    """Return ``find(column, weights)`` of each feature, on threads; a feature per column."""
    X, weights = as_doubles(deciding_rows(data))

    def find_some(first: int, stop: int) -> list:
        return [find(column, weights) for column in X[:, first:stop].T]

    return np.ascontiguousarray(np.concatenate(map_features(find_some, X, n_jobs)).T)


def _weighted_quantiles(values: np.ndarray, weights: np.ndarray, shares: list[float]) -> np.ndarray:
    """Return the least values with at least these shares of the weight at or below them."""
    if (weights == weights[0]).all():  # values alone are sorted ten times as fast
        values, ends = np.sort(values), np.cumsum(weights)
    else:
        order = np.argsort(values, kind="stable")
        values, ends = values[order], np.cumsum(weights[order])
    places = np.searchsorted(ends, np.array(shares) * ends[-1] * (1 - 1e-12), side="left")
    return values[np.minimum(places, len(values) - 1)]


def _middle_and_width(column: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the median, and the interquartile range or the median distance of other values."""
    low, middle, high = _weighted_quantiles(column, weights, [0.25, 0.5, 0.75])
    largest = np.finfo(np.float64).max
    with quiet_overflow():
        width = min(high - low, largest)
        noise = SAME_FLOATS * np.spacing(min(max(abs(low), abs(high)), largest / 2))
        if width > noise:
            return middle, width
        apart = np.minimum(np.abs(column - middle), largest)
    others = (apart > noise) & (weights > 0)
    if not others.any():
        return middle, 1.0
    return middle, _weighted_quantiles(apart[others], weights[others], [0.5])[0]


def _logarithm(column: np.ndarray, weights: np.ndarray) -> tuple[float, ...]:
    """Return whether the logarithm is taken, the least value, offset, mean and deviation."""
    least, offset = column.min(), _offset(column, weights)
    if not _needs_log(column, offset, weights):
        return 0.0, 0.0, 0.0, *_mean_and_deviation(column, weights)
    return 1.0, least, offset, *_mean_and_deviation(np.log(column + offset), weights)


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
    return float(np.average(standard * standard * standard, weights=weights))


def _mean_and_deviation(column: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the weighted mean and standard deviation of a feature, 1 if it is constant.

    The values are divided by the largest first, because their squares may overflow.
    """
    unit = max(float(np.abs(column).max()), np.finfo(np.float64).tiny)
    mean = np.average(column / unit, weights=weights)
    deviation = np.sqrt(np.average((column / unit - mean) ** 2, weights=weights))
    noise = SAME_FLOATS * np.finfo(np.float64).eps
    return mean * unit, deviation * unit if deviation > noise else 1.0
