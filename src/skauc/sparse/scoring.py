"""The scores of one setting on one fold: one fit serves all sizes on its path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from skauc.data.training import TrainingData
from skauc.engines import make_engine
from skauc.exceptions import FitInterruptedError
from skauc.metrics.area import auc_of
from skauc.metrics.partial_area import check_corner, partial_auc_of
from skauc.metrics.sorted_scores import sort_scores
from skauc.sparse.folds import Fold
from skauc.sparse.path import fit_path
from skauc.sparse.plan import Parameters, make_plan, refined_sizes, retraining_sizes
from skauc.sparse.state import Path

# Smaller models are not offered.
SMALLEST_BASIS = 4


@dataclass(frozen=True)
class Setting:
    """One point of the grid. ``refine`` is a number of steps, 0 for none.

    ``whole_curve`` is a model without the limits of the search, see `skauc.losses.focus`.
    """

    scaling: str | None
    gamma: float | tuple[float, ...]
    linear_term: bool
    refine: int
    C: float
    n_basis: int
    rotate: bool = False
    whole_curve: bool = False

    def parameters(self) -> dict:
        """Return the parameters of `SparseKernelAUC`."""
        gamma = list(self.gamma) if isinstance(self.gamma, tuple) else self.gamma
        own = {**vars(self), "gamma": gamma, "refine": self.refine or False}
        return own | {"max_fpr": None, "min_tpr": None} if own.pop("whole_curve") else own

    def has_structure_of(self, other: Setting) -> bool:
        """Tell whether two settings differ in nothing but C and size."""
        return replace(self, C=other.C, n_basis=other.n_basis) == other

    def __str__(self) -> str:
        widths = self.gamma if isinstance(self.gamma, tuple) else (self.gamma,)
        parts = [f"scaling={self.scaling!r}", f"gamma={'/'.join(f'{g:.3g}' for g in widths)}"]
        parts += ["linear term"] if self.linear_term else []
        parts += [f"refine={self.refine}"] if self.refine else []
        parts += ["rotate"] if self.rotate else []
        parts += ["whole curve"] if self.whole_curve else []
        return ", ".join(parts)


@dataclass(frozen=True)
class Job:
    """One setting on one fold."""

    setting: Setting
    fold: int


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
    """Fit to the training rows of the fold, and return the AUC of each size on the test rows.

    The AUC is partial if ``base`` has limits, also for settings without them.

    ``check`` is called for every centre and every step of a refinement. It may raise
    KeyboardInterrupt.

    If no independent row is left before the last size, the larger sizes have the score of the
    largest one that was reached, for a fit with a larger `n_basis` gives the same model. All folds
    then score the same sizes.
    """
    setting = job.setting
    plan, training = make_plan(replace(base, **setting.parameters()), fold.training(rows))
    try:
        path = fit_path(
            training,
            plan,
            open_engine=partial(make_engine, n_jobs=1),
            random_state=seed,
            watch=partial(_check_centre, check),
            on_step=lambda step: check(),
        )
    except FitInterruptedError as interrupt:
        # A fold that was cut off does not count.
        raise KeyboardInterrupt from interrupt
    test, sizes = fold.tested(rows), _scored_sizes(setting, base.selection.retrain)
    last = path.records[-1].n_basis
    found = {
        record.n_basis: _area(record.model.scores(test.X), test, base)
        for record in path.records
        if record.n_basis in sizes or record.n_basis == last
    }
    found |= {size: found[last] for size in sizes if size > last}
    return {replace(setting, n_basis=size): auc for size, auc in found.items()}


def _area(scores: np.ndarray, test: TrainingData, base: Parameters) -> float:
    """Return the AUC, or the partial AUC of the part of the curve that is searched for."""
    ranked = sort_scores(scores, test.positive, test.weights)
    if base.focus.is_whole:
        return auc_of(ranked)
    return partial_auc_of(ranked, *check_corner(base.max_fpr, base.min_tpr))


def _scored_sizes(setting: Setting, retrain: str) -> list[int]:
    """Return the sizes to score: those that are refined, or else those that are retrained."""
    if setting.refine:
        return refined_sizes(setting.n_basis)
    smallest = min(SMALLEST_BASIS, setting.n_basis)
    return [n for n in sorted(retraining_sizes(retrain, setting.n_basis)) if n >= smallest]


def _check_centre(check: Callable[[], None], path: Path) -> bool:
    """Check, and do not stop the fit."""
    check()
    return False
