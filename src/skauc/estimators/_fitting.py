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
from skauc.selection import Selector
from skauc.validation import TrainingData

# Refinement starts on this many rows, which give a good direction at a fraction of the cost.
SAMPLE_ROWS = 12_000
# Smallest basis that is refined before it grows on.
FIRST_REFINED = 16


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
    ):
        self.objective, self.basis = objective, basis
        self.selector, self.minimise = selector, minimise
        self.data, self.linear = data, linear
        self.records: list[PathRecord] = []
        self.models: dict[int, Model] = {}
        self.generation = 0
        self.started = time.perf_counter()
        self.weights = np.zeros(basis.n_linear)
        if linear is not None:
            objective.engine.append_linear(linear.origin, linear.scale)

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

    def refine(self, refiner: Refiner, sample: Objective, *, on_all_rows: bool) -> None:
        """Descend on a sample and then, if asked to, on all rows; keep what validates better."""
        pursued, before = self._as_refined(), self.records[-1].validation_auc
        found = pursued
        for objective in (sample, self.objective) if on_all_rows else (sample,):
            start, _ = solve_for_shape(objective, self.basis, found, self.minimise)
            found = refiner.refine(objective, self.basis, start)
        point = self._adopt(found)
        if before is not None and self.objective.engine.validation_auc(point.state) < before:
            point = self._adopt(pursued)
        self._remember(Place(point, None, found.n_iter, is_retrained=True), is_refined=True)

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
            indices=np.asarray(self.basis.indices),
            coef=self.basis.coef(weights),
            linear_coef=linear_coef,
            intercept=intercept,
            generation=self.generation,
        )


def refined_sizes(n_basis: int) -> list[int]:
    """Return the sizes at which the basis is refined: halves of the last, from 16 or so on."""
    sizes = [n_basis]
    while sizes[0] >= 2 * FIRST_REFINED:
        sizes.insert(0, -(-sizes[0] // 2))
    return sizes


def draw_sample(data: TrainingData, held_out: np.ndarray, random_state) -> np.ndarray:
    """Return rows for the first descent: half of them positive if there are as many.

    The class ratio plays no part in a loss over pairs. Rows held out are all kept, up to as many.
    """
    counting = (data.weights > 0) & ~held_out
    n_positive = min(np.count_nonzero(data.positive & counting), SAMPLE_ROWS // 2)
    groups = (
        (data.positive & counting, n_positive),
        (~data.positive & counting, SAMPLE_ROWS - n_positive),
        (held_out, SAMPLE_ROWS),
    )
    parts = [random_state.permutation(np.flatnonzero(mask))[:size] for mask, size in groups]
    return np.sort(np.concatenate(parts))


def _dense(centres) -> np.ndarray:
    return (centres.toarray() if sparse.issparse(centres) else centres).astype(np.float64)
