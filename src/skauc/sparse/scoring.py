"""The scores of one structure on one fold: one pursuit serves every C and every size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from skauc.data.training import TrainingData
from skauc.engines import make_engine
from skauc.exceptions import FitInterruptedError
from skauc.feature_map import RankScaling
from skauc.metrics.area import weighted_auc
from skauc.sparse.folds import Fold
from skauc.sparse.objective import Objective, pair_weight
from skauc.sparse.path import fit_path
from skauc.sparse.plan import Parameters, make_plan, refined_sizes, retraining_sizes
from skauc.sparse.stages import Workspace
from skauc.sparse.state import FitState, Path

# Smaller models are not offered.
SMALLEST_BASIS = 4


@dataclass(frozen=True)
class Structure:
    """What the columns depend on."""

    scaling: str | None
    gamma: float | tuple[float, ...]
    linear_term: bool
    rotate: bool
    refine: int


@dataclass(frozen=True)
class Setting:
    """One point of the grid."""

    scaling: str | None
    gamma: float | tuple[float, ...]
    linear_term: bool
    refine: int
    C: float
    n_basis: int
    rotate: bool = False

    def parameters(self) -> dict:
        """Return the parameters of `SparseKernelAUC`."""
        gamma = list(self.gamma) if isinstance(self.gamma, tuple) else self.gamma
        return {**vars(self), "gamma": gamma, "refine": self.refine or False}

    @property
    def structure(self) -> Structure:
        """What the columns depend on."""
        return Structure(self.scaling, self.gamma, self.linear_term, self.rotate, self.refine)

    def __str__(self) -> str:
        widths = self.gamma if isinstance(self.gamma, tuple) else (self.gamma,)
        parts = [f"scaling={self.scaling!r}", f"gamma={'/'.join(f'{g:.3g}' for g in widths)}"]
        parts += ["linear term"] if self.linear_term else []
        parts += [f"refine={self.refine}"] if self.refine else []
        parts += ["rotate"] if self.rotate else []
        return ", ".join(parts)


@dataclass(frozen=True)
class Job:
    """One structure on one fold.

    The basis is pursued at the middle one of ``Cs`` and retrained at the sizes of the schedule
    ``retrain``. Every ``scored_every``-th of these sizes is scored, counted from the last.
    """

    setting: Setting
    fold: int
    Cs: tuple[float, ...]
    n_candidates: int
    retrain: str
    scored_every: int = 2

    def parameters(self, base: Parameters) -> Parameters:
        """Return the parameters of the fit."""
        selection = replace(base.selection, n_candidates=self.n_candidates, retrain=self.retrain)
        C = self.Cs[len(self.Cs) // 2]
        return replace(base, **{**self.setting.parameters(), "C": C, "selection": selection})

    @property
    def scored_sizes(self) -> list[int]:
        """The sizes to score, in ascending order."""
        if self.setting.refine:
            return refined_sizes(self.setting.n_basis)
        sizes = sorted(retraining_sizes(self.retrain, self.setting.n_basis))
        return sizes[:: -self.scored_every][::-1]


def go_on() -> None:
    """Check nothing, and let the fit go on."""


def score_job(
    base: Parameters,
    rows: TrainingData,
    fold: Fold,
    job: Job,
    seed: int,
    check: Callable[[], None] = go_on,
) -> dict[Setting, float]:
    """Return the AUC of all settings that one fit serves.

    ``check`` is called for every centre and every step of a refinement. It may raise
    KeyboardInterrupt.

    If no independent row is left before the last size, the larger sizes have the score of the
    largest one that was reached, for a fit with a larger `n_basis` gives the same model. All folds
    then score the same sizes.
    """
    by_size = scores_by_size(base, rows, fold, job, seed, check)
    last = max(size for size, _ in by_size)
    larger = [size for size in job.scored_sizes if size > last]
    beyond = {(size, C): by_size[last, C] for size in larger for C in job.Cs}
    return {
        replace(job.setting, C=C, n_basis=size): auc
        for (size, C), auc in {**by_size, **beyond}.items()
    }


# AUC by size and C.
BySize = dict[tuple[int, float], float]


def scores_by_size(
    base: Parameters,
    rows: TrainingData,
    fold: Fold,
    job: Job,
    seed: int,
    check: Callable[[], None] = go_on,
) -> BySize:
    """Return the AUC of all sizes that were reached, for all Cs."""
    score = _score_refined if job.setting.refine else _score_pursued
    try:
        return score(base, rows, fold, job, seed, check)
    except FitInterruptedError as interrupt:
        # A fold that was cut off does not count.
        raise KeyboardInterrupt from interrupt


@dataclass(frozen=True)
class SolveForEachC:
    """A stage that solves for other Cs on the columns of a pursuit, from size to size."""

    Cs: tuple[float, ...]
    scored_sizes: list[int]
    found: BySize = field(default_factory=dict)
    grows: bool = False
    saves: bool = False

    def run(self, state: FitState, work: Workspace) -> FitState:
        """Collect the validation AUC of every size and C in ``found``."""
        engine = work.engine
        solved = {C: np.zeros(0) for C in self.Cs}
        for size in self._sizes(state):
            n_columns = state.basis.n_linear + size
            for C in self.Cs:
                # The basis is orthonormal: the best weights of a smaller one are a good start.
                weights = np.append(solved[C], np.zeros(n_columns - len(solved[C])))
                objective = Objective(engine, pair_weight(C, engine))
                point = work.minimise(objective, weights).point
                solved[C] = point.weights
                auc = engine.quality(point.state).validation_auc
                assert auc is not None  # the test rows are held out
                self.found[size, C] = auc
        return state

    def _sizes(self, state: FitState) -> list[int]:
        """Return the last size, and the scored sizes that are not too small."""
        sizes = [record.n_basis for record in state.records]
        last = sizes[-1]
        smallest = min(SMALLEST_BASIS, last)
        return [n for n in sizes if n == last or (n in self.scored_sizes and n >= smallest)]


def _score_pursued(
    base: Parameters,
    rows: TrainingData,
    fold: Fold,
    job: Job,
    seed: int,
    check: Callable[[], None],
) -> BySize:
    """Pursue once at the middle C, with the test rows held out; solve for every C."""
    part, test = fold.split(rows)
    if job.setting.scaling is not None:
        ranks = RankScaling.of(fold.training(rows), job.setting.scaling)
        part = part.transformed(ranks.transform)
    plan, part = make_plan(replace(job.parameters(base), scaling=None), part)
    solve = SolveForEachC(job.Cs, job.scored_sizes)
    fit_path(
        part,
        plan,
        open_engine=partial(make_engine, n_jobs=1),
        random_state=seed,
        watch=partial(_check_centre, check),
        validation=test,
        then=(solve,),
    )
    return solve.found


def _score_refined(
    base: Parameters,
    rows: TrainingData,
    fold: Fold,
    job: Job,
    seed: int,
    check: Callable[[], None],
) -> BySize:
    """Fit to the training rows of the fold, and score each refined size on the test rows."""
    plan, training = make_plan(job.parameters(base), fold.training(rows))
    path = fit_path(
        training,
        plan,
        open_engine=partial(make_engine, n_jobs=1),
        random_state=seed,
        watch=partial(_check_centre, check),
        on_step=lambda step: check(),
    )
    test = fold.tested(rows)
    return {
        (record.n_basis, job.setting.C): weighted_auc(
            record.model.scores(test.X), test.positive, test.weights
        )
        for record in path.records
        if record.is_refined
    }


def _check_centre(check: Callable[[], None], path: Path) -> bool:
    """Check, and do not stop the fit."""
    check()
    return False
