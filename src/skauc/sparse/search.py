"""The search of `SparseKernelAUCCV`: a few strong settings, compared on folds.

The search starts from one structure, the default of `SparseKernelAUC` with normal scores, and goes

- "C": try every C with it, and Cs beyond them while the best one is at an end,
- "structure": change one thing at a time, with the best C: scaling, axes, width, linear term,
- "C again": try the neighbouring Cs with the best structure, if it is another one,
- "size": try the best setting with all centres, if it had as many as the rounds before allow.

In each round all settings are scored on the first folds, and the best of them on the other folds. A
fit scores all sizes on its path. Up to the last round, models have half of the centres at most,
which is enough to tell settings apart.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.utils import check_random_state

from skauc.data.sampling import class_weights
from skauc.data.training import TrainingData
from skauc.feature_map import FeatureMap
from skauc.sparse.folds import Fold, RowFold
from skauc.sparse.plan import Parameters
from skauc.sparse.scoring import Job, Metric, Tested, score_job
from skauc.sparse.settings import SearchGrid, Setting

# Folds on which all settings of a round are scored, at least.
FIRST_FOLDS = 2
# Settings that are behind the best by more than this part of 1 - AUC are given up after these
# folds, and are not averaged with it.
MOST_BEHIND = 0.03
# With fewer rows of the rarer class than this, fewer settings are tried, and Cs are averaged.
FEW_OF_CLASS = 300
# With so few rows, another structure than the first one and a C at an end of the grid beyond which
# others are tried must be better by this part of 1 - AUC.
CLEAR_LEAD = 0.04
# Training rows of a fold: more rows are sampled, because fits choose centres on samples anyway.
MOST_ROWS = 40_000
# Rows from which on threads pay: fits to fewer rows are short calls that wait for Python's lock.
LEAST_THREADED = 1_000
# Sizes within this part of the best 1 - AUC are as good as the best if ``size`` is "small".
SMALL_LOSS = 0.05


@dataclass(frozen=True)
class Scores:
    """What was found for each setting, by the number of the fold."""

    by_setting: dict[Setting, dict[int, Tested]]

    def plus(self, fold: int, found: dict[Setting, Tested]) -> Scores:
        """Return the scores with those of one job."""
        by_setting = dict(self.by_setting)
        for setting, tested in found.items():
            # The scores of a fit that ended at this size come before those of a fit that went on.
            by_setting[setting] = {fold: tested, **by_setting.get(setting, {})}
        return Scores(by_setting)

    def on_first(self, n_folds: int) -> dict[Setting, np.ndarray]:
        """Return the metric on the first folds, of settings that were tried on all of them."""
        folds = range(n_folds)
        return {
            setting: np.array([by_fold[fold].metric for fold in folds])
            for setting, by_fold in self.by_setting.items()
            if all(fold in by_fold for fold in folds)
        }

    @property
    def n_most(self) -> int:
        """The largest number of first folds that some setting was tried on."""
        n_folds = 0
        while self.on_first(n_folds + 1):
            n_folds += 1
        return n_folds

    def as_results(self, n_folds: int) -> dict[str, np.ndarray | list]:
        """Return all scores in the form of scikit-learn's ``cv_results_``."""
        settings = list(self.by_setting)
        splits = np.full((len(settings), n_folds), np.nan)
        for row, by_fold in enumerate(self.by_setting.values()):
            for fold, tested in by_fold.items():
                splits[row, fold] = tested.metric
        means = np.nanmean(splits, axis=1)
        results: dict[str, np.ndarray | list] = {
            "params": [setting.parameters() for setting in settings],
            **{f"split{fold}_test_score": splits[:, fold] for fold in range(n_folds)},
            "mean_test_score": means,
            "std_test_score": np.nanstd(splits, axis=1),
            "rank_test_score": rankdata(-means, method="min").astype(np.int32),
        }
        for name in ("scaling", "C", "linear_term", "rotate", "shapes", "whole_curve", "n_basis"):
            results[f"param_{name}"] = np.array([getattr(setting, name) for setting in settings])
        for name in ("gamma", "refine"):
            values = np.empty(len(settings), dtype=object)
            values[:] = [getattr(setting, name) for setting in settings]
            results[f"param_{name}"] = values
        return results

    def best_so_far(self) -> tuple[Setting, float] | None:
        """Return the best of the settings tried on the most folds and its mean; None if empty."""
        n_folds = self.n_most
        if n_folds == 0:
            return None
        scores = self.on_first(n_folds)
        best = best_mean(scores)
        return best, float(scores[best].mean())


NO_SCORES = Scores({})


@dataclass(frozen=True, eq=False)
class Search:
    """The rows and folds that settings are scored on, and how.

    Of the settings of a round, ``n_kept`` are tried on all folds. If the rarer class has few rows,
    the structure of ``usual`` is kept unless another one is clearly better; otherwise it is None.
    ``watch(stage, job, scores)`` is called after every job, ``expect(stage, n_jobs)`` before the
    jobs of a stage. After ``deadline``, a time of `time.monotonic`, no job begins except the first.
    """

    base: Parameters
    rows: TrainingData
    folds: Sequence[Fold]
    seed: int
    n_jobs: int | None
    n_kept: int
    metric: Metric
    usual: Setting | None
    watch: Callable[[str, Job, Scores], None]
    expect: Callable[[str, int], None]
    deadline: float = np.inf
    _parts: dict[int, tuple[TrainingData, Fold]] = field(default_factory=dict)
    _maps: dict[int, dict[str, FeatureMap]] = field(default_factory=dict)
    _is_cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def n_first(self) -> int:
        """Number of folds that decide what is tried further: a third of them, at least two."""
        return min(max(FIRST_FOLDS, len(self.folds) // 3), len(self.folds))

    @property
    def has_few_of_class(self) -> bool:
        """Whether the rarer class has few rows."""
        return self.usual is not None

    def eligible(self, scores: Scores) -> dict[Setting, np.ndarray]:
        """Return the settings tried on the most folds that may be chosen, with their metric.

        They have the usual structure, unless another one is clearly better.
        """
        by_setting = scores.on_first(scores.n_most)
        usual = self.usual
        own = {s: by for s, by in by_setting.items() if usual and s.has_structure_of(usual)}
        if not own:
            return by_setting
        return by_setting if is_clearly_better(by_setting, own) else own

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

    def tested(self, factors: dict[Setting, float], scores: Scores) -> tuple[np.ndarray, ...]:
        """Return scores, labels and weights of the test rows of all folds, one after the other."""
        by_fold = self.tested_by_fold(factors, scores)
        return tuple(np.concatenate(arrays) for arrays in zip(*by_fold, strict=True))

    def tested_by_fold(
        self, factors: dict[Setting, float], scores: Scores
    ) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Return scores, labels and weights of the test rows of each fold settings were tried on.

        The scores are sums of those of the settings, times their factors. The weights of samples
        are multiplied so that they stand for all rows of their class.
        """
        by_fold = [scores.by_setting[setting] for setting in factors]
        found = []
        for number in sorted(set.intersection(*map(set, by_fold))):
            rows, fold = self.part(number)
            test = fold.tested(rows)
            weights = test.weights
            if self._is_sampled:
                multiples = class_weights(self.rows) / class_weights(test)
                weights = weights * (multiples / multiples.min())[test.positive.astype(int)]
            each = zip(factors.values(), by_fold, strict=True)
            total = sum(factor * tested[number].scores for factor, tested in each)
            found.append((np.asarray(total), test.positive, weights))
        return found

    def is_over(self) -> bool:
        """Tell whether the time is up."""
        return time.monotonic() > self.deadline

    def run(self, stage: str, jobs: Iterable[Job], scores: Scores) -> Scores:
        """Score jobs, in threads, and return the scores with theirs."""
        jobs = list(jobs)
        self.expect(stage, len(jobs))
        first = None if scores.by_setting else jobs[0]
        tasks = (delayed(self._score)(job, is_first=job is first) for job in jobs)
        # Results come in the order of the jobs, so that ties do not depend on `n_jobs`.
        found = Parallel(self.n_jobs, prefer="threads", return_as="generator")(tasks)
        try:
            for by_setting, job in zip(found, jobs, strict=False):
                if by_setting is not None:
                    scores = scores.plus(job.fold, by_setting)
                    self.watch(stage, job, scores)
        except BaseException:
            # The other threads would go on: tell them to end, and wait for them.
            self._is_cancelled.set()
            deque(found, maxlen=0)
            raise
        return scores

    def _score(self, job: Job, *, is_first: bool) -> dict[Setting, Tested] | None:
        """Return the scores of a job, or None if it is too late for them."""
        if self._is_cancelled.is_set() or (self.is_over() and not is_first):
            return None
        try:
            part = self.part(job.fold)
            maps = self._maps.setdefault(job.fold, {})
            return score_job(self.base, *part, job, self.seed, self.metric, self._check, maps)
        except KeyboardInterrupt:
            if not self._is_cancelled.is_set():
                raise
            return None

    def _check(self) -> None:
        """Raise KeyboardInterrupt in a thread whose result is not wanted any more."""
        if self._is_cancelled.is_set():
            raise KeyboardInterrupt


def run_search(search: Search, grid: SearchGrid) -> Scores:
    """Compare the settings of the grid by smaller models, and try the best one in full size."""
    small = grid.for_comparison()
    scores = _compare_structures(search, small)
    if search.is_over():
        return scores
    best = _best(search, scores)
    if best.n_basis == small.n_basis < grid.n_basis:
        larger = replace(best, n_basis=grid.n_basis)
        scores = compare_settings(search, "size", [larger], scores)
    return scores


def _compare_structures(search: Search, grid: SearchGrid) -> Scores:
    """Try all Cs with the first structure, the other structures, and the Cs near the best."""
    first = grid.settings[0]
    scores = compare_settings(search, "C", [replace(first, C=C) for C in grid.Cs], NO_SCORES)
    scores = _search_further(search, grid, scores)
    if search.is_over():
        return scores
    best = _best(search, scores)
    others = [replace(setting, C=best.C) for setting in grid.settings[1:]]
    scores = compare_settings(search, "structure", others, scores)
    if search.is_over():
        return scores
    best = _best(search, scores)
    if not best.has_structure_of(first):
        again = [replace(best, C=C, n_basis=first.n_basis) for C in grid.near(best.C)]
        scores = compare_settings(search, "C again", again, scores)
    return scores


def _search_further(search: Search, grid: SearchGrid, scores: Scores) -> Scores:
    """Try Cs beyond those of the grid while the best one is at an end."""
    tried = set(grid.Cs)
    while not search.is_over():
        best = _best(search, scores)
        C = grid.beyond(best.C, tried)
        if C is None or not _is_worth_going_on(search, scores, best.C):
            break
        tried.add(C)
        further = replace(grid.settings[0], C=C)
        scores = compare_settings(search, "C", [further], scores)
    return scores


def _is_worth_going_on(search: Search, scores: Scores, end: float) -> bool:
    """Tell whether to try Cs beyond an end: with few rows, if it is clearly the best one."""
    by_setting = search.eligible(scores)
    others = {setting: by for setting, by in by_setting.items() if end != setting.C}
    return not (search.has_few_of_class and others) or is_clearly_better(by_setting, others)


def expected_jobs(search: Search, grid: SearchGrid) -> dict[str, int]:
    """Return the number of jobs of each stage, if the best C is not at an end of the grid."""
    n_first, n_folds = search.n_first, len(search.folds)

    def count(n_settings: int) -> int:
        return n_settings * n_first + min(n_settings, search.n_kept) * (n_folds - n_first)

    expected = {"C": count(len(grid.Cs)), "structure": count(len(grid.settings) - 1)}
    if len(grid.settings) > 1 and len(grid.Cs) > 1:
        expected["C again"] = count(2)
    if grid.for_comparison().n_basis < grid.n_basis:
        expected["size"] = count(1)
    return expected


def compare_settings(search: Search, stage: str, settings: list[Setting], scores: Scores) -> Scores:
    """Score settings on the first folds, and those on the others that may become the best."""
    n_first, n_folds = search.n_first, len(search.folds)
    scores = search.run(stage, _jobs(settings, range(n_first)), scores)
    if search.is_over():
        return scores
    known, tried = scores.on_first(n_first), scores.on_first(n_folds)
    means = {setting: float(_best_size(known, setting).mean()) for setting in settings}
    best = float(known[best_mean(tried)].mean()) if tried else max(means.values())
    least = best - MOST_BEHIND * abs(1 - best)
    in_order = sorted(settings, key=lambda setting: -means[setting])
    kept = [setting for setting in in_order[: search.n_kept] if means[setting] >= least]
    return search.run(stage, _jobs(kept, range(n_first, n_folds)), scores)


def _jobs(settings: list[Setting], folds: range) -> list[Job]:
    return [Job(setting, fold) for setting in settings for fold in folds]


def _best(search: Search, scores: Scores) -> Setting:
    """Return the best of the settings that were tried on all folds."""
    return best_mean(search.eligible(scores))


def _best_size(scores: dict[Setting, np.ndarray], setting: Setting) -> np.ndarray:
    """Return the scores of the best size that one setting gave."""
    own = (by for s, by in scores.items() if replace(s, n_basis=setting.n_basis) == setting)
    return max(own, key=np.mean)


# -- choose -----------------------------------------------------------------------------------


def choose(search: Search, scores: Scores, size: str) -> tuple[Setting, float]:
    """Return the setting to use, and its mean AUC corrected for the choice."""
    by_setting = scores.on_first(scores.n_most)
    chosen = _CHOICES[size](search.eligible(scores))
    return chosen, corrected_mean(by_setting, by_setting[chosen])


def all_choices(search: Search, scores: Scores) -> dict[str, dict]:
    """Return the parameters and the mean AUC that each value of ``size`` stands for."""
    by_setting = search.eligible(scores)
    chosen = {size: choice(by_setting) for size, choice in _CHOICES.items()}
    return {
        size: {
            "params": setting.parameters(),
            "mean_test_score": float(by_setting[setting].mean()),
        }
        for size, setting in chosen.items()
    }


def best_mean(scores: dict[Setting, np.ndarray]) -> Setting:
    """Return the setting with the best mean, the smallest of several."""
    return max(scores, key=lambda setting: (scores[setting].mean(), -setting.n_basis))


def is_clearly_better(scores: dict[Setting, np.ndarray], than: dict[Setting, np.ndarray]) -> bool:
    """Tell whether the best of some settings is better than that of others by `CLEAR_LEAD`."""
    best, other = (float(each[best_mean(each)].mean()) for each in (scores, than))
    return best - other > CLEAR_LEAD * abs(1 - other)


def smallest(scores: dict[Setting, np.ndarray]) -> Setting:
    """Return the smallest setting that loses no more than noise, and no more than 5% of 1 - AUC.

    The noise is one standard error of the difference from the best, fold by fold.
    """
    best = scores[best_mean(scores)]

    def is_as_good(setting: Setting) -> bool:
        difference = best - scores[setting]
        most = min(_standard_error(difference), SMALL_LOSS * (1 - float(best.mean())))
        return float(difference.mean()) <= most

    good = {setting: scores[setting] for setting in scores if is_as_good(setting)}
    n_basis = min(setting.n_basis for setting in good)
    return best_mean({s: by for s, by in good.items() if s.n_basis == n_basis})


# What the parameter ``size`` means.
_CHOICES: dict[str, Callable[[dict[Setting, np.ndarray]], Setting]] = {
    "best": best_mean,
    "small": smallest,
}
SIZES = tuple(_CHOICES)


def corrected_mean(scores: dict[Setting, np.ndarray], chosen: np.ndarray) -> float:
    """Return the mean of the AUCs that were chosen, less the optimism of having chosen them.

    The optimism is estimated as by Tibshirani and Tibshirani (2009): in each fold, how much better
    the best setting of this fold is than what was chosen.
    """
    best_of_fold = np.max([*scores.values(), chosen], axis=0)
    return float(np.mean(chosen) - np.mean(best_of_fold - chosen))


def _standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
