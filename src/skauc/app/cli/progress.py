"""Progress on standard error, where that is a terminal; silence elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class Tick:
    """A callback that moves a bar: a scikit-learn one, or a plain function below 1.9."""

    def __init__(self, progress, task):
        self.progress, self.task = progress, task

    def __call__(self, estimator, n_done, n_tasks) -> None:
        """Move the bar."""
        self.progress.update(self.task, completed=n_done)

    def setup(self, estimator, context) -> None:
        """Prepare nothing."""

    def teardown(self, estimator, context) -> None:
        """Tidy nothing."""

    def on_fit_task_begin(self, estimator, context) -> None:
        """Wait for the end of the task."""

    def on_fit_task_end(self, estimator, context) -> None:
        """Count what is done."""
        if context.parent is not None:
            self.progress.update(self.task, completed=context.task_id + 1)


def is_shown() -> bool:
    """Tell whether somebody watches."""
    return sys.stderr.isatty()


@contextmanager
def watch(stage: str, n_tasks: int | None = None) -> Iterator[tuple]:
    """Show a stage while it lasts; give the callbacks that move its bar."""
    if not is_shown():
        yield ()
        return
    from skauc.app.cli.bars import make_progress

    with make_progress() as progress:
        yield (Tick(progress, progress.add_task(stage, total=n_tasks)),)


@contextmanager
def count_rows(stage: str) -> Iterator:
    """Show a number of rows that grows; give the function that adds to it."""
    if not is_shown():
        yield lambda n_rows: None
        return
    from skauc.app.cli.bars import make_progress

    with make_progress() as progress:
        task = progress.add_task(stage, total=None)
        yield lambda n_rows: progress.advance(task, n_rows)
