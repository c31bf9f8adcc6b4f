"""The pairwise squared hinge over graded rows in queries, without visiting the pairs.

Within a query a row i is *preferred* to a row j when its grade is higher. Such a pair *violates*
when f_j > f_i - 1, and the loss is the sum of (1 - f_i + f_j)^2 over the violating pairs (times
both weights). Two classes are two grades in one query; `pairs` has their binned form.

Everything follows from one operation: for each row the weighted sum of a vector over the violating
partners below it and above it. The rows of a query are sorted by score and swept; rows enter a
Fenwick tree over the grades as they come within the margin, and prefixes of the tree are the sums.
O(l log l) for the sort, O(l log k) for a sweep over k grades; for two classes the tree is a pair of
running sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skauc.compiling import compiled
from skauc.support import cached_property


@dataclass(frozen=True, eq=False)
class Preferences:
    """Which rows are preferred to which: queries are ranges of rows, grades count from 0 in each.

    Every query has at least two grades, every row a weight above zero.
    """

    bounds: np.ndarray
    grades: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.grades)

    @cached_property
    def queries(self) -> np.ndarray:
        """The number of each row's query."""
        sizes = np.diff(self.bounds)
        return np.repeat(np.arange(len(sizes)), sizes)

    @property
    def pair_weight(self) -> float:
        """The sum of w_i w_j over all pairs of a preferred row and another."""
        return self.violating_weight(np.zeros(len(self)), 1.0)

    def violating_weight(self, scores: np.ndarray, margin: float) -> float:
        """Return the sum of w_i w_j over the pairs with f_j > f_i - margin."""
        below, _ = Violations(self, scores, margin).partner_sums(np.ones(len(self)))
        return float(self.weights @ below)


class Violations:
    """The violating pairs at some scores, and sums over them."""

    def __init__(self, preferences: Preferences, scores: np.ndarray, margin: float = 1.0):
        self.preferences = preferences
        order = np.lexsort((scores, preferences.queries))
        self._order = order
        self._scores = scores[order]
        # One rounded f_i - 1 serves both comparisons, or ties would disagree.
        self._margins = self._scores - margin
        self._grades = preferences.grades[order]
        self._tree = np.empty(int(preferences.grades.max(initial=0)) + 2)

    def partner_sums(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return each row's sums of w x over its violating partners: below it, and above it."""
        below, above = np.empty(len(values)), np.empty(len(values))
        weighted = (self.preferences.weights * values)[self._order]
        _sweep(
            self.preferences.bounds,
            self._scores,
            self._margins,
            self._grades,
            weighted,
            self._order,
            self._tree,
            below,
            above,
        )
        return below, above


@compiled
def _sweep(bounds, scores, margins, grades, weighted, order, tree, below, above):
    """Sum ``weighted`` over violating partners of lower grade and of higher grade.

    Arrays but the last two are sorted by score within each query.
    """
    for query in range(len(bounds) - 1):
        start, stop = bounds[query], bounds[query + 1]
        n_grades = grades[start:stop].max() + 1
        tree[: n_grades + 1] = 0.0
        entering = stop - 1
        for t in range(stop - 1, start - 1, -1):
            while entering >= start and scores[entering] > margins[t]:
                _add(tree, n_grades, grades[entering], weighted[entering])
                entering -= 1
            below[order[t]] = _prefix(tree, grades[t])
        tree[: n_grades + 1] = 0.0
        entering = start
        for t in range(start, stop):
            while entering < stop and margins[entering] < scores[t]:
                # Grades in reverse, so that a prefix holds the higher ones.
                _add(tree, n_grades, n_grades - 1 - grades[entering], weighted[entering])
                entering += 1
            above[order[t]] = _prefix(tree, n_grades - 1 - grades[t])


@compiled
def _add(tree, n_grades, grade, value):
    node = grade + 1
    while node <= n_grades:
        tree[node] += value
        node += node & -node


@compiled
def _prefix(tree, n_lower):
    """Return the sum over the ``n_lower`` lowest grades."""
    total = 0.0
    node = n_lower
    while node > 0:
        total += tree[node]
        node -= node & -node
    return total


@dataclass(frozen=True, eq=False)
class PairLoss:
    """The loss at some scores, half its derivative, and half its Hessian times a vector."""

    violations: Violations
    loss: float
    residual: np.ndarray
    partner_weights: np.ndarray

    @classmethod
    def at(cls, preferences: Preferences, scores: np.ndarray) -> PairLoss:
        """Sum up the hinges 1 - f_i + f_j of the violating pairs, by row.

        The loss is the sum of hinge * (1 - f_i + f_j) = hinge + r.f: no squares are summed.
        """
        violations = Violations(preferences, scores)
        weights = preferences.weights
        centred = scores - _query_means(preferences, scores)
        n_below, n_above = violations.partner_sums(np.ones(len(scores)))
        f_below, f_above = violations.partner_sums(centred)
        as_preferred = weights * (n_below * (1.0 - centred) + f_below)
        as_other = weights * (n_above * (1.0 + centred) - f_above)
        residual = as_other - as_preferred
        loss = float(as_preferred.sum() + residual @ centred)
        return cls(violations, max(loss, 0.0), residual, weights * (n_below + n_above))

    def hessian_product(self, direction: np.ndarray) -> np.ndarray:
        """Multiply a score-space direction by half the Hessian of the loss: w (L x - G(x))."""
        below, above = self.violations.partner_sums(direction)
        below += above
        below *= -self.violations.preferences.weights
        below += self.partner_weights * direction
        return below


def _query_means(preferences: Preferences, scores: np.ndarray) -> np.ndarray:
    """Return the mean score of each row's query, which the loss ignores."""
    sums = np.add.reduceat(scores, preferences.bounds[:-1])
    return (sums / np.diff(preferences.bounds))[preferences.queries]


def pairwise_accuracy(preferences: Preferences, scores: np.ndarray) -> float:
    """Return the weighted share of pairs whose preferred row scores higher; a tie counts half."""
    _, ranks = np.unique(scores, return_inverse=True)
    ranks = ranks.astype(np.float64)
    wrong = preferences.violating_weight(ranks, -0.5)
    wrong_or_tied = preferences.violating_weight(ranks, 0.5)
    return 1.0 - 0.5 * (wrong + wrong_or_tied) / preferences.pair_weight
