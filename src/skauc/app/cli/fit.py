"""``skauc fit``: from a table to a model file and a report."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skauc.app.cli.errors import Interrupted
from skauc.app.cli.files import check_output
from skauc.app.cli.options import AsJson, Force, Format, Table, Weights
from skauc.app.cli.output import evaluation_as_dict, print_json, print_scores, print_table, say
from skauc.app.cli.progress import watch
from skauc.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from skauc.app.tables import LabelledTable
    from skauc.app.workflow import Evaluation, ModelFacts, TableParts, Trained


def fit(
    table: Table,
    target: Annotated[
        str, typer.Option(metavar="COL", help="The column to predict, of two values.")
    ],
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL", help="The value that is to rank high; by default the rarer one."
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="A column not to learn from; may be repeated."),
    ] = None,
    weights: Weights = None,
    n_basis: Annotated[
        int, typer.Option(min=1, help="Centres of the model, the most that tuning may choose.")
    ] = 64,
    tune: Annotated[
        bool, typer.Option(help="Choose the other settings by cross-validation.")
    ] = True,
    calibrate: Annotated[bool, typer.Option(help="Add probabilities to the scores.")] = True,
    test: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="A table to test on, instead of a part of TABLE."),
    ] = None,
    test_share: Annotated[
        float,
        typer.Option(
            min=0.0, max=0.9, help="The part of TABLE that is only tested on, 0 for none."
        ),
    ] = 0.2,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The model file; by default TABLE's name in .skauc."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Also write a report to this HTML file.")
    ] = None,
    engine: Annotated[
        str, typer.Option(help="Where the work is done, as SparseKernelAUC has it.")
    ] = "auto",
    jobs: Annotated[int, typer.Option(help="Cores to use, -1 for all.")] = -1,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Draws the test rows and all else.")
    ] = 0,
    format: Format = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Fit a model to a table, and test it on rows that it has not seen.

    A fifth of the rows is set aside for the test, unless there is a table to test on. Categories,
    dates, text, truth values and gaps are taken care of. Ctrl-C ends the work with the best
    model so far.
    """
    output = Path(_stem(table) + ".skauc") if output is None else output
    for path in (output, report):
        check_output(path, force)
    from skauc.app.workflow import ModelFacts, Recipe, too_good_columns, train_model

    started = time.perf_counter()
    left_out = [*([] if weights is None else [weights]), *(drop or [])]
    parts = _read(table, test, target, positive, left_out, weights, format, test_share, seed)
    if report is not None and parts.test is None:
        raise InvalidParameterError(
            "A report needs rows to test on, and none were set aside. Pass a table of them with "
            "--test."
        )
    facts = ModelFacts.from_table(parts.train, target, left_out)
    suspects = too_good_columns(parts.train)
    recipe = Recipe(n_basis, tune, calibrate, engine, jobs, seed)
    trained = train_model(parts.train, recipe, watch)
    trained, evaluation = _tested(trained, parts.test)
    summary = facts.as_summary() | _provenance(
        table, test, parts, trained, evaluation, recipe, time.perf_counter() - started
    )
    summary["leak_suspects"] = suspects
    _save(trained, output, summary, force)
    if trained.is_interrupted:
        raise Interrupted(" ".join((f"The model that was reached is in {output}.", *trained.notes)))
    if report is not None:
        try:
            _write_report(report, trained, parts, facts, force)
        except KeyboardInterrupt as interrupt:
            raise Interrupted(f"The model is in {output}; there is no report.") from interrupt
    result = {"model": str(output), "report": None if report is None else str(report)}
    if json:
        test_figures = None if evaluation is None else evaluation_as_dict(evaluation)
        print_json(result | {"summary": summary, "test": test_figures})
    else:
        _print_result(summary, trained, parts, evaluation, result)


def _stem(table: str) -> str:
    """Return the name of a table without its endings."""
    return "model" if table == "-" else Path(Path(table).name.removesuffix(".gz")).stem


def _read(table, test, target, positive, left_out, weights, format, share, seed) -> TableParts:
    """Read the table, and the one to test on or a part of the first."""
    from skauc.app.tables import read_table, split_target
    from skauc.app.workflow import ModelFacts, TableParts, split_off_test
    from skauc.preprocessing.kinds import kind_of

    with watch("Reading"):
        frame = read_table(table, format=format)
        labelled = split_target(frame, target, positive=positive, drop=left_out, weights=weights)
        if test is None:
            return split_off_test(labelled, share, seed)
        facts = ModelFacts.from_table(labelled, target, left_out)
        # Text is read as text, whatever the values in the other file look like.
        kinds = {name: kind_of(labelled.X[name]) for name in labelled.X.columns}
        return TableParts(labelled, facts.split(read_table(test, kinds=kinds), target, weights))


def _tested(trained: Trained, test: LabelledTable | None) -> tuple[Trained, Evaluation | None]:
    """Return the figures from the test rows, if there are any and the user waits for them."""
    from skauc.app.workflow import RowScorer, evaluate_rows

    if test is None:
        return trained, None
    scorer = RowScorer(trained.model)
    try:
        with watch("Testing"):
            rows = scorer(test.X)
            evaluation = evaluate_rows(rows, test.y, test.weights, threshold=scorer.threshold)
    except KeyboardInterrupt:
        return replace(trained, is_interrupted=True), None
    return trained, evaluation


def _provenance(table, test, parts, trained, evaluation, recipe, seconds) -> dict:
    """Return what the model file says about the training."""
    auc = None if evaluation is None else evaluation.auc
    return {
        "table": table,
        "test_table": test,
        "made": datetime.now().astimezone().isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        "seed": recipe.seed,
        "train_rows": len(parts.train.y),
        "train_positives": int(parts.train.y.sum()),
        "test_rows": 0 if parts.test is None else len(parts.test.y),
        "test_positives": 0 if parts.test is None else int(parts.test.y.sum()),
        "test_auc": None if auc is None else auc.auc,
        "test_auc_interval": None if auc is None else [auc.low, auc.high],
        "tuned_rows": trained.n_tuned,
        "cv_auc": trained.cv_auc,
        "chosen": trained.chosen,
        "notes": list(trained.notes),
        "interrupted": trained.is_interrupted,
    }


def _save(trained: Trained, output: Path, summary: dict, force: bool) -> None:
    from skauc.persistence import save_model

    save_model(trained.model, output, summary=summary, overwrite=force)


def _write_report(
    path: Path, trained: Trained, parts: TableParts, facts: ModelFacts, force
) -> None:
    from skauc.report import make_report

    with watch("Writing the report"):
        make_report(
            path,
            trained.model,
            parts.test.X,
            parts.test.y,
            X_train=parts.train.X,
            y_train=parts.train.y,
            sample_weight=parts.test.weights,
            labels=facts.labels,
            title=f"How well {facts.target} = {facts.labels[1]} is ranked",
            force=force,
        )


def _print_result(summary, trained: Trained, parts: TableParts, evaluation, result) -> None:
    from skauc.persistence.summary import final_estimator
    from skauc.unwrapping import first_step

    negative, positive = summary["labels"]
    for name, reason in first_step(trained.model).dropped_.items():
        say(f"Column {name!r} is not used: it {reason}.")
    for note in trained.notes:
        say(f"Note: {note}")
    for name in summary["leak_suspects"]:
        say(
            f"Warning: {name!r} alone separates the classes; it may give the answer away. If it is "
            f"not known when predicting, fit again with --drop {shlex.quote(name)}"
        )
    rows = [
        ("ranks high", f"{summary['target']} = {positive} (against {negative})"),
        ("fitted to", _rows(parts.train)),
    ]
    if parts.test is not None:
        whose = "set aside from the table" if summary["test_table"] is None else "of its own table"
        rows.append(("tested on", f"{_rows(parts.test)}, {whose}"))
    n_basis = final_estimator(trained.model).n_basis_
    rows.append(("model", f"{n_basis} centres in {summary['seconds']:.0f} s"))
    print_table(("", ""), rows)
    if evaluation is None:
        say("No rows were set aside, so that there is no honest AUC. Pass some with --test.")
    else:
        typer.echo("")
        print_scores(evaluation)
    typer.echo("")
    written = [f"model {result['model']}"]
    written += [] if result["report"] is None else [f"report {result['report']}"]
    typer.echo("Wrote " + ", ".join(written))


def _rows(table: LabelledTable) -> str:
    return f"{len(table.y):,} rows, {int(table.y.sum()):,} of them positive"
