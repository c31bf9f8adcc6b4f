"""What a threshold does: true and false alarms at every threshold that makes a difference."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import isotonic_regression

from skauc.support import cached_property

# Decimals that a threshold may need before its full digits are used.
_MOST_DECIMALS = 15


@dataclass(frozen=True, eq=False)
class OperatingPoints:
    """Flag a row if its score is at least a threshold: the outcome for each threshold.

    Entries go from the highest threshold, which flags nothing, to the lowest, which flags all.

    Attributes
    ----------
    thresholds : ndarray of shape (n_points,)
        Short decimals, descending. Each lies above the scores of the next entry, so that it gives
        the counts of its entry exactly as it is printed.
    true_positives, false_positives : ndarray of shape (n_points,)
        The weight of the positive and of the negative rows that are flagged.
    n_effective : tuple of two floats
        Kish's effective number of positive and of negative rows, (sum w)^2 / sum w^2; without
        weights, the number of rows.
    n_distinct : int
        Number of entries before any thinning.
    """

    thresholds: np.ndarray
    true_positives: np.ndarray
    false_positives: np.ndarray
    n_effective: tuple[float, float]
    n_distinct: int

    def __len__(self) -> int:
        return len(self.thresholds)

    @property
    def n_positive(self) -> float:
        """Weight of all positive rows."""
        return float(self.true_positives[-1])

    @property
    def n_negative(self) -> float:
        """Weight of all negative rows."""
        return float(self.false_positives[-1])

    @cached_property
    def recall(self) -> np.ndarray:
        """Share of the positive rows that is flagged: the true positive rate."""
        return self.true_positives / self.n_positive

    @cached_property
    def false_positive_rate(self) -> np.ndarray:
        """Share of the negative rows that is flagged."""
        return self.false_positives / self.n_negative

    @cached_property
    def precision(self) -> np.ndarray:
        """Share of the flagged rows that is positive; 1 where nothing is flagged."""
        flagged = self.true_positives + self.false_positives
        return np.divide(self.true_positives, flagged, out=np.ones_like(flagged), where=flagged > 0)

    @property
    def balanced_accuracy(self) -> np.ndarray:
        """Mean of the recalls of the two classes."""
        return (1 + self.recall - self.false_positive_rate) / 2

    def cost(self, false_alarm: float, miss: float) -> np.ndarray:
        """Return the cost of all false alarms and misses."""
        return false_alarm * self.false_positives + miss * (self.n_positive - self.true_positives)

    def at_recall(self, recall: float) -> int:
        """Return the entry of the highest threshold with that recall: the fewest alarms."""
        return int(np.argmax(self.recall >= recall))

    def at_precision(self, precision: float) -> int | None:
        """Return the entry of best recall with that precision; None where no alarm is as sure."""
        reached = np.flatnonzero((self.precision >= precision) & (self.recall > 0))
        return int(reached[-1]) if len(reached) else None

    def at_least_cost(self, false_alarm: float, miss: float) -> int:
        """Return the entry of least cost, of several the one with the fewest alarms."""
        return int(np.argmin(self.cost(false_alarm, miss)))

    def thinned(self, most: int, keep: tuple[int, ...] = ()) -> OperatingPoints:
        """Return about ``most`` of the points, spread over both rates and the flagged share.

        The corners of the convex hull of the ROC curve stay, so that the threshold of least cost is
        there for any costs, and that of best balanced accuracy; so do the entries in ``keep``.
        """
        if len(self) <= most:
            return self
        flagged = self.true_positives + self.false_positives
        rank = np.log1p(flagged / flagged[-1] * len(self)) / np.log1p(len(self))
        # Runs from 0 to 3: rare positives, common negatives and the first few rows all get a part.
        clock = self.recall + self.false_positive_rate + rank
        corners = np.append(self._hull_corners(), keep)
        spread = np.searchsorted(clock, np.linspace(0, clock[-1], max(most - len(corners), 2)))
        kept = np.union1d(np.minimum(spread, len(self) - 1), corners).astype(int)
        return replace(
            self,
            thresholds=self.thresholds[kept],
            true_positives=self.true_positives[kept],
            false_positives=self.false_positives[kept],
        )

    def _hull_corners(self) -> np.ndarray:
        """Return the entries on the upper convex hull: pools of adjacent violators end there."""
        positives = np.diff(self.true_positives)
        either = positives + np.diff(self.false_positives)
        fit = isotonic_regression(positives / either, weights=either, increasing=False)
        return fit.blocks


def operating_points(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray
) -> OperatingPoints:
    """Count true and false alarms at each distinct score; the cost is one sort."""
    distinct, place = np.unique(scores, return_inverse=True)
    counts = [
        np.append(0.0, np.cumsum(np.bincount(place, weights * side)[::-1]))
        for side in (positive, ~positive)
    ]
    n_effective = tuple(
        float(weights[side].sum() ** 2 / np.sum(weights[side] ** 2))
        for side in (positive, ~positive)
    )
    thresholds = _separating_thresholds(distinct)[::-1]
    return OperatingPoints(thresholds, *counts, n_effective, len(thresholds))


def _separating_thresholds(distinct: np.ndarray) -> np.ndarray:
    """Return one short decimal below all scores, one between any two, and one above all."""
    margin = max(float(np.ptp(distinct)), abs(float(distinct[-1])), 1e-3) / 20
    low = np.concatenate([[distinct[0] - margin], distinct])
    high = np.append(distinct, distinct[-1] + margin)
    return shortest_decimals(low, high)


def shortest_decimals(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the number with the fewest decimals in each interval low < number <= high."""
    numbers = high.copy()
    left = np.arange(len(high))
    for decimals in range(_MOST_DECIMALS + 1):
        if len(left) == 0:
            break
        # A whole number below 2^53 over a power of ten is rounded once: it is the decimal itself.
        shorter = np.floor(high[left] * 10.0**decimals) / 10.0**decimals
        fits = (low[left] < shorter) & (shorter <= high[left])
        numbers[left[fits]] = shorter[fits]
        left = left[~fits]
    return numbers + 0.0  # no negative zero
