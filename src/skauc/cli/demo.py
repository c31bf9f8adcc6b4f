"""``skauc demo``: the library at work on data that ship with scikit-learn."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC
from skauc.metrics import auc_interval

BAR_WIDTH = 40


def demo(
    digit: Annotated[
        int, typer.Option(min=0, max=9, help="The digit to find among the others.")
    ] = 8,
    n_basis: Annotated[int, typer.Option(min=1, help="Number of centres.")] = 32,
    seed: Annotated[int, typer.Option(help="Seed of the split and of the fit.")] = 0,
) -> None:
    """Find one handwritten digit among the ten: about one image in ten is positive."""
    console = Console()
    X, labels = load_digits(return_X_y=True)
    split = train_test_split(X, labels == digit, test_size=0.5, stratify=labels, random_state=seed)
    X_train, X_test, y_train, y_test = split
    console.print(
        f"Digit [bold]{digit}[/] against the rest: {len(y_train)} images to learn from, "
        f"{y_train.sum()} of them positive; {len(y_test)} to test on."
    )
    model = make_pipeline(StandardScaler(), SparseKernelAUC(n_basis, C=10.0, random_state=seed))
    seconds = _fit_with_progress(model, X_train, y_train, console)
    _print_result(model, X_test, y_test, seconds, console)


def _fit_with_progress(model: Pipeline, X, y, console: Console) -> float:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("Adding centres", total=model[-1].n_basis)
        model[-1].set_callbacks(_Advance(progress, task))
        started = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - started
    model[-1].set_callbacks()
    return seconds


class _Advance:
    """A callback that moves a progress bar: a scikit-learn one, or a plain function below 1.9."""

    def __init__(self, progress: Progress, task):
        self.progress, self.task = progress, task

    def __call__(self, estimator, n_done, n_tasks) -> None:
        self.progress.update(self.task, completed=n_done)

    def setup(self, estimator, context) -> None:
        """Prepare nothing."""

    def teardown(self, estimator, context) -> None:
        """Tidy nothing."""

    def on_fit_task_begin(self, estimator, context) -> None:
        """Wait for the end of the task."""

    def on_fit_task_end(self, estimator, context) -> None:
        """Count a centre."""
        if context.parent is not None:
            self.progress.update(self.task, completed=context.task_id + 1)


def _print_result(model: Pipeline, X, y, seconds: float, console: Console) -> None:
    table = Table("centres", "test AUC", "", box=None, header_style="bold")
    rows = model[:-1].transform(X)
    stages = zip(model[-1].path_, model[-1].staged_decision_function(rows), strict=True)
    for record, scores in stages:
        interval = auc_interval(y, scores)
        bar = "█" * round(BAR_WIDTH * max(0.0, 2 * interval.auc - 1))
        table.add_row(str(record.n_basis), f"{interval.auc:.4f}", bar)
    console.print(table)
    n_numbers = model[-1].basis_vectors_.size + model[-1].n_basis_
    console.print(
        f"AUC [bold]{interval.auc:.4f}[/] (95% interval {interval.low:.4f} to "
        f"{interval.high:.4f}) with [bold]{model[-1].n_basis_}[/] centres, {n_numbers} numbers "
        f"in all, fitted in {seconds:.1f} s."
    )
