"""The AUC within parts of the table: levels of categories and quarters of numeric columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from skauc.explain.columns import column_names
from skauc.explain.grids import ColumnGrid, grid_of, read_columns
from skauc.explain.shapley import as_table
from skauc.metrics import auc_interval
from skauc.metrics.corrections import holm
from skauc.metrics.intervals import unpaired_difference
from skauc.report.formatting import format_number
from skauc.report.importance import Importance
from skauc.report.missing import Missing
from skauc.report.rows import LabelledRows
from skauc.support import date_text

# A slice needs this many rows of each class.
FEWEST = 10
_MOST_COLUMNS = 30
_MOST_LEVELS = 10
# Slices with a corrected p-value below this are marked.
LEVEL = 0.05
_MOST_SHOWN = 60


@dataclass(frozen=True)
class Slice:
    """A part of the rows: its AUC with 95 % limits, and whether it is worse than the other rows.

    ``p_value`` is that of the difference to the AUC of the other rows, corrected for the number of
    slices by Holm's method.
    """

    column: str
    part: str
    n_rows: int
    n_positive: int
    auc: float
    low: float
    high: float
    p_value: float
    is_worse: bool


@dataclass(frozen=True)
class Slices:
    """Slices, the worst AUC first, and the number of slices that were tested."""

    slices: tuple[Slice, ...]
    n_tested: int
    n_worse: int


def auc_of_slices(
    first_step, test: LabelledRows, scores: np.ndarray, importance: Importance | Missing
) -> Slices | Missing:
    """Compute the AUC within each level and each quarter of the important columns."""
    table = as_table(test.X)
    table = table.to_pandas() if hasattr(table, "to_pandas") else table
    names = column_names(table)
    chosen = _chosen(names, importance)
    known = read_columns(first_step, table)
    found = [
        (name, part, *compared)
        for name in chosen
        for part, mask in _parts(grid_of(first_step, table, names.index(name), 2, known))
        if (compared := _compare(test, scores, mask)) is not None
    ]
    if not found:
        return Missing(f"No part of the table has {FEWEST} rows of each class.")
    corrected = holm([each[-1] for each in found])
    slices = sorted(
        (
            Slice(name, part, n, n_positive, a.auc, a.low, a.high, p, p < LEVEL and apart < 0)
            for (name, part, n, n_positive, a, apart, _), p in zip(found, corrected, strict=True)
        ),
        key=lambda each: each.auc,
    )
    n_worse = sum(each.is_worse for each in slices)
    return Slices(tuple(slices[:_MOST_SHOWN]), len(found), n_worse)


def _chosen(names: list[str], importance: Importance | Missing) -> list[str]:
    if isinstance(importance, Missing):
        return names[:_MOST_COLUMNS]
    important = [column.name for column in importance.columns]
    return [*important, *importance.unused][:_MOST_COLUMNS]


def _parts(grid: ColumnGrid) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the parts of the rows by one column."""
    values = grid.of_rows
    if grid.kind == "level":
        for position, label in list(zip(grid.positions, grid.labels, strict=True))[:_MOST_LEVELS]:
            yield label, values == position
        return
    known = np.isfinite(values)
    if not known.all():
        yield "missing", ~known
    distinct = np.unique(values[known])
    if len(distinct) <= 4:
        for value in distinct:
            yield _text(value, grid.kind), values == value
        return
    edges = np.unique(np.quantile(values[known], [0.25, 0.5, 0.75], method="lower"))
    bins = np.searchsorted(edges, values, side="left")
    for number in range(len(edges) + 1):
        low = "" if number == 0 else _text(edges[number - 1], grid.kind)
        high = "" if number == len(edges) else _text(edges[number], grid.kind)
        if not low:
            label = f"up to {high}"
        else:
            label = f"above {low}" if not high else f"above {low} up to {high}"
        yield label, known & (bins == number)


def _text(value: float, kind: str) -> str:
    if kind == "date":
        return date_text(value)
    return format_number(float(f"{value:.4g}"))


def _compare(test: LabelledRows, scores: np.ndarray, mask: np.ndarray):
    """Return counts, the AUC, its difference to that of the other rows and its p-value, or None."""
    counted = test.weights > 0
    parts = [
        (scores[part], test.positive[part], test.weights[part])
        for part in (mask & counted, ~mask & counted)
    ]
    for _, positive, _ in parts:
        n_found = np.count_nonzero(positive)
        if min(n_found, len(positive) - n_found) < FEWEST:
            return None
    inside, positive, weights = parts[0]
    own = auc_interval(positive, inside, sample_weight=weights)
    n_positive = int(np.count_nonzero(positive))
    return len(positive), n_positive, own, *unpaired_difference(*parts)
