"""The pairwise squared hinge over graded rows in queries, without a loop over pairs.

Within a query, row i is *preferred* to row j if its grade is higher. Such a pair *violates* the
margin if f_j > f_i - 1. The loss is the sum of (1 - f_i + f_j)^2 over the violating pairs, times
both weights. Two classes are two grades in one query; `pairs` has a binned form for them.

Everything follows from one operation: for each row, the weighted sum of a vector over its violating
partners of lower grade and of higher grade. The rows of a query are sorted by score and swept. A
row enters a Fenwick tree over the grades when it comes within the margin, and prefix sums of the
tree are the result. The sort takes O(l log l), and a sweep O(l log k) for k grades. For two classes
the tree is a pair of running sums.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skauc.compiling import compiled
from skauc.losses.focus import WHOLE, Focus
from skauc.support import cached_property


@dataclass(frozen=True, eq=False)
class Preferences:
    """Rows sorted by query, with grades that count from 0 within each query.

    Query q holds the rows from ``bounds[q]`` to ``bounds[q + 1]``. Every query has at least two
    grades, and every weight is positive. A ``focus`` is for one query of two grades only.
    """

    bounds: np.ndarray
    grades: np.ndarray
    weights: np.ndarray
    focus: Focus = WHOLE

    def __len__(self) -> int:
        return len(self.grades)

    @cached_property
    def queries(self) -> np.ndarray:
        """The index of each row's query."""
        sizes = np.diff(self.bounds)
        return np.repeat(np.arange(len(sizes)), sizes)

    def focused_at(self, scores: np.ndarray) -> Preferences:
        """Return the preferences with the weights that count at these scores."""
        if self.focus.is_whole:
            return self
        weights = self.focus.of_rows(scores, self.grades == 1, self.weights)
        return replace(self, weights=weights, focus=WHOLE)

    @property
    def pair_weight(self) -> float:
        """The sum of w_i w_j over all pairs."""
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
        # Both comparisons use the same rounded f_i - 1, so that they agree about ties.
        self._margins = self._scores - margin
        self._grades = preferences.grades[order]
        self._tree = np.empty(int(preferences.grades.max(initial=0)) + 2)

    def partner_sums(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return each row's sums of w x over violating partners of lower and of higher grade."""
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

    All arrays but the last two are sorted by score within each query.
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
                # Grades in reverse order, so that a prefix holds the higher grades.
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
    """The loss at given scores, half its derivative, and products with half its Hessian."""

    violations: Violations
    loss: float
    residual: np.ndarray
    partner_weights: np.ndarray

    @classmethod
    def at(cls, preferences: Preferences, scores: np.ndarray) -> PairLoss:
        """Sum the hinges 1 - f_i + f_j of the violating pairs by row.

        The loss is the sum of hinge * (1 - f_i + f_j), which is the sum of the hinges plus r.f. So
        no squares need to be summed.
        """
        preferences = preferences.focused_at(scores)
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
    """Return the mean score of each row's query. It does not affect the loss."""
    sums = np.add.reduceat(scores, preferences.bounds[:-1])
    return (sums / np.diff(preferences.bounds))[preferences.queries]


def pairwise_accuracy(preferences: Preferences, scores: np.ndarray) -> float:
    """Return the weighted fraction of pairs in the right order. A tie counts one half."""
    _, ranks = np.unique(scores, return_inverse=True)
    ranks = ranks.astype(np.float64)
    wrong = preferences.violating_weight(ranks, -0.5)
    wrong_or_tied = preferences.violating_weight(ranks, 0.5)
    return 1.0 - 0.5 * (wrong + wrong_or_tied) / preferences.pair_weight
