"""What commands print: tables for people, JSON for machines."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from skauc.app.workflow import Evaluation, OperatingPoint


def print_json(content: dict) -> None:
    """Print one JSON object."""
    typer.echo(json.dumps(content, ensure_ascii=False, default=_plain))


def say(message: str) -> None:
    """Print a remark that is no result, to standard error."""
    typer.echo(message, err=True)


def print_table(header: tuple[str, ...], rows: list[tuple[str, ...]], right=()) -> None:
    """Print aligned columns; those whose places are in ``right`` to the right."""
    from rich.console import Console
    from rich.table import Table

    # Piped, a table is as wide as it wants to be, and ends where its words end.
    is_piped = not sys.stdout.isatty()
    console = Console(width=1000 if is_piped else None, highlight=False)
    table = Table(box=None, header_style="bold", pad_edge=False, show_header=bool(any(header)))
    for place, name in enumerate(header):
        table.add_column(name, justify="right" if place in right else "left")
    for row in rows:
        table.add_row(*row)
    if not is_piped:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    typer.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with that many decimals, a dash for none."""
    return "-" if value is None else f"{value:.{digits}f}"


def brief(value) -> str:
    """Return a value in few characters."""
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else "missing"
    if isinstance(value, list | tuple):
        return ", ".join(map(brief, value))
    return str(value)


def count(value: float) -> str:
    """Return a number of rows, or a sum of weights."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def evaluation_as_dict(evaluation: Evaluation) -> dict:
    """Return an evaluation for JSON."""
    return {
        "rows": evaluation.n_rows,
        "positives": evaluation.n_positive,
        "auc": asdict(evaluation.auc),
        "partial_auc": {"max_fpr": evaluation.max_fpr, "value": evaluation.partial_auc},
        "average_precision": evaluation.average_precision,
        "own_threshold": point_as_dict(evaluation.own),
        "wanted": [point_as_dict(point) for point in evaluation.wanted],
    }


def point_as_dict(point: OperatingPoint) -> dict:
    """Return what a threshold does for JSON."""
    if point.threshold is None:
        return {"wanted": point.wanted, "threshold": None}
    return asdict(point) | {"recall": point.recall, "precision": point.precision}


def print_scores(evaluation: Evaluation) -> None:
    """Print the figures that need no threshold."""
    auc = evaluation.auc
    share = evaluation.n_positive / evaluation.n_rows
    print_table(
        ("", "", ""),
        [
            ("AUC", number(auc.auc), f"95% interval {number(auc.low)} to {number(auc.high)}"),
            (
                "partial AUC",
                number(evaluation.partial_auc),
                f"up to {evaluation.max_fpr:.0%} false alarms, standardised",
            ),
            (
                "average precision",
                number(evaluation.average_precision),
                f"a random ranking has {share:.4f}",
            ),
        ],
    )


def print_points(points: list[OperatingPoint]) -> None:
    """Print what thresholds do."""
    header = ("threshold for", "at least", "found", "missed", "false alarms", "recall", "precision")
    rows = [
        (point.wanted, "none reaches it", *["-"] * 5)
        if point.threshold is None
        else (
            point.wanted,
            f"{point.threshold:.6g}",
            count(point.true_positives),
            count(point.false_negatives),
            count(point.false_positives),
            number(point.recall, 3),
            number(point.precision, 3),
        )
        for point in points
    ]
    print_table(header, rows, right=range(1, 7))


def _plain(value):
    """Return what JSON can hold of NumPy's and pandas' values."""
    return value.item() if hasattr(value, "item") else str(value)
