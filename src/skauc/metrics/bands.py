"""Confidence bands of ROC and precision-recall curves.

Take a sample of size m from a continuous distribution. The probabilities between adjacent sample
values follow a Dirichlet(1, ..., 1) distribution with m + 1 parts, whatever the distribution is.
Drawing them for each class gives curves that are compatible with the sample.

Take one threshold with k of m rows above it. The share above it is drawn as Beta(k, m - k + 1) if
the gap that contains the threshold counts as below, and as Beta(k + 1, m - k) if it counts as
above. The quantiles of these are the limits of Clopper and Pearson. The lower band counts the gaps
of both classes against the model, and the upper band counts them in favour of it. A band therefore
has a positive width even where the sample has no errors.

References
----------
Banks (1988). Histospline smoothing the Bayesian bootstrap. Biometrika 75, 673-684.

Rubin (1981). The Bayesian bootstrap. Annals of Statistics 9, 130-134.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from skauc.metrics.thresholds import OperatingPoints

# The curve is taken as piecewise linear with this many corners.
_MOST_CORNERS = 400
_N_GRID = 121

# False and true positive rates, one row per draw.
Rates = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Bands:
    """Pointwise limits of both curves, and limits of the average precision.

    Attributes
    ----------
    false_positive_rate, recall_low, recall_high : ndarray
        False positive rates, and the limits of the recall at each of them.
    recall, precision_low, precision_high : ndarray
        Recalls, and the limits of the precision at each of them, for the class ratio of the
        sample.
    average_precision : tuple of two floats
        Limits of the area under the precision-recall curve.
    """

    false_positive_rate: np.ndarray
    recall_low: np.ndarray
    recall_high: np.ndarray
    recall: np.ndarray
    precision_low: np.ndarray
    precision_high: np.ndarray
    average_precision: tuple[float, float]


def curve_bands(
    points: OperatingPoints,
    *,
    confidence_level: float = 0.95,
    n_draws: int = 1000,
    random_state: int | np.random.Generator | None = 0,
) -> Bands:
    """Draw curves by a smoothed Bayesian bootstrap and return their quantiles.

    With weights, the size of a class is Kish's effective size.
    """
    alarms, recalls = _draw_classes(points, n_draws, random_state)
    # Low false positive rates matter most if positives are rare, so the grid is dense there.
    read = partial(
        _read_curves,
        rate_grid=np.linspace(0, 1, _N_GRID) ** 2,
        recall_grid=np.linspace(0, 1, _N_GRID)[1:],
        odds=points.n_negative / points.n_positive,
    )
    tail = (1 - confidence_level) / 2
    worst = read(alarms.shares(1.0), recalls.shares(0.0))
    best = read(alarms.shares(0.0), recalls.shares(1.0))
    # The average precision is a mean over the curve, and not every gap is at its worst. The lower
    # limit counts half of each gap, the upper limit none.
    halved = read(alarms.shares(0.5), recalls.shares(0.5))
    plain = read(alarms.plain_shares(), recalls.plain_shares())
    return Bands(
        false_positive_rate=worst.rate_grid,
        recall_low=np.quantile(worst.recall, tail, axis=0),
        recall_high=np.quantile(best.recall, 1 - tail, axis=0),
        recall=worst.recall_grid,
        precision_low=np.quantile(worst.precision, tail, axis=0),
        precision_high=np.quantile(best.precision, 1 - tail, axis=0),
        average_precision=(
            float(np.quantile(halved.precision.mean(axis=1), tail)),
            float(np.quantile(plain.precision.mean(axis=1), 1 - tail)),
        ),
    )


def draw_rates(
    points: OperatingPoints, n_draws: int, random_state: int | np.random.Generator | None
) -> tuple[Rates, Rates]:
    """Draw false and true positive rates, from (0, 0) to (1, 1).

    The first draws count half of each gap against the model, the second ones have no gaps.
    """
    alarms, recalls = _draw_classes(points, n_draws, random_state)
    smoothed = _closed(alarms.shares(0.5), recalls.shares(0.5))
    return smoothed, _closed(alarms.plain_shares(), recalls.plain_shares())


def _closed(alarms: np.ndarray, recalls: np.ndarray) -> Rates:
    """Return curves that begin at (0, 0) and end at (1, 1)."""
    start, end = np.zeros((len(alarms), 1)), np.ones((len(alarms), 1))
    return np.hstack((start, alarms, end)), np.hstack((start, recalls, end))


@dataclass(frozen=True, eq=False)
class _Gaps:
    """Draws of the weight above each threshold and of the gap that contains it, one per row."""

    above: np.ndarray
    gap: np.ndarray

    def shares(self, part: float) -> np.ndarray:
        """Return the shares above each threshold, including this fraction of the gap."""
        return (self.above + part * self.gap) / (self.above[:, -1:] + self.gap)

    def plain_shares(self) -> np.ndarray:
        """Return the shares without gaps (Rubin's bootstrap)."""
        return self.above / self.above[:, -1:]


def _draw_classes(
    points: OperatingPoints, n_draws: int, random_state: int | np.random.Generator | None
) -> tuple[_Gaps, _Gaps]:
    """Draw the gaps of the negative and of the positive class."""
    corners = points.thinned(_MOST_CORNERS)
    rng = np.random.default_rng(random_state)
    recalls = _draw_gaps(corners.recall, points.n_effective[0], n_draws, rng)
    alarms = _draw_gaps(corners.false_positive_rate, points.n_effective[1], n_draws, rng)
    return alarms, recalls


def _draw_gaps(shares: np.ndarray, n_rows: float, n_draws: int, rng: np.random.Generator) -> _Gaps:
    """Draw the gaps of a class, given the share of its rows above each threshold."""
    n_between = np.round(np.diff(shares) * n_rows, 9)  # integers if all weights are equal
    weights = rng.standard_gamma(n_between, size=(n_draws, len(n_between)))
    above = np.zeros((n_draws, len(shares)))
    np.cumsum(weights, axis=1, out=above[:, 1:])
    return _Gaps(above, rng.standard_exponential((n_draws, 1)))


class _Curves(NamedTuple):
    """Recall at each false positive rate and precision at each recall, one row per draw."""

    rate_grid: np.ndarray
    recall: np.ndarray
    recall_grid: np.ndarray
    precision: np.ndarray


def _read_curves(
    alarms: np.ndarray,
    recalls: np.ndarray,
    rate_grid: np.ndarray,
    recall_grid: np.ndarray,
    odds: float,
) -> _Curves:
    recall_at = np.empty((len(alarms), len(rate_grid)))
    alarms_at = np.empty((len(alarms), len(recall_grid)))
    flagged = np.ones((len(alarms), 1))  # the point where all rows are flagged
    curves = zip(np.hstack((alarms, flagged)), np.hstack((recalls, flagged)), strict=True)
    for draw, (alarm, recall) in enumerate(curves):
        recall_at[draw] = np.interp(rate_grid, alarm, recall, left=0.0)
        alarms_at[draw] = np.interp(recall_grid, recall, alarm)
    precision = recall_grid / (recall_grid + odds * alarms_at)
    return _Curves(rate_grid, recall_at, recall_grid, precision)
