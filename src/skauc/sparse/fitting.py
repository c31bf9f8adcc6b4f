"""One fit: pursue centres, refine them, pursue more, and remember every model on the way."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from skauc.data.sampling import Drawn, Either, Lottery, draw_lots
from skauc.data.statistics import feature_moments, rounded
from skauc.data.training import TrainingData
from skauc.engines import LinearColumns
from skauc.exceptions import InvalidDataError
from skauc.feature_map import FeatureMap
from skauc.kernels import same_format
from skauc.model import Model, PathRecord
from skauc.solvers.newton import Point
from skauc.sparse.basis import Basis
from skauc.sparse.checkpoint import Checkpoint, Progress
from skauc.sparse.objective import Objective
from skauc.sparse.path import Place, Walker, walk
from skauc.sparse.refinement import Refined, Refiner, Shape, solve_for_shape
from skauc.sparse.sampling import draw_hard_rows
from skauc.sparse.selection import Selector
from skauc.support import cached_property

# Refinement works on this many rows, which give a good direction at a fraction of the cost;
# in the end, and where there are no more from the start, on this many.
SAMPLE_ROWS = 4_000
HARD_ROWS = 8_000
# The coefficients on the way of a descent need not be exact.
DESCENT_TOL = 1e-2
# Smallest basis that is refined before it grows on.
FIRST_REFINED = 4


@dataclass(frozen=True)
class Steps:
    """Lengths of descents: at sizes on the way, and at the last size.

    Where the sample is not the whole, there are steps before hard rows are drawn and on these.
    """

    on_the_way: int
    at_the_end: int
    before_hard_rows: int
    on_hard_rows: int

    @classmethod
    def counted(cls, n_steps: int) -> Steps:
        """Return a plan of as many steps as the user says, half of them on the way."""
        return cls(-(-n_steps // 2), n_steps, n_steps, n_steps)


# The most steps where rows held out end a descent.
VALIDATED_STEPS = Steps(on_the_way=20, at_the_end=120, before_hard_rows=60, on_hard_rows=80)


@dataclass(frozen=True, eq=False)
class LinearTerm:
    """The columns of the linear part: scale * (x - origin), so that |column|^2 is about one."""

    origin: np.ndarray
    scale: float

    @classmethod
    def of(cls, data: TrainingData) -> LinearTerm:
        """Return the term for these rows."""
        mean, variance = feature_moments(data)
        total = variance.sum()
        total = float(rounded(total, total))
        # A constant more or less changes nothing; a feature may hardly vary at all.
        origin = rounded(mean, np.maximum(np.sqrt(variance), np.abs(mean)))
        return cls(origin, 1.0 / np.sqrt(total) if total > 0 else 1.0)


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
        scaling: FeatureMap | None = None,
        sample: TrainingData | None = None,
        checkpoint: Checkpoint | None = None,
    ):
        self.objective, self.basis = objective, basis
        self.selector, self.minimise = selector, minimise
        self.data, self.linear, self.scaling = data, linear, scaling
        self.sample = sample
        self.records: list[PathRecord] = []
        self.models: dict[int, Model] = {}
        self.generation = 0
        self.started = time.perf_counter()
        self.weights = np.zeros(basis.n_linear)
        # Pursuits and descents have numbers, by which a fit that goes on knows what is done.
        self._phase, self._ended_phase, self._done = 0, -1, None
        self._checkpoint = checkpoint
        self._append_linear()
        if checkpoint is not None:
            self._go_on(checkpoint.load(basis, scaling, data.is_sparse))

    def _append_linear(self) -> None:
        if self.linear is not None:
            self.objective.engine.append(LinearColumns(self.linear.origin, self.linear.scale))

    def pursue(self, sizes: Collection[int], report: Callable[[], bool]) -> bool:
        """Grow the basis to the largest of ``sizes``; return whether ``report`` ended it."""
        self._phase += 1
        if self._done is not None and self._phase < self._done:
            return self._phase == self._ended_phase
        is_ended = False

        def take(place: Place) -> bool:
            nonlocal is_ended
            n_before = len(self.models)
            self._remember(place)
            is_ended = is_ended or (len(self.models) > n_before and report())
            return is_ended

        walker = Walker(self.objective, self.basis, self.selector, self.minimise)
        begin = walker.retrain
        if self._phase == self._done:
            begin, is_ended = walker.stand, report()
        if not is_ended:
            # The first place has no name here, lest its state live on during the walk.
            self.weights = walk(walker, begin(self.weights), sizes, take).point.weights
        if is_ended:
            self._ended_phase = self._phase
        return is_ended

    def refine(self, refiner: Refiner) -> None:
        """Descend, and keep what validates best: never worse than what was there before."""
        self._phase += 1
        if self._done is not None and self._phase <= self._done:
            return
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
        found = replace(found, shape=found.shape.rounded())
        solved, point = solve_for_shape(self.objective, self.basis, found, self.minimise)
        kernels = [replace(kernel, scales=solved.shape.scales) for kernel in self.basis.kernels]
        centres = same_format(solved.shape.centres, self.basis.centres)
        self.basis = self.basis.reshaped(kernels, centres, solved.factor)
        self.weights = point.weights
        self.generation += 1
        return point

    def _remember(self, place: Place, *, is_refined: bool = False) -> None:
        """Keep the model of this size, and a record of it if it was retrained."""
        size = len(self.basis)
        if place.is_retrained:
            quality = self.objective.engine.quality(place.point.state)
            self.threshold = quality.threshold
        self.models[size] = self._model(place.point.weights)
        if not place.is_retrained:
            return
        if self.records and self.records[-1].n_basis == size:
            self.records.pop()
        self.records.append(
            PathRecord(
                n_basis=size,
                objective=place.point.value,
                train_auc=quality.train_auc,
                validation_auc=quality.validation_auc,
                seconds=time.perf_counter() - self.started,
                n_iter=place.n_iter,
                is_refined=is_refined,
                model=self.models[size],
            )
        )
        if self._checkpoint is not None:
            self._checkpoint.save(self._progress(place.point.weights))

    def _progress(self, weights: np.ndarray) -> Progress:
        return Progress(
            phase=self._phase,
            ended_phase=self._ended_phase,
            generation=self.generation,
            seconds=time.perf_counter() - self.started,
            threshold=self.threshold,
            basis=self.basis,
            weights=weights,
            records=self.records,
            models=self.models,
        )

    def _go_on(self, progress: Progress | None) -> None:
        """Take over what another fit had found, and put its columns into the engine."""
        if progress is None:
            return
        self.basis, self.weights = progress.basis, progress.weights
        self.records, self.models = progress.records, progress.models
        self.generation, self.threshold = progress.generation, progress.threshold
        self.started -= progress.seconds
        self._done, self._ended_phase = progress.phase, progress.ended_phase
        self.basis.fill(self.objective.engine)

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
        return indices if self.sample is None else self.sample.row_numbers[indices]


def refined_sizes(n_basis: int) -> list[int]:
    """Return the sizes at which the basis is refined: halves of the last, from 4 or so on."""
    sizes = [n_basis]
    while sizes[0] >= 2 * FIRST_REFINED:
        sizes.insert(0, -(-sizes[0] // 2))
    return sizes


@dataclass(frozen=True)
class HeldOut:
    """The first rows of each class by lot, kept for validation; or none of them."""

    lottery: Lottery
    counts: tuple[int, int]

    @cached_property
    def rows(self) -> Drawn:
        """The rows held out."""
        return self.lottery.between((0, 0), self.counts)

    @property
    def judges(self) -> Drawn | None:
        """The rows held out, or None if there are none."""
        return self.rows if any(self.counts) else None

    @cached_property
    def kept(self) -> Drawn:
        """Those of them that a sample keeps: up to a third as many as it learns from."""
        share = min(HARD_ROWS // 3 / max(sum(self.counts), 1), 1.0)
        return self.lottery.between((0, 0), tuple(math.ceil(share * n) for n in self.counts))

    @property
    def learning(self) -> tuple[int, int]:
        """How many rows of each class are not held out."""
        return tuple(np.subtract(self.lottery.counts, self.counts).tolist())

    def sample(self) -> Either:
        """Return rows to refine on, as even between the classes as may be, and those kept."""
        size = HARD_ROWS if sum(self.learning) <= HARD_ROWS else SAMPLE_ROWS
        last = np.add(self.counts, balanced_counts(self.learning, size))
        return Either(self.kept, self.lottery.between(self.counts, tuple(last.tolist())))

    def hard_sample(self, data: TrainingData, model: Model, sample: TrainingData) -> TrainingData:
        """Return other rows to refine on, those that are hard for a model, and those kept."""
        model = replace(model, scaling=None)
        counts = balanced_counts(self.learning, HARD_ROWS)
        seed = int(draw_lots(np.zeros(1), self.lottery.seed)[0] >> 32)
        return draw_hard_rows(
            data, model, sample, self.learning, counts, self.rows, self.kept, seed
        )


def hold_out_none(data: TrainingData, random_state) -> HeldOut:
    """Return a lottery by which samples are drawn, with no row held out."""
    return HeldOut(_lottery(data, random_state), (0, 0))


def hold_out(data: TrainingData, fraction: float, random_state) -> HeldOut:
    """Choose a stratified part of the rows that count, at least one of each class."""
    lottery = _lottery(data, random_state)
    counts = lottery.counts
    n_rows = sum(counts)
    n_held_out = max(math.ceil(n_rows * fraction), 2)
    if min(counts) < 2 or not 2 <= n_held_out <= n_rows - 2:
        raise InvalidDataError(
            "`early_stopping` and `refine` hold out rows of both classes; the smaller class "
            f"has {min(counts)} of {n_rows} rows and validation_fraction="
            f"{fraction} takes {n_held_out} rows. Change `validation_fraction`, or set both to "
            "False."
        )
    n_positive = min(max(round(n_held_out * counts[1] / n_rows), 1), counts[1] - 1)
    n_negative = min(max(n_held_out - n_positive, 1), counts[0] - 1)
    return HeldOut(lottery, (n_negative, n_positive))


def _lottery(data: TrainingData, random_state) -> Lottery:
    return Lottery(data, random_state.randint(np.iinfo(np.int32).max))


def balanced_counts(counts: tuple[int, int], size: int) -> tuple[int, int]:
    """Return how many rows of each class make ``size`` rows, half of each if there are as many.

    The class ratio plays no part in a loss over pairs.
    """
    n_fewer = min(min(counts), size // 2)
    n_more = min(max(counts), size - n_fewer)
    return (n_fewer, n_more) if counts[0] < counts[1] else (n_more, n_fewer)


def balanced_sample(positive: np.ndarray, rows: np.ndarray, size: int, random_state) -> np.ndarray:
    """Return up to ``size`` of the rows, half of each class if there are as many."""
    shuffled = random_state.permutation(rows)
    of_class = [shuffled[~positive[shuffled]], shuffled[positive[shuffled]]]
    counts = balanced_counts(tuple(map(len, of_class)), size)
    return np.sort(
        np.concatenate([rows[:count] for rows, count in zip(of_class, counts, strict=True)])
    )


def _dense(centres) -> np.ndarray:
    return (centres.toarray() if sparse.issparse(centres) else centres).astype(np.float64)
