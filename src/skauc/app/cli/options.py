"""Options that several commands have."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from skauc.exceptions import InvalidParameterError

Value = TypeVar("Value", float, list[float], None)


def finite(value: Value) -> Value:
    """Return the value of an option of numbers; refuse NaN and infinity, which ranges let pass."""
    for number in value if isinstance(value, list) else [value]:
        if number is not None and not math.isfinite(number):
            raise typer.BadParameter(f"{number} is not a finite number.")
    return value


def positive(value: float | None) -> float | None:
    """Return the value of an option; refuse zero, negative numbers, NaN and infinity."""
    if value is not None and not (math.isfinite(value) and value > 0):
        raise typer.BadParameter(f"{value} is not a finite number greater than 0.")
    return value


def other_than_zero(value: int) -> int:
    """Return the value of an option that counts cores; refuse zero."""
    if value == 0:
        raise typer.BadParameter("0 is not a number of cores. Use -1 for all cores.")
    return value


Table = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A csv, tsv, parquet, arff or libsvm file, gzipped or not; - for standard input.",
        show_default=False,
    ),
]
ModelPath = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="A model file from skauc fit.", show_default=False),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="csv, tsv, parquet, arff or libsvm, if the name of TABLE does not tell.",
    ),
]
KnownTarget = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="COL",
        help="The column of true labels. The default is the target of the model.",
    ),
]
Weights = Annotated[str | None, typer.Option(metavar="COL", help="A column of sample weights.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Threshold = Annotated[
    float | None,
    typer.Option(
        callback=finite,
        help="Flag rows with at least this probability (or score, for a model without "
        "probabilities). The default is the threshold of the model.",
    ),
]
FalseAlarmCost = Annotated[
    float | None,
    typer.Option(
        "--cost-false-alarm",
        callback=positive,
        help="The cost of one false alarm, with --cost-miss. [default: 1]",
    ),
]
MissCost = Annotated[
    float | None,
    typer.Option(
        "--cost-miss",
        callback=positive,
        help="The cost of one missed positive row. Find the threshold with the least cost.",
    ),
]


def costs_of(false_alarm: float | None, miss: float | None) -> tuple[float, float] | None:
    """Return the cost of a false alarm and of a miss, None if there is no cost of a miss."""
    if miss is not None:
        return (1.0 if false_alarm is None else false_alarm, miss)
    if false_alarm is not None:
        raise InvalidParameterError(
            "--cost-false-alarm needs --cost-miss, the cost of one missed positive row."
        )
    return None
