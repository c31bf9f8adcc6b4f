"""Piecewise linear maps of each feature: ranks and normal scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np

from skauc.compiling import compiled
from skauc.data.training import TrainingData
from skauc.scalings.rows import SAME_FLOATS, as_doubles, deciding_rows, map_features
from skauc.support import cached_property, quiet_overflow, row_slices, rows_per_block

# Number of knots of each feature's map.
N_KNOTS = 32
# Steps of the search for a knot, by halves.
_STEPS = tuple(N_KNOTS >> halving for halving in range(1, N_KNOTS.bit_length()))
# Share of the knots that goes by distinct values instead of rows. A feature that is zero in nearly
# all rows has knots among its other values.
VALUE_SHARE = 0.25
# Rows of a block whose columns are copied one after another, and values that are compared with the
# knots at once: they stay in the cache.
_TURNED_ROWS, _COMPARED = 2_048, 16_384


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
    def of(cls, data: TrainingData, word: str, n_jobs: int | None = None) -> RankScaling:
        """Return the maps for weighted rows; ``word`` is "rank" or "normal"."""
        X, weights = as_doubles(deciding_rows(data))
        knots, half_steps = _mid_ranks(_quantiles(X, weights, n_jobs))
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

    def write_images(self, X: np.ndarray, images: np.ndarray) -> None:
        """Write the same images, compiled. Prediction should not load the compiler."""
        _write_images(X, *_lines(self.knots, self.levels), images)

    def inverse(self, images: np.ndarray) -> np.ndarray:
        """Return values that have these images, clipped to the range of the knots."""
        return _interpolate(np.asarray(images, dtype=np.float64), self.levels, self.knots)


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


@quiet_overflow()
def _lines(knots: np.ndarray, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where each line begins, its slope and its first level, a feature per row."""
    starts, heights = np.ascontiguousarray(knots.T), np.ascontiguousarray(levels.T)
    widths, slopes = np.diff(starts), np.zeros(starts.shape)
    np.divide(np.diff(heights), widths, out=slopes[:, :-1], where=widths > 0)
    # Images are not finite then, and are found from shares of the distance.
    slopes[:, :-1][np.isinf(widths)] = np.nan
    return starts, slopes, heights


@quiet_overflow()
def _interpolate(X: np.ndarray, knots: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return `np.interp` of each column, also where the slope between two knots overflows.

    Values are compared with all knots of their feature at once, which takes less time than a search
    among so few.
    """
    images = np.empty(X.shape, dtype=X.dtype)
    by_feature, slopes, heights = _lines(knots, levels)
    firsts = len(knots) * np.arange(len(by_feature))[:, None]
    for rows in row_slices(len(X), _TURNED_ROWS):
        n_at_once = rows_per_block(rows.stop - rows.start, _COMPARED, least=1)
        for features in row_slices(X.shape[1], n_at_once):
            values = np.ascontiguousarray(X[rows, features].T, dtype=np.float64)
            values = values.clip(by_feature[features, :1], by_feature[features, -1:])
            is_above = knots[1:, features, None] <= values
            place = firsts[features] + is_above.view(np.uint8).sum(axis=0, dtype=np.uint8)
            values -= by_feature.take(place)
            values *= slopes.take(place)
            values += heights.take(place)
            images[rows, features] = values.T
    lost = np.nonzero(~np.isfinite(images))
    if len(lost[0]):
        columns = lost[1]
        values = X[lost].clip(knots[0, columns], knots[-1, columns])
        after = np.count_nonzero(knots[:, columns] <= values, axis=0)
        low, high = knots[after - 1, columns], knots[after, columns]
        # The distance of two knots may overflow. Half of it does not, but rounds the least floats.
        unit = np.where(np.isinf(high - low), 0.5, 1.0)
        share = (unit * values - unit * low) / (unit * high - unit * low)
        images[lost] = (1.0 - share) * levels[after - 1, columns] + share * levels[after, columns]
    return images


@compiled
def _write_images(X, starts, slopes, heights, images):
    """Write what `_interpolate` returns, to the last bit."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            value = min(max(np.float64(X[i, j]), starts[j, 0]), starts[j, N_KNOTS - 1])
            line = 0
            for step in _STEPS:
                line += step * (starts[j, line + step] <= value)
            image = (value - starts[j, line]) * slopes[j, line] + heights[j, line]
            if not math.isfinite(image):
                low, high = starts[j, line], starts[j, line + 1]
                unit = 0.5 if math.isinf(high - low) else 1.0
                share = (unit * value - unit * low) / (unit * high - unit * low)
                image = (1.0 - share) * heights[j, line] + share * heights[j, line + 1]
            images[i, j] = image


def _mid_ranks(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct knots at the quantiles of each feature, and twice their mean position.

    All have a column per feature.
    """
    # Values that differ by rounding errors share a knot, or ranks would be those of the errors.
    # Errors are as large as those of usual values, also where a value is near zero. The spacing of
    # the largest numbers is infinite.
    sizes = np.minimum(np.abs(values), np.finfo(np.float64).max / 2)
    greatest = np.maximum(np.maximum(sizes[1:], sizes[:-1]), np.median(sizes, axis=0))
    nearest = np.spacing(greatest)
    with quiet_overflow():
        is_new = np.diff(values, axis=0) > SAME_FLOATS * nearest
    number = np.cumsum(is_new, axis=0)
    number = np.concatenate((np.zeros_like(number[:1]), number))
    knots = np.full(values.shape, -np.inf)
    doubled, counts = np.zeros(values.shape, dtype=np.intp), np.zeros(values.shape, dtype=np.intp)
    columns = np.arange(values.shape[1])
    for place in range(N_KNOTS - 1, -1, -1):  # the first of equal values comes last, and stays
        which = number[place], columns
        knots[which], doubled[which] = values[place], 2 * place
        counts[which] += 1
    half_steps = np.where(counts > 0, doubled + counts - 1, 0)
    repeated = np.maximum.accumulate
    return repeated(knots, axis=0), repeated(half_steps, axis=0).astype(np.uint8)


def _quantiles(X: np.ndarray, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Return `N_KNOTS` quantiles of each feature, in a column per feature.

    They are those of a mixture: `VALUE_SHARE` of the mass is spread evenly over the distinct
    values, the rest over the rows.
    """
    found, shares = np.empty((X.shape[1], N_KNOTS)), np.linspace(0.0, 1.0, N_KNOTS)
    is_even = bool((weights == weights[0]).all())
    places = np.arange(1.0, len(X) + 1)[None] / len(X)

    def find(first: int, stop: int) -> None:
        values, below = X[:, first:stop].T.copy(), places
        if is_even:  # values alone are sorted ten times as fast
            values.sort(axis=1)
        else:
            order = np.argsort(values, axis=1, kind="stable")
            values, below = np.take_along_axis(values, order, axis=1), weights[order].cumsum(axis=1)
            below /= below[:, -1:]
        _find_quantiles(values, below, shares, VALUE_SHARE, found[first:stop])

    map_features(find, X, n_jobs)
    return found.T


@compiled
def _find_quantiles(values, below, shares, value_share, found):
    """Find the least values with at least these shares of the mass at or below them.

    ``values`` has a sorted feature per row. ``below`` has the part of the rows at or below each
    value, possibly one row for all features.
    """
    n_rows = values.shape[1]
    for j in range(len(values)):
        part, n_distinct = below[min(j, len(below) - 1)], 1
        for i in range(1, n_rows):
            n_distinct += values[j, i] != values[j, i - 1]
        rank, k = 0, 0
        for i in range(n_rows - 1):
            if values[j, i] != values[j, i + 1]:
                rank += 1
                mass = (1 - value_share) * part[i] + value_share * (rank / n_distinct)
                while k < len(shares) and mass >= shares[k]:
                    found[j, k] = values[j, i]
                    k += 1
        found[j, k:] = values[j, n_rows - 1]
