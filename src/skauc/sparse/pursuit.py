"""The pursuit: choose centres, add their columns, and optimise all coefficients on a schedule."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from skauc.solvers.newton import Minimum, Point, halving_search
from skauc.sparse.basis import Basis
from skauc.sparse.objective import Objective
from skauc.sparse.selection import Selector


@dataclass(frozen=True)
class Iterate:
    """The point that a pursuit has reached.

    ``n_iter`` is the number of Newton iterations of this retraining, 0 between retrainings.
    """

    point: Point
    n_iter: int
    is_retrained: bool


@dataclass(frozen=True)
class Pursuit:
    """What does not change during a pursuit, and its two steps: `add` and `retrain`."""

    objective: Objective
    basis: Basis
    selector: Selector
    minimise: Callable[[Objective, np.ndarray | Point], Minimum]

    def retrain(self, start: np.ndarray | Point) -> Iterate:
        """Optimise all coefficients, starting from weights or from a point."""
        minimum = self.minimise(self.objective, start)
        weights, n_iter = minimum.point.weights, minimum.n_iter
        del start, minimum
        # Scores that were moved step by step differ in their last digits from those of `resume`.
        return Iterate(self.objective.at(weights), n_iter, is_retrained=True)

    def resume(self, weights: np.ndarray) -> Iterate:
        """Return the iterate of coefficients that are optimal already."""
        return Iterate(self.objective.at(weights), 0, is_retrained=True)

    def add(self, iterate: Iterate, n_most: int) -> Iterate:
        """Choose up to ``n_most`` centres, add their columns, and move the weights.

        Return ``iterate`` itself if no independent candidate is left.
        """
        point = iterate.point
        choice = self.selector.choose(self.objective, self.basis, point, n_most)
        if choice is None:
            return iterate
        self.basis.append(self.objective.engine, choice.added)
        n_added = len(choice.added.indices)
        widened = Point(np.append(point.weights, np.zeros(n_added)), point.value, point.state)
        line = self.objective.engine.direction(choice.move)
        _, moved = halving_search(self.objective, widened, choice.move, line, slope=choice.slope)
        return Iterate(moved, 0, is_retrained=False)


def pursue(
    pursuit: Pursuit, iterate: Iterate, sizes: Collection[int], report: Callable[[Iterate], bool]
) -> Iterate:
    """Grow the basis to the largest of ``sizes``, retraining at each of them and at the first.

    This is Algorithm 1 of the paper. It starts from a retrained iterate and ends when no
    independent candidate is left, or when ``report``, which is called after every addition,
    returns True. The last iterate that it reports is always retrained.
    """
    while len(pursuit.basis) < max(sizes):
        size = len(pursuit.basis)
        n_most = min(other for other in sizes if other > size) - size
        iterate = pursuit.add(iterate, n_most)
        if len(pursuit.basis) == size:
            break
        if size == 0 or len(pursuit.basis) in sizes:
            iterate = pursuit.retrain(iterate.point)
        if report(iterate):
            break
    if not iterate.is_retrained:
        iterate = pursuit.retrain(iterate.point)
        report(iterate)
    return iterate
