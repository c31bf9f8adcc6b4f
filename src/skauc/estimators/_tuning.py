"""Cross-validation that shares its work: one pursuit serves every size and every C.

A *structure* is what the columns depend on: the widths, the linear term, refinement. For each
structure and fold the basis is pursued once, at the middle C; the coefficients for the other Cs
are found on the same columns, from one C to the next. Structures that fall behind on the first
folds are not tried on the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from skauc.engines import make_engine
from skauc.estimators.sparse_kernel_auc import SparseKernelAUC
from skauc.metrics import weighted_auc
from skauc.objective import Objective, pair_weight
from skauc.path import retraining_sizes
from skauc.validation import TrainingData

# Models smaller than this are not offered.
SMALLEST_BASIS = 4
# Basis and candidates of the first comparison of structures, and the folds it is made on.
SCREENING_BASIS = 32
SCREENING_CANDIDATES = 25
SCREENING_FOLDS = 2
# Refinement goes on from the best pursuit, and starts from a plain kernel too where that is cheap
# (fewer rows than these, where folds are repeated as well) or pays most (more than these).
FEW_ROWS = 1000
MANY_ROWS = 5000
# Structures that are tried on all folds, and how far from the C that was best for them.
SURVIVORS = 2
NEAR = 2


@dataclass(frozen=True)
class Setting:
    """One point of the grid."""

    gamma: float | tuple[float, ...]
    linear_term: bool
    refine: bool
    C: float
    n_basis: int

    def parameters(self) -> dict:
        """Return the parameters of `SparseKernelAUC`."""
        gamma = list(self.gamma) if isinstance(self.gamma, tuple) else self.gamma
        return {**vars(self), "gamma": gamma}

    @property
    def structure(self) -> tuple:
        """What the columns depend on."""
        return self.gamma, self.linear_term, self.refine


Scores = dict[Setting, dict[int, float]]
Fold = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Job:
    """One structure on one fold."""

    setting: Setting
    fold: int
    Cs: tuple[float, ...]
    n_candidates: int


class Tuner:
    """Scores settings on folds, the promising ones on all of them."""

    def __init__(self, base: SparseKernelAUC, data: TrainingData, folds: list[Fold], n_jobs, tick):
        self.base, self.data, self.folds = base, data, folds
        self.n_jobs, self.tick = n_jobs, tick
        self.scores: Scores = {}

    def search(self, settings: list[Setting], Cs: tuple[float, ...], refine: tuple[bool, ...]):
        """Screen the structures on a few folds, follow the best to the end, then refine."""
        best = replace(settings[0], C=Cs[len(Cs) // 2])
        if False in refine or len(settings) > 1 or len(Cs) > 1:
            survivors = self._screen(settings, Cs)
            folds, n_candidates = range(len(self.folds)), -(-self.base.n_candidates // 2)
            self._run(Job(s, fold, near, n_candidates) for s, near in survivors for fold in folds)
            best = self.best_mean()
        if True in refine:
            plain = next((s for s in settings if not isinstance(s.gamma, tuple)), settings[0])
            starts = [best, replace(plain, C=Cs[len(Cs) // 2])]
            if FEW_ROWS <= len(self.data.positive) < MANY_ROWS:
                starts = starts[:1]
            for start in dict.fromkeys(starts):
                start = replace(start, refine=True, n_basis=settings[0].n_basis)
                self._try_refinement(start, is_asked_for=False not in refine)

    def _screen(self, settings: list[Setting], Cs: tuple[float, ...]) -> list:
        """Return the best structures on the first folds, each with the Cs that are near its own."""
        small = [replace(s, n_basis=min(s.n_basis, SCREENING_BASIS)) for s in settings]
        n_first = self._n_first()
        few = min(self.base.n_candidates, SCREENING_CANDIDATES)
        # Widths first, without or with the linear term as it comes; then the other way with the
        # best widths.
        plain = [s for s in small if s.linear_term == small[0].linear_term]
        other = [s for s in small if s.linear_term != small[0].linear_term]
        self._run(Job(s, fold, Cs[::2], few) for s in plain for fold in range(n_first))
        gamma = self._ranked_structures(n_first)[0][0]
        other = [s for s in other if s.gamma == gamma]
        self._run(Job(s, fold, Cs[::2], few) for s in other for fold in range(n_first))
        survivors = []
        for structure in self._ranked_structures(n_first)[:SURVIVORS]:
            tried = {s: np.mean(list(by.values())) for s, by in self.scores.items()}
            own = [s for s in tried if s.structure == structure]
            middle = Cs.index(max(own, key=tried.get).C)
            near = Cs[max(middle - NEAR, 0) : middle + NEAR + 1]
            survivors += [(s, near) for s in settings if s.structure == structure]
        self.scores = {}
        return survivors

    def _try_refinement(self, setting: Setting, *, is_asked_for: bool) -> None:
        """Refine on the first folds; go on with the rest unless it falls behind there."""
        n_folds = len(self.folds)
        n_first = self._n_first()
        jobs = [Job(setting, fold, (setting.C,), self.base.n_candidates) for fold in range(n_folds)]
        self._run(jobs[:n_first])
        if is_asked_for or self._ranked_structures(n_first)[0] == setting.structure:
            self._run(jobs[n_first:])

    def _n_first(self) -> int:
        """Return the number of folds that decide who goes on: a third of them, at least two."""
        return min(max(SCREENING_FOLDS, len(self.folds) // 3), len(self.folds))

    def _run(self, jobs: Iterable[Job]) -> None:
        tasks = [delayed(score_job)(self.base, self.data, self.folds, job) for job in jobs]
        # In order: ties between settings go to the first, whatever the number of jobs.
        for fold, scores in Parallel(self.n_jobs, return_as="generator")(tasks):
            for setting, score in scores.items():
                self.scores.setdefault(setting, {})[fold] = score
            self.tick()

    def _ranked_structures(self, n_first: int) -> list[tuple]:
        """Return structures by the best mean of any of their settings on the first folds."""
        best: dict[tuple, float] = {}
        for setting, by_fold in self.scores.items():
            if all(fold in by_fold for fold in range(n_first)):
                mean = float(np.mean([by_fold[fold] for fold in range(n_first)]))
                best[setting.structure] = max(best.get(setting.structure, 0.0), mean)
        return sorted(best, key=lambda structure: -best[structure])

    def complete(self) -> dict[Setting, np.ndarray]:
        """Return the scores of settings that were tried on every fold."""
        n_folds = len(self.folds)
        return {
            setting: np.array([by_fold[fold] for fold in range(n_folds)])
            for setting, by_fold in self.scores.items()
            if len(by_fold) == n_folds
        }

    def best_mean(self, refine: tuple[bool, ...] = (False, True)) -> Setting:
        """Return the setting with the best mean, refined or not."""
        complete = {s: scores for s, scores in self.complete().items() if s.refine in refine}
        return max(complete, key=lambda setting: (complete[setting].mean(), -setting.n_basis))

    def choice(self, refine: tuple[bool, ...]) -> Setting:
        """Return the simplest setting that is within one standard error of the best.

        The standard error is that of the difference from the best, fold by fold: folds that are
        hard for all settings do not count as noise. A single fold has none.
        """
        complete = self.complete()
        best = self.best_mean(refine)

        def is_as_good(setting: Setting) -> bool:
            difference = complete[best] - complete[setting]
            n_folds = len(difference)
            error = difference.std(ddof=1) / np.sqrt(n_folds) if n_folds > 1 else 0.0
            return difference.mean() <= error

        good = [s for s in complete if s.refine in refine and is_as_good(s)]
        return min(
            good,
            key=lambda s: (s.n_basis, s.refine, s.linear_term, -round(complete[s].mean(), 6), s.C),
        )


def score_job(base: SparseKernelAUC, data: TrainingData, folds: list[Fold], job: Job):
    """Return the fold and the scores of all settings that the job's pursuit serves."""
    score = _score_refined if job.setting.refine else _score_pursued
    return job.fold, dict(score(base, data, folds[job.fold], job))


def _score_pursued(base, data: TrainingData, fold: Fold, job: Job) -> Iterator:
    """Pursue once at the middle C; solve for every C on the columns of every size."""
    train, test = fold
    is_used = np.zeros(len(data.positive), dtype=bool)
    is_used[train] = is_used[test] = True
    data = replace(data, weights=data.weights * is_used)
    model = _estimator(base, replace(job.setting, C=job.Cs[len(job.Cs) // 2]), job.n_candidates)
    held_out = np.zeros(len(data.positive), dtype=bool)
    held_out[test] = True
    capacity = model._capacity(data)
    with make_engine(model.engine, data, capacity=capacity, n_jobs=1) as engine:
        engine.hold_out(held_out)
        random_state = check_random_state(model.random_state)
        fitting = model._start_fitting(engine, data, capacity, random_state)
        fitting.pursue(retraining_sizes(model.retrain, model.n_basis), lambda: False)
        # Every second size of the path, the last included: a step of about the root of two.
        sizes = [record.n_basis for record in fitting.records][::-2]
        for size in (size for size in sizes if size >= min(SMALLEST_BASIS, sizes[0])):
            engine.resize(fitting.basis.n_linear + size)
            weights = np.zeros(engine.size)
            for C in job.Cs:
                objective = Objective(engine, pair_weight(C, engine))
                point = fitting.minimise(objective, weights).point
                weights = point.weights
                setting = replace(job.setting, C=C, n_basis=size)
                yield setting, engine.validation_auc(point.state)


def _score_refined(base, data: TrainingData, fold: Fold, job: Job) -> Iterator:
    """Fit on the rest of the rows and score each refined size."""
    train, test = fold
    model = _estimator(base, job.setting, job.n_candidates)
    part = data.part(train)
    labels = part.positive.astype(int)
    model.fit(part.X, labels, sample_weight=part.weights)
    refined = [record for record in model.path_ if record.is_refined]
    for record in refined:
        scores = record.model.scores(data.X[test])
        setting = replace(job.setting, n_basis=record.n_basis)
        yield setting, weighted_auc(scores, data.positive[test], data.weights[test])


def _estimator(base: SparseKernelAUC, setting: Setting, n_candidates: int) -> SparseKernelAUC:
    own = {**setting.parameters(), "n_candidates": n_candidates, "n_jobs": 1}
    return SparseKernelAUC(**{**base.get_params(), **own})
