"""Progress on standard error: a bar on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread

from skauc.app.cli.output import duration, say
from skauc.exceptions import interrupts

# Seconds between two lines where there is no terminal, at first and at most.
LINE_SECONDS = 5.0
MOST_LINE_SECONDS = 60.0


@dataclass
class StageProgress:
    """How far a stage is.

    Attributes
    ----------
    stage : str
        What is being done.
    n_tasks : int or None
        Number of tasks, if it is known.
    unit : str
        What a task is called.
    n_done : int
        Tasks that are done.
    detail : str
        What is being tried.
    best_auc : float or None
        The best AUC so far.
    most_seconds : float or None
        The time after which no task begins, if there is a limit.
    """

    stage: str
    n_tasks: int | None = None
    unit: str = "steps"
    n_done: int = 0
    detail: str = ""
    best_auc: float | None = None
    most_seconds: float | None = None
    started: float = field(default_factory=time.monotonic)
    _first: tuple[int, float] = (0, 0.0)

    @property
    def seconds(self) -> float:
        """The time since the stage began."""
        return time.monotonic() - self.started

    @property
    def seconds_left(self) -> float | None:
        """The time that the other tasks take at the mean speed since the first one, if known.

        The first task also waits for imports, compilation and worker processes. No more is left
        than the limit allows. After it, the time that running tasks take is not known.
        """
        n_since, began = self.n_done - self._first[0], self._first[1]
        allowed = math.inf if self.most_seconds is None else self.most_seconds - self.seconds
        if not self.n_tasks or n_since <= 0 or allowed < 0:
            return None
        left = (time.monotonic() - began) / n_since * max(self.n_tasks - self.n_done, 0)
        return min(left, allowed)

    def reach(self, n_done: int) -> None:
        """Set the number of tasks that are done."""
        if self.n_done == 0:
            self._first = (n_done, time.monotonic())
        self.n_done = n_done

    def words(self) -> list[str]:
        """Return what is known besides the number of tasks and the time."""
        words = [self.detail] if self.detail else []
        return words if self.best_auc is None else [*words, f"best AUC {self.best_auc:.4f}"]

    def line(self) -> str:
        """Return all of it on one line."""
        parts = []
        if self.n_done:
            of_all = f" of {self.n_tasks:,}" if self.n_tasks else ""
            parts.append(f"{self.n_done:,}{of_all} {self.unit}")
        parts += [*self.words(), duration(self.seconds)]
        if self.seconds_left is not None:
            parts.append(f"about {duration(self.seconds_left)} left")
        return f"{self.stage}: {', '.join(parts)}"


class Tick:
    """A callback that updates a state: one of scikit-learn, or a plain function before 1.9.

    It reads what an estimator offers: the number of tasks, and what is being tried and the best
    AUC so far from the attribute ``search_progress_``.
    """

    def __init__(self, state: StageProgress, show: Callable[[], None] = lambda: None):
        self.state, self.show = state, show

    def __call__(self, estimator, n_done: int, n_tasks: int | None) -> None:
        """Count a task."""
        self.state.reach(n_done)
        self.state.n_tasks = n_tasks or self.state.n_tasks
        self._read(estimator)
        self.show()

    def setup(self, estimator, context) -> None:
        """Do nothing."""

    def teardown(self, estimator, context) -> None:
        """Do nothing."""

    def on_fit_task_begin(self, estimator, context) -> None:
        """Show what is being tried."""
        self._read(estimator)
        self.show()

    def on_fit_task_end(self, estimator, context) -> None:
        """Count a task."""
        if context.parent is not None:
            self(estimator, context.task_id + 1, context.parent.max_subtasks)

    def _read(self, estimator) -> None:
        progress = getattr(estimator, "search_progress_", None)
        best = getattr(progress, "best_auc", None)
        self.state.best_auc = self.state.best_auc if best is None else float(best)
        self.state.detail = str(getattr(progress, "trying", None) or self.state.detail)
        self.state.n_tasks = getattr(progress, "n_tasks", None) or self.state.n_tasks


@contextmanager
def watch(
    stage: str, n_tasks: int | None = None, seconds: float | None = None
) -> Iterator[tuple[Tick, ...]]:
    """Show a stage while it lasts; yield the callbacks that report to it.

    No task of the stage begins after so many seconds.
    """
    state = StageProgress(stage, n_tasks, most_seconds=seconds)
    with interrupts(), _shown(state) as show:
        yield (Tick(state, show),)


@contextmanager
def count_rows(stage: str) -> Iterator[Callable[[int], None]]:
    """Show a number of rows that grows; yield the function that adds to it."""
    state = StageProgress(stage, unit="rows")
    with _shown(state) as show:

        def add(n_rows: int) -> None:
            state.reach(state.n_done + n_rows)
            show()

        yield add


@contextmanager
def _shown(state: StageProgress) -> Iterator[Callable[[], None]]:
    """Show a state while it lasts; yield the function to call when it has changed."""
    if sys.stderr.isatty():
        from skauc.app.cli.bars import shown_as_bar

        with shown_as_bar(state) as show:
            yield show
        return
    ended = Event()

    def print_lines() -> None:
        while not ended.wait(max(LINE_SECONDS, min(state.seconds / 5, MOST_LINE_SECONDS))):
            say(state.line())

    thread = Thread(target=print_lines, daemon=True)
    thread.start()
    try:
        yield lambda: None
    finally:
        ended.set()
        thread.join()
