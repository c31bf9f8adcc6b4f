"""Printing: tables for people, JSON for programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from skauc.app.cli.text import printable, printable_json

if TYPE_CHECKING:
    from skauc.app.workflow import Evaluation, OperatingPoint


def print_json(content: dict) -> None:
    """Print one JSON object; NaN and infinite numbers, which JSON does not have, are null."""
    text = json.dumps(_finite(content), ensure_ascii=False, default=_plain, allow_nan=False)
    typer.echo(printable_json(text))


def tell(message: str = "") -> None:
    """Print one line of a result to standard output."""
    typer.echo(printable(message))


def say(message: str) -> None:
    """Print one line that is not part of a result to standard error."""
    typer.echo(printable(message), err=True)


def print_table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]], right=()) -> None:
    """Print aligned columns; those whose indices are in ``right`` are aligned to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # Without a terminal a table takes the width it needs, and lines end with their last word.
    is_piped = not sys.stdout.isatty()
    console = Console(width=1000 if is_piped else None, highlight=False)
    table = Table(box=None, header_style="bold", pad_edge=False, show_header=bool(any(header)))
    for index, name in enumerate(header):
        table.add_column(Text(printable(name)), justify="right" if index in right else "left")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))  # Text has no markup
    if not is_piped:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    typer.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def duration(seconds: float) -> str:
    """Return a duration in few characters."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with this many decimals, or a dash for None."""
    return "-" if value is None else f"{value:.{digits}f}"


def brief(value) -> str:
    """Return a value in few characters."""
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else "missing"
    if isinstance(value, list | tuple):
        return ", ".join(map(brief, value))
    return str(value)


def format_count(value: float) -> str:
    """Return a number of rows, or a sum of weights."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def format_rows(n_rows: int) -> str:
    """Return a number of rows with the noun."""
    return "1 row" if n_rows == 1 else f"{n_rows:,} rows"


def evaluation_as_dict(evaluation: Evaluation) -> dict:
    """Return an evaluation for JSON."""
    return {
        "rows": evaluation.n_rows,
        "positives": evaluation.n_positive,
        "auc": asdict(evaluation.auc),
        "partial_auc": {
            "max_fpr": evaluation.max_fpr,
            "min_tpr": evaluation.min_tpr,
            **asdict(evaluation.partial_auc),
        },
        "average_precision": evaluation.average_precision,
        "own_threshold": point_as_dict(evaluation.own),
        "wanted": [point_as_dict(point) for point in evaluation.wanted],
    }


def point_as_dict(point: OperatingPoint) -> dict:
    """Return the errors at a threshold for JSON."""
    if point.threshold is None:
        return {"wanted": point.wanted, "threshold": None}
    return asdict(point) | {"recall": point.recall, "precision": point.precision}


def print_scores(evaluation: Evaluation) -> None:
    """Print the measures that need no threshold."""
    from skauc.metrics.partial_area import describe_corner

    auc, partial = evaluation.auc, evaluation.partial_auc
    print_table(
        ("", "", ""),
        [
            ("AUC", number(auc.auc), f"95% interval {number(auc.low)} to {number(auc.high)}"),
            (
                "partial AUC",
                number(partial.value),
                f"95% interval {number(partial.low)} to {number(partial.high)}, "
                f"{describe_corner(evaluation.max_fpr, evaluation.min_tpr)}, standardised",
            ),
            (
                "average precision",
                number(evaluation.average_precision),
                f"a random ranking has {evaluation.positive_share:.4f}",
            ),
        ],
    )


def print_points(evaluation: Evaluation) -> None:
    """Print the errors at thresholds.

    A threshold between two scores is a decimal with as few digits as possible: all of them count.
    """
    header = ("threshold for", "at least", "found", "missed", "false alarms", "recall", "precision")
    rows = [_point_row(evaluation.own, f"{evaluation.own.threshold:.6g}")]
    rows += [_point_row(point, str(point.threshold)) for point in evaluation.wanted]
    print_table(header, rows, right=range(1, 7))


def _point_row(point: OperatingPoint, threshold: str) -> tuple[str, ...]:
    if point.threshold is None:
        return (point.wanted, "not possible", *["-"] * 5)
    return (
        point.wanted,
        threshold,
        format_count(point.true_positives),
        format_count(point.false_negatives),
        format_count(point.false_positives),
        number(point.recall, 3),
        number(point.precision, 3),
    )


def _plain(value):
    """Return a value of NumPy or pandas as JSON can hold it."""
    return _finite(value.item()) if hasattr(value, "item") else str(value)


def _finite(value):
    """Return a value with every number that is not finite replaced by None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value
