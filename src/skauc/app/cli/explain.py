"""``skauc explain``: the contribution of each column to the scores of rows."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from skauc.app.cli.errors import warn
from skauc.app.cli.files import check_outputs, file_to_write, is_standard_output, text_file
from skauc.app.cli.models import OpenedFile, open_file
from skauc.app.cli.options import AsJson, Force, Format, ModelPath, Table
from skauc.app.cli.output import format_rows, print_json, say
from skauc.app.cli.progress import count_rows, watch
from skauc.app.cli.text import without_formula
from skauc.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from skauc.app.workflow import InputCheck
    from skauc.explain import Explanation

EXPLAINED_ROWS = 10_000
# Rows on a page if none are chosen, and at most.
PAGE_ROWS, MOST_PAGE_ROWS = 20, 500
_FIRST_COLUMNS = ("row", "score", "mean_score")


def explain(
    model: ModelPath,
    table: Table,
    rows: Annotated[
        str | None,
        typer.Option(
            metavar="ROWS",
            help="Rows to explain, such as 1,5,10-20. Row 1 is the first row below the header. "
            "The default is all rows, or the 20 rows with the highest scores for an HTML page.",
        ),
    ] = None,
    top: Annotated[
        int | None, typer.Option(min=1, help="Explain this many rows with the highest scores.")
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="A csv file, gzipped if it ends in .gz, or a page if it ends in .html; - for "
            "standard output.",
        ),
    ] = Path("-"),
    background: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE",
            help="Rows to compare with. The default is a summary of the training rows, which the "
            "model file has.",
        ),
    ] = None,
    format: Format = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Show how much each column contributes to the scores of rows.

    The contributions of a row and the mean score add up to its score. They are exact for most
    models; otherwise the output has standard errors.
    """
    if rows is not None and top is not None:
        raise InvalidParameterError("--rows and --top exclude each other. Use one of them.")
    inputs, is_piped = (model, table, background), is_standard_output(output)
    check_outputs(output, inputs=inputs, force=force, json=json and not is_piped)
    opened = open_file(model)
    from skauc.app.workflow import InputCheck

    is_page = output.suffix == ".html"
    top = PAGE_ROWS if is_page and rows is None and top is None else top
    check = InputCheck(opened.model)
    pieces = _Pieces(opened, check, rows, top, _read_background(opened, background))
    if is_page:
        _write_explanations(pieces, table, format, output)
    elif json and is_piped:
        found = pieces.read(table, format)
        print_json({"rows": [row for piece in found for row in piece.as_dicts()]})
    else:
        with file_to_write(output) as path:
            _write_table(path, pieces.read(table, format))
    for message in check.messages():
        warn(message)
    if pieces.n_sampled:
        warn(
            "The values are estimated from random orders of the columns, because the model has no "
            "product form. Their standard errors are in the output."
        )
    if json and not is_piped:
        print_json({"output": str(output), "rows": pieces.n_explained})
    elif not is_piped:
        say(f"Wrote {format_rows(pieces.n_explained)} to {output}.")


@dataclass(frozen=True)
class _Piece:
    """Explained rows and their numbers from 0 on."""

    numbers: list[int]
    explanation: Explanation

    @property
    def scores(self) -> list[float]:
        """The scores of the rows."""
        return (self.explanation.values.sum(axis=1) + self.explanation.base_values).tolist()

    def as_dicts(self) -> Iterator[dict]:
        """Yield each row for JSON."""
        explained = self.explanation
        for i, (number, score) in enumerate(zip(self.numbers, self.scores, strict=True)):
            row = {
                "row": number + 1,
                "score": score,
                "mean_score": float(explained.base_values[i]),
                "contributions": dict(
                    zip(explained.feature_names, explained.values[i].tolist(), strict=True)
                ),
            }
            if explained.standard_errors is not None:
                errors = explained.standard_errors[i].tolist()
                row["standard_errors"] = dict(zip(explained.feature_names, errors, strict=True))
            yield row


@dataclass
class _Pieces:
    """Reads and explains a table piece by piece."""

    opened: OpenedFile
    check: InputCheck
    rows: str | None
    top: int | None
    background: object
    n_explained: int = field(default=0, init=False)
    n_sampled: int = field(default=0, init=False)

    def read(self, table: str, format: str | None) -> Iterator[_Piece]:
        """Yield the explanations of the chosen rows."""
        from skauc.app.tables import iterate_table
        from skauc.app.workflow import parse_rows, rows_within

        ranges = None if self.rows is None else parse_rows(self.rows)
        kinds, start = self.opened.kinds, 0
        if self.top is not None:
            yield from self._read_top(table, format)
            return
        for frame in iterate_table(table, EXPLAINED_ROWS, format=format, kinds=kinds):
            if start == 0:
                self.opened.note_unused(frame)
            self.check.add(self.opened.rows(frame))
            chosen = rows_within(ranges, start, len(frame))
            if len(chosen):
                yield self._explain(frame.iloc[chosen], (chosen + start).tolist())
            start += len(frame)
        if ranges is not None and max(last for _, last in ranges) >= start:
            raise InvalidParameterError(f"--rows {self.rows}: the table has {start:,} rows only.")

    def _read_top(self, table: str, format: str | None) -> Iterator[_Piece]:
        import numpy as np

        from skauc.app.tables import read_table
        from skauc.app.workflow import RowScorer

        frame = read_table(table, format=format, kinds=self.opened.kinds)
        self.opened.note_unused(frame)
        X = self.opened.rows(frame)
        scores = RowScorer(self.opened.model)(X).scores
        self.check.add(X, scores)
        numbers = np.argsort(-scores, kind="stable")[: self.top]
        yield self._explain(frame.iloc[numbers], numbers.tolist())

    def _explain(self, frame, numbers: list[int]) -> _Piece:
        from skauc.explain import shapley_values

        explanation = shapley_values(
            self.opened.model, self.opened.rows(frame), self.background, n_jobs=-1
        )
        self.n_explained += len(numbers)
        self.n_sampled += 0 if explanation.is_exact else len(numbers)
        return _Piece(numbers, explanation)


def _read_background(opened: OpenedFile, background: str | None):
    if background is None:
        return None
    from skauc.app.tables import read_table

    with watch("Reading the background"):
        return opened.rows(read_table(background, kinds=opened.kinds))


def _write_table(path: Path, pieces: Iterator[_Piece]) -> None:
    with text_file(path) as file, count_rows("Explaining rows") as add:
        for number, piece in enumerate(pieces):
            _write_csv(file, piece, has_header=number == 0)
            add(len(piece.numbers))


def _write_csv(file: IO[str], piece: _Piece, *, has_header: bool) -> None:
    explained = piece.explanation
    errors = explained.standard_errors
    writer = csv.writer(file, lineterminator="\n")
    if has_header:
        names = [_header_of(name) for name in explained.feature_names]
        marks = [] if errors is None else [f"standard error of {name}" for name in names]
        writer.writerow([*_FIRST_COLUMNS, *names, *marks])
    for i, (number, score) in enumerate(zip(piece.numbers, piece.scores, strict=True)):
        more = [] if errors is None else errors[i].tolist()
        base = float(explained.base_values[i])
        writer.writerow([number + 1, score, base, *explained.values[i].tolist(), *more])


def _header_of(name: str) -> str:
    """Return the header of the contributions of a column."""
    return f"contribution of {name}" if name in _FIRST_COLUMNS else str(without_formula(name))


def _write_explanations(pieces: _Pieces, table: str, format: str | None, output: Path) -> None:
    from skauc.report.explained_rows import describe
    from skauc.report.small_pages import write_page

    with watch("Explaining rows"):
        found = list(pieces.read(table, format))
        if pieces.n_explained > MOST_PAGE_ROWS:
            raise InvalidParameterError(
                f"A page can show {MOST_PAGE_ROWS} rows; got {pieces.n_explained:,}. Choose fewer "
                "with --rows or --top, or write a csv file."
            )
        numbers = [number + 1 for piece in found for number in piece.numbers]
        explanation = found[0].explanation
        for piece in found[1:]:
            explanation = explanation.joined(piece.explanation)
        nothing = [""] * len(numbers)
        model = pieces.opened.model
        shown = describe(model, explanation, numbers, nothing, [None] * len(numbers), most=12)
        note = "" if pieces.top is None else "These are the rows with the highest scores."
        facts = pieces.opened.facts
        meaning = (
            str(facts.labels[1]) if facts.target is None else f"{facts.target} = {facts.labels[1]}"
        )
        title = f"Explanation of {format_rows(len(numbers))} of {Path(table).name}"
        with file_to_write(output) as path:
            write_page(path, "explain_page.html", title, shown=shown, note=note, meaning=meaning)
