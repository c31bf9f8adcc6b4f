"""The search of `SparseKernelAUCCV`: cross-validation that shares its work.

A *structure* is what the columns depend on: scaling, axes, widths, linear term, refinement. For
each structure and fold the basis is pursued once, at the middle C; the coefficients for the other
Cs are found on the same columns, from one size to the next. The search goes

- `screen`: compare all structures on a few rows of the first folds,
- `follow`: compare the best at full size on the first folds, and the best of these on all folds,
- `refine`: refine the best setting, and plain kernels, as long as they are not far behind,
- `choose`: take the simplest setting that is as good as the best.

Each of these takes `Scores` and returns more of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from skauc.data.training import TrainingData
from skauc.sparse.folds import Fold, RowFold
from skauc.sparse.plan import Parameters
from skauc.sparse.scoring import Job, Setting, Structure, score_job
from skauc.sparse.state import Path

# Folds of the first comparison (at least), and training rows of each.
SCREENING_FOLDS = 2
SCREENING_ROWS = 8000
# Differences in mean AUC below this are treated as ties.
NO_DIFFERENCE = 5e-4
# Refinement starts from the best setting, and from plain kernels with these Cs.
REFINED_CS = (1.0, 10.0)
# Number of starts that are refined further after one fold, and after all folds.
REFINED_AT_FIRST = 6
REFINED_TO_THE_END = 4
# How far a refined model may be behind the best on one fold; divided by n on n folds.
BEHIND = 0.01
# Structures that are compared at full size on the first folds, and on all folds. A small basis
# flatters the linear term, so the best with and without it are kept for each scaling.
SURVIVORS = 4
FOLLOWED = 2


@dataclass(frozen=True)
class SearchBudget:
    """How thorough a search is.

    Attributes
    ----------
    screening_basis, screening_candidates : float
        Largest basis and number of candidates of the first comparison.
    near : int
        How many neighbours on either side of the best C of a structure are tried at full size.
    starts_plainly : bool
        Whether refinement also starts from a plain kernel with each scaling.
    steps : int
        Steps of a refinement. No rows are held out: with few rows, or few positives, they would
        be missed and would say little.
    more_steps : int or None
        Number of steps that the best refinements are tried with in addition.
    """

    screening_basis: float
    screening_candidates: float
    near: int
    starts_plainly: bool
    steps: int
    more_steps: int | None = None


# Few rows are noisy and cheap to fit, so more is tried. Plain starts pay for few rows, because of
# the noise, and most for many rows.
FEW_ROWS, MANY_ROWS = 1000, 2000
OF_FEW_ROWS = SearchBudget(math.inf, math.inf, near=2, starts_plainly=True, steps=10)
OF_SOME_ROWS = SearchBudget(24, 25, near=1, starts_plainly=False, steps=20)
OF_MANY_ROWS = replace(OF_SOME_ROWS, starts_plainly=True, more_steps=60)


def budget_for(n_rows: int) -> SearchBudget:
    """Return the budget for a number of rows."""
    if n_rows < FEW_ROWS:
        return OF_FEW_ROWS
    return OF_SOME_ROWS if n_rows < MANY_ROWS else OF_MANY_ROWS


@dataclass(frozen=True)
class Scores:
    """The AUC of each setting, by the number of the fold."""

    by_setting: dict[Setting, dict[int, float]]

    def plus(self, fold: int, found: dict[Setting, float]) -> Scores:
        """Return the scores with those of one job."""
        by_setting = dict(self.by_setting)
        for setting, auc in found.items():
            by_setting[setting] = {**by_setting.get(setting, {}), fold: auc}
        return Scores(by_setting)

    def on_first(self, n_folds: int) -> dict[Setting, np.ndarray]:
        """Return the scores on the first folds, of settings that were tried on all of them."""
        folds = range(n_folds)
        return {
            setting: np.array([by_fold[fold] for fold in folds])
            for setting, by_fold in self.by_setting.items()
            if all(fold in by_fold for fold in folds)
        }

    def best_so_far(self) -> tuple[Setting, float] | None:
        """Return the best of the settings tried on the most folds and its mean; None if empty."""
        if not self.by_setting:
            return None
        n_most = max(map(len, self.by_setting.values()))
        means = {
            setting: float(np.mean(list(by_fold.values())))
            for setting, by_fold in self.by_setting.items()
            if len(by_fold) == n_most
        }
        best = max(means, key=lambda setting: (means[setting], -setting.n_basis))
        return best, means[best]


NO_SCORES = Scores({})


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows to fit, and their numbers among all rows; None if they are all rows."""

    rows: TrainingData
    numbers: np.ndarray | None = None

    def numbered(self, path: Path) -> Path:
        """Return the path of a fit to these rows, with the numbers of its centres."""
        return path if self.numbers is None else path.numbered(self.numbers)


@dataclass(frozen=True)
class SearchGrid:
    """What is searched: one setting per structure, the Cs, and whether to refine and rotate."""

    settings: tuple[Setting, ...]
    Cs: tuple[float, ...]
    refine: tuple[bool, ...]
    rotate: tuple[bool, ...]
    # The parameter `refine` of refined settings; None for the steps of the budget.
    steps: bool | int | None = None


@dataclass(frozen=True, eq=False)
class Search:
    """The rows and folds that settings are scored on, and how.

    ``watch(stage, job, scores)`` is called after every job, ``expect(stage, n_jobs)`` before the
    jobs of a stage. Scores of samples that no setting is chosen by are reported as `NO_SCORES`.
    """

    base: Parameters
    rows: TrainingData
    folds: Sequence[Fold]
    seed: int
    n_jobs: int | None
    budget: SearchBudget
    watch: Callable[[str, Job, Scores], None]
    expect: Callable[[str, int], None]

    @property
    def n_first(self) -> int:
        """Number of folds that decide what is tried further: a third of them, at least two."""
        return min(max(SCREENING_FOLDS, len(self.folds) // 3), len(self.folds))

    @property
    def n_candidates(self) -> int:
        """Candidates per centre: half as many as in the last fit."""
        return -(-self.base.selection.n_candidates // 2)

    def sampled(self, fold: Fold) -> tuple[TrainingData, RowFold]:
        """Return a sample of a fold for the first comparison."""
        random_state = check_random_state(self.seed)
        return fold.few(self.rows, SCREENING_ROWS, SCREENING_ROWS // 2, random_state)

    def few_rows(self) -> Sample:
        """Return all rows, or a sample of the first fold if they are many."""
        if self.rows.n_rows <= 2 * SCREENING_ROWS:
            return Sample(self.rows)
        rows, fold = self.sampled(self.folds[0])
        return Sample(fold.training(rows), rows.row_numbers[fold.train])

    def run(
        self,
        stage: str,
        jobs: Iterable[Job],
        folds: Sequence[tuple[TrainingData, Fold]] | None = None,
        scores: Scores = NO_SCORES,
        *,
        is_kept: bool = True,
    ) -> Scores:
        """Score jobs, in parallel, and return the scores with theirs."""
        jobs = list(jobs)
        self.expect(stage, len(jobs))
        if folds is None:
            folds = [(self.rows, fold) for fold in self.folds]
        tasks = [delayed(score_job)(self.base, *folds[job.fold], job, self.seed) for job in jobs]
        # Results come in the order of the jobs, so that ties do not depend on `n_jobs`.
        found = Parallel(self.n_jobs, return_as="generator")(tasks)
        for job, by_setting in zip(jobs, found, strict=True):
            scores = scores.plus(job.fold, by_setting)
            self.watch(stage, job, scores if is_kept else NO_SCORES)
        return scores


@dataclass(frozen=True)
class Survivor:
    """A structure that is tried at full size, and its Cs."""

    setting: Setting
    Cs: tuple[float, ...]


def run_search(search: Search, grid: SearchGrid) -> Scores:
    """Screen the structures, follow the best to the end, then refine, rotated or not."""
    best = replace(grid.settings[0], C=grid.Cs[len(grid.Cs) // 2])
    scores = NO_SCORES
    if False in grid.refine or len(grid.settings) > 1 or len(grid.Cs) > 1:
        screened = screen(search, grid)
        scores = follow(search, survivors_of(search, grid, screened))
        best = best_mean(scores.on_first(len(search.folds)))
    if True in grid.refine:
        scores = refine(search, grid, starts_of(search, grid, best), scores)
    return scores


def expected_jobs(search: Search, grid: SearchGrid) -> dict[str, int]:
    """Return an upper bound of the number of jobs of each stage."""
    n_first, n_folds = search.n_first, len(search.folds)
    n_settings, n_scalings = len(grid.settings), len({s.scaling for s in grid.settings})
    expected: dict[str, int] = {}
    if False in grid.refine or n_settings > 1 or len(grid.Cs) > 1:
        n_alike = sum(s.linear_term == grid.settings[0].linear_term for s in grid.settings)
        expected["screen"] = n_alike * n_first
        expected["screen, linear term"] = min(n_settings - n_alike, n_scalings) * n_first
        expected["first folds"] = min(SURVIVORS, n_settings) * n_first
        expected["all folds"] = min(FOLLOWED, n_settings) * (n_folds - n_first)
    if True in grid.refine:
        n_plain = n_scalings * len(_usual(grid.Cs)) if search.budget.starts_plainly else 0
        n_starts = (1 + n_plain) * len(grid.rotate)
        if search.rows.n_rows > 2 * SCREENING_ROWS:
            expected["refine on a sample"] = n_starts
            n_starts = min(n_starts, REFINED_AT_FIRST)
        expected["refine"] = n_starts * n_first + min(n_starts, REFINED_TO_THE_END) * (
            n_folds - n_first
        )
        if search.budget.more_steps is not None and grid.steps is None:
            expected["refine longer"] = min(n_starts, REFINED_TO_THE_END) * n_folds
    return expected


# -- screen and follow ------------------------------------------------------------------------


def screen(search: Search, grid: SearchGrid) -> Scores:
    """Score all structures with a small basis, on samples of the first folds."""
    budget = search.budget
    small = [replace(s, n_basis=int(min(s.n_basis, budget.screening_basis))) for s in grid.settings]
    n_candidates = int(min(search.n_candidates, budget.screening_candidates))
    folds = [search.sampled(fold) for fold in search.folds[: search.n_first]]

    def compare(stage: str, settings: list[Setting], scores: Scores) -> Scores:
        jobs = (
            Job(s, fold, grid.Cs[::2], n_candidates, "doubling")
            for s in settings
            for fold in range(search.n_first)
        )
        return search.run(stage, jobs, folds, scores)

    # Widths first, with the linear term that comes first; then the other way, with the widths that
    # are best with each scaling.
    alike = small[0].linear_term
    scores = compare("screen", [s for s in small if s.linear_term == alike], NO_SCORES)
    n_scalings = len({s.scaling for s in small})
    kernels = {(s.scaling, s.gamma) for s in _screened_order(search, scores)[:n_scalings]}
    others = [s for s in small if s.linear_term != alike and (s.scaling, s.gamma) in kernels]
    return compare("screen, linear term", others, scores)


def survivors_of(search: Search, grid: SearchGrid, screened: Scores) -> list[Survivor]:
    """Return the best structures, each with the Cs around its best one."""
    survivors = []
    means = {s: np.mean(list(by.values())) for s, by in screened.by_setting.items()}
    for structure in _screened_order(search, screened)[:SURVIVORS]:
        own = [s for s in means if s.structure == structure]
        middle, near = grid.Cs.index(max(own, key=means.__getitem__).C), search.budget.near
        Cs = grid.Cs[max(middle - near, 0) : middle + near + 1]
        survivors += [Survivor(s, Cs) for s in grid.settings if s.structure == structure]
    return survivors


def follow(search: Search, survivors: list[Survivor]) -> Scores:
    """Score structures at full size on the first folds, and the best of them on the others."""

    def jobs(survivors: list[Survivor], folds: range) -> Iterable[Job]:
        retrain = search.base.selection.retrain
        return (
            Job(survivor.setting, fold, survivor.Cs, search.n_candidates, retrain)
            for survivor in survivors
            for fold in folds
        )

    n_first = search.n_first
    scores = search.run("first folds", jobs(survivors, range(n_first)))
    best = _ranked_structures(scores.on_first(n_first))[:FOLLOWED]
    winners = [survivor for survivor in survivors if survivor.setting.structure in best]
    rest = range(n_first, len(search.folds))
    return search.run("all folds", jobs(winners, rest), scores=scores)


def _screened_order(search: Search, scores: Scores) -> list[Structure]:
    """Return the structures in order, but first the best of each scaling and linear term."""
    ranked = _ranked_structures(scores.on_first(search.n_first))
    kinds = {(s.scaling, s.linear_term): s for s in reversed(ranked)}
    first = sorted(kinds.values(), key=ranked.index)
    return first + [structure for structure in ranked if structure not in first]


def _ranked_structures(scores: dict[Setting, np.ndarray]) -> list[Structure]:
    """Return the structures in the order of the mean of their best setting."""
    best: dict[Structure, float] = {}
    for setting, by_fold in scores.items():
        best[setting.structure] = max(best.get(setting.structure, 0.0), float(by_fold.mean()))
    return sorted(best, key=lambda structure: -best[structure])


# -- refine -----------------------------------------------------------------------------------


def starts_of(search: Search, grid: SearchGrid, best: Setting) -> list[Setting]:
    """Return what refinement starts from: the best setting, and plain kernels."""
    starts = [best]
    if search.budget.starts_plainly:
        plain = _plain_settings(grid.settings)
        starts += [replace(s, C=C) for s in plain for C in _usual(grid.Cs)]
    steps = search.budget.steps if grid.steps is None else grid.steps
    n_basis = search.base.n_basis
    distinct = dict.fromkeys(replace(start, refine=steps, n_basis=n_basis) for start in starts)
    return [replace(start, rotate=rotate) for start in distinct for rotate in grid.rotate]


def refine(search: Search, grid: SearchGrid, starts: list[Setting], scores: Scores) -> Scores:
    """Refine on the first fold, the first few, all: each time what is not far behind."""
    n_folds = len(search.folds)
    if search.rows.n_rows > 2 * SCREENING_ROWS:
        starts = _best_on_a_sample(search, starts)
    # A single fold of few rows says nothing.
    n_least = search.n_first if search.budget is OF_FEW_ROWS else 1
    n_done = 0
    for n_next in sorted({n_least, search.n_first, n_folds}):
        scores = search.run("refine", _refinements(search, starts, n_done, n_next), scores=scores)
        n_done = n_next
        known = scores.on_first(n_done)
        in_order = sorted(starts, key=lambda start: -_best_size(known, start).mean())
        n_kept = max(REFINED_AT_FIRST // n_done, REFINED_TO_THE_END)
        near = [start for start in in_order[:n_kept] if _is_near(known, start)]
        # If refinement was asked for, its best is tried to the end.
        starts = near or (in_order[:1] if False not in grid.refine else [])
    if search.budget.more_steps is not None and grid.steps is None:
        longer = [replace(start, refine=search.budget.more_steps) for start in starts]
        jobs = _refinements(search, longer, 0, n_folds)
        scores = search.run("refine longer", jobs, scores=scores)
    return scores


def _refinements(search: Search, starts: list[Setting], first: int, last: int) -> Iterable[Job]:
    retrain = search.base.selection.retrain
    return (
        Job(start, fold, (start.C,), search.n_candidates, retrain)
        for start in starts
        for fold in range(first, last)
    )


def _best_on_a_sample(search: Search, starts: list[Setting]) -> list[Setting]:
    """Return the starts that are best on a sample of the first fold."""
    folds = [search.sampled(search.folds[0])]
    jobs = _refinements(search, starts, 0, 1)
    known = search.run("refine on a sample", jobs, folds, is_kept=False).on_first(1)
    in_order = sorted(starts, key=lambda start: -_best_size(known, start).mean())
    return in_order[:REFINED_AT_FIRST]


def _best_size(scores: dict[Setting, np.ndarray], start: Setting) -> np.ndarray:
    """Return the scores of the best size that one refinement gave."""
    own = (by for s, by in scores.items() if replace(s, n_basis=start.n_basis) == start)
    return max(own, key=np.mean)


def _is_near(scores: dict[Setting, np.ndarray], start: Setting) -> bool:
    """Tell whether a refinement is not far behind the best on these folds."""
    best = max(scores.values(), key=np.mean)
    difference = best - _best_size(scores, start)
    return difference.mean() <= max(_standard_error(difference), BEHIND / len(difference))


def _usual(Cs: tuple[float, ...]) -> list[float]:
    """Return the Cs nearest to those that suit most refined models."""
    nearest = (min(Cs, key=lambda C: abs(np.log(C / usual))) for usual in REFINED_CS)
    return list(dict.fromkeys(nearest))


def _plain_settings(settings: Sequence[Setting]) -> list[Setting]:
    """Return the first setting of each scaling, with a single width if there is one."""
    ordered = sorted(settings, key=lambda s: isinstance(s.gamma, tuple))
    return list({s.scaling: s for s in reversed(ordered)}.values())


# -- choose -----------------------------------------------------------------------------------


def choose(search: Search, grid: SearchGrid, scores: Scores) -> tuple[Setting, float]:
    """Return the simplest setting that is as good as the best, and its mean."""
    complete = scores.on_first(len(search.folds))
    chosen = simplest({s: by for s, by in complete.items() if bool(s.refine) in grid.refine})
    return chosen, float(complete[chosen].mean())


def best_mean(scores: dict[Setting, np.ndarray]) -> Setting:
    """Return the setting with the best mean, the smallest of several."""
    return max(scores, key=lambda setting: (scores[setting].mean(), -setting.n_basis))


def simplest(scores: dict[Setting, np.ndarray]) -> Setting:
    """Return the simplest setting within one standard error of the best.

    The standard error is that of the difference from the best, fold by fold, so that folds that
    are hard for all settings do not count as noise; it is 0.0005 at least. Ties are broken in
    this order: fewest centres, rank-scaled features (robust to outliers), unrefined, no linear
    term, the better mean, the smaller C.
    """
    means = {setting: float(by_fold.mean()) for setting, by_fold in scores.items()}
    best = scores[best_mean(scores)]

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


def _standard_error(differences: np.ndarray) -> float:
    """Return the standard error of a mean over folds; 0 for a single fold."""
    n_folds = len(differences)
    return float(differences.std(ddof=1) / np.sqrt(n_folds)) if n_folds > 1 else 0.0
