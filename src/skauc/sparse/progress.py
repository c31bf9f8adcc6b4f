"""What a fit or a search tells its user while it runs."""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from skauc.base import Reporter, fitted_attributes
from skauc.exceptions import keeping
from skauc.sparse.scores import NO_SCORES, Scores
from skauc.sparse.scoring import Job
from skauc.sparse.settings import Setting
from skauc.sparse.state import DescentStep, Path

# Seconds between two lines about the steps of refinements.
STEP_LINE_SECONDS = 2.0


@dataclass(frozen=True)
class SearchProgress:
    """How far a search is. Callbacks find it in ``search_progress_`` of the estimator.

    Attributes
    ----------
    n_done : int
        Number of fits that are done.
    n_tasks : int
        Number of fits that are planned. It falls when settings drop out, and can rise if larger
        Cs keep getting better.
    trying : str
        What was tried last.
    best_auc : float or None
        Best mean AUC over the folds so far.
    """

    n_done: int
    n_tasks: int
    trying: str
    best_auc: float | None


class Printer:
    """Writes lines to standard output if ``verbose`` is positive."""

    def __init__(self, name: str, verbose: int):
        self.name, self.verbose = name, verbose

    def line(self, text: str) -> None:
        """Write one line."""
        if self.verbose > 0:
            sys.stdout.write(f"[{self.name}] {text}\n")
            sys.stdout.flush()


class PathPrinter(Printer):
    """Writes a line per retraining, and a line every few seconds while centres are refined."""

    def __init__(self, name: str, verbose: int):
        super().__init__(name, verbose)
        self._printed_until = -1.0
        self._last_step_line = time.monotonic()

    def __call__(self, path: Path) -> bool:
        """Write a line if there was a retraining since the last call; never stop the fit."""
        if self.verbose > 0 and path.records[-1].seconds > self._printed_until:
            last = path.records[-1]
            self._printed_until = last.seconds
            plural = "" if last.n_basis == 1 else "s"
            parts = [f"{last.n_basis} centre{plural}", f"objective {last.objective:.6g}"]
            parts.append(f"train AUC {last.train_auc:.4f}")
            if last.validation_auc is not None:
                parts.append(f"validation AUC {last.validation_auc:.4f}")
            self.line(", ".join([*parts, f"{last.seconds:.1f} s"]))
        return False

    def step(self, step: DescentStep) -> None:
        """Write a line about a step of a refinement, unless there was one a moment ago."""
        now = time.monotonic()
        if now < self._last_step_line + STEP_LINE_SECONDS:
            return
        self._last_step_line = now
        n_steps = f"step {step.n_done} of at most {step.n_steps}"
        self.line(f"refining {step.path.size} centres: {n_steps}")


class FitLog:
    """Tells callbacks and standard output about the sizes and the refinement steps of a fit.

    There is one task per size that the basis grows to ("centre"), and one per step. A refinement
    that ends early has fewer steps, so the number of tasks is corrected on the way.
    """

    def __init__(self, estimator, sizes: list[int], most_steps: int, start_reporting: Callable):
        self._printer = PathPrinter(type(estimator).__name__, estimator.verbose)
        self._reporter: Reporter = start_reporting(len(sizes) + most_steps)
        self._sizes, self._n_done, self._n_later_steps = sizes, 0, most_steps

    def centre(self, path: Path) -> bool:
        """Report a larger basis; return whether a callback asks to stop."""
        self._printer(path)
        self._count(path, 0)
        return self._reporter.task("centre", path.attributes)

    def step(self, step: DescentStep) -> None:
        """Report one step of a refinement."""
        if step.n_done == 1:
            self._n_later_steps = max(self._n_later_steps - step.n_steps, 0)
        self._printer.step(step)
        self._count(step.path, step.n_steps - step.n_done)
        self._reporter.task("refinement step", lambda: None)

    def _count(self, path: Path, n_steps: int) -> None:
        """Count a task, with so many steps left of this refinement at most."""
        self._n_done += 1
        n_larger = sum(size > max(path.models) for size in self._sizes)
        self._reporter.expect(self._n_done + n_larger + n_steps + self._n_later_steps)

    def end(self, path: Path) -> None:
        """Report the fitted model. An interrupt by a callback keeps it."""
        self._printer(path)
        with keeping(path):
            self._reporter.expect(self._n_done)
            self._reporter.end(path.attributes)


class Deadline:
    """Raises KeyboardInterrupt when a time has passed since the first check."""

    def __init__(self, seconds: float):
        self._seconds, self._started = seconds, math.inf

    def check(self) -> None:
        """Raise KeyboardInterrupt if it is time."""
        self._started = min(self._started, time.monotonic())
        if time.monotonic() - self._started > self._seconds:
            raise KeyboardInterrupt


@dataclass(frozen=True)
class RefitLog:
    """Tells standard output of a fit to all rows, and ends it at the deadline or by ``check``."""

    printer: PathPrinter
    deadline: Deadline
    check: Callable[[], None]

    def centre(self, path: Path) -> bool:
        """Tell of one more centre; never stop the fit before the deadline."""
        self.deadline.check()
        self.check()
        return self.printer(path)

    def step(self, step: DescentStep) -> None:
        """Tell of one more step of a refinement."""
        self.deadline.check()
        self.check()
        self.printer.step(step)


class SearchLog:
    """Keeps the scores of a running search, and tells callbacks and standard output of each fit."""

    def __init__(self, estimator):
        self.scores: Scores = NO_SCORES
        self._estimator = estimator
        self._printer = Printer(type(estimator).__name__, estimator.verbose)
        self._deadline = Deadline(math.inf)
        self._expected: dict[str, int] = {}
        self._done: Counter[str] = Counter()

    @property
    def n_tasks(self) -> int:
        """Number of fits that are planned, the last one to all rows included."""
        return sum(self._expected.values()) + 1

    def begin(self, expected: dict[str, int], start_reporting: Callable) -> None:
        """Take the planned number of fits of each stage, and start to report."""
        self._expected = dict(expected)
        self._reporter = start_reporting(self.n_tasks)

    def expect(self, stage: str, n_jobs: int) -> None:
        """Correct the number of fits: a stage begins, and those before it have ended."""
        for earlier in self._expected:
            if earlier == stage:
                break
            self._expected[earlier] = self._done[earlier]
        n_least = self._done[stage] + n_jobs
        self._expected[stage] = max(self._expected.get(stage, 0), n_least)
        self._reporter.expect(self.n_tasks)

    def record(self, stage: str, job: Job, scores: Scores) -> None:
        """Take the scores after one more fit."""
        self.scores = scores
        self._done[stage] += 1
        self._report("fold", f"{stage}: {job.setting}")

    def hurry(self, seconds: float) -> None:
        """End the last fit some seconds after its first centre, as an interrupt does."""
        self._deadline = Deadline(seconds)

    def refit(self, setting: Setting, check: Callable[[], None]) -> RefitLog:
        """Tell that a setting is fitted to all rows, and return what tells of that fit.

        Fits at the same time differ in the shapes of their centres, so lines begin with them.
        """
        self._printer.line(f"fit to all rows: {setting}")
        printer = PathPrinter(f"{self._printer.name}, {setting.shapes}", self._printer.verbose)
        return RefitLog(printer, self._deadline, check)

    def end(self, path: Path) -> None:
        """Report the last fit. An interrupt by a callback keeps its model."""
        self._expected = dict(self._done)
        self._reporter.expect(self.n_tasks)
        self._done["refit"] += 1
        with keeping(path):
            try:
                self._report("refit", "refit to all rows")
            finally:
                del self._estimator.search_progress_
            self._reporter.end(lambda: fitted_attributes(self._estimator))

    def _report(self, task: str, trying: str) -> None:
        n_done, found = self._done.total(), self.scores.best_so_far()
        best = None if found is None else found[1]
        progress = SearchProgress(n_done, self.n_tasks, trying, best)
        self._estimator.search_progress_ = progress
        auc = "" if best is None else f"; best AUC {best:.4f}"
        self._printer.line(f"{n_done} of {self.n_tasks} fits: {trying}{auc}")
        self._reporter.task(task, lambda: None)
