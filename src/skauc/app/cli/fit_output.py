"""What ``skauc fit`` prints before and after the training."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from skauc.app.cli.output import duration, print_scores, print_table, say, tell

if TYPE_CHECKING:
    from skauc.app.tables import LabelledTable
    from skauc.app.workflow import Evaluation, ModelFacts, Recipe, TableParts, Trained
    from skauc.preprocessing import TablePreprocessor

# Shorter fits need no announcement.
WORTH_TELLING = 5.0
_MOST_LISTED = 20
_KIND_WORDS = {"numeric": "numbers", "boolean": "truth values", "date": "dates"}


def announce(parts: TableParts, facts: ModelFacts, recipe: Recipe) -> None:
    """Print which label is positive, and how long the training is going to take."""
    from skauc.app.workflow import estimate_seconds

    seconds = estimate_seconds(len(parts.train.y), recipe)
    if seconds < WORTH_TELLING:
        return
    say(f"Positive label: {_positive(facts.target, facts.labels, parts.train)}.")
    say(
        f"Choosing the settings by cross-validation takes about {duration(seconds)}. Ctrl-C keeps "
        "the best model so far. --effort quick takes a quarter of the time."
    )


def print_columns(step: TablePreprocessor) -> None:
    """Print the kind of each column, which values did not parse, and which columns are unused."""
    kinds: dict[str, list[str]] = {}
    for column in step.column_report_:
        if column["dropped"] is None:
            form = "" if column["form"] is None else f" ({column['form']})"
            kinds.setdefault(column["kind"], []).append(f"{column['name']}{form}")
    for kind, names in kinds.items():
        more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
        say(f"{kind + ':':10s}{', '.join(names[:_MOST_LISTED])}{more}")
    for column in step.column_report_:
        if column["dropped"] is not None:
            say(f"Column {column['name']!r} is not used: it {column['dropped']}.")
        elif column["n_unparsed"]:
            values = ", ".join(map(repr, column["unparsed"]))
            say(
                f"Column {column['name']!r}: {column['n_unparsed']:,} values are not "
                f"{_KIND_WORDS[column['kind']]} and count as missing: {values}."
            )


def print_result(
    summary: dict,
    trained: Trained,
    parts: TableParts,
    evaluation: Evaluation | None,
    written: dict[str, str | None],
) -> None:
    """Print the model, its test and the files."""
    for note in trained.notes:
        say(f"Note: {note}")
    for name in summary["leak_suspects"]:
        say(
            f"Warning: {name!r} alone separates the classes; it may give the answer away. If it is "
            f"not known at prediction time, fit again with --drop {shlex.quote(name)}"
        )
    print_table(("", ""), _model_lines(summary, trained, parts))
    if evaluation is None:
        say("No rows were set aside, so there is no test AUC. Pass test rows with --test.")
    else:
        tell()
        print_scores(evaluation)
    tell()
    files = (f"{what} {path}" for what, path in written.items() if path not in (None, "-"))
    tell("Wrote " + (", ".join(files) or "to standard output"))


def _model_lines(summary: dict, trained: Trained, parts: TableParts) -> list[tuple[str, str]]:
    from skauc.persistence.summary import final_estimator
    from skauc.unwrapping import unwrap

    lines = [
        ("positive", _positive(summary["target"], summary["labels"], parts.train)),
        ("fitted to", f"{len(parts.train.y):,} rows"),
    ]
    if parts.test is not None:
        test, n_positive = parts.test, int(parts.test.y.sum())
        whose = "set aside from the table" if summary["test_table"] is None else "of another table"
        lines.append(("tested on", f"{len(test.y):,} rows, {n_positive:,} positive, {whose}"))
    classifier = final_estimator(trained.model)
    words = [f"{classifier.n_basis_} centres"]
    average = unwrap(trained.model).average
    words += [] if average is None else [average]
    words.append(f"fitted in {duration(summary['seconds'])}")
    lines.append(("model", ", ".join(words)))
    lines += _other_size(trained, classifier.n_basis_)
    return lines


def _other_size(trained: Trained, n_basis: int) -> list[tuple[str, str]]:
    """Return a line about the model that the other value of --size chooses, if it is another."""
    found = {
        size: (choice["params"]["n_basis"], f"{choice['mean_test_score']:.4f}")
        for size, choice in trained.size_choices.items()
    }
    (_, best_auc), (small, small_auc) = found["best"], found["small"]
    if small >= n_basis:
        return []
    aucs = f"cross-validated {small_auc} instead of {best_auc}"
    return [("--size small", f"{small} centres instead of {n_basis}, {aucs}")]


def _positive(target: str | None, labels, train: LabelledTable) -> str:
    negative, positive = labels
    n_positive = f"{int(train.y.sum()):,} of {len(train.y):,} rows"
    return f"{target} = {positive}, {n_positive} (the other label is {negative})"
