"""The part of the pairs that matters: the highest negatives and the lowest positives.

The area under the ROC curve up to a false positive rate b depends on the highest negatives only, a
fraction b of their weight. The area above a true positive rate a depends on the lowest positives
only, a fraction 1 - a of their weight. A `Focus` holds both fractions. The rows of a class are
ordered by score, the hardest first. A row with a part q of the weight of its class before it counts
with the share

    1 for q <= b,    sqrt(b / q) for q > b

of its weight: outside of the part that matters, rows count the less, the further outside they are.

Shares fall with the order, and the loss of a pair falls in the score of the positive and rises in
the score of the negative. So the order by score has the largest loss of all orders. The loss is a
maximum of convex functions, and is convex in the scores. Its derivatives are those for fixed
shares.

A share of 0 for q > b would be convex as well. But unless most positives are above the highest
negatives, the best model is then the constant one: any other has a larger loss on the hardest rows.
Newton's method would also need hundreds of steps, because the derivative jumps where rows change
places at the boundary.

Rows of equal score get the mean of their shares. So the order of the rows does not matter, and a
row of weight 2 counts as two rows. Scores tell the shares exactly (`Focus.of_rows`). Cells tell
them up to the width of a cell, and need only sums by cell (`Focus.of_cells`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from skauc.compiling import compiled
from skauc.losses.buckets import sort_by_buckets


@dataclass(frozen=True)
class Focus:
    """The fractions of the weight of each class that matter."""

    negatives: float = 1.0
    positives: float = 1.0

    @property
    def is_whole(self) -> bool:
        """Whether all pairs matter."""
        return self.fractions == (1.0, 1.0)

    @property
    def fractions(self) -> tuple[float, float]:
        """The fractions in the order of the classes."""
        return self.negatives, self.positives

    def counted(self, *weights: float) -> tuple[float, ...]:
        """Return how much of the weights of the negative and the positive class counts."""
        return tuple(
            weight * (2.0 * math.sqrt(fraction) - fraction)
            for weight, fraction in zip(weights, self.fractions, strict=True)
        )

    def of_rows(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the weights times the shares of the rows; the same array if all pairs matter."""
        if self.is_whole:
            return weights
        out = weights.copy()
        for side, fraction in enumerate(self.fractions):
            if fraction < 1.0:
                _focus_rows(scores, positive, weights, side == 1, fraction, out)
        return out

    def of_cells(self, weights: np.ndarray) -> np.ndarray:
        """Return the shares of the rows, by class and cell.

        ``weights`` are the sums of the weights by class and cell.
        """
        shares = np.ones(weights.shape)
        if self.negatives < 1.0:
            _focus_cells(weights[0, ::-1], self.negatives, shares[0, ::-1])
        if self.positives < 1.0:
            _focus_cells(weights[1], self.positives, shares[1])
        return shares


WHOLE = Focus()


def make_focus(max_fpr: float | None, min_tpr: float | None) -> Focus:
    """Return the focus on false positive rates up to one limit and true ones above the other."""
    return Focus(
        1.0 if max_fpr is None else float(max_fpr), 1.0 if min_tpr is None else 1.0 - float(min_tpr)
    )


@compiled
def _focus_cells(weights, fraction, shares):
    """Write the shares of the rows in each cell; the hardest cells come first."""
    full, before = fraction * weights.sum(), 0.0
    for c in range(len(weights)):
        shares[c] = _mean_share(before, weights[c], full)
        before += weights[c]


@compiled
def _focus_rows(scores, positive, weights, side, fraction, out):
    """Write the weights of the rows of one class, times their shares."""
    sign = 1.0 if side else -1.0
    rows, keys, n = np.empty(len(scores), np.int32), np.empty(len(scores)), 0
    lowest, highest, total = np.inf, -np.inf, 0.0
    for i in range(len(scores)):
        if positive[i] == side:
            rows[n], keys[n] = i, sign * scores[i]
            lowest, highest = min(lowest, keys[n]), max(highest, keys[n])
            total += weights[i]
            n += 1
    order, ascending, _, _ = sort_by_buckets(keys[:n], lowest, highest)
    full, before, start = fraction * total, 0.0, 0
    while start < n:
        stop, weight = start, 0.0
        while stop < n and ascending[stop] == ascending[start]:
            weight += weights[rows[order[stop]]]
            stop += 1
        share = _mean_share(before, weight, full)
        for place in range(start, stop):
            out[rows[order[place]]] *= share
        before += weight
        start = stop


@compiled
def _mean_share(before, weight, full):
    """Return the mean share of rows of this weight, with the weight ``before`` before them.

    It is the mean of min(1, sqrt(full / v)) over v from ``before`` to ``before + weight``.
    """
    until = before + weight
    if until <= full:
        return 1.0
    if before >= full:
        return 2.0 * np.sqrt(full) / (np.sqrt(before) + np.sqrt(until))
    return (2.0 * np.sqrt(full * until) - full - before) / weight
