"""``skauc fit``: from a table to a model file and a report."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skauc.app.cli.errors import Interrupted, naming, warn
from skauc.app.cli.files import check_outputs, file_to_write, is_standard_output, messages_beside
from skauc.app.cli.fit_output import announce, print_columns, print_result
from skauc.app.cli.fit_tables import FitTables
from skauc.app.cli.options import AsJson, Force, Format, Table, Weights, finite, other_than_zero
from skauc.app.cli.output import evaluation_as_dict, print_json
from skauc.app.cli.progress import watch
from skauc.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from skauc.app.tables import LabelledTable
    from skauc.app.workflow import Evaluation, ModelFacts, TableParts, Trained
    from skauc.preprocessing import TablePreprocessor

# Distributions in the model file come from at most this many rows.
MOST_REMEMBERED = 50_000


def fit(
    table: Table,
    target: Annotated[
        str, typer.Option(metavar="COL", help="The column to predict. It has two values.")
    ],
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL",
            help="The label that is to rank high. The default is the one that sorts last.",
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="A column to leave out; repeatable."),
    ] = None,
    numeric: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="A column to read as numbers; repeatable."),
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="A column to read as categories; repeatable."),
    ] = None,
    date: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="A column to read as dates; repeatable."),
    ] = None,
    weights: Weights = None,
    time_column: Annotated[
        str | None,
        typer.Option(
            "--time",
            metavar="COL",
            help="A column of dates or numbers: test on the last rows, and tune on folds in time.",
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="A column of groups, such as customers: no group is trained and tested on. It "
            "is no feature.",
        ),
    ] = None,
    n_basis: Annotated[int, typer.Option(min=1, help="The largest number of centres.")] = 64,
    size: Annotated[
        str,
        typer.Option(help="best, or small for the smallest model that is nearly as good."),
    ] = "best",
    effort: Annotated[
        str, typer.Option(help="How much to try: quick, default or thorough.")
    ] = "default",
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0.001, callback=finite, metavar="SECONDS", help="End the search after this time."
        ),
    ] = None,
    max_fpr: Annotated[
        float | None,
        typer.Option(
            callback=finite,
            metavar="RATE",
            help="Rank for false positive rates up to this one, such as 0.05.",
        ),
    ] = None,
    min_tpr: Annotated[
        float | None,
        typer.Option(
            callback=finite, metavar="RATE", help="Rank for recalls from this one on, such as 0.8."
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="A table of test rows, instead of a part of TABLE."),
    ] = None,
    test_share: Annotated[
        float,
        typer.Option(
            min=0.0, max=0.9, callback=finite, help="The share of TABLE that is set aside as test."
        ),
    ] = 0.2,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The model file; - for standard output. The default is the name of TABLE with "
            "the suffix .skauc.",
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Also write an HTML report; - for standard output.")
    ] = None,
    engine: Annotated[
        str, typer.Option(help="auto, cpu, gpu or cluster, as in SparseKernelAUC.")
    ] = "auto",
    jobs: Annotated[
        int, typer.Option(callback=other_than_zero, help="Number of cores; -1 uses all.")
    ] = -1,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")] = 0,
    format: Format = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Fit a model to a table, and test it on rows that were set aside.

    The kind of each column is detected: numbers, categories, dates, text, true and false. Missing
    values are filled in. Ctrl-C ends the search and saves the best model so far.
    """
    if time_column is not None and group is not None:
        raise InvalidParameterError(
            "--time and --group exclude each other, because the last rows may be of groups that "
            "have earlier rows. Use one of them."
        )
    output = Path(_stem(table) + ".skauc") if output is None else output
    is_piped = is_standard_output(output)
    inputs = (table, test)
    check_outputs(output, report, inputs=inputs, force=force, json=json, is_binary=is_piped)
    from skauc.app.workflow import ModelFacts, Recipe, train_model
    from skauc.engines import ENGINES
    from skauc.metrics.partial_area import check_corner
    from skauc.sparse.decision import SIZES
    from skauc.sparse.grid import EFFORTS
    from skauc.unwrapping import first_step
    from skauc.validation import check_choice

    started = time.perf_counter()
    kinds = {
        "numeric": tuple(numeric or ()),
        "category": tuple(category or ()),
        "date": tuple(date or ()),
    }
    check_choice("size", size, SIZES)
    check_choice("effort", effort, EFFORTS)
    check_choice("engine", engine, ENGINES)
    check_corner(max_fpr, min_tpr)
    columns = {"weights": weights, "time": time_column, "group": group}
    source = FitTables(table, test, target, positive, tuple(drop or ()), columns, format, kinds)
    parts = source.read(test_share, seed)
    if report is not None and parts.test is None:
        raise InvalidParameterError(
            "A report needs test rows, and none were set aside. Pass a table with --test."
        )
    facts = ModelFacts.from_table(parts.train, target, source.left_out)
    recipe = Recipe(
        n_basis,
        size,
        effort,
        time_limit,
        max_fpr,
        min_tpr,
        engine=engine,
        n_jobs=jobs,
        seed=seed,
        **kinds,
    )
    if not json:
        announce(parts, facts, recipe)
    look_at = partial(_check_columns if json else _show_columns, test=parts.test, test_table=test)
    trained = train_model(parts.train, recipe, watch, look_at)
    trained, evaluation = _tested(trained, parts)
    summary = facts.as_summary() | _figures(parts, trained, evaluation)
    seconds = round(time.perf_counter() - started, 1)
    summary |= {"table": table, "test_table": test, "seconds": seconds, "seed": seed}
    _save(trained, output, summary | {"memory": _memory(trained, parts)}, force)
    if test is not None:
        _warn_of_test_rows(trained, parts)
    if report is not None:
        _write_report(report, trained, parts, facts, force, output)
    written = {"model": str(output), "report": None if report is None else str(report)}
    if json:
        test_figures = None if evaluation is None else evaluation_as_dict(evaluation)
        columns = first_step(trained.model).column_report_
        print_json(written | {"summary": summary, "columns": columns, "test": test_figures})
        return
    with messages_beside(output, report):
        print_result(summary, trained, parts, evaluation, written)


def _check_columns(
    step: TablePreprocessor, test: LabelledTable | None, test_table: str | None
) -> None:
    """Raise an error before the training if the model could not be saved or tested after it."""
    import numpy as np
    from sklearn.pipeline import make_pipeline

    from skauc.persistence import check_savable
    from skauc.sparse import SparseKernelAUC
    from skauc.validation import check_scored

    check_savable(make_pipeline(step, SparseKernelAUC()))
    if test is not None:
        with naming(test_table):
            step.read_columns(test.X)
            check_scored(test.y, np.zeros(len(test.y)), test.weights, pos_label=True)


def _show_columns(
    step: TablePreprocessor, test: LabelledTable | None, test_table: str | None
) -> None:
    _check_columns(step, test, test_table)
    print_columns(step)


def _stem(table: str) -> str:
    """Return the name of a table without its suffixes."""
    return "model" if table == "-" else Path(Path(table).name.removesuffix(".gz")).stem


def _tested(trained: Trained, parts: TableParts) -> tuple[Trained, Evaluation | None]:
    """Evaluate on the test rows, if there are any. An interrupt skips this."""
    from skauc.app.workflow import RowScorer, evaluate_rows, notes_on_shared_rows

    trained, test = replace(trained, notes=(*trained.notes, *parts.notes)), parts.test
    if test is None:
        return trained, None
    scorer = RowScorer(trained.model)
    try:
        with watch("Testing"):
            rows = scorer(test.X)
            evaluation = evaluate_rows(rows, test.y, test.weights, threshold=scorer.threshold)
            auc = evaluation.auc.auc
            notes = notes_on_shared_rows(trained.model, parts.train, test, rows.ranking, auc)
    except KeyboardInterrupt:
        return replace(trained, is_interrupted=True), None
    return replace(trained, notes=(*trained.notes, *notes)), evaluation


def _warn_of_test_rows(trained: Trained, parts: TableParts) -> None:
    """Print what is remarkable about the rows of another table."""
    from skauc.app.workflow import InputCheck

    assert parts.test is not None
    check = InputCheck(trained.model)
    check.add(parts.test.X)
    for message in check.messages():
        warn(message)


def _figures(parts: TableParts, trained: Trained, evaluation: Evaluation | None) -> dict:
    """Return what the model file says about the training and the test."""
    from skauc.app.workflow import too_good_columns

    auc = None if evaluation is None else evaluation.auc
    return {
        "made": datetime.now().astimezone().isoformat(timespec="seconds"),
        "train_rows": len(parts.train.y),
        "train_positives": int(parts.train.y.sum()),
        "test_rows": 0 if parts.test is None else len(parts.test.y),
        "test_positives": 0 if parts.test is None else int(parts.test.y.sum()),
        "test_auc": None if auc is None else auc.auc,
        "test_auc_interval": None if auc is None else [auc.low, auc.high],
        "cv_auc": trained.cv_auc,
        "chosen": trained.chosen,
        "size_choices": trained.size_choices,
        "notes": list(trained.notes),
        "interrupted": trained.is_interrupted,
        "leak_suspects": too_good_columns(trained.model, parts.train),
    }


def _memory(trained: Trained, parts: TableParts) -> dict:
    """Return the distributions that ``skauc drift`` compares with."""
    from skauc.app.workflow import RowScorer, remember

    # Scores of the training rows are too good, so other rows are used if there are any.
    scored = parts.train if parts.test is None else parts.test
    train, test = (X[:: -(-len(X) // MOST_REMEMBERED)] for X in (parts.train.X, scored.X))
    return remember(trained.model, train, RowScorer(trained.model)(test).scores)


def _save(trained: Trained, output: Path, summary: dict, force: bool) -> None:
    """Write the model file; after an interrupt, end the command here."""
    from skauc.persistence import save_model

    with file_to_write(output) as path:
        save_model(trained.model, path, summary=summary, overwrite=force)
    if trained.is_interrupted:
        kept = f"The best model so far is in {_named(output)}."
        raise Interrupted(" ".join((kept, *trained.notes)))


def _named(output: Path) -> str:
    return "standard output" if is_standard_output(output) else str(output)


def _write_report(
    report: Path, trained: Trained, parts: TableParts, facts: ModelFacts, force: bool, output: Path
) -> None:
    from skauc.report import make_report

    test = parts.test
    assert test is not None
    try:
        with watch("Writing the report"), file_to_write(report) as path:
            make_report(
                path,
                trained.model,
                test.X,
                test.y,
                X_train=parts.train.X,
                y_train=parts.train.y,
                sample_weight=test.weights,
                row_numbers=test.X.index + 1,
                train_row_numbers=parts.train.X.index + 1,
                labels=facts.labels,
                title=f"How well {facts.target} = {facts.labels[1]} is ranked",
                force=force,
            )
    except KeyboardInterrupt as interrupt:
        raise Interrupted(f"The model is in {_named(output)}; there is no report.") from interrupt
    except OSError as error:
        reason = (error.strerror or str(error)).removesuffix(".")
        raise OSError(
            f"The report cannot be written to {report}: {reason}. The model is in {_named(output)}."
        ) from error
