"""The search of `SparseKernelAUCCV`: a few strong settings, compared on folds.

Fits estimate C themselves, so the usual setting, the default of `SparseKernelAUC` with normal
scores (screened if there are many rows), is a strong one. The search scores it on all folds, and
goes

- "C": try a larger C, and go on while it gets better,
- "structure": try one other structure at a time: scaling, axes, shapes, width, no linear term,
- "C again": try a larger C with the best structure, if it is another one,
- "size": try the best setting with all centres, if half of them are better than a quarter,
- "shapes": score the best setting with centres of other shapes, to be averaged with it.

In each round all settings are scored on the first folds, and the best of them on the other folds
unless they are behind. The last two rounds end with the first folds unless the rarer class has few
rows. A fit scores all sizes on its path, and the Cs next to its own with its centres, which costs
little. Fits with another C are made where one of these is better. A larger C is tried in any case,
because rules without noise need centres that were chosen for a large one. Which setting is chosen
is decided by the rules of `skauc.sparse.comparison`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from skauc.data.sampling import class_weights
from skauc.data.training import TrainingData
from skauc.feature_map import FeatureMap
from skauc.sparse.comparison import FIRST_FOLDS, FoldComparison
from skauc.sparse.folds import Fold, RowFold
from skauc.sparse.parameters import Parameters
from skauc.sparse.scores import NO_SCORES, Scores, best_mean, fading_weights
from skauc.sparse.scoring import SMALLEST_BASIS, Job, Metric, Tested, score_job
from skauc.sparse.settings import Factors, SearchGrid, Setting, n_centres
from skauc.sparse.tasks import Cancellation, running

# Structures that are good on few tables and take long are tried with this part of the centres
# first.
PROBED_PART = 4
# With fewer rows of the rarer class than this, all folds count, and Cs are averaged.
FEW_OF_CLASS = 300
# Training rows of a fold: more rows are sampled, because fits choose centres on samples anyway.
MOST_ROWS = 40_000
# Numbers from which on threads pay, if rows have their features and this many columns of centres.
# Fits to fewer are short calls that wait for Python's lock.
_LEAST_THREADED, _COLUMNS = 30_000, 64
# A still larger C is tried if the last one gained this part of 1 - AUC.
CLEAR_GAIN = 0.01


@dataclass(frozen=True, eq=False)
class Search:
    """The rows and folds that settings are scored on, and how.

    ``comparison`` has the rules by which settings are compared. Of those of a round, ``n_kept`` are
    tried on all folds. ``near`` returns the Cs that fits try beside their own. ``watch(stage, job,
    scores)`` is called after every job, ``expect(stage, n_jobs)`` before the jobs of a stage. After
    ``deadline``, a time of `time.monotonic`, no job begins except the first.
    """

    base: Parameters
    rows: TrainingData
    folds: Sequence[Fold]
    comparison: FoldComparison
    seed: int
    n_jobs: int | None
    n_kept: int
    metric: Metric
    near: Callable[[float], Collection[float]]
    watch: Callable[[str, Job, Scores], None]
    expect: Callable[[str, int], None]
    deadline: float = np.inf
    _parts: dict[int, tuple[TrainingData, Fold]] = field(default_factory=dict)
    _maps: dict[int, dict[str, FeatureMap]] = field(default_factory=dict)
    _cancellation: Cancellation = field(default_factory=Cancellation)

    @property
    def _is_sampled(self) -> bool:
        """Whether there are so many rows that folds are sampled."""
        return self.rows.n_rows > 2 * MOST_ROWS

    def part(self, number: int) -> tuple[TrainingData, Fold]:
        """Return the rows of a fold, a sample of them if they are many, and the fold."""
        if not self._is_sampled:
            return self.rows, self.folds[number]
        if number not in self._parts:
            random_state = check_random_state(self.seed)
            fold = self.folds[number]
            self._parts[number] = fold.few(self.rows, MOST_ROWS, MOST_ROWS, random_state)
        return self._parts[number]

    def few_rows(self) -> TrainingData:
        """Return all rows, or the training rows of the first sample if they are many."""
        if not self._is_sampled:
            return self.rows
        rows, fold = self.part(0)
        assert isinstance(fold, RowFold)  # samples are in memory
        return rows.part(fold.train)

    def tested(self, factors: Factors, scores: Scores) -> tuple[np.ndarray, ...]:
        """Return scores, labels and weights of the test rows of all folds, one after the other.

        The scores are sums of those of some models, times their factors. The weights of samples are
        multiplied so that they stand for all rows of their class.
        """
        found = []
        for test, total in self._scored_rows(factors, scores):
            weights = test.weights
            if self._is_sampled:
                multiples = class_weights(self.rows) / class_weights(test)
                weights = weights * (multiples / multiples.min())[test.positive.astype(int)]
            found.append((total, test.positive, weights))
        return tuple(np.concatenate(arrays) for arrays in zip(*found, strict=True))

    def metric_by_fold(self, factors: Factors, scores: Scores) -> np.ndarray:
        """Return the metric of the same scores on each fold, as it is for single models."""
        if list(factors.values()) == [{None: 1.0}]:
            [setting] = factors
            return scores.metric(setting)
        tested = self._scored_rows(factors, scores)
        return np.array([self.metric(each, test.positive, test.weights) for test, each in tested])

    def _scored_rows(
        self, factors: Factors, scores: Scores
    ) -> Iterator[tuple[TrainingData, np.ndarray]]:
        """Yield the test rows of each fold that all settings were tried on, and their scores."""
        known = [scores.by_setting[setting] for setting in factors]
        for number in sorted(set.intersection(*map(set, known))):
            rows, fold = self.part(number)
            parts = [
                factor * by_fold[number].of_c(C).scores
                for by_fold, by_c in zip(known, factors.values(), strict=True)
                for C, factor in by_c.items()
            ]
            yield fold.tested(rows), np.sum(parts, axis=0)

    def is_over(self) -> bool:
        """Tell whether the time is up."""
        return time.monotonic() > self.deadline

    def run(self, stage: str, jobs: Iterable[Job], scores: Scores) -> Scores:
        """Score jobs, in threads, and return the scores with theirs."""
        jobs = list(jobs)
        if not jobs:
            return scores
        self.expect(stage, len(jobs))
        first = None if scores.by_setting else jobs[0]
        tasks = [partial(self._score, job, is_first=job is first) for job in jobs]
        # Results come in the order of the jobs, so that ties do not depend on `n_jobs`.
        n_threads = min(effective_n_jobs(self.n_jobs), len(jobs))
        with running(tasks, n_threads, self._cancellation) as results:
            for by_setting, job in zip(results, jobs, strict=False):
                if by_setting is not None:
                    scores = scores.plus(job.fold, by_setting)
                    self.watch(stage, job, scores)
        return scores

    def _score(self, job: Job, *, is_first: bool) -> dict[Setting, Tested] | None:
        """Return the scores of a job, or None if it is too late for them."""
        if self._cancellation.is_set or (self.is_over() and not is_first):
            return None
        try:
            part = self.part(job.fold)
            maps = self._maps.setdefault(job.fold, {})
            return score_job(
                self.base,
                *part,
                job,
                self.seed,
                self.metric,
                check=self._cancellation.check,
                maps=maps,
                near=self.near,
            )
        except KeyboardInterrupt:
            if not self._cancellation.is_set:
                raise
            return None


def threads_pay(n_rows: int, n_features: int) -> bool:
    """Tell whether several fits at the same time take less time than one after the other."""
    return n_rows * (n_features + _COLUMNS) >= _LEAST_THREADED


def is_few(counts: tuple[int, int]) -> bool:
    """Tell whether the rarer class has few rows."""
    return min(counts) < FEW_OF_CLASS


def run_search(search: Search, grid: SearchGrid) -> Scores:
    """Compare the usual setting with other Cs and other structures, by smaller models."""
    usual = search.comparison.usual
    scores = search.run("usual", _jobs([usual], range(len(search.folds))), NO_SCORES)
    scores = _compare_cs(search, grid, "C", usual, scores)
    scores = _compare_structures(search, grid, scores)
    best = search.comparison.best(scores)
    if not best.has_structure_of(usual):
        scores = _compare_cs(search, grid, "C again", best, scores)
    return scores


def try_all_centres(search: Search, grid: SearchGrid, scores: Scores) -> Scores:
    """Try the best setting in full size, unless half of its centres lose little.

    If the rarer class has few rows, it goes on to all folds unless it is behind on the first ones.
    """
    comparison = search.comparison
    if search.is_over() or comparison.usual.n_basis == grid.n_basis:
        return scores
    best, sizes = comparison.best(scores), comparison.sizes(scores)
    smaller = [setting for setting in sizes.by_setting if 2 * setting.n_basis <= best.n_basis]
    if smaller and comparison.loses_little(max(smaller, key=n_centres), best, sizes):
        return scores
    full = best.of_size(grid.n_basis)
    return compare_settings(search, "size", [full], scores, comparison.n_last)


def try_shapes(
    search: Search, grid: SearchGrid, best: Setting, scores: Scores
) -> tuple[list[Setting], Scores]:
    """Score the best setting with centres of other shapes, to be averaged with it.

    Return those that may have a weight. Those that would have none on the first folds do not go on
    to the others.
    """
    members = [] if search.is_over() else grid.members(best)
    n_first, n_folds = search.comparison.n_first, search.comparison.n_last
    scores = search.run("shapes", scores.new_jobs(members, range(n_first)), scores)
    known = scores.on_first(n_first)
    good = fading_weights({s: known[s] for s in (best, *members) if s in known})
    kept = [setting for setting in members if setting in good]
    scores = search.run("shapes", scores.new_jobs(kept, range(n_first, n_folds)), scores)
    known = scores.on_first(n_folds)
    return [setting for setting in kept if setting in known], scores


def _compare_cs(
    search: Search, grid: SearchGrid, stage: str, start: Setting, scores: Scores
) -> Scores:
    """Try other Cs with a setting: all that were asked for, or those that get better."""
    if grid.tries_all:
        settings = [replace(start, C=C) for C in grid.ladder if C != start.C]
        return compare_settings(search, stage, settings, scores)
    comparison = search.comparison
    first = range(comparison.n_first)
    others = range(comparison.n_first, comparison.n_folds)
    leading, is_better = start, True
    while is_better and not search.is_over():
        larger = grid.above(comparison.estimated_c(leading, scores))
        Cs = {*comparison.better_c(leading, scores), *larger}
        tried = [replace(start, C=C) for C in sorted(Cs)]
        tried = [setting for setting in tried if setting not in scores.by_setting]
        scores = search.run(stage, _jobs(tried, first), scores)
        known = scores.on_first(len(first))
        before, leading = leading, best_mean({s: known[s] for s in (leading, *tried) if s in known})
        gain = known[leading].mean() - known[before].mean()
        is_clear = gain > CLEAR_GAIN * abs(1 - known[before].mean())
        is_better = leading != before and bool(is_clear)
    if leading == start or search.is_over():
        return scores
    return search.run(stage, _jobs([leading], others), scores)


def _compare_structures(search: Search, grid: SearchGrid, scores: Scores) -> Scores:
    """Try other structures with the best C, some of them only if a small model is better."""
    if search.is_over():
        return scores
    best = search.comparison.best(scores)
    size = max(best.n_basis // PROBED_PART, min(best.n_basis, SMALLEST_BASIS))
    probes = [replace(s, C=best.C, n_basis=size) for s in grid.probed]
    n_probed = min(FIRST_FOLDS, len(search.folds))
    scores = search.run("structure", _jobs(probes, range(n_probed)), scores)
    known = scores.on_first(n_probed)
    good = [s for s in probes if s in known and known[s].mean() > known[best].mean()]
    others = [replace(s, C=best.C, n_basis=best.n_basis) for s in (*grid.settings[1:], *good)]
    return scores if search.is_over() else compare_settings(search, "structure", others, scores)


def expected_jobs(search: Search, grid: SearchGrid) -> dict[str, int]:
    """Return the number of jobs of each stage, if the search for C ends after two rounds.

    It can be larger if larger Cs keep getting better.
    """
    comparison = search.comparison
    n_first, n_folds = comparison.n_first, comparison.n_folds

    def n_jobs_of(n_settings: int) -> int:
        return n_settings * n_first + min(n_settings, search.n_kept) * (n_folds - n_first)

    # Without given Cs: one that is better with the same centres, and the next two.
    n_others = len(grid.ladder) - 1 if grid.tries_all else min(len(grid.ladder), 3)
    n_structures = len(grid.settings) - 1 + len(grid.probed)
    n_probes = len(grid.probed) * min(FIRST_FOLDS, n_folds)
    expected = {
        "usual": n_folds,
        "C": n_jobs_of(n_others),
        "structure": n_probes + n_jobs_of(n_structures),
        "C again": n_jobs_of(n_others if grid.tries_all else min(n_others, 2))
        if n_structures
        else 0,
        "size": 0 if comparison.usual.n_basis == grid.n_basis else comparison.n_last,
        "shapes": len(grid.averaged) * comparison.n_last,
    }
    return {stage: n_jobs for stage, n_jobs in expected.items() if n_jobs}


def compare_settings(
    search: Search,
    stage: str,
    settings: list[Setting],
    scores: Scores,
    n_folds: int | None = None,
) -> Scores:
    """Score settings on the first folds, and those on the others that may become the best.

    There are ``n_folds`` folds, all of them by default.
    """
    comparison = search.comparison
    n_first, n_folds = comparison.n_first, comparison.n_folds if n_folds is None else n_folds
    best = comparison.best(scores)
    scores = search.run(stage, _jobs(settings, range(n_first)), scores)
    if search.is_over():
        return scores
    means = {s: float(by.mean()) for s, by in scores.on_first(n_first).items()}
    in_order = sorted(settings, key=lambda setting: -means[setting])
    kept = [s for s in in_order[: search.n_kept] if means[s] >= means[best]]
    return search.run(stage, _jobs(kept, range(n_first, n_folds)), scores)


def _jobs(settings: list[Setting], folds: range) -> list[Job]:
    return [Job(setting, fold) for setting in settings for fold in folds]
