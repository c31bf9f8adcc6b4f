"""Usual values of the columns, and rows with known scores that test an exported program."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from skauc.export.program import (
    Affine,
    Codes,
    Fill,
    InverseSinh,
    Levels,
    Logarithm,
    Operation,
    Program,
    Ranks,
    SelfTest,
    SmoothClip,
    TableColumn,
    Values,
)
from skauc.preprocessing import TablePreprocessor
from skauc.preprocessing.parts import DatePart, NumericPart, build_parts
from skauc.unwrapping import UnwrappedModel, unwrap

N_TESTS = 5
# Share of missing values in the test rows.
SHARE_MISSING = 0.1
# A level that no table has.
UNKNOWN = "a level that is not known"
# Places of the 1% and 99% quantiles in the ranges of a part.
_LOW, _HIGH = 1, 4


def with_samples(program: Program, model) -> Program:
    """Return the program with usual values of its columns and with a self-test."""
    opened = unwrap(model)
    columns = list(program.columns)
    features = _features_of_centres(program)
    for start, block in zip(program.starts, program.blocks, strict=True):
        part = features[:, start : start + block.width]
        if isinstance(block, Values):
            for place, values in zip(block.columns, part.T, strict=True):
                columns[place] = _with_range(columns[place], values)
        elif isinstance(block, Levels | Codes):
            column = columns[block.column]
            columns[block.column] = replace(column, typical=_level(block, part, column))
    columns = [_with_known_range(column, opened) for column in columns]
    described = replace(program, columns=tuple(columns))
    rows = test_rows(described)
    return replace(described, test=SelfTest(rows, scores_of_rows(opened, described, rows)))


def with_scores(program: Program, scores: np.ndarray) -> Program:
    """Return the program with other scores of its test rows."""
    assert program.test is not None
    return replace(program, test=SelfTest(program.test.rows, scores))


def test_rows(program: Program) -> tuple[tuple, ...]:
    """Return a usual row, a row of missing values, and random rows."""
    random = np.random.default_rng(0)
    usual = tuple(column.typical for column in program.columns)
    empty = tuple(None if column.may_be_missing else column.typical for column in program.columns)
    others = (
        tuple(_draw(column, random) for column in program.columns) for _ in range(N_TESTS - 2)
    )
    return (usual, empty, *others)


test_rows.__test__ = False  # type: ignore[attr-defined] # pytest would take it for a test


def scores_of_rows(
    opened: UnwrappedModel, program: Program, rows, centres: np.ndarray | None = None
) -> np.ndarray:
    """Return the scores of the fitted model itself, or of the model with other centres."""
    columns = zip(program.columns, zip(*rows, strict=True), strict=True)
    table = [_as_array(column, values) for column, values in columns]
    # Rows of an array have no column names, whatever the steps were fitted to.
    with warnings.catch_warnings(action="ignore"):
        steps = opened.steps
        if steps and isinstance(steps[0], TablePreprocessor):
            named = dict(zip((column.name for column in program.columns), table, strict=True))
            parts = build_parts(steps[0].parts_)
            X, steps = np.hstack([part.transform(named) for part in parts]), steps[1:]
        else:
            X = np.column_stack(table)
        for step in steps:
            X = step.transform(X)
        model = opened.classifier._model
        return (model if centres is None else replace(model, centres=centres)).scores(X)


def _as_array(column: TableColumn, values: tuple) -> np.ndarray:
    if column.is_text:
        return np.array(["" if value is None else value for value in values], dtype=object)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _draw(column: TableColumn, random: np.random.Generator):
    """Return a random value of a column."""
    is_missing, share = column.may_be_missing and random.random() < SHARE_MISSING, random.random()
    if is_missing:
        return None
    if column.kind == "boolean":
        return float(share < 0.5)
    if column.kind == "text":
        words = [word for word in column.levels if random.random() < 0.5]
        return " ".join([*words, "and"]).upper()
    if column.kind == "category":
        levels = (*column.levels, UNKNOWN)
        return levels[int(share * len(levels))]
    value = column.low + share * (column.high - column.low)
    return float(round(value)) if column.is_whole else _short(value)


def _short(value: float) -> float:
    """Return a number near the value with few digits."""
    return float(f"{value:.4g}")


# -- usual values -----------------------------------------------------------------------------


def _features_of_centres(program: Program) -> np.ndarray:
    """Return what the centres are before the stages, to see where the features usually are."""
    rows = program.expansion.centres
    if len(rows) == 0:
        rows = np.outer([-2.0, 0.0, 2.0], np.ones(program.n_features))
    rows = rows.copy() if program.axes is None else rows @ program.axes.T
    for stage in reversed(program.stages):
        part = slice(stage.start, stage.stop)
        rows[:, part] = _undone(stage.operation, rows[:, part])
    return rows


def _undone(operation: Operation, rows: np.ndarray) -> np.ndarray:
    if isinstance(operation, Affine):
        return rows * operation.scale + operation.shift
    if isinstance(operation, InverseSinh):
        return np.sinh(rows)
    if isinstance(operation, SmoothClip):
        most = operation.farthest / np.hypot(1.0, operation.farthest / operation.limit)
        bent = np.clip(rows, -most, most)
        return bent / np.sqrt(1.0 - (bent / operation.limit) ** 2)
    if isinstance(operation, Logarithm):
        powers = np.maximum(np.exp(rows) - operation.offset, operation.least)
        return np.where(operation.chosen, powers, rows)
    if isinstance(operation, Ranks):
        curves = zip(rows.T, operation.plain, strict=True)
        return np.column_stack([np.interp(row, each.levels, each.knots) for row, each in curves])
    assert isinstance(operation, Fill)
    return rows


def _with_range(column: TableColumn, values: np.ndarray) -> TableColumn:
    """Return a column of numbers with the range of the centres."""
    if column.kind == "boolean":
        return replace(column, low=0.0, high=1.0, typical=float(np.median(values) > 0.5))
    low, typical, high = (_short(value) for value in np.quantile(values, (0.0, 0.5, 1.0)))
    if low == high:
        low, high = low - 1.0, high + 1.0
    return replace(column, low=low, high=high, typical=typical)


def _level(block: Levels | Codes, features: np.ndarray, column: TableColumn) -> str | None:
    """Return the level that most centres have."""
    if not column.levels:
        return None
    if isinstance(block, Levels):
        return column.levels[int(features.mean(axis=0).argmax())]
    return column.levels[int(np.abs(block.values - np.median(features)).argmin())]


def _with_known_range(column: TableColumn, opened: UnwrappedModel) -> TableColumn:
    """Return a column with the range of the training rows, if the preprocessor knows it."""
    if column.kind == "text":
        return replace(column, typical=None)
    if not opened.steps or not isinstance(opened.steps[0], TablePreprocessor):
        return column
    for part in build_parts(opened.steps[0].parts_):
        if isinstance(part, NumericPart | DatePart) and column.name in part.columns:
            place = part.columns.index(column.name)
            low, high = part.ranges[[_LOW, _HIGH], place].tolist()
            if low == high:
                low, high = part.ranges[[0, -1], place].tolist()
            return replace(column, low=low, high=high, typical=float(part.fill[place]))
    return column
