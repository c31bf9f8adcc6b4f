"""Operating points: the flagged rows of each class at every distinct threshold."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import isotonic_regression

from skauc.metrics.sorted_scores import effective_size, rank_rows
from skauc.support import cached_property

# Thresholds are rounded to at most this many decimals, or not at all.
_MOST_DECIMALS = 15


@dataclass(frozen=True, eq=False)
class OperatingPoints:
    """The flagged rows of each class at each threshold.

    A row is flagged if its score is at least the threshold. The first entry has the highest
    threshold, which flags no row. The last entry has the lowest, which flags all rows.

    Attributes
    ----------
    thresholds : ndarray of shape (n_points,)
        Thresholds in descending order, rounded to few decimals. Each threshold separates its
        scores from those of the next entry, so the rounded value gives the exact counts.
    true_positives, false_positives : ndarray of shape (n_points,)
        Weight of the flagged positive rows and of the flagged negative rows.
    n_effective : tuple of two floats
        Kish's effective number of positive and of negative rows. Without weights, these are the
        numbers of rows.
    n_distinct : int
        Number of entries before thinning.
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
        """Share of the positive rows that are flagged (true positive rate)."""
        return self.true_positives / self.n_positive

    @cached_property
    def false_positive_rate(self) -> np.ndarray:
        """Share of the negative rows that are flagged."""
        return self.false_positives / self.n_negative

    @cached_property
    def precision(self) -> np.ndarray:
        """Share of the flagged rows that are positive; 1 if no row is flagged."""
        flagged = self.true_positives + self.false_positives
        return np.divide(self.true_positives, flagged, out=np.ones_like(flagged), where=flagged > 0)

    @property
    def balanced_accuracy(self) -> np.ndarray:
        """Mean of the recall of the two classes."""
        return (1 + self.recall - self.false_positive_rate) / 2

    def cost(self, false_alarm: float, miss: float) -> np.ndarray:
        """Return the total cost of false alarms and misses at each threshold."""
        return false_alarm * self.false_positives + miss * (self.n_positive - self.true_positives)

    def at_recall(self, recall: float) -> int:
        """Return the entry with at least this recall that flags the fewest rows."""
        return int(np.argmax(self.recall >= recall))

    def at_precision(self, precision: float) -> int | None:
        """Return the entry of highest recall with at least this precision, or None."""
        reached = np.flatnonzero((self.precision >= precision) & (self.recall > 0))
        return int(reached[-1]) if len(reached) else None

    def at_least_cost(self, false_alarm: float, miss: float) -> int:
        """Return the entry of lowest cost. Ties go to the one that flags the fewest rows."""
        unit = max(false_alarm, miss) or 1.0  # sums of huge costs would overflow
        return int(np.argmin(self.cost(false_alarm / unit, miss / unit)))

    def thinned(self, most: int, keep: tuple[int, ...] = ()) -> OperatingPoints:
        """Return about ``most`` entries, spread over both rates and the flagged share.

        The corners of the convex hull of the ROC curve are kept. They include the threshold of
        lowest cost for any costs, and the threshold of best balanced accuracy. The entries in
        ``keep`` are kept too.
        """
        if len(self) <= most:
            return self
        flagged = self.true_positives + self.false_positives
        rank = np.log1p(flagged / flagged[-1] * len(self)) / np.log1p(len(self))
        # From 0 to 3. Positives, negatives and the first rows get a third of the entries each.
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
        """Return the entries on the upper convex hull: the block ends of an isotonic regression."""
        positives = np.diff(self.true_positives)
        either = positives + np.diff(self.false_positives)
        fit = isotonic_regression(positives / either, weights=either, increasing=False)
        return fit.blocks


def operating_points(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray
) -> OperatingPoints:
    """Count the flagged rows of each class at each distinct score. The cost is one sort."""
    ranking = rank_rows(scores, positive, weights)
    true_positives, false_positives = (
        np.append(0.0, np.cumsum(side[::-1])) for side in (ranking.positives, ranking.negatives)
    )
    thresholds = _separating_thresholds(ranking.scores)[::-1]
    return OperatingPoints(
        thresholds,
        true_positives,
        false_positives,
        n_effective=(effective_size(weights[positive]), effective_size(weights[~positive])),
        n_distinct=len(thresholds),
    )


def _separating_thresholds(distinct: np.ndarray) -> np.ndarray:
    """Return a short decimal below all scores, between any two adjacent scores and above all."""
    first, last = float(distinct[0]), float(distinct[-1])  # Python floats overflow to infinity
    margin = min(max(last - first, abs(last), 1e-3), sys.float_info.max) / 20
    above = last + margin
    if math.isinf(above):
        above = math.nextafter(last, math.inf)
    return shortest_decimals(np.append(first - margin, distinct), np.append(distinct, above))


def shortest_decimals(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the number with the fewest decimals in each interval low < x <= high."""
    numbers = high.copy()
    left = np.arange(len(high))
    for decimals in range(_MOST_DECIMALS + 1):
        if len(left) == 0:
            break
        # An integer below 2^53 divided by a power of ten is rounded only once, so the result is
        # the float nearest to the decimal.
        shorter = np.floor(high[left] * 10.0**decimals) / 10.0**decimals
        fits = (low[left] < shorter) & (shorter <= high[left])
        numbers[left[fits]] = shorter[fits]
        left = left[~fits]
    return numbers + 0.0  # no negative zero
