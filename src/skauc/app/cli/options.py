"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Table = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="csv, tsv, parquet, arff or libsvm, gzipped or not; - for standard input.",
        show_default=False,
    ),
]
ModelPath = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file from skauc fit.", show_default=False)
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="csv, tsv, parquet, arff or libsvm, where the name of TABLE does not tell.",
    ),
]
KnownTarget = Annotated[
    str | None,
    typer.Option(
        "--target", metavar="COL", help="The column of true labels; by default the model's target."
    ),
]
Weights = Annotated[
    str | None, typer.Option(metavar="COL", help="A column that says how much each row counts.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Threshold = Annotated[
    float | None,
    typer.Option(
        help="Flag rows from this probability on (score, for a model without probabilities). "
        "By default the model's own."
    ),
]
FalseAlarmCost = Annotated[
    float, typer.Option("--cost-false-alarm", help="The cost of a false alarm.")
]
MissCost = Annotated[float | None, typer.Option("--cost-miss", help="The cost of a miss.")]
