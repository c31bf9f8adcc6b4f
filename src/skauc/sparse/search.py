"""Cross-validation that shares its work: one pursuit serves every size and every C.

A *structure* is what the columns depend on: scaling, axes, widths, linear term, refinement.
For each structure and fold the basis is pursued once, at the middle C; the coefficients for the
other Cs are found on the same columns, from one size to the next. Structures that fall behind on a
few rows of the first folds, or on these folds, are not tried on the rest.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from skauc.data.training import TrainingData
from skauc.engines import make_engine
from skauc.feature_map import RankScaling
from skauc.metrics.area import weighted_auc
from skauc.sparse.estimator import SparseKernelAUC
from skauc.sparse.folds import LotFold, RowFold
from skauc.sparse.objective import Objective, pair_weight
from skauc.sparse.path import retraining_sizes

# Models smaller than this are not offered.
SMALLEST_BASIS = 4
# The first comparison of structures: its folds, and rows of a training part.
SCREENING_FOLDS = 2
SCREENING_ROWS = 8000
# A smaller difference in AUC is none, however sure it is.
NO_DIFFERENCE = 5e-4
# Refinement goes on from the best pursuit and may start from plain kernels too: the Cs of these,
# how many starts are followed after one fold, the n-th part after n folds, how many to the last.
REFINED_CS = (1.0, 10.0)
REFINED_AT_FIRST = 6
REFINED_TO_THE_END = 4
# How far the AUC of refined models may be behind on the first fold; the n-th part on n folds.
BEHIND = 0.01
# Structures that are compared at full size on the first folds, and those that are on all. A small
# basis flatters the linear term: the best with and without it come with each scaling.
SURVIVORS = 4
FOLLOWED = 2


@dataclass(frozen=True)
class Effort:
    """How thorough a search is.

    The basis and candidates of the first comparison, how far from the best C of a structure its
    other Cs are tried, whether refinement starts from a plain kernel with each scaling, too, its
    steps, and those that the best are tried with besides. In these steps nothing is held out: of
    few rows, or few positives, a part held out would be missed and would say little.
    """

    screening_basis: float
    screening_candidates: float
    near: int
    starts_plainly: bool
    steps: int
    more_steps: int | None = None


# Few rows make for noise, for which folds are repeated, and for fits that cost little. Plain starts
# are for them, and for many rows, where they pay most.
FEW_ROWS, MANY_ROWS = 1000, 2000
OF_FEW_ROWS = Effort(math.inf, math.inf, near=2, starts_plainly=True, steps=10)
OF_SOME_ROWS = Effort(24, 25, near=1, starts_plainly=False, steps=20)
OF_MANY_ROWS = replace(OF_SOME_ROWS, starts_plainly=True, more_steps=60)


def effort_for(n_rows: int) -> Effort:
    """Return the effort that so many rows are worth."""
    if n_rows < FEW_ROWS:
        return OF_FEW_ROWS
    return OF_SOME_ROWS if n_rows < MANY_ROWS else OF_MANY_ROWS


@dataclass(frozen=True)
class Setting:
    """One point of the grid."""

    scaling: str | None
    gamma: float | tuple[float, ...]
    linear_term: bool
    refine: bool | int
    C: float
    n_basis: int
    rotate: bool = False

    def parameters(self) -> dict:
        """Return the parameters of `SparseKernelAUC`."""
        gamma = list(self.gamma) if isinstance(self.gamma, tuple) else self.gamma
        return {**vars(self), "gamma": gamma}

    @property
    def structure(self) -> tuple:
        """What the columns depend on."""
        return self.scaling, self.gamma, self.linear_term, self.rotate, self.refine


Scores = dict[Setting, np.ndarray]
Fold = RowFold | LotFold


@dataclass(frozen=True)
class Job:
    """One structure on one fold: the sizes at which it is retrained, and those judged."""

    setting: Setting
    fold: int
    Cs: tuple[float, ...]
    n_candidates: int
    sizes: Collection[int]
    judged: Collection[int]


class Tuner:
    """Scores settings on folds, the promising ones on all of them."""

    def __init__(self, base: SparseKernelAUC, data: TrainingData, folds: list[Fold], n_jobs, tick):
        self.base, self.data, self.folds = base, data, [(data, fold) for fold in folds]
        self.n_jobs, self.tick = n_jobs, tick
        self.effort = effort_for(data.n_rows)
        self.n_candidates = -(-base.n_candidates // 2)
        self.scores: dict[Setting, dict[int, float]] = {}
        self.screened: dict[Setting, dict[int, float]] = {}

    def search(
        self,
        settings: list[Setting],
        Cs: tuple[float, ...],
        refine: tuple[bool, ...],
        rotate: tuple[bool, ...],
    ) -> None:
        """Screen the structures, follow the best to the end, then refine, turned or not."""
        best = replace(settings[0], C=Cs[len(Cs) // 2])
        if False in refine or len(settings) > 1 or len(Cs) > 1:
            self._follow(self._screen(settings, Cs))
            best = self.best_mean()
        if True in refine:
            starts = self._starts(best, settings, Cs, rotate)
            self._refine(starts, is_asked_for=False not in refine)

    def _starts(self, best: Setting, settings: list[Setting], Cs, rotate) -> list[Setting]:
        """Return what refinement goes on from: the best pursuit, and a plain kernel's."""
        starts = [best]
        if self.effort.starts_plainly:
            starts += [replace(s, C=C) for s in _plain_settings(settings) for C in _usual(Cs)]
        own = {"refine": self.effort.steps, "n_basis": self.base.n_basis}
        starts = dict.fromkeys(replace(start, **own) for start in starts)
        return [replace(start, rotate=turned) for start in starts for turned in rotate]

    def _screen(self, settings: list[Setting], Cs: tuple[float, ...]) -> list:
        """Return the best structures on few folds and rows, each with the Cs near its own."""
        small = [replace(s, n_basis=min(s.n_basis, self.effort.screening_basis)) for s in settings]
        sizes = sorted(retraining_sizes("doubling", small[0].n_basis))
        n_first = self._n_first()
        few = min(self.n_candidates, self.effort.screening_candidates)
        folds = [self._few_rows(fold) for _, fold in self.folds[:n_first]]

        def compare(settings: list[Setting]) -> list[tuple]:
            numbers = range(n_first)
            self._run(
                (
                    Job(s, fold, Cs[::2], few, sizes, _judged(sizes))
                    for s in settings
                    for fold in numbers
                ),
                folds,
            )
            return _best_of_each_kind_first(self._ranked_structures(n_first))

        # Widths first, without or with the linear term as it comes; then the other way with the
        # widths that are best with each scaling.
        n_scalings = len({s.scaling for s in settings})
        ranked = compare([s for s in small if s.linear_term == small[0].linear_term])
        kernels = [structure[:2] for structure in ranked[:n_scalings]]
        other = (s for s in small if s.linear_term != small[0].linear_term)
        ranked = compare([s for s in other if s.structure[:2] in kernels])
        survivors = []
        for structure in ranked[:SURVIVORS]:
            tried = {s: np.mean(list(by.values())) for s, by in self.scores.items()}
            own = [s for s in tried if s.structure == structure]
            middle = Cs.index(max(own, key=tried.get).C)
            near = Cs[max(middle - self.effort.near, 0) : middle + self.effort.near + 1]
            survivors += [(s, near) for s in settings if s.structure == structure]
        self.screened, self.scores = self.scores, {}
        return survivors

    def _few_rows(self, fold: Fold) -> tuple[TrainingData, RowFold]:
        """Return a part of a fold's rows."""
        random_state = check_random_state(self.base.random_state)
        return fold.few(self.data, SCREENING_ROWS, SCREENING_ROWS // 2, random_state)

    def _follow(self, survivors: list) -> None:
        """Compare at full size on the first folds; go on with the best few on the others."""
        n_first = self._n_first()
        sizes = sorted(retraining_sizes(self.base.retrain, self.base.n_basis))

        def run(survivors: list, numbers: range) -> None:
            self._run(
                (
                    Job(s, f, near, self.n_candidates, sizes, _judged(sizes))
                    for s, near in survivors
                    for f in numbers
                ),
                self.folds,
            )

        run(survivors, range(n_first))
        best = self._ranked_structures(n_first)[:FOLLOWED]
        winners = [(s, near) for s, near in survivors if s.structure in best]
        run(winners, range(n_first, len(self.folds)))

    def _refine(self, starts: list[Setting], *, is_asked_for: bool) -> None:
        """Refine on one fold, on the first few, on all: each time what is not far behind."""
        n_folds = len(self.folds)
        if self.data.n_rows > 2 * SCREENING_ROWS:
            starts = self._best_on_few_rows(starts)
        # One fold of few rows tells nothing.
        n_least = self._n_first() if self.effort is OF_FEW_ROWS else 1
        n_done = 0
        for n_next in sorted({n_least, self._n_first(), n_folds}):
            self._run(self._refinements(starts, range(n_done, n_next)), self.folds)
            n_done = n_next
            in_order = sorted(starts, key=lambda start: -self._best_from(start, n_done).mean())
            ahead = in_order[:1] if is_asked_for else []
            n_kept = max(REFINED_AT_FIRST // n_done, REFINED_TO_THE_END)
            near = [s for s in in_order[:n_kept] if self._is_in_sight(s, n_done)]
            starts = near or ahead
        if self.effort.more_steps is not None:
            longer = [replace(start, refine=self.effort.more_steps) for start in starts]
            self._run(self._refinements(longer, range(n_folds)), self.folds)

    def _refinements(self, starts: list[Setting], folds: range) -> Iterator[Job]:
        return (Job(s, fold, (s.C,), self.n_candidates, (), ()) for s in starts for fold in folds)

    def _best_on_few_rows(self, starts: list[Setting]) -> list[Setting]:
        """Return the starts that are best on a part of the first fold's rows."""
        scores, self.scores = self.scores, {}
        try:
            self._run(self._refinements(starts, range(1)), [self._few_rows(self.folds[0][1])])
            starts = sorted(starts, key=lambda start: -self._best_from(start, 1).mean())
        finally:
            self.scores = scores
        return starts[:REFINED_AT_FIRST]

    def _best_from(self, start: Setting, n_folds: int) -> np.ndarray:
        """Return the scores on the first folds of the best size that one refinement gave."""
        sizes = self._on_first_folds(n_folds)
        own = (scores for s, scores in sizes.items() if replace(s, n_basis=start.n_basis) == start)
        return max(own, key=np.mean)

    def _is_in_sight(self, start: Setting, n_folds: int) -> bool:
        """Tell whether a refinement is not far behind the best on the first folds."""
        best = max(self._on_first_folds(n_folds).values(), key=np.mean)
        difference = best - self._best_from(start, n_folds)
        return difference.mean() <= max(_standard_error(difference), BEHIND / n_folds)

    def _on_first_folds(self, n_folds: int) -> Scores:
        """Return the scores on the first folds of what was tried on all of them."""
        folds = range(n_folds)
        return {
            setting: np.array([by_fold[fold] for fold in folds])
            for setting, by_fold in self.scores.items()
            if all(fold in by_fold for fold in folds)
        }

    def _n_first(self) -> int:
        """Return the number of folds that decide who goes on: a third of them, at least two."""
        return min(max(SCREENING_FOLDS, len(self.folds) // 3), len(self.folds))

    def _run(self, jobs: Iterable[Job], folds: list[tuple[TrainingData, Fold]]) -> None:
        tasks = [delayed(score_job)(self.base, *folds[job.fold], job) for job in jobs]
        # In order: ties between settings go to the first, whatever the number of jobs.
        for fold, scores in Parallel(self.n_jobs, return_as="generator")(tasks):
            for setting, score in scores.items():
                self.scores.setdefault(setting, {})[fold] = score
            self.tick()

    def _ranked_structures(self, n_first: int) -> list[tuple]:
        """Return structures, the one with the best setting on the first folds first."""
        best = self._best_by_structure(n_first)
        return sorted(best, key=lambda structure: -best[structure])

    def _best_by_structure(self, n_first: int) -> dict[tuple, float]:
        """Return the best mean on the first folds of any setting of each structure."""
        best: dict[tuple, float] = {}
        for setting, scores in self._on_first_folds(n_first).items():
            best[setting.structure] = max(best.get(setting.structure, 0.0), float(scores.mean()))
        return best

    def complete(self) -> Scores:
        """Return the scores of settings that were tried on every fold."""
        return self._on_first_folds(len(self.folds))

    def best_mean(self) -> Setting:
        """Return the setting with the best mean."""
        complete = self.complete()
        return max(complete, key=lambda setting: (complete[setting].mean(), -setting.n_basis))

    def best_so_far(self) -> tuple[Setting, float] | None:
        """Return the best setting of those tried on the most folds, and its score; or None."""
        scores = self.scores or self.screened
        if not scores:
            return None
        n_most = max(map(len, scores.values()))
        means = {s: np.mean(list(by.values())) for s, by in scores.items() if len(by) == n_most}
        best = max(means, key=lambda setting: (means[setting], -setting.n_basis))
        return best, float(means[best])

    def choice(self, refine: tuple[bool, ...]) -> Setting:
        """Return the simplest setting that is as good as the best, refined or not."""
        return simplest({s: by for s, by in self.complete().items() if bool(s.refine) in refine})


def simplest(scores: Scores) -> Setting:
    """Return the simplest setting that is within one standard error, or so, of the best.

    The standard error is that of the difference from the best, fold by fold: folds that are hard
    for all settings do not count as noise. The fewest centres are the simplest; among as many,
    ranks, which no outlier takes far off, what is not refined, and what has no linear term.
    """
    means = {setting: float(by_fold.mean()) for setting, by_fold in scores.items()}
    best = scores[max(means, key=lambda setting: (means[setting], -setting.n_basis))]

    def is_as_good(setting: Setting) -> bool:
        difference = best - scores[setting]
        return difference.mean() <= max(_standard_error(difference), NO_DIFFERENCE)

    return min(
        filter(is_as_good, scores),
        key=lambda s: (
            s.n_basis,
            s.scaling != "rank",
            bool(s.refine),
            s.linear_term,
            -round(means[s], 6),
            s.C,
        ),
    )


def _judged(sizes: list[int]) -> list[int]:
    """Return every second size, the last included: steps of about the root of two."""
    return sizes[::-2]


def _standard_error(differences: np.ndarray) -> float:
    """Return the standard error of a mean over folds; a single fold has none."""
    n_folds = len(differences)
    return float(differences.std(ddof=1) / np.sqrt(n_folds)) if n_folds > 1 else 0.0


def _usual(Cs: tuple[float, ...]) -> list[float]:
    """Return the values that are nearest to the Cs that refined models usually want."""
    nearest = (min(Cs, key=lambda C: abs(np.log(C / usual))) for usual in REFINED_CS)
    return list(dict.fromkeys(nearest))


def _plain_settings(settings: list[Setting]) -> list[Setting]:
    """Return the first setting of each scaling, one with a single width if there is any."""
    ordered = sorted(settings, key=lambda s: isinstance(s.gamma, tuple))
    return list({s.scaling: s for s in reversed(ordered)}.values())


def _best_of_each_kind_first(ranked: list[tuple]) -> list[tuple]:
    """Return the structures in order, but first the best of each scaling and linear term."""
    kinds = {(structure[0], structure[2]): structure for structure in reversed(ranked)}
    first = list(kinds.values())
    first.sort(key=ranked.index)
    return first + [structure for structure in ranked if structure not in first]


def score_job(base: SparseKernelAUC, data: TrainingData, fold: Fold, job: Job):
    """Return the fold's number and the scores of all settings that the job's pursuit serves."""
    score = _score_refined if job.setting.refine else _score_pursued
    return job.fold, dict(score(base, data, fold, job))


def _score_pursued(base, data: TrainingData, fold: Fold, job: Job) -> Iterator:
    """Pursue once at the middle C; solve for every C on the columns of every size."""
    part, held_out = fold.split(data)
    if job.setting.scaling is not None:
        part = part.transformed(RankScaling.of(fold.training(data), job.setting.scaling).transform)
    model = _estimator(base, replace(job.setting, C=job.Cs[len(job.Cs) // 2]), job.n_candidates)
    capacity = model._capacity(part)
    with make_engine(part, capacity=capacity, n_jobs=1) as engine:
        engine.hold_out(held_out)
        random_state = check_random_state(model.random_state)
        fitting = model._start_fitting(engine, part, capacity, model._gammas(part), random_state)
        fitting.pursue(job.sizes, lambda: model._has_converged(fitting.records))
        solved = {C: np.zeros(0) for C in job.Cs}
        sizes = [record.n_basis for record in fitting.records]
        smallest, last = min(SMALLEST_BASIS, sizes[-1]), sizes[-1]
        for size in (n for n in sizes if n == last or (n in job.judged and n >= smallest)):
            n_columns = fitting.basis.n_linear + size
            for C in job.Cs:
                # The basis is orthonormal: the best weights of a smaller one are a good start.
                weights = np.append(solved[C], np.zeros(n_columns - len(solved[C])))
                objective = Objective(engine, pair_weight(C, engine))
                point = fitting.minimise(objective, weights).point
                solved[C] = point.weights
                setting = replace(job.setting, C=C, n_basis=size)
                yield setting, engine.quality(point.state).validation_auc


def _score_refined(base, data: TrainingData, fold: Fold, job: Job) -> Iterator:
    """Fit on the rest of the rows and score each refined size."""
    model = _estimator(base, job.setting, job.n_candidates)
    with np.errstate(over="ignore", invalid="ignore"):
        model._fit_rows(fold.training(data))
    refined = [record for record in model.path_ if record.is_refined]
    test = fold.tested(data)
    for record in refined:
        scores = record.model.scores(test.X)
        setting = replace(job.setting, n_basis=record.n_basis)
        yield setting, weighted_auc(scores, test.positive, test.weights)


def _estimator(base: SparseKernelAUC, setting: Setting, n_candidates: int) -> SparseKernelAUC:
    own = {**setting.parameters(), "n_candidates": n_candidates, "n_jobs": 1}
    return SparseKernelAUC(**{**base.get_params(), **own})
