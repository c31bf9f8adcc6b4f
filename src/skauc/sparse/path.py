"""The algorithm: one path from the empty basis to the full one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from sklearn.utils import check_random_state

from skauc.data.training import TrainingData
from skauc.engines import Chosen, Engine
from skauc.exceptions import FitInterruptedError, InvalidDataError, interrupts
from skauc.model import share_centres
from skauc.sparse.plan import Plan
from skauc.sparse.stages import Stage
from skauc.sparse.state import DescentStep, FitState, Path
from skauc.sparse.workspace import Workspace
from skauc.support import quiet_overflow


def ignore(path: Path) -> bool:
    """Watch nothing, and never stop the fit."""
    return False


class Keeper(Protocol):
    """What `fit_path` asks of a checkpoint."""

    def restore(self, state: FitState, plan: Plan, random_state: Any) -> FitState | None:
        """Return the state of an unfinished fit, or None; ``state`` is that of a new fit."""

    def save(self, state: FitState) -> None:
        """Write a state."""

    def remove(self) -> None:
        """Delete what was written."""


class NoCheckpoint:
    """Restores and saves nothing."""

    def restore(self, state: FitState, plan: Plan, random_state: Any) -> None:
        """Return None."""

    def save(self, state: FitState) -> None:
        """Do nothing."""

    def remove(self) -> None:
        """Do nothing."""


NO_CHECKPOINT = NoCheckpoint()


@quiet_overflow()
def fit_path(
    rows: TrainingData,
    plan: Plan,
    *,
    open_engine: Callable[..., Engine],
    random_state: Any,
    watch: Callable[[Path], bool] = ignore,
    on_step: Callable[[DescentStep], None] = lambda step: None,
    checkpoint: Keeper = NO_CHECKPOINT,
    validation: Chosen | None = None,
    then: tuple[Stage, ...] = (),
) -> Path:
    """Fit a path of models: Algorithm 1 of the paper, then refinement.

    The stages of the plan run in order (see `skauc.sparse.stages`):

    - Pursue(sizes) chooses centres by their gain, adds their columns, retrains on the schedule.
    - Refine(steps) moves centres and metric by a few steps of L-BFGS.
    - SetC estimates C, for what follows.
    - MoveTo(rows) solves for the same basis on hard rows, or on all rows.
    - Finish fits the coefficients once more, to all rows.
    - TryCs fits them for other Cs, if a search asks for it.

    Parameters
    ----------
    rows : TrainingData or ClusterData
        The rows as the kernel sees them (see `make_plan`).
    plan : Plan
        What to fit.
    open_engine : callable
        ``open_engine(rows, capacity=...)`` returns the engine for some rows.
    random_state : int, RandomState instance or None
        Random numbers for validation rows and candidates.
    watch : callable
        Called with the path so far after every centre. If it returns True, the basis stops
        growing.
    on_step : callable
        Called after every step of a refinement.
    checkpoint : Keeper
        Where the state is saved at each retraining and after each stage.
    validation : callable or None
        Mask of the validation rows, in place of those that the plan holds out.
    then : tuple of stages
        Stages that follow those of the plan.

    Returns
    -------
    path : Path
        The models by size, a record per retraining, and the size to keep.

    Raises
    ------
    FitInterruptedError
        After a KeyboardInterrupt, if there is a model. Its ``path`` is the path so far.
    """
    random_state = check_random_state(random_state)
    with Workspace(
        rows,
        plan,
        open_engine=open_engine,
        random_state=random_state,
        watch=watch,
        save=checkpoint.save,
        on_step=on_step,
        validation=validation,
    ) as work:
        try:
            state = work.begin()
            saved = checkpoint.restore(state, plan, random_state)
            stages = (*plan.stages(work.held_out), *then)
            state = state if saved is None else work.resume(saved)
            for number, stage in enumerate(stages):
                if number < state.n_done:
                    continue
                if not (stage.grows and state.is_grown):
                    with interrupts():
                        state = stage.run(state, work)
                state = replace(state, n_done=number + 1)
                if stage.saves and state.models:
                    checkpoint.save(state)
        except KeyboardInterrupt as interrupt:
            if work.latest is None:
                raise
            raise FitInterruptedError(_path(work.latest, plan)) from interrupt
    path = _path(state, plan)
    checkpoint.remove()
    return replace(path, is_exhausted=work.is_exhausted, by_c=work.by_c)


def _path(state: FitState, plan: Plan) -> Path:
    if not state.models:
        raise InvalidDataError(
            "No row can be a centre: the kernel of every row with itself is zero or negative. Use "
            "another kernel, or check whether all rows are zero."
        )
    path = Path(state.models, state.records, plan.best_size(state.records, state.models))
    return path.with_models(share_centres(path.models))
