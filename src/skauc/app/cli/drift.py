"""``skauc drift``: how a table differs from the one that a model was fitted to."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skauc.app.cli.errors import warn
from skauc.app.cli.files import check_outputs, file_to_write, messages_beside
from skauc.app.cli.models import open_file
from skauc.app.cli.options import AsJson, Force, Format, ModelPath, Table, finite
from skauc.app.cli.output import print_json, print_table, say, tell
from skauc.app.cli.progress import watch

if TYPE_CHECKING:
    from skauc.app.workflow import ColumnDrift

# The exit code if --fail-if applies. 1 and 2 mean that the command failed.
HAS_DRIFTED = 3
_MOST_LISTED = 20


def drift(
    model: ModelPath,
    table: Table,
    fail_if: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            metavar="PSI",
            callback=finite,
            help="Exit with status 3 if a shift with a corrected p-value below 0.01 has a "
            "population stability index above this number. 0.1 and 0.25 are usual.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="An HTML page with all columns.")
    ] = None,
    format: Format = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Compare the columns and scores of a table with those that the model file remembers.

    The population stability index (PSI) of a column says how much the shares of its values have
    shifted. Labels are not needed.
    """
    check_outputs(output, inputs=(model, table), force=force, json=json, is_binary=False)
    opened = open_file(model)
    from skauc.app.tables import read_table
    from skauc.app.workflow import InputCheck, RowScorer, find_drift

    with watch("Comparing"):
        frame = read_table(table, format=format, kinds=opened.kinds)
        opened.note_unused(frame)
        X = opened.rows(frame)
        scores = RowScorer(opened.model)(X).scores
        drifts = find_drift(opened.model, opened.manifest["summary"].get("memory"), X, scores)
        check = InputCheck(opened.model)
        check.add(X, scores)
    for message in check.messages():
        warn(message)
    failed = [each for each in drifts if fail_if is not None and _fails(each, fail_if)]
    sentence = _sentence(drifts)
    if output is not None:
        from skauc.report.small_pages import write_page

        title = f"Drift of {Path(table).name} since {model.name} was fitted"
        with file_to_write(output) as path:
            write_page(path, "drift_page.html", title, columns=drifts, sentence=sentence)
    if json:
        columns = [asdict(each) | {"has_shifted": each.has_shifted} for each in drifts]
        print_json({"rows": len(frame), "columns": columns, "failed": [f.name for f in failed]})
    else:
        with messages_beside(output):
            _print(drifts, sentence, output)
    if failed:
        names = ", ".join(each.name for each in failed[:5])
        say(f"skauc: Shifts above {fail_if:g}: {names}.")
        raise typer.Exit(HAS_DRIFTED)


def _fails(each: ColumnDrift, limit: float) -> bool:
    from skauc.app.workflow.memory import SHIFTED_P

    return each.psi > limit and each.p_value < SHIFTED_P


def _sentence(drifts: list[ColumnDrift]) -> str:
    scores, columns = drifts[0], drifts[1:]
    shifted = [each.name for each in columns if each.has_shifted]
    have = "have" if scores.has_shifted else "have not"
    if not shifted:
        return f"None of the {len(columns):,} columns has shifted. The scores {have} shifted."
    more = f" and {len(shifted) - 3} more" if len(shifted) > 3 else ""
    listed = ", ".join(f"“{name}”" for name in shifted[:3])
    count = f"{len(shifted):,} of {len(columns):,} columns"
    verb = "has" if len(shifted) == 1 else "have"
    return f"{count} {verb} shifted: {listed}{more}. The scores {have} shifted."


def _print(drifts: list[ColumnDrift], sentence: str, output: Path | None) -> None:
    rows = [
        (
            each.name,
            f"{each.psi:.3f}",
            f"{each.p_value:.2g}",
            f"{100 * each.missing_before:.1f}%",
            f"{100 * each.missing_now:.1f}%",
            "shifted" if each.has_shifted else "",
            each.change,
        )
        for each in drifts[:_MOST_LISTED]
    ]
    header = ("column", "PSI", "p", "missing before", "now", "", "largest change")
    print_table(header, rows, right=(1, 2, 3, 4))
    if len(drifts) > _MOST_LISTED:
        tell(f"{len(drifts) - _MOST_LISTED} columns with smaller shifts are not listed.")
    tell()
    tell(sentence)
    if output is not None:
        tell(f"Wrote {output}")
