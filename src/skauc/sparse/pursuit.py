"""The pursuit: choose a centre, add its column, and optimise all coefficients on a schedule."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from skauc.solvers.newton import Minimum, Point, halving_search
from skauc.sparse.basis import Basis
from skauc.sparse.gains import QuadraticModel
from skauc.sparse.objective import Objective
from skauc.sparse.selection import Selector


@dataclass(frozen=True)
class Iterate:
    """The point that a pursuit has reached.

    ``model`` is what the selection rule keeps of the last retraining, ``n_iter`` the number of
    Newton iterations of this retraining, 0 between retrainings.
    """

    point: Point
    model: QuadraticModel | None
    n_iter: int
    is_retrained: bool


@dataclass(frozen=True)
class Pursuit:
    """What does not change during a pursuit, and its two steps: `add` and `retrain`."""

    objective: Objective
    basis: Basis
    selector: Selector
    minimise: Callable[[Objective, np.ndarray], Minimum]

    def retrain(self, weights: np.ndarray) -> Iterate:
        """Optimise all coefficients, starting from ``weights``."""
        minimum = self.minimise(self.objective, weights)
        model = self.selector.rule.model(self.objective, minimum.point)
        return Iterate(minimum.point, model, minimum.n_iter, is_retrained=True)

    def resume(self, weights: np.ndarray) -> Iterate:
        """Return the iterate of coefficients that are optimal already."""
        point = self.objective.at(weights)
        model = self.selector.rule.model(self.objective, point)
        return Iterate(point, model, 0, is_retrained=True)

    def add(self, iterate: Iterate) -> Iterate:
        """Choose a centre, add its column, and take the step with the largest gain.

        Return ``iterate`` itself if no independent candidate is left.
        """
        point = iterate.point
        choice = self.selector.next(self.objective, self.basis, point, iterate.model)
        if choice is None:
            return iterate
        self.basis.append(
            self.objective.engine,
            choice.centre,
            choice.index,
            choice.coordinates,
            choice.norm,
            choice.width,
        )
        widened = Point(np.append(point.weights, 0.0), point.value, point.state)
        line = self.objective.engine.direction(choice.move)
        _, moved = halving_search(self.objective, widened, choice.move, line, slope=0.0)
        return Iterate(moved, choice.model, 0, is_retrained=False)


def pursue(
    pursuit: Pursuit, iterate: Iterate, sizes: Collection[int], report: Callable[[Iterate], bool]
) -> Iterate:
    """Grow the basis to the largest of ``sizes``, retraining at each of them.

    This is Algorithm 1 of the paper. It starts from a retrained iterate and ends when no
    independent candidate is left, or when ``report``, which is called after every centre, returns
    True. The last iterate that it reports is always retrained.
    """
    while len(pursuit.basis) < max(sizes):
        # Keep one reference to an iterate only: its state is as long as the data.
        size = len(pursuit.basis)
        iterate = pursuit.add(iterate)
        if len(pursuit.basis) == size:
            break
        if len(pursuit.basis) in sizes:
            weights = iterate.point.weights
            del iterate
            iterate = pursuit.retrain(weights)
        if report(iterate):
            break
    if not iterate.is_retrained:
        iterate = pursuit.retrain(iterate.point.weights)
        report(iterate)
    return iterate
