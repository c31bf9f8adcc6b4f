"""``skauc evaluate``: how good a model is on a table with known labels."""

from __future__ import annotations

from typing import Annotated

import typer

from skauc.app.cli.models import open_file
from skauc.app.cli.options import (
    AsJson,
    FalseAlarmCost,
    Format,
    KnownTarget,
    MissCost,
    ModelPath,
    Table,
    Threshold,
    Weights,
)
from skauc.app.cli.output import count, evaluation_as_dict, print_json, print_points, print_scores
from skauc.app.cli.progress import watch


def evaluate(
    model: ModelPath,
    table: Table,
    target: KnownTarget = None,
    weights: Weights = None,
    recall: Annotated[
        list[float] | None,
        typer.Option(min=0.0, max=1.0, help="Find a threshold for this recall; may be repeated."),
    ] = None,
    precision: Annotated[
        list[float] | None,
        typer.Option(min=0.0, max=1.0, help="Find one for this precision; may be repeated."),
    ] = None,
    cost_miss: MissCost = None,
    cost_false_alarm: FalseAlarmCost = 1.0,
    max_fpr: Annotated[
        float, typer.Option(min=0.001, max=1.0, help="False alarms up to which partial AUC goes.")
    ] = 0.1,
    threshold: Threshold = None,
    format: Format = None,
    json: AsJson = False,
) -> None:
    """Tell how good a model is on rows with known labels.

    Prints the AUC with its interval, and what thresholds do. A threshold from here goes into
    skauc predict --threshold.
    """
    opened = open_file(model)
    from skauc.app.workflow import RowScorer, evaluate_rows

    with watch("Scoring"):
        rows = opened.read_labelled(table, format, target, weights)
        scorer = RowScorer(opened.model, threshold)
        evaluation = evaluate_rows(
            scorer(rows.X),
            rows.y,
            rows.weights,
            threshold=scorer.threshold,
            max_fpr=max_fpr,
            recalls=tuple(recall or ()),
            precisions=tuple(precision or ()),
            costs=None if cost_miss is None else (cost_false_alarm, cost_miss),
        )
    if json:
        print_json(evaluation_as_dict(evaluation))
        return
    positives = f"{count(evaluation.n_positive)} of them {opened.facts.labels[1]}"
    typer.echo(f"{evaluation.n_rows:,} rows, {positives}\n")
    print_scores(evaluation)
    typer.echo("")
    print_points([evaluation.own, *evaluation.wanted])
