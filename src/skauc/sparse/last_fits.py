"""The last fits of a search: what was decided, fitted to all rows.

One setting is one fit. If several settings are averaged, their fits run at the same time, each with
its share of the threads, and a model with fewer centres approximates the average. An interrupt
keeps the best model that was reached.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from skauc.data.training import TrainingData
from skauc.engines import make_engine
from skauc.exceptions import FitInterruptedError
from skauc.feature_map import FeatureMap
from skauc.sparse.averaging import Average, average_of, averaged_path, joined_path
from skauc.sparse.decision import Decision
from skauc.sparse.linear_term import KnownAxes
from skauc.sparse.path import fit_path
from skauc.sparse.plan import Plan, make_plan
from skauc.sparse.progress import SearchLog
from skauc.sparse.sampling import MOST_REFINED_ROWS
from skauc.sparse.search import Search, threads_pay
from skauc.sparse.settings import Factors, Setting
from skauc.sparse.stages import TryCs
from skauc.sparse.state import Path
from skauc.sparse.tasks import Cancellation, running

# Steps of the refinement of the last fit, times those on the folds, if there are many rows: tables
# with more than 10,000 rows gain .002 to .01 of AUC by more rows and steps.
TIMES_STEPS = 2
# If C is at least this large, the classes can be told apart, and more steps fit no noise: the last
# fit of round centres takes this many times as many steps (docs/results/development.md).
CLEAR_C, CLEAR_TIMES_STEPS = 5.0, 3
# Rows up to which fits run at the same time: with more, one fit uses all threads and less memory.
MOST_AT_ONCE = 100_000


@dataclass(frozen=True, eq=False)
class LastFit:
    """The model of a search: its path, and what it is the sum of.

    ``setting`` is the one with the largest share, and ``plan`` that of its fit. ``average`` is None
    for a single model. ``interrupt`` is what ended the fits before their time, if anything did.
    """

    setting: Setting
    plan: Plan
    path: Path
    factors: Factors
    average: Average | None
    interrupt: KeyboardInterrupt | None = None


@dataclass(frozen=True, eq=False)
class LastFits:
    """Fits to all rows, with at most ``n_basis`` centres, on ``n_jobs`` threads.

    If there are many rows, centres are chosen and refined on ``n_rows`` of them. If
    ``takes_more_steps``, refinement takes more steps where that pays. If it ``hurries``, fits have
    the parameters that were tried on the folds.
    """

    search: Search
    rows: TrainingData
    n_basis: int
    n_rows: int
    n_jobs: int | None
    log: SearchLog
    takes_more_steps: bool
    hurries: bool = False
    _plans: dict[Setting, Plan] = field(default_factory=dict)
    _paths: dict[Setting, Path] = field(default_factory=dict)
    _interrupted: dict[Setting, Path] = field(default_factory=dict)
    _cancellation: Cancellation = field(default_factory=Cancellation)

    def fit(self, decision: Decision, average: Average | None) -> LastFit:
        """Fit what was decided, or all that is averaged."""
        factors = _alone(decision.setting) if average is None else average.factors
        first = next(iter(factors))
        try:
            mapped = self._plan_all(factors)
            self._fit_all(factors, mapped)
            path = None
            if len(factors) > 1:
                random_state = check_random_state(self.search.seed)
                path = joined_path(self._paths, factors, mapped, self.n_basis, random_state)
                if path is None:
                    # So few centres cannot hold the average.
                    first = decision.setting if decision.setting in factors else first
                    average = average_of(self.search, first, [], self.log.scores)
                    factors = _alone(first) if average is None else average.factors
            if path is None:
                path = averaged_path(self._paths[first], factors[first], self.rows)
        except KeyboardInterrupt as interrupt:
            # A fit that is done comes before one that was cut off.
            paths = self._paths or self._interrupted
            reached = next((setting for setting in factors if setting in paths), None)
            if reached is None:
                raise
            own = _alone(reached)
            return LastFit(reached, self._plans[reached], paths[reached], own, None, interrupt)
        return LastFit(first, self._plans[first], path, factors, average)

    def _plan_all(self, factors: Factors) -> TrainingData:
        """Plan the fits, and return the rows as the kernel sees them, the same in all fits."""
        scaled: FeatureMap | None = None
        known_axes: KnownAxes = {}
        for setting in factors:
            changes = {} if self.hurries else self._changes(setting)
            parameters = replace(self.search.base, **{**setting.parameters(), **changes})
            plan, mapped = make_plan(parameters, self.rows, scaled, known_axes, self.n_jobs)
            self._plans[setting] = plan
            if setting.scaling is not None and plan.feature_map is not None:
                scaled = FeatureMap(plan.feature_map.by_feature)
        return mapped

    def _fit_all(self, factors: Factors, rows: TrainingData) -> None:
        """Fit all settings, several at the same time if that pays."""
        is_threaded = threads_pay(rows.n_rows, rows.n_features) and rows.n_rows <= MOST_AT_ONCE
        n_threads = effective_n_jobs(self.n_jobs)
        n_at_once = min(len(factors), n_threads) if is_threaded else 1
        tasks = [
            partial(self._fit, setting, by_c, rows, n_threads // n_at_once)
            for setting, by_c in factors.items()
        ]
        with running(tasks, n_at_once, self._cancellation) as results:
            deque(results, maxlen=0)

    def _fit(
        self, setting: Setting, by_c: Collection[float | None], rows: TrainingData, n_jobs: int
    ) -> None:
        """Fit a setting, and its coefficients once more for each of the other Cs."""
        Cs = [C for C in by_c if C is not None]
        try:
            self._cancellation.check()
            log = self.log.refit(setting, self._cancellation.check)
            self._paths[setting] = fit_path(
                rows,
                self._plans[setting],
                open_engine=partial(make_engine, n_jobs=n_jobs),
                random_state=self.search.seed,
                watch=log.centre,
                on_step=log.step,
                then=(TryCs(lambda C: Cs),),
            )
        except KeyboardInterrupt as interrupt:
            if isinstance(interrupt, FitInterruptedError):
                self._interrupted[setting] = interrupt.path
            if not self._cancellation.is_set:
                raise

    def _changes(self, setting: Setting) -> dict[str, Any]:
        """Return the parameters that the last fit of a setting changes.

        If there are many rows, it refines on more of them, and with more steps. C would be
        estimated differently by that, so it has the one of the folds. If this C is large, round
        centres take more steps, too, unless the rarer class has few rows. Estimates are large then
        in any case.
        """
        search, n_steps = self.search, setting.refine
        selection = search.base.selection
        changes: dict[str, Any] = {}
        if not n_steps:
            return changes
        C = search.comparison.estimated_c(setting, self.log.scores)
        if selection.n_rows == "auto" and search.rows.n_rows > MOST_REFINED_ROWS:
            changes["selection"] = replace(selection, n_rows=self.n_rows)
            n_steps *= TIMES_STEPS
            if setting.C == "auto":
                changes["C"] = float(f"{C:.2g}")
        if C >= CLEAR_C and setting.shapes == "round" and not search.comparison.are_few:
            n_steps *= CLEAR_TIMES_STEPS
        if self.takes_more_steps and n_steps > setting.refine:
            changes["refine"] = n_steps
        return changes


def _alone(setting: Setting) -> Factors:
    """Return the factors of a setting with the C of its fit."""
    return {setting: {None: 1.0}}
