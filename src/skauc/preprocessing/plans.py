"""Decide what becomes of each column: the part that it goes to, or why it is dropped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from skauc.preprocessing.kinds import ColumnType, ColumnValues
from skauc.preprocessing.optional import import_pandas

# Levels and words in fewer rows than this are ignored.
FEWEST_ROWS = 5
# A column with more levels than this is encoded by the target.
MOST_ONE_HOT = 30
# The number of levels, the most frequent ones, that an encoding by the target keeps.
MOST_LEVELS = 1000
MOST_WORDS = 50
ROWS_FOR_WORDS = 100_000
# In a shorter table a column may rise by chance or by design.
FEWEST_NUMBERED = 50
MOST_EXAMPLES = 5


@dataclass(frozen=True, eq=False)
class Plan:
    """The part that a column goes to, and the levels or words that it keeps there."""

    part: str
    levels: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class PlannedColumn:
    """A column of the training table.

    Attributes
    ----------
    name : str
        Its name.
    type : ColumnType or None
        Its kind and form; None if it is empty or dropped by the user.
    read : ColumnValues or None
        Its values.
    plan : Plan or str
        The part that it goes to, or the reason why it is dropped.
    n_missing : int
        Number of missing values, unparsed ones excluded.
    unparsed : list of str
        Up to five distinct examples of values that did not parse.
    n_levels : int or None
        Number of distinct values of a category or text.
    """

    name: str
    type: ColumnType | None
    read: ColumnValues | None
    plan: Plan | str
    n_missing: int
    unparsed: list[str]
    n_levels: int | None

    @property
    def is_used(self) -> bool:
        """Whether the column becomes numbers."""
        return isinstance(self.plan, Plan)

    def report(self) -> dict:
        """Return the entry of `TablePreprocessor.column_report_`."""
        return {
            "name": self.name,
            "kind": None if self.type is None else self.type.kind,
            "form": None if self.type is None else self.type.form,
            "dropped": None if self.is_used else self.plan,
            "n_missing": self.n_missing,
            "n_unparsed": 0 if self.read is None else int(np.count_nonzero(self.read.unparsed)),
            "unparsed": self.unparsed,
            "n_levels": self.n_levels,
        }


def plan_column(column, found: ColumnType, read: ColumnValues, plan: Plan | str) -> PlannedColumn:
    """Return a column with what its report says."""
    n_unparsed = np.count_nonzero(read.unparsed)
    examples = column[read.unparsed].astype(str).unique()[:MOST_EXAMPLES] if n_unparsed else ()
    n_levels = None
    if found.kind in ("category", "text"):
        n_levels = len(set(read.values) - {""})
    return PlannedColumn(
        name=str(column.name),
        type=found,
        read=read,
        plan=plan,
        n_missing=int(np.count_nonzero(read.missing)) - int(n_unparsed),
        unparsed=[str(value) for value in examples],
        n_levels=n_levels,
    )


def choose_plan(read: ColumnValues, kind: str, *, has_target: bool, is_chosen: bool) -> Plan | str:
    """Return the plan for a column, or the reason why it is dropped.

    Parameters
    ----------
    read : ColumnValues
        The values.
    kind : str
        Their kind.
    has_target : bool
        Whether there are labels to encode levels by.
    is_chosen : bool
        Whether the user has named the kind. Row numbers are then kept.
    """
    values = read.values
    if _is_constant(values):
        return "has one value only"
    if kind == "text":
        words = _frequent_words(values)
        return Plan("words", words) if len(words) else "is text in which no word recurs"
    if kind == "numeric" and not is_chosen and _numbers_the_rows(values):
        return "only numbers the rows"
    if kind != "category":
        return Plan(kind)
    counts = import_pandas().Series(values).value_counts()
    levels = counts.index[counts >= FEWEST_ROWS].to_numpy(dtype=object)
    if len(levels) == 0:
        return f"has no level in {FEWEST_ROWS} rows"
    if len(levels) <= MOST_ONE_HOT or not has_target:
        return Plan("levels", np.sort(levels[:MOST_ONE_HOT]))
    return Plan("target", np.sort(levels[:MOST_LEVELS]))


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
