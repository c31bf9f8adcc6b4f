"""How far ROC and precision-recall curves of few rows may be from those of all rows.

Of a continuous distribution, the shares that lie between neighbouring values of a sample of size m
are distributed as Dirichlet(1, ..., 1) with m + 1 parts, whatever the distribution is. Drawing them
for each class gives curves that the sample might come from. At one threshold, with k of m rows
above it, the share above is drawn as Beta(k, m - k + 1) when the gap that the threshold lies in
counts as below, and as Beta(k + 1, m - k) when it counts as above: their quantiles are the limits
of Clopper and Pearson. The lower band takes the gap against the model in both classes and the upper
band for it, so that a band has a width even where no error was seen.

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

from skauc.metrics.operating_points import OperatingPoints

# Corners of the curve between which it is taken as straight.
_MOST_CORNERS = 400
_N_GRID = 121


@dataclass(frozen=True, eq=False)
class Bands:
    """Pointwise limits of both curves, and those of the average precision.

    Attributes
    ----------
    false_positive_rate, recall_low, recall_high : ndarray
        Limits of the ROC curve at given false positive rates.
    recall, precision_low, precision_high : ndarray
        Limits of the precision-recall curve at given recalls, for the class ratio of the sample.
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
    points: OperatingPoints, *, confidence_level=0.95, n_draws=1000, random_state=0
) -> Bands:
    """Draw curves for each class by its gaps and return the quantiles at each rate.

    With weights, a class counts as many rows as its effective size.
    """
    corners = points.thinned(_MOST_CORNERS)
    rng = np.random.default_rng(random_state)
    recalls = _draw_gaps(corners.recall, points.n_effective[0], n_draws, rng)
    alarms = _draw_gaps(corners.false_positive_rate, points.n_effective[1], n_draws, rng)
    # Few false alarms are what matters where positives are rare: the grid is dense there.
    read = partial(
        _read_curves,
        rate_grid=np.linspace(0, 1, _N_GRID) ** 2,
        recall_grid=np.linspace(0, 1, _N_GRID)[1:],
        odds=points.n_negative / points.n_positive,
    )
    tail = (1 - confidence_level) / 2
    worst = read(alarms.shares(1.0), recalls.shares(0.0))
    best = read(alarms.shares(0.0), recalls.shares(1.0))
    # An average over the curve does not meet every gap at its worst: half of each gap counts for
    # the lower limit, none for the upper one.
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


@dataclass(frozen=True, eq=False)
class _Gaps:
    """Draws, a row each, of the weight above each threshold and of the gap it lies in."""

    above: np.ndarray
    gap: np.ndarray

    def shares(self, part: float) -> np.ndarray:
        """Return the shares above each threshold, that part of its gap included."""
        return (self.above + part * self.gap) / (self.above[:, -1:] + self.gap)

    def plain_shares(self) -> np.ndarray:
        """Return the shares with no gap at all: Rubin's bootstrap."""
        return self.above / self.above[:, -1:]


def _draw_gaps(shares: np.ndarray, n_rows: float, n_draws: int, rng) -> _Gaps:
    """Draw for a class, given the shares of its sample above each threshold."""
    n_between = np.round(np.diff(shares) * n_rows, 9)  # whole numbers where rows count the same
    weights = rng.standard_gamma(n_between, size=(n_draws, len(n_between)))
    above = np.zeros((n_draws, len(shares)))
    np.cumsum(weights, axis=1, out=above[:, 1:])
    return _Gaps(above, rng.standard_exponential((n_draws, 1)))


class _Curves(NamedTuple):
    """Recall at each rate and precision at each recall, a row each draw."""

    rate_grid: np.ndarray
    recall: np.ndarray
    recall_grid: np.ndarray
    precision: np.ndarray


def _read_curves(alarms, recalls, rate_grid, recall_grid, odds) -> _Curves:
    recall_at = np.empty((len(alarms), len(rate_grid)))
    alarms_at = np.empty((len(alarms), len(recall_grid)))
    for draw, corners in enumerate(zip(alarms, recalls, strict=True)):
        alarm, recall = (np.append(rates, 1.0) for rates in corners)  # flagging all rows
        recall_at[draw] = np.interp(rate_grid, alarm, recall, left=0.0)
        alarms_at[draw] = np.interp(recall_grid, recall, alarm)
    precision = recall_grid / (recall_grid + odds * alarms_at)
    return _Curves(rate_grid, recall_at, recall_grid, precision)
