"""The stages of a fit. Each takes what was found so far and returns more.

| stage    | what it does                                                                      |
| -------- | --------------------------------------------------------------------------------- |
| `Pursue` | chooses centres by their gain, adds their columns, retrains on the schedule       |
| `Refine` | changes the shape of the centres by a few steps of L-BFGS                         |
| `SetC`   | estimates C from the coefficients, for what follows                               |
| `MoveTo` | solves for the coefficients of the same basis on other rows: hard rows, or all    |
| `Finish` | fits the coefficients once more, to all rows including those held out             |
| `TryCs`  | fits the coefficients once more for each of several Cs                            |

`skauc.sparse.finishing` has one more, for a smaller model that early stopping keeps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np

from skauc.kernels import as_rbf, densified
from skauc.shaped_rbf import ShapedRBF
from skauc.solvers.newton import cholesky_step
from skauc.sparse.basis import Basis
from skauc.sparse.loss_weight import estimated_loss_weight
from skauc.sparse.pursuit import Iterate, Pursuit, pursue
from skauc.sparse.refinement import Refined, refine
from skauc.sparse.shapes import Shape
from skauc.sparse.state import DescentStep, FitState
from skauc.sparse.workspace import Workspace

# Relative accuracy of the coefficients during a descent; its gradient needs no more.
DESCENT_TOL = 1e-2


class Stage(ABC):
    """One step of a fit."""

    # Whether the stage is left out once the basis has stopped growing.
    grows = False
    # Whether a checkpoint is written after the stage.
    saves = True

    @abstractmethod
    def run(self, state: FitState, work: Workspace) -> FitState:
        """Return what is found after this stage."""


@dataclass(frozen=True)
class Pursue(Stage):
    """Grow the basis to the largest of ``sizes``, retraining at each of them."""

    sizes: Collection[int]
    grows = True

    def run(self, state: FitState, work: Workspace) -> FitState:
        """Return the state with a larger basis."""
        is_stopped = state.is_inside and work.is_stopped(state)

        def report(iterate: Iterate) -> bool:
            nonlocal state, is_stopped
            is_new = len(state.basis) not in state.models
            state = work.remember(state, iterate)
            if iterate.is_retrained:
                work.save(replace(state, is_inside=True))
            is_stopped = is_stopped or (is_new and work.is_stopped(state))
            return is_stopped

        pursuit = Pursuit(work.objective, state.basis, work.selector, work.minimise)
        begin = pursuit.resume if state.is_inside else pursuit.retrain
        if not is_stopped:
            # The first iterate gets no name here, so that its state is freed during the pursuit.
            last = pursue(pursuit, begin(state.weights), self.sizes, report)
            state = replace(state, weights=last.point.weights)
        is_exhausted = not is_stopped and len(state.basis) < max(self.sizes)
        work.is_exhausted = work.is_exhausted or is_exhausted
        return replace(state, is_grown=is_stopped or is_exhausted, is_inside=False)


@dataclass(frozen=True)
class Refine(Stage):
    """Move the centres and learn length scales, for at most ``n_steps`` L-BFGS steps."""

    n_steps: int
    grows: bool = False

    def run(self, state: FitState, work: Workspace) -> FitState:
        """Return the refined state."""
        start = _as_refined(state.basis, state.weights)
        loosely = replace(work.minimise, tol=max(work.plan.parameters.tol, DESCENT_TOL))
        before = work.path(state)
        found = refine(
            work.objective,
            state.basis,
            start,
            self.n_steps,
            loosely,
            on_step=lambda n_done: work.on_step(DescentStep(before, n_done, self.n_steps)),
        )
        state, point = work.adopt(state, found)
        iterate = Iterate(point, found.n_iter, is_retrained=True)
        return work.remember(state, iterate, is_refined=True)


@dataclass(frozen=True)
class SetC(Stage):
    """Estimate C from the coefficients, for all stages that follow."""

    def run(self, state: FitState, work: Workspace) -> FitState:
        """Return the state with another C."""
        # Conjugate gradients are for bases whose Hessian is too large.
        if work.minimise.step is cholesky_step:
            state = replace(state, C=estimated_loss_weight(work.objective, state.weights))
            work.weigh(state.C)
        return state


@dataclass(frozen=True)
class MoveTo(Stage):
    """Continue with the same basis on other rows: "all", or a sample of "hard" rows.

    Hard rows are those of the model of ``size``. Centres are chosen and refined for the whole ROC
    curve. If only a part of it matters, the coefficients are fitted for this part on all rows.
    """

    rows: str
    size: int
    grows: bool = False
    saves = False

    def run(self, state: FitState, work: Workspace) -> FitState:
        """Return the state with the coefficients that are best on these rows."""
        work.move_to(self.rows, self.size, state)
        basis = state.basis.merged()
        basis.fill(work.engine)
        point = work.minimise(work.objective, state.weights, tol=DESCENT_TOL).point
        moved = self.rows, self.size
        return replace(state, basis=basis, weights=point.weights, moved=moved)


@dataclass(frozen=True)
class Finish(Stage):
    """Fit the coefficients of the last model to all rows, including those held out."""

    def run(self, state: FitState, work: Workspace) -> FitState:
        """Return the state with the final coefficients; the validation AUC is the one before."""
        work.hold_out(work.engine, work.tested, state.C)
        minimum = work.minimise(work.objective, state.weights)
        validated = state.records[-1].validation_auc
        iterate = Iterate(minimum.point, minimum.n_iter, is_retrained=True)
        state = work.remember(state, iterate, is_refined=bool(work.plan.parameters.refine))
        *before, last = state.records
        state = replace(state, records=(*before, replace(last, validation_auc=validated)))
        work.latest = state
        return state


@dataclass(frozen=True)
class TryCs(Stage):
    """Fit the coefficients of the last basis for each of several Cs.

    ``near`` returns the Cs to try for the C of the fit. Centres and shape stay as they are, so that
    this takes a small part of the time of a fit.
    """

    near: Callable[[float], Collection[float]]
    saves = False

    def run(self, state: FitState, work: Workspace) -> FitState:
        """Return the same state; the models are in the workspace."""
        weights = {state.C: state.weights}
        for C in sorted(self.near(state.C), key=lambda C: abs(np.log(C / state.C))):
            nearest = min(weights, key=lambda other: abs(np.log(other / C)))
            work.weigh(C)
            point = work.minimise(work.objective, weights[nearest]).point
            weights[C] = point.weights
            threshold = work.engine.quality(point.state).threshold
            work.by_c[C] = work.model(replace(state, weights=weights[C], threshold=threshold))
        work.weigh(state.C)
        return state


def _as_refined(basis: Basis, weights: np.ndarray) -> Refined:
    """Return a basis and its weights in the form that refinement starts from."""
    scales, centres = as_rbf(basis.kernels[0]).scales, basis.centres
    scales = np.ones(centres.shape[1]) if scales is None else scales
    kernel = basis.kernel()
    metric = kernel.metric if isinstance(kernel, ShapedRBF) else None
    shape = Shape(densified(centres).astype(np.float64), scales, metric)
    return Refined(shape, weights[: basis.n_linear], basis.coef(weights))
