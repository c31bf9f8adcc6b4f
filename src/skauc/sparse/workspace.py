"""What the stages of a fit share: the rows, the engine that holds them, and the models so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from skauc.data.sampling import forget_hashes
from skauc.data.training import TrainingData
from skauc.engines import Chosen, Engine, LinearColumns
from skauc.kernels import Kernel, as_rbf, same_format
from skauc.losses.focus import WHOLE, Focus
from skauc.model import Model, PathRecord
from skauc.shaped_rbf import as_shaped
from skauc.solvers.newton import Point
from skauc.sparse.basis import Basis
from skauc.sparse.objective import Objective, pair_weight
from skauc.sparse.pursuit import Iterate
from skauc.sparse.refinement import Refined, solve_for_shape
from skauc.sparse.selection import make_selector
from skauc.sparse.state import DescentStep, FitState, Path
from skauc.support import cached_property

if TYPE_CHECKING:
    from skauc.sparse.plan import Plan


class Workspace:
    """What the stages of one fit share: the rows, the engine that holds them, and the selector.

    ``latest`` is the last state with a model, which an interrupted fit keeps.
    """

    def __init__(
        self,
        rows: TrainingData,
        plan: Plan,
        *,
        open_engine: Callable[..., Engine],
        random_state: np.random.RandomState,
        watch: Callable[[Path], bool],
        save: Callable[[FitState], None],
        on_step: Callable[[DescentStep], None],
        validation: Chosen | None = None,
    ):
        self.rows, self.plan = rows, plan
        self.held_out = plan.hold_out(rows, random_state)
        self.latest: FitState | None = None
        # Whether a pursuit found no independent row any more.
        self.is_exhausted = False
        # Models with the last centres and other Cs.
        self.by_c: dict[float, Model] = {}
        self.save, self.on_step = save, on_step
        self._open_engine, self._random_state, self._watch = open_engine, random_state, watch
        # Rows that never count, because the caller tests on them.
        self.tested = validation
        self._capacity = plan.capacity(rows.n_rows)
        self._stack = ExitStack()

    def __enter__(self) -> Workspace:
        try:
            self._begin()
        except BaseException:
            self._stack.close()
            raise
        return self

    def _begin(self) -> None:
        """Draw the sample, open an engine for it, and make the selector."""
        self.started = time.perf_counter()
        size = self.plan.sample_rows(self.held_out)
        self.sample = None if size is None else self.held_out.sample(self.rows, size)
        parameters = self.plan.parameters
        rows = self.rows if self.sample is None else self.sample
        self.open(rows, self.validation_rows, parameters.first_loss_weight)
        self.selector = make_selector(
            parameters.selection.rule,
            self.engine,
            n_basis=parameters.n_basis,
            n_candidates=parameters.selection.n_candidates,
            minimise=self.minimise,
            random_state=self._random_state,
            shapes=parameters.shapes,
        )

    def __exit__(self, *exception) -> None:
        self._stack.close()

    def forget_samples(self) -> None:
        """Free the samples and what they were drawn by, before all rows get their columns."""
        vars(self).pop("pool", None)
        forget_hashes(self.rows)

    @cached_property
    def pool(self) -> TrainingData:
        """The rows that hard rows are drawn from."""
        return self.held_out.pool(self.rows)

    @property
    def engine(self) -> Engine:
        """The engine that holds the rows of this stage."""
        return self.objective.engine

    def open(
        self, rows: TrainingData, held_out: Chosen | None, C: float, focus: Focus = WHOLE
    ) -> None:
        """Close the engine, and open one for other rows, of which some are held out.

        ``focus`` is the part of the pairs that counts.
        """
        self._stack.close()
        engine = self._open_engine(rows, capacity=self._capacity, focus=focus)
        self._stack.enter_context(engine)
        self.minimise = self.plan.optimiser(self._capacity, focus)
        if self.plan.linear is not None:
            linear = self.plan.linear
            engine.append(LinearColumns(linear.origin, linear.scale, linear.axes))
        self.hold_out(engine, held_out, C)

    def move_to(self, rows: str, size: int, state: FitState) -> None:
        """Open an engine for "all" rows, or for rows that are "hard" for the model of a size."""
        if rows == "all":
            self.forget_samples()
            self.open(self.rows, self.tested, state.C, self.plan.parameters.focus)
            return
        assert self.sample is not None  # there are hard rows only where there is a sample
        size = min(size, max(state.models))
        hard = self.held_out.hard_sample(
            self.pool,
            state.models[size],
            self.sample,
            self.sample.n_rows,
            number=size,
            n_threads=self.engine.n_threads,
        )
        self.open(hard, self.validation_rows, state.C)

    def hold_out(self, engine: Engine, chosen: Chosen | None, C: float) -> None:
        """Hold out rows; the weight of a pair follows from C and the other rows."""
        engine.hold_out(chosen)
        self.objective = Objective(engine, pair_weight(C, engine))

    def weigh(self, C: float) -> None:
        """Give pairs another weight."""
        self.objective = Objective(self.engine, pair_weight(C, self.engine))

    @property
    def validation_rows(self) -> Chosen | None:
        """The rows that validate during pursuit and refinement."""
        return self.held_out.validation if self.tested is None else self.tested

    def begin(self) -> FitState:
        """Return the state of a fit that has found nothing."""
        n_linear = self.plan.n_linear
        n_scales = self.engine.n_features if self.plan.parameters.is_shaped else None
        precision = self.engine.precision
        basis = Basis(self.plan.kernels, self._capacity, precision, n_linear, n_scales)
        return FitState(basis, np.zeros(n_linear), C=self.plan.parameters.first_loss_weight)

    def resume(self, state: FitState) -> FitState:
        """Continue from the state of another fit: go to its rows, and put its columns there."""
        self.started -= state.seconds
        self.latest = state
        self.weigh(state.C)
        if state.moved is not None:
            self.move_to(*state.moved, state)
        state.basis.fill(self.engine)
        return state

    def adopt(self, state: FitState, found: Refined) -> tuple[FitState, Point]:
        """Replace the shape of the basis, and solve for the coefficients."""
        basis = state.basis
        found = replace(found, shape=found.shape.rounded(_narrowest(basis)))
        solved, point = solve_for_shape(self.objective, basis, found, self.minimise)
        assert solved.factor is not None  # it is known once a shape is solved for
        scales = solved.shape.scales
        kernels = [replace(as_rbf(kernel), scales=scales) for kernel in basis.kernels]
        centres = same_format(solved.shape.centres, basis.centres)
        if solved.shape.metric is None:
            kernel: Kernel = replace(as_rbf(basis.kernel()), scales=scales)
        else:
            kernel = replace(as_shaped(basis.kernel()), metric=solved.shape.metric)
        basis = basis.reshaped(kernels, kernel, centres, solved.factor)
        generation = state.generation + 1
        return replace(state, basis=basis, weights=point.weights, generation=generation), point

    def remember(self, state: FitState, iterate: Iterate, *, is_refined: bool = False) -> FitState:
        """Keep the model of this size, and a record of it if it was retrained."""
        state = replace(
            state, weights=iterate.point.weights, seconds=time.perf_counter() - self.started
        )
        if iterate.is_retrained:
            state = self._with_record(state, iterate, is_refined=is_refined)
        else:
            state = replace(state, models={**state.models, len(state.basis): self.model(state)})
        self.latest = state
        return state

    def _with_record(self, state: FitState, iterate: Iterate, *, is_refined: bool) -> FitState:
        """Add a model with its own threshold, and a record in place of the last of this size."""
        quality = self.engine.quality(iterate.point.state)
        state = replace(state, threshold=quality.threshold)
        size, model = len(state.basis), self.model(state)
        record = PathRecord(
            n_basis=size,
            objective=iterate.point.value,
            train_auc=quality.train_auc,
            validation_auc=quality.validation_auc,
            seconds=state.seconds,
            n_iter=iterate.n_iter,
            is_refined=is_refined,
            C=state.C,
            model=model,
        )
        before = (other for other in state.records if other.n_basis != size)
        models = {**state.models, size: model}
        return replace(state, models=models, records=(*before, record))

    def linear_part(self, weights: np.ndarray, threshold: float) -> tuple[np.ndarray | None, float]:
        """Return the linear coefficients of a model, and its intercept."""
        linear = self.plan.linear
        if linear is None:
            return None, -threshold
        coef = linear.coef(weights)
        return coef, -threshold - float(coef @ linear.origin)

    def model(self, state: FitState) -> Model:
        """Return the model of the basis and the weights."""
        basis, linear = state.basis, state.weights[: state.basis.n_linear]
        linear_coef, intercept = self.linear_part(linear, state.threshold)
        return Model(
            kernel=basis.kernel(),
            centres=basis.centres,
            indices=np.asarray(basis.indices),
            coef=basis.coef(state.weights),
            linear_coef=linear_coef,
            intercept=intercept,
            generation=state.generation,
            scaling=self.plan.feature_map,
        )

    def is_stopped(self, state: FitState) -> bool:
        """Show the path to whoever watches; tell whether they or early stopping end the pursuit."""
        is_ended = self._watch(self.path(state))
        return is_ended or self.plan.has_converged(state.records)

    def path(self, state: FitState) -> Path:
        """Return the path so far, with the last model as the one to keep."""
        return Path(state.models, state.records, max(state.models))


def _narrowest(basis: Basis) -> float:
    """Return the largest gamma of the kernels."""
    return max(float(as_rbf(kernel).gamma) for kernel in basis.kernels)
