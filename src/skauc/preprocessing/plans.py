"""Decide what becomes of each column: the part that it goes to, or why it is dropped."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from skauc.preprocessing.kinds import ColumnType, find_type, read_column, type_as
from skauc.preprocessing.optional import import_pandas

# Levels and words in fewer rows than this are ignored.
FEWEST_ROWS = 5
# A column with more levels than this is encoded by the target.
MOST_ONE_HOT = 30
# Unless there are this many rows per level, on average: then a number per level is better. There
# are at most so many of these levels in a table (docs/results/development_tables.md).
ROWS_PER_LEVEL, MOST_SPREAD_LEVELS = 1_000, 100
# The number of levels, the most frequent ones, that an encoding by the target keeps.
MOST_LEVELS = 1000
MOST_WORDS = 50
ROWS_FOR_WORDS = 100_000
# In a shorter table a column may rise by chance or by design.
FEWEST_NUMBERED = 50
MOST_EXAMPLES = 5


@dataclass(frozen=True, eq=False)
class ColumnPlan:
    """The part that a column goes to, and the levels or words that it keeps there."""

    part: str
    levels: np.ndarray = field(default_factory=lambda: np.array([], dtype=object))


@dataclass(frozen=True, eq=False)
class UsedColumn:
    """A column that becomes numbers."""

    name: str
    type: ColumnType
    values: np.ndarray
    plan: ColumnPlan


@dataclass(frozen=True, eq=False)
class PlannedColumn:
    """A column of the training table.

    Attributes
    ----------
    report : dict
        Its entry in `TablePreprocessor.column_report_`.
    used : UsedColumn or None
        None if it is dropped.
    """

    report: dict
    used: UsedColumn | None


def plan_column(column, wanted: str | None, *, has_target: bool) -> PlannedColumn:
    """Read a column of the training table and decide what becomes of it.

    Parameters
    ----------
    column : pandas.Series
        The column.
    wanted : {"numeric", "category", "date", "drop"} or None
        What the user has chosen.
    has_target : bool
        Whether there are labels to encode levels by.
    """
    if wanted == "drop":
        n_missing = int(column.isna().sum())
        return PlannedColumn(_report(column.name, None, "is left out by `drop`", n_missing), None)
    found = find_type(column) if wanted is None else type_as(column, wanted)
    if found is None:
        return PlannedColumn(_report(column.name, None, "is empty", len(column)), None)
    read = read_column(column, found)
    plan = _choose_plan(read.values, found.kind, has_target, wanted is not None)
    n_unparsed = int(np.count_nonzero(read.unparsed))
    n_missing = int(np.count_nonzero(read.missing)) - n_unparsed
    examples = column[read.unparsed].astype(str).unique()[:MOST_EXAMPLES] if n_unparsed else ()
    report = _report(column.name, found, plan if isinstance(plan, str) else None, n_missing) | {
        "n_unparsed": n_unparsed,
        "unparsed": [str(value) for value in examples],
    }
    if found.kind in ("category", "text"):
        report["n_levels"] = len(set(read.values) - {""})
    if isinstance(plan, str):
        return PlannedColumn(report, None)
    return PlannedColumn(report, UsedColumn(column.name, found, read.values, plan))


def _report(name: str, found: ColumnType | None, dropped: str | None, n_missing: int) -> dict:
    return {
        "name": name,
        "kind": None if found is None else found.kind,
        "form": None if found is None else found.form,
        "dropped": dropped,
        "n_missing": n_missing,
        "n_unparsed": 0,
        "unparsed": [],
        "n_levels": None,
    }


def _choose_plan(
    values: np.ndarray, kind: str, has_target: bool, is_chosen: bool
) -> ColumnPlan | str:
    """Return the plan for a column, or the reason why it is dropped.

    Row numbers are kept if the user has chosen the kind.
    """
    if _is_constant(values):
        return "has one value only"
    if kind == "text":
        words = _frequent_words(values)
        return ColumnPlan("words", words) if len(words) else "is text in which no word recurs"
    if kind == "numeric" and not is_chosen and _numbers_the_rows(values):
        return "only numbers the rows"
    if kind != "category":
        return ColumnPlan(kind)
    counts = import_pandas().Series(values).value_counts()
    levels = counts.index[counts >= FEWEST_ROWS].to_numpy(dtype=object)
    if len(levels) == 0:
        return f"has no level in {FEWEST_ROWS} rows"
    if len(levels) <= MOST_ONE_HOT or not has_target:
        return ColumnPlan("levels", np.sort(levels[:MOST_ONE_HOT]))
    return ColumnPlan("target", np.sort(levels[:MOST_LEVELS]))


def spread_levels(columns: list[UsedColumn]) -> list[UsedColumn]:
    """Return the columns, with a number per level for those whose many levels have rows enough.

    Columns with fewer levels come first.
    """
    long = [column for column in columns if column.plan.part == "target"]
    spread, n_left = set(), MOST_SPREAD_LEVELS
    for column in sorted(long, key=lambda column: len(column.plan.levels)):
        n_levels = len(column.plan.levels)
        if n_levels <= n_left and n_levels * ROWS_PER_LEVEL <= len(column.values):
            spread.add(column.name)
            n_left -= n_levels
    return [
        replace(column, plan=replace(column.plan, part="levels"))
        if column.name in spread
        else column
        for column in columns
    ]


def _is_constant(values: np.ndarray) -> bool:
    """Tell whether all values are the same, a missing value being one of its own."""
    if values.dtype == object:
        return bool((values == values[0]).all())
    missing = np.isnan(values)
    return bool(missing.all() or (not missing.any() and (values == values[0]).all()))


def _numbers_the_rows(values: np.ndarray) -> bool:
    """Tell whether these are row numbers, perhaps with some rows taken out.

    Programs write row numbers into the first column of a table. They rank rows in the order of the
    table, which may be sorted by the target, and carry no information about new rows.
    """
    if len(values) < FEWEST_NUMBERED or values[-1] - values[0] >= 2 * len(values):
        return False
    return bool(np.all(values % 1 == 0) and np.all(np.diff(values) > 0))


def _frequent_words(texts: np.ndarray) -> np.ndarray:
    sample = texts[:: max(1, len(texts) // ROWS_FOR_WORDS)]
    fewest = max(FEWEST_ROWS, len(sample) // 100)
    counter = CountVectorizer(binary=True, max_features=MOST_WORDS, min_df=fewest)
    try:
        return np.array(sorted(counter.fit(sample).vocabulary_), dtype=object)
    except ValueError:  # no word is left
        return np.array([], dtype=object)
