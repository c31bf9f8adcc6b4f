"""Fitted models as source code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from skauc.exceptions import InvalidParameterError
from skauc.export import c_header, javascript, page, sql
from skauc.export.folding import with_short_centres
from skauc.export.names import check_name
from skauc.export.program import Program
from skauc.export.reading import read_program
from skauc.export.rounding import is_single, with_rounded_centres
from skauc.export.samples import scores_of_rows, with_samples, with_scores
from skauc.unwrapping import unwrap
from skauc.validation import check_choice, shortened

LANGUAGES = ("c", "sql", "js", "d.ts", "html")


def to_source(
    model: Any,
    language: str,
    *,
    name: str = "model",
    precision: str | None = None,
    dialect: str | None = None,
    table: str | None = None,
    labels: Sequence[Any] | None = None,
) -> str:
    """Write a fitted model as source code that needs neither skauc nor Python.

    The code has the preprocessing, the score, the probability and the label of the model, and a
    self-test. Its scores are those of `decision_function` to 1e-9.

    Parameters
    ----------
    model : estimator
        A fitted skauc classifier, or a pipeline, calibration, threshold or search around one. Steps
        of a pipeline can be a `TablePreprocessor` at the beginning, and scikit-learn's
        StandardScaler, RobustScaler, MinMaxScaler, MaxAbsScaler and SimpleImputer.
    language : {"c", "sql", "js", "d.ts", "html"}
        "c" is a C99 header, "sql" a script with two views, "js" an ES module, "d.ts" the TypeScript
        types of that module, and "html" a page with a control per column.
    name : str, default="model"
        Name of the model. Functions, views and columns begin with it. It is the title of the page.
    precision : {"double", "float", "int8"}, default=None
        Numbers in C; None means "double". "float" gives scores to 1e-5. "int8" stores the centres
        in one byte per number and computes in float; scores differ in the second or third digit.
    dialect : {"duckdb", "sqlite", "postgresql", "bigquery"}, default=None
        Dialect of SQL; None means "duckdb".
    table : str, default=None
        Table that the SQL reads; None means "rows". A schema may stand before it with a dot.
    labels : sequence of two, default=None
        Names of the negative and the positive label. None means the labels of the model.

    Returns
    -------
    source : str
        The text of the file.

    See Also
    --------
    to_onnx : Models for ONNX runtimes.

    Notes
    -----
    Columns are as in an ONNX graph: numbers, truth values, dates in seconds since 1970 in UTC (SQL
    takes dates and times, JavaScript takes Date objects too), and text. A missing value is NAN or
    NULL in C, NULL in SQL and null in JavaScript. Numbers and dates that your table writes as text,
    such as "$1,234.50", must be converted first. Times of the day are written as HH:MM:SS, and
    numbers that were chosen as categories without zeros at either end, "7" instead of "007".

    Kernels that are functions, the mean of several calibrated models, and other preprocessing steps
    cannot be exported.

    Examples
    --------
    >>> from skauc import SparseKernelAUC, to_source
    >>> model = SparseKernelAUC(1).fit([[0.0], [1.0]], [0, 1])
    >>> header = to_source(model, "c", name="tiny")
    >>> "tiny_real tiny_score(const tiny_row *row)" in header
    True
    """
    check_is_fitted(model)
    check_choice("language", language, LANGUAGES)
    check_name(name)
    _check_options(language, precision, dialect, table)
    if table is not None and table.casefold() == name.casefold():
        raise InvalidParameterError(
            f"`name` and `table` must differ; got {name!r} twice. Give the view another name."
        )
    if labels is not None and len(labels) != 2:
        raise InvalidParameterError(f"`labels` must be two names; got {shortened(labels)}.")
    program = with_samples(read_program(model, None if labels is None else tuple(labels)), model)
    if language == "c":
        return _header(program, model, name, precision or "double")
    if language == "sql":
        program = with_short_centres(program)
        return sql.write_script(program, name, table or "rows", dialect or "duckdb")
    program = _short(program)
    if language == "html":
        return page.write_form(program, name)
    return javascript.write_module(program) if language == "js" else javascript.write_types(program)


def _short(program: Program, precision: str = "double") -> Program:
    """Return the program with centres of few digits. Those of single precision have few."""
    if is_single(program.expansion.centres):
        return program
    if precision == "float":
        return with_rounded_centres(program, precision)
    return with_short_centres(program)


def _check_options(
    language: str, precision: str | None, dialect: str | None, table: str | None
) -> None:
    options = (
        ("precision", precision, "c", c_header.C_PRECISIONS),
        ("dialect", dialect, "sql", tuple(sql.DIALECTS)),
        ("table", table, "sql", None),
    )
    for option, value, only, choices in options:
        if value is None:
            continue
        if language != only:
            raise InvalidParameterError(
                f"`{option}` is for language={only!r}; got {value!r} and language={language!r}. "
                "Leave it out."
            )
        if choices is not None:
            check_choice(option, value, choices)


def _header(program: Program, model: Any, name: str, precision: str) -> str:
    """Return the header. The test of rounded centres has the scores of rounded centres."""
    if precision == "int8" and len(program.expansion.coef):
        assert program.test is not None
        rounded = c_header.Quantised.of(program.expansion.centres).centres
        scores = scores_of_rows(unwrap(model), program, program.test.rows, rounded)
        program = with_scores(program, scores)
    elif precision != "int8":
        program = _short(program, precision)
    return c_header.write_header(program, name, precision)
