"""The path: one walk from the empty basis to the full one, retrained on a schedule.

`walk` is the primitive that fitting, cross-validation and truncation share. It is Algorithm 1 of
the paper: choose a centre, add it, optimise all coefficients from time to time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from skauc.solvers.newton import Minimum, Point, search
from skauc.sparse.basis import Basis
from skauc.sparse.gains import QuadraticModel
from skauc.sparse.objective import Objective
from skauc.sparse.selection import Selector
from skauc.validation import check_choice


def _geometric() -> Iterator[int]:
    """floor(2^(j/4)), in whole numbers: the fourth root of 2^j is the root of its root."""
    return (math.isqrt(math.isqrt(2**j)) for j in count())


SCHEDULES: dict[str, Callable[[], Iterator[int]]] = {
    "geometric": _geometric,
    "doubling": lambda: (2**j for j in count()),
    "always": lambda: count(1),
}


def retraining_sizes(retrain: str, n_basis: int) -> frozenset[int]:
    """Return the sizes at which all coefficients are optimised; the last one always is."""
    check_choice("retrain", retrain, SCHEDULES)
    sizes = {n_basis}
    for size in SCHEDULES[retrain]():
        if size > n_basis:
            return frozenset(sizes)
        sizes.add(size)


@dataclass(frozen=True)
class Place:
    """Where a walk stands: the weights, and what the judge keeps of the last retraining."""

    point: Point
    model: QuadraticModel | None
    n_iter: int
    is_retrained: bool


@dataclass(frozen=True)
class Walker:
    """What does not change during a walk, and the two things that it does."""

    objective: Objective
    basis: Basis
    selector: Selector
    minimise: Callable[[Objective, np.ndarray], Minimum]

    def retrain(self, weights: np.ndarray) -> Place:
        """Optimise all coefficients, from the given ones on."""
        minimum = self.minimise(self.objective, weights)
        model = self.selector.judge.model(self.objective, minimum.point)
        return Place(minimum.point, model, minimum.n_iter, is_retrained=True)

    def stand(self, weights: np.ndarray) -> Place:
        """Return the place of coefficients that are the best already."""
        point = self.objective.at(weights)
        return Place(point, self.selector.judge.model(self.objective, point), 0, is_retrained=True)

    def add(self, place: Place) -> Place:
        """Choose a centre, add its column, and make the move that was judged best.

        Where no independent candidate is left, return the same place.
        """
        point = place.point
        choice = self.selector.next(self.objective, self.basis, point, place.model)
        if choice is None:
            return place
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
        _, moved = search(self.objective, widened, choice.move, line, slope=0.0)
        return Place(moved, choice.model, 0, is_retrained=False)


def walk(
    walker: Walker, place: Place, sizes: Collection[int], report: Callable[[Place], bool]
) -> Place:
    """Grow the basis to the largest of ``sizes``, retraining at each of them.

    It starts at a retrained place. ``report`` is called after every centre and ends the walk by
    returning True. The walk also ends when no independent candidate is left. Its last report is
    always of a retrained model.
    """
    while len(walker.basis) < max(sizes):
        # No second name for a place: its state is as long as the data and ends with it.
        size = len(walker.basis)
        place = walker.add(place)
        if len(walker.basis) == size:
            break
        if len(walker.basis) in sizes:
            weights, place = place.point.weights, None
            place = walker.retrain(weights)
        if report(place):
            break
    if not place.is_retrained:
        place = walker.retrain(place.point.weights)
        report(place)
    return place
