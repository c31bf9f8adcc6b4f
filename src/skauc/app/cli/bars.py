"""How progress looks."""

from __future__ import annotations

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


class _DoneColumn(ProgressColumn):
    """What is done, of how much where that is known."""

    def render(self, task: Task) -> Text:
        if not task.completed:
            return Text("")
        of_all = "" if task.total is None else f"/{task.total:,.0f}"
        return Text(f"{task.completed:,.0f}{of_all}")


def make_progress() -> Progress:
    """Return a display on standard error that vanishes when it is done."""
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), _DoneColumn()
    console = Console(stderr=True)
    return Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
