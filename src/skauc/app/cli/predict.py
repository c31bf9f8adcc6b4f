"""``skauc predict``: scores, probabilities and labels for the rows of a table."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Annotated

import typer

from skauc.app.cli.files import check_output, whole_file
from skauc.app.cli.models import OpenedFile, open_file
from skauc.app.cli.options import AsJson, Force, Format, ModelPath, Table, Threshold
from skauc.app.cli.output import print_json, say
from skauc.app.cli.progress import count_rows
from skauc.exceptions import InvalidParameterError

CHUNK_ROWS = 50_000


def predict(
    model: ModelPath,
    table: Table,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A csv file, gzipped if it ends in .gz; - or nothing: standard output.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="A column of TABLE to copy; may be repeated."),
    ] = None,
    threshold: Threshold = None,
    format: Format = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Score the rows of a table: score, probability and label.

    There is one line a row, in the order of the table. Tables may be larger
    than memory. The model's target and the columns that it was told to leave out may be there or
    not.
    """
    output = None if output == Path("-") else output
    check_output(output, force)
    opened = open_file(model)
    pieces = _scored(opened, table, format, keep or [], threshold)
    if json and output is None:
        print_json(_joined(pieces))
        return
    n_rows = n_flagged = 0
    with _text_file(output) as file, count_rows("Scoring rows") as add:
        writer = csv.writer(file, lineterminator="\n")
        for columns, flagged in pieces:
            if n_rows == 0:
                writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
            n_rows, n_flagged = n_rows + len(flagged), n_flagged + int(flagged.sum())
            add(len(flagged))
    _print_result(opened, output, n_rows, n_flagged, json)


def _joined(pieces: Iterator) -> dict[str, list]:
    """Return all rows as columns."""
    joined: dict[str, list] = {}
    for columns, _ in pieces:
        for name, values in columns.items():
            joined.setdefault(name, []).extend(values)
    return joined


def _scored(opened: OpenedFile, table: str, format, keep: list[str], threshold) -> Iterator:
    """Yield the columns of the next rows, and which of them are flagged."""
    from skauc.app.tables import iterate_table
    from skauc.app.workflow import RowScorer

    scorer = RowScorer(opened.model, threshold)
    negative, positive = opened.facts.labels
    for frame in iterate_table(table, CHUNK_ROWS, format=format, kinds=opened.kinds):
        for name in keep:
            if name not in frame.columns:
                raise InvalidParameterError(f"--keep {name}: the table has no such column.")
        rows = scorer(opened.rows(frame))
        columns = {name: frame[name].tolist() for name in keep}
        columns["score"] = rows.scores.tolist()
        if rows.probabilities is not None:
            columns["probability"] = rows.probabilities.tolist()
        columns["label"] = [positive if flag else negative for flag in rows.flagged]
        yield columns, rows.flagged


@contextmanager
def _text_file(path: Path | None) -> Iterator[IO[str]]:
    """Open the file to write, or standard output."""
    if path is None:
        yield sys.stdout
        return
    with whole_file(path) as file, ExitStack() as stack:
        if path.suffix == ".gz":
            file = stack.enter_context(gzip.open(file, "wb"))
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        stack.callback(text.detach)  # which flushes, and leaves closing to those who opened
        yield text


def _print_result(opened: OpenedFile, output, n_rows: int, n_flagged: int, json: bool) -> None:
    positive = opened.facts.labels[1]
    if json:
        print_json(
            {"output": str(output), "rows": n_rows, "flagged": n_flagged, "positive": positive}
        )
    elif output is not None:
        say(f"Wrote {n_rows:,} rows to {output}, {n_flagged:,} of them flagged as {positive}.")
