"""``skauc report``: one HTML page on a model and a table with known labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from skauc.app.cli.errors import warn
from skauc.app.cli.files import check_outputs, file_to_write, messages_beside
from skauc.app.cli.models import open_file
from skauc.app.cli.options import (
    AsJson,
    FalseAlarmCost,
    Force,
    Format,
    KnownTarget,
    MissCost,
    ModelPath,
    Table,
    Weights,
    costs_of,
)
from skauc.app.cli.output import print_json, tell
from skauc.app.cli.progress import watch


def report(
    model: ModelPath,
    table: Table,
    target: KnownTarget = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The HTML file; - for standard output.")
    ] = Path("report.html"),
    train: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="The table that the model was fitted to."),
    ] = None,
    weights: Weights = None,
    cost_miss: MissCost = None,
    cost_false_alarm: FalseAlarmCost = None,
    title: Annotated[str | None, typer.Option(help="The title of the page.")] = None,
    format: Format = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Write an HTML page that says how good a model is.

    Use rows that the model was not fitted to.
    """
    costs = costs_of(cost_false_alarm, cost_miss)
    inputs = (model, table, train)
    check_outputs(output, inputs=inputs, force=force, json=json, is_binary=False)
    opened = open_file(model)
    from skauc.app.workflow import InputCheck
    from skauc.report import make_report

    check = InputCheck(opened.model)
    with watch("Writing the report"), file_to_write(output) as path:
        test = opened.read_labelled(table, format, target, weights)
        rows = None if train is None else opened.read_labelled(train, None, target, None)
        X = opened.rows(test.X)
        check.add(X)
        make_report(
            path,
            opened.model,
            X,
            _labels_of(opened.model, test.y),
            X_train=None if rows is None else opened.rows(rows.X),
            y_train=None if rows is None else _labels_of(opened.model, rows.y),
            sample_weight=test.weights,
            row_numbers=test.X.index + 1,
            train_row_numbers=None if rows is None else rows.X.index + 1,
            costs=costs,
            labels=opened.facts.labels,
            title=title,
            force=force,
        )
    for message in check.messages():
        warn(message)
    if json:
        print_json({"report": str(output), "rows": len(test.y), "positives": int(test.y.sum())})
        return
    with messages_beside(output):
        tell(f"Wrote {output}")


def _labels_of(model: Any, positive):
    """Return the labels of rows as the model knows them."""
    import numpy as np

    return np.asarray(model.classes_)[positive.astype(int)]
