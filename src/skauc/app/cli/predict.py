"""``skauc predict``: scores, probabilities and labels for the rows of a table."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from skauc.app.cli.errors import warn
from skauc.app.cli.files import check_outputs, is_standard_output, text_file
from skauc.app.cli.models import OpenedFile, open_file
from skauc.app.cli.options import AsJson, Force, Format, ModelPath, Table, Threshold
from skauc.app.cli.output import format_rows, print_json, say
from skauc.app.cli.progress import count_rows
from skauc.app.cli.text import printable, without_formula
from skauc.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from skauc.app.workflow import InputCheck, RowScorer

CHUNK_ROWS = 50_000
OUTPUT_COLUMNS = ("score", "probability", "label")


def predict(
    model: ModelPath,
    table: Table,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The csv file, gzipped if it ends in .gz; - for standard output."
        ),
    ] = Path("-"),
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL", help="A column of TABLE to copy as it stands in the file; repeatable."
        ),
    ] = None,
    threshold: Threshold = None,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Write text that begins like a formula (= + - @) as it is. By default it gets "
            "an apostrophe in front, so that no spreadsheet program runs it.",
        ),
    ] = False,
    format: Format = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Score the rows of a table.

    The output has one line per row, in the order of the table: score, probability and label.
    Tables may be larger than memory. Columns that the model does not use are ignored.
    """
    keep = list(dict.fromkeys(keep or []))
    _check_kept_names(keep)
    is_piped = is_standard_output(output)
    check_outputs(output, inputs=(model, table), force=force, is_binary=False)
    opened = open_file(model)
    from skauc.app.workflow import InputCheck, RowScorer

    check = InputCheck(opened.model, threshold)
    scorer = RowScorer(opened.model, threshold)
    pieces = _Pieces(opened, scorer, check, keep)
    if json and is_piped:
        print_json(_joined(pieces.read(table, format)))
    else:
        with text_file(output) as file, count_rows("Scoring rows") as add:
            _write_csv(file, pieces.read(table, format), _cell_writer(file, raw), add)
    for message in check.messages():
        warn(message)
    if not is_piped:
        _print_result(opened, output, pieces, json)


def _check_kept_names(keep: list[str]) -> None:
    for name in keep:
        if name in OUTPUT_COLUMNS:
            raise InvalidParameterError(
                f"--keep {name}: the output has a column of this name already. Rename the column "
                "in the table."
            )


@dataclass
class _Pieces:
    """Reads and scores a table piece by piece, and counts what it has seen."""

    opened: OpenedFile
    scorer: RowScorer
    check: InputCheck
    keep: list[str]
    n_rows: int = field(default=0, init=False)
    n_flagged: int = field(default=0, init=False)

    def read(self, table: str, format: str | None) -> Iterator[dict[str, list]]:
        """Yield the output columns of the next rows."""
        from skauc.app.tables import iterate_with_text

        kinds = self.opened.kinds
        pieces = iterate_with_text(table, self.keep, CHUNK_ROWS, format=format, kinds=kinds)
        for number, (frame, text) in enumerate(pieces):
            if number == 0:
                self.opened.note_unused(frame, self.keep)
            yield self._score(frame, text)

    def _score(self, frame, text) -> dict[str, list]:
        X = self.opened.rows(frame)
        rows = self.scorer(X)
        self.check.add(X, rows.scores)
        self.n_rows += len(rows.flagged)
        self.n_flagged += int(rows.flagged.sum())
        columns = {name: text[name].tolist() for name in self.keep}
        columns["score"] = rows.scores.tolist()
        if rows.probabilities is not None:
            columns["probability"] = rows.probabilities.tolist()
        negative, positive = self.opened.facts.labels
        columns["label"] = [positive if flag else negative for flag in rows.flagged]
        return columns


def _joined(pieces: Iterator[dict[str, list]]) -> dict[str, list]:
    """Return all rows as columns."""
    joined: dict[str, list] = {}
    for columns in pieces:
        for name, values in columns.items():
            joined.setdefault(name, []).extend(values)
    return joined


def _cell_writer(file: IO[str], raw: bool) -> Callable:
    """Return what is done to every cell of text: formulas are quoted, a terminal is spared."""

    def write(cell):
        cell = cell if raw else without_formula(cell)
        return printable(cell) if isinstance(cell, str) and file.isatty() else cell

    return write


def _write_csv(file: IO[str], pieces: Iterator[dict], write_cell: Callable, add: Callable) -> None:
    writer = csv.writer(file, lineterminator="\n")
    for number, columns in enumerate(pieces):
        if number == 0:
            writer.writerow(map(write_cell, columns))
        # Scores and probabilities are numbers, and there are many of them.
        cells = (
            values if values and isinstance(values[0], float) else map(write_cell, values)
            for values in columns.values()
        )
        writer.writerows(zip(*cells, strict=True))
        add(len(columns["score"]))


def _print_result(opened: OpenedFile, output: Path, pieces: _Pieces, json: bool) -> None:
    positive = opened.facts.labels[1]
    if json:
        counts = {"rows": pieces.n_rows, "flagged": pieces.n_flagged}
        print_json({"output": str(output), **counts, "positive": positive})
        return
    flagged = f"{pieces.n_flagged:,} of them flagged as {positive}"
    say(f"Wrote {format_rows(pieces.n_rows)} to {output}, {flagged}.")
