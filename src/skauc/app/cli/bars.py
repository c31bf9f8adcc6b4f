"""The progress bar on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from skauc.app.cli.output import duration
from skauc.app.cli.text import printable

if TYPE_CHECKING:
    from skauc.app.cli.progress import StageProgress


class _StateColumn(ProgressColumn):
    """The number of tasks, what is being tried, the best AUC and the time left."""

    def __init__(self, state: StageProgress):
        super().__init__()
        self.state = state

    def render(self, task: Task) -> Text:
        """Return the text of the column."""
        state, parts = self.state, []
        if state.n_done:
            parts.append(f"{state.n_done:,}" + (f"/{state.n_tasks:,}" if state.n_tasks else ""))
        parts += state.words()
        if state.seconds_left is not None:
            parts.append(f"about {duration(state.seconds_left)} left")
        return Text(printable(", ".join(parts)))


@contextmanager
def shown_as_bar(state: StageProgress) -> Iterator[Callable[[], None]]:
    """Show a bar on standard error until the stage ends; yield what updates it."""
    stage = TextColumn("{task.description}", markup=False)
    columns = SpinnerColumn(), stage, BarColumn(24), _StateColumn(state), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(state.stage, total=state.n_tasks)
        yield lambda: progress.update(task, completed=state.n_done, total=state.n_tasks)
