"""``skauc demo``: the library at work on data that ship with scikit-learn."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from skauc.app.cli.options import AsJson
from skauc.app.cli.output import print_json
from skauc.app.cli.progress import watch

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

BAR_WIDTH = 40


def demo(
    digit: Annotated[
        int, typer.Option(min=0, max=9, help="The digit to find among the others.")
    ] = 8,
    n_basis: Annotated[int, typer.Option(min=1, help="Number of centres.")] = 32,
    seed: Annotated[int, typer.Option(help="Seed of the split and of the fit.")] = 0,
    json: AsJson = False,
) -> None:
    """Find one handwritten digit among the ten.

    About one image in ten is positive. The images ship with scikit-learn.
    """
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from skauc import SparseKernelAUC

    X, labels = load_digits(return_X_y=True)
    split = train_test_split(X, labels == digit, test_size=0.5, stratify=labels, random_state=seed)
    X_train, X_test, y_train, y_test = split
    if not json:
        typer.echo(
            f"Digit {digit} against the rest: {len(y_train)} images to learn from, "
            f"{y_train.sum()} of them positive; {len(y_test)} to test on."
        )
    model = make_pipeline(StandardScaler(), SparseKernelAUC(n_basis, C=10.0, random_state=seed))
    started = time.perf_counter()
    with watch("Adding centres", n_basis) as callbacks:
        model[-1].set_callbacks(*callbacks)
        model.fit(X_train, y_train)
    stages = _stages(model, X_test, y_test)
    if json:
        print_json({"digit": digit, "stages": stages})
    else:
        _print_result(model, stages, time.perf_counter() - started)


def _stages(model: Pipeline, X, y) -> list[dict]:
    """Return the AUC on the test images at each size on the way."""
    from skauc.metrics import auc_interval

    scores = model[-1].staged_decision_function(model[:-1].transform(X))
    return [
        {"n_basis": record.n_basis, **vars(auc_interval(y, score))}
        for record, score in zip(model[-1].path_, scores, strict=True)
    ]


def _print_result(model: Pipeline, stages: list[dict], seconds: float) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table("centres", "test AUC", "", box=None, header_style="bold")
    for stage in stages:
        bar = "█" * round(BAR_WIDTH * max(0.0, 2 * stage["auc"] - 1))
        table.add_row(str(stage["n_basis"]), f"{stage['auc']:.4f}", bar)
    console.print(table)
    n_numbers = model[-1].basis_vectors_.size + model[-1].n_basis_
    last = stages[-1]
    console.print(
        f"AUC [bold]{last['auc']:.4f}[/] (95% interval {last['low']:.4f} to {last['high']:.4f}) "
        f"with [bold]{model[-1].n_basis_}[/] centres, {n_numbers} numbers in all, fitted in "
        f"{seconds:.1f} s."
    )
