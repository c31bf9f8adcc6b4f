"""The path: one walk from the empty basis to the full one, retrained on a schedule.

`walk` is the primitive that fitting, cross-validation and truncation share. It is Algorithm 1 of
the paper: choose a centre, add it, optimise all coefficients from time to time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from skauc.basis import Basis
from skauc.engines import Engine
from skauc.judges import QuadraticModel
from skauc.newton import Minimum, search
from skauc.objective import Objective, Point
from skauc.selection import Selector
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
class PathRecord:
    """One retraining: the size of the basis, how good the model was, and the model itself."""

    n_basis: int
    objective: float
    train_auc: float
    validation_auc: float | None
    seconds: float
    n_iter: int
    coef: np.ndarray = field(repr=False)
    intercept: float = field(repr=False)


@dataclass(frozen=True)
class Progress:
    """What `walk` reports: the model's coefficients, and the record if they were retrained."""

    coef: np.ndarray
    record: PathRecord | None


@dataclass(frozen=True)
class Place:
    """Where a walk stands: the weights, and what the judge keeps of the last retraining."""

    point: Point
    model: QuadraticModel | None


@dataclass(frozen=True)
class Walker:
    """What does not change during a walk, and the two things that it does."""

    objective: Objective
    basis: Basis
    selector: Selector
    minimise: Callable[[Objective, np.ndarray], Minimum]
    validation: Engine | None = None
    started: float = field(default_factory=time.perf_counter)

    def start(self) -> Place:
        """Return the place without a basis."""
        return self._place(self.objective.at(np.empty(0)))

    def add(self, place: Place) -> Place | None:
        """Choose a centre, add its column, and make the move that was judged best."""
        point = place.point
        choice = self.selector.next(self.objective, self.basis, point, place.model)
        if choice is None:
            return None
        column = (self.basis.kernel, choice.centre, choice.coordinates, choice.norm)
        self.objective.engine.append(*column)
        if self.validation is not None:
            self.validation.append(*column)
        self.basis.append(choice.centre, choice.index, choice.coordinates, choice.norm)
        widened = Point(np.append(point.weights, 0.0), point.value, point.state)
        line = self.objective.engine.direction(choice.move)
        _, moved = search(self.objective, widened, choice.move, line, slope=0.0)
        return Place(moved, choice.model)

    def retrain(self, place: Place) -> tuple[Place, PathRecord]:
        """Optimise all coefficients and sum up the model."""
        engine = self.objective.engine
        minimum = self.minimise(self.objective, place.point.weights)
        point = minimum.point
        validation_auc = None
        if self.validation is not None:
            validation_auc = self.validation.auc(self.validation.at(point.weights))
        record = PathRecord(
            n_basis=len(self.basis),
            objective=point.value,
            train_auc=engine.auc(point.state),
            validation_auc=validation_auc,
            seconds=time.perf_counter() - self.started,
            n_iter=minimum.n_iter,
            coef=self.basis.coef(point.weights),
            intercept=-engine.threshold(point.state),
        )
        return self._place(point), record

    def _place(self, point: Point) -> Place:
        return Place(point, self.selector.judge.model(self.objective, point))


def walk(walker: Walker, sizes: frozenset[int], report: Callable[[Progress], bool]) -> None:
    """Grow the basis to the largest of ``sizes``, retraining at each of them.

    ``report`` is called after every centre and ends the walk by returning True. The walk also
    ends when no independent candidate is left. Its last report is always of a retrained model.
    """
    place, record = walker.start(), None
    while len(walker.basis) < max(sizes):
        wider = walker.add(place)
        if wider is None:
            break
        place, record = wider, None
        if len(walker.basis) in sizes:
            place, record = walker.retrain(place)
        if report(Progress(walker.basis.coef(place.point.weights), record)):
            break
    if record is None and len(walker.basis):
        _, record = walker.retrain(place)
        report(Progress(record.coef, record))
