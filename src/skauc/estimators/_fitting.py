"""One fit: pursue centres, refine them, pursue more, and remember every model on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from skauc.basis import Basis
from skauc.kernels import same_format
from skauc.model import Model, PathRecord
from skauc.moments import feature_moments
from skauc.objective import Objective, Point
from skauc.path import Place, Walker, walk
from skauc.refine import Refined, Refiner, Shape, solve_for_shape
from skauc.scaling import RankScaling
from skauc.selection import Selector
from skauc.validation import TrainingData

# Refinement works on this many rows, which give a good direction at a fraction of the cost.
SAMPLE_ROWS = 8_000
# Steps of the descent: at sizes on the way, at the last size, and on all rows in the end.
STEPS_ON_THE_WAY = 20
STEPS_AT_THE_END = 60
STEPS_ON_ALL_ROWS = 12
# The coefficients on the way of a descent need not be exact.
DESCENT_TOL = 1e-2
# Smallest basis that is refined before it grows on.
FIRST_REFINED = 4


@dataclass(frozen=True, eq=False)
class LinearTerm:
    """The columns of the linear part: scale * (x - origin), so that |column|^2 is about one."""

    origin: np.ndarray
    scale: float

    @classmethod
    def of(cls, data: TrainingData) -> LinearTerm:
        """Return the term for these rows."""
        mean, variance = feature_moments(data.X, data.weights)
        total = float(variance.sum())
        return cls(mean, 1.0 / np.sqrt(total) if total > 0 else 1.0)


class Fitting:
    """What a fit works with, and what it has found so far."""

    def __init__(
        self,
        objective: Objective,
        basis: Basis,
        selector: Selector,
        minimise: Callable,
        data: TrainingData,
        linear: LinearTerm | None = None,
        scaling: RankScaling | None = None,
        row_numbers: np.ndarray | None = None,
    ):
        self.objective, self.basis = objective, basis
        self.selector, self.minimise = selector, minimise
        self.data, self.linear, self.scaling = data, linear, scaling
        self.row_numbers = row_numbers
        self.records: list[PathRecord] = []
        self.models: dict[int, Model] = {}
        self.generation = 0
        self.started = time.perf_counter()
        self.weights = np.zeros(basis.n_linear)
        self._append_linear()

    def _append_linear(self) -> None:
        if self.linear is not None:
            self.objective.engine.append_linear(self.linear.origin, self.linear.scale)

    def pursue(self, sizes: Collection[int], report: Callable[[], bool]) -> bool:
        """Grow the basis to the largest of ``sizes``; return whether ``report`` ended it."""
        is_ended = False

        def take(place: Place) -> bool:
            nonlocal is_ended
            n_before = len(self.models)
            self._remember(place)
            is_ended = is_ended or (len(self.models) > n_before and report())
            return is_ended

        walker = Walker(self.objective, self.basis, self.selector, self.minimise)
        self.weights = walk(walker, self.weights, sizes, take).point.weights
        return is_ended

    def refine(self, refiner: Refiner) -> None:
        """Descend, and keep what validates best: never worse than what was there before."""
        start, _ = solve_for_shape(self.objective, self.basis, self._as_refined(), self.minimise)
        found = refiner.refine(self.objective, self.basis, start)
        point = self._adopt(found)
        self._remember(Place(point, None, found.n_iter, is_retrained=True), is_refined=True)

    def move_to(self, objective: Objective) -> None:
        """Go on with the same basis on other rows: all of them, after a sample."""
        self.objective = objective
        self._append_linear()
        self._adopt(self._as_refined())

    def finish(self, objective: Objective) -> None:
        """Fit the coefficients of the last model once more, on the rows of that objective."""
        self.objective = objective
        minimum = self.minimise(objective, self.weights)
        self.weights = minimum.point.weights
        place = Place(minimum.point, None, minimum.n_iter, is_retrained=True)
        validated = self.records[-1].validation_auc
        self._remember(place, is_refined=True)
        self.records[-1] = replace(self.records[-1], validation_auc=validated)

    def _as_refined(self) -> Refined:
        scales = self.basis.kernels[0].scales
        shape = Shape(
            _dense(self.basis.centres),
            np.ones(self.basis.centres.shape[1]) if scales is None else scales,
        )
        linear = self.weights[: self.basis.n_linear]
        return Refined(shape, linear, self.basis.coef(self.weights), None)

    def _adopt(self, found: Refined) -> Point:
        """Put refined centres and scales in the place of the basis."""
        solved, point = solve_for_shape(self.objective, self.basis, found, self.minimise)
        kernels = [replace(kernel, scales=solved.shape.scales) for kernel in self.basis.kernels]
        centres = same_format(solved.shape.centres, self.data.X)
        self.basis = self.basis.reshaped(kernels, centres, solved.factor)
        self.weights = point.weights
        self.generation += 1
        return point

    def _remember(self, place: Place, *, is_refined: bool = False) -> None:
        """Keep the model of this size, and a record of it if it was retrained."""
        size = len(self.basis)
        engine = self.objective.engine
        if place.is_retrained:
            self.threshold = engine.threshold(place.point.state)
        self.models[size] = self._model(place.point.weights)
        if not place.is_retrained:
            return
        if self.records and self.records[-1].n_basis == size:
            self.records.pop()
        self.records.append(
            PathRecord(
                n_basis=size,
                objective=place.point.value,
                train_auc=engine.auc(place.point.state),
                validation_auc=engine.validation_auc(place.point.state),
                seconds=time.perf_counter() - self.started,
                n_iter=place.n_iter,
                is_refined=is_refined,
                model=self.models[size],
            )
        )

    def _model(self, weights: np.ndarray) -> Model:
        linear_coef, intercept = None, -self.threshold
        if self.linear is not None:
            linear_coef = self.linear.scale * weights[: self.basis.n_linear]
            intercept -= float(linear_coef @ self.linear.origin)
        return Model(
            kernel=self.basis.kernel(),
            centres=self.basis.centres,
            indices=self._row_numbers(np.asarray(self.basis.indices)),
            coef=self.basis.coef(weights),
            linear_coef=linear_coef,
            intercept=intercept,
            generation=self.generation,
            scaling=self.scaling,
        )

    def _row_numbers(self, indices: np.ndarray) -> np.ndarray:
        return indices if self.row_numbers is None else self.row_numbers[indices]


def refined_sizes(n_basis: int) -> list[int]:
    """Return the sizes at which the basis is refined: halves of the last, from 4 or so on."""
    sizes = [n_basis]
    while sizes[0] >= 2 * FIRST_REFINED:
        sizes.insert(0, -(-sizes[0] // 2))
    return sizes


def draw_sample(data: TrainingData, held_out: np.ndarray, random_state) -> np.ndarray:
    """Return rows to refine on, and of those held out up to a third as many."""
    learning = np.flatnonzero((data.weights > 0) & ~held_out)
    kept = random_state.permutation(np.flatnonzero(held_out))[: SAMPLE_ROWS // 3]
    sample = balanced_sample(data.positive, learning, SAMPLE_ROWS, random_state)
    return np.sort(np.concatenate((sample, kept)))


def balanced_sample(positive: np.ndarray, rows: np.ndarray, size: int, random_state) -> np.ndarray:
    """Return up to ``size`` of the rows, half of each class if there are as many.

    The class ratio plays no part in a loss over pairs.
    """
    shuffled = random_state.permutation(rows)
    of_class = [shuffled[positive[shuffled]], shuffled[~positive[shuffled]]]
    fewer, more = sorted(of_class, key=len)
    fewer = fewer[: size // 2]
    return np.sort(np.concatenate((fewer, more[: size - len(fewer)])))


def _dense(centres) -> np.ndarray:
    return (centres.toarray() if sparse.issparse(centres) else centres).astype(np.float64)
