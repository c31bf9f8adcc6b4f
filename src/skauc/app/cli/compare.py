"""``skauc compare``: two models on the same table with known labels."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skauc.app.cli.errors import warn
from skauc.app.cli.files import check_outputs, file_to_write, messages_beside
from skauc.app.cli.models import open_file
from skauc.app.cli.options import AsJson, Force, Format, KnownTarget, ModelPath, Weights
from skauc.app.cli.output import print_json, print_table, tell
from skauc.app.cli.progress import watch
from skauc.exceptions import InvalidDataError

if TYPE_CHECKING:
    from skauc.app.workflow import Comparison
    from skauc.metrics import AUCInterval, BootstrapInterval

_MOST_CORNERS = 300


def compare(
    model_a: ModelPath,
    model_b: ModelPath,
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="Rows with known labels that neither model was fitted to.",
            show_default=False,
        ),
    ],
    target: KnownTarget = None,
    weights: Weights = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="An HTML page with the curves of both models."),
    ] = None,
    format: Format = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Compare two models on rows with known labels.

    Prints both AUCs, DeLong's paired test of their difference, and how much the models agree.
    """
    inputs = (model_a, model_b, table)
    check_outputs(output, inputs=inputs, force=force, json=json, is_binary=False)
    from skauc.app.tables import is_same_label
    from skauc.app.workflow import InputCheck, RowScorer, compare_models

    opened = [open_file(path) for path in (model_a, model_b)]
    targets = [each.facts.target for each in opened]
    if target is None and None not in targets and targets[0] != targets[1]:
        raise InvalidDataError(
            f"The models predict different columns: {targets[0]!r} and {targets[1]!r}. Name the "
            "column of true labels with --target."
        )
    positives = [each.facts.labels[1] for each in opened]
    if not is_same_label(*positives):
        raise InvalidDataError(
            f"The models rank different labels high: {positives[0]!r} and {positives[1]!r}. Fit "
            "one of them again with --positive."
        )
    with watch("Scoring"):
        rows = [each.read_labelled(table, format, target, weights) for each in opened]
        parts = [each.rows(part.X) for each, part in zip(opened, rows, strict=True)]
        scored = [RowScorer(each.model)(part) for each, part in zip(opened, parts, strict=True)]
        comparison = compare_models(scored[0], scored[1], rows[0].y, rows[0].weights)
        checks = [InputCheck(each.model) for each in opened]
        for check, X, found in zip(checks, parts, scored, strict=True):
            check.add(X, found.scores)
    messages = [message for check in checks for message in check.messages()]
    for message in dict.fromkeys(messages):
        warn(message)
    names = (model_a.name, model_b.name)
    if output is not None:
        with file_to_write(output) as path:
            _write_comparison(path, comparison, names)
    if json:
        print_json(_as_dict(comparison))
        return
    with messages_beside(output):
        _print(comparison, names)
        if output is not None:
            tell(f"Wrote {output}")


def _as_dict(comparison: Comparison) -> dict:
    return {
        "auc": [asdict(each) for each in comparison.aucs],
        "average_precision": [asdict(each) for each in comparison.average_precisions],
        "test": asdict(comparison.test),
        "rank_correlation": comparison.rank_correlation,
        "same_label": comparison.same_label,
        "shared_top": comparison.shared_top,
    }


def _measures(comparison: Comparison) -> list[tuple[str, str, str]]:
    (auc_a, auc_b), (precision_a, precision_b) = comparison.aucs, comparison.average_precisions
    return [
        ("AUC", _limits(auc_a.auc, auc_a), _limits(auc_b.auc, auc_b)),
        (
            "average precision",
            _limits(precision_a.value, precision_a),
            _limits(precision_b.value, precision_b),
        ),
    ]


def _limits(estimate: float, interval: AUCInterval | BootstrapInterval) -> str:
    return f"{estimate:.4f} ({interval.low:.4f} to {interval.high:.4f})"


def _agreement(comparison: Comparison) -> list[tuple[str, str]]:
    test = comparison.test
    return [
        (
            "AUC of A minus AUC of B",
            f"{test.difference:+.4f} ({test.low:+.4f} to {test.high:+.4f}), p = {test.p_value:.2g}",
        ),
        ("rank correlation of the scores", f"{comparison.rank_correlation:.3f}"),
        ("rows with the same predicted label", f"{100 * comparison.same_label:.1f}%"),
        (
            f"rows in common among the top {comparison.n_positive:,}",
            f"{100 * comparison.shared_top:.1f}%",
        ),
    ]


def _print(comparison: Comparison, names: tuple[str, str]) -> None:
    header = ("", f"A: {names[0]}", f"B: {names[1]}")
    print_table(header, _measures(comparison), right=(1, 2))
    tell()
    print_table(("", ""), _agreement(comparison))
    tell()
    tell(comparison.sentence)


def _write_comparison(path: Path, comparison: Comparison, names: tuple[str, str]) -> None:
    from skauc.report.small_pages import write_page

    roc: list[dict] = []
    precision_recall: list[dict] = []
    for points, name, colour in zip(comparison.points, "AB", ("pos", "neg"), strict=True):
        corners = points.thinned(_MOST_CORNERS)
        lines = (
            (roc, corners.false_positive_rate, corners.recall),
            (precision_recall, corners.recall, corners.precision),
        )
        for kept, x, y in lines:
            dots = " ".join(f"{360 * a:.1f},{300 - 300 * b:.1f}" for a, b in zip(x, y, strict=True))
            kept.append({"name": name, "colour": colour, "points": dots})
    write_page(
        path,
        "compare_page.html",
        f"{names[0]} and {names[1]}",
        names=names,
        sentence=comparison.sentence,
        measures=_measures(comparison),
        agreement=_agreement(comparison),
        roc=roc,
        precision_recall=precision_recall,
    )
