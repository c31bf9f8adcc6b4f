"""``skauc evaluate``: measure a model on a table with known labels."""

from __future__ import annotations

from typing import Annotated

import typer

from skauc.app.cli.errors import warn
from skauc.app.cli.models import open_file
from skauc.app.cli.options import (
    AsJson,
    FalseAlarmCost,
    Format,
    KnownTarget,
    MissCost,
    ModelPath,
    Table,
    Weights,
    costs_of,
    finite,
)
from skauc.app.cli.output import (
    evaluation_as_dict,
    format_count,
    print_json,
    print_points,
    print_scores,
    tell,
)
from skauc.app.cli.progress import watch


def evaluate(
    model: ModelPath,
    table: Table,
    target: KnownTarget = None,
    weights: Weights = None,
    recall: Annotated[
        list[float] | None,
        typer.Option(
            min=0.0, max=1.0, callback=finite, help="Find a threshold for this recall; repeatable."
        ),
    ] = None,
    precision: Annotated[
        list[float] | None,
        typer.Option(
            min=0.0,
            max=1.0,
            callback=finite,
            help="Find a threshold for this precision; repeatable.",
        ),
    ] = None,
    cost_miss: MissCost = None,
    cost_false_alarm: FalseAlarmCost = None,
    max_fpr: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            max=1.0,
            callback=finite,
            help="The largest false positive rate of the partial AUC. "
            "[default: that of the model, or 0.1]",
        ),
    ] = None,
    min_tpr: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=0.999,
            callback=finite,
            help="The smallest recall of the partial AUC. [default: that of the model]",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            callback=finite,
            help="Count the errors at this probability (or score, for a model without "
            "probabilities), too.",
        ),
    ] = None,
    format: Format = None,
    json: AsJson = False,
) -> None:
    """Measure a model on rows with known labels.

    Prints the AUC with its 95% interval, and the errors at several thresholds. Pass a threshold
    from here to skauc predict --threshold.
    """
    costs = costs_of(cost_false_alarm, cost_miss)
    opened = open_file(model)
    from skauc.app.workflow import InputCheck, RowScorer, evaluate_rows
    from skauc.unwrapping import unwrap

    with watch("Scoring"):
        rows = opened.read_labelled(table, format, target, weights)
        X = opened.rows(rows.X)
        scorer = RowScorer(opened.model)
        scored = scorer(X)
        check = InputCheck(opened.model, threshold)
        check.add(X, scored.scores)
        limits = unwrap(opened.model).limits
        evaluation = evaluate_rows(
            scored,
            rows.y,
            rows.weights,
            threshold=scorer.threshold,
            other_threshold=threshold,
            max_fpr=limits["max_fpr"] if max_fpr is None else max_fpr,
            min_tpr=limits["min_tpr"] if min_tpr is None else min_tpr,
            recalls=tuple(recall or ()),
            precisions=tuple(precision or ()),
            costs=costs,
        )
    for message in check.messages():
        warn(message)
    if json:
        print_json(evaluation_as_dict(evaluation))
        return
    positives = f"{format_count(evaluation.n_positive)} of them {opened.facts.labels[1]}"
    tell(f"{evaluation.n_rows:,} rows, {positives}")
    tell()
    print_scores(evaluation)
    tell()
    print_points(evaluation)
