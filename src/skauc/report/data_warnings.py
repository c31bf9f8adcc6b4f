"""Problems of the data that make the figures too good or uncertain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skauc.explain.columns import column_names
from skauc.metrics import AUCInterval
from skauc.metrics.area import weighted_auc
from skauc.report.column_auc import column_auc
from skauc.report.columns import MOST_CHECKED, columns, row_hashes
from skauc.report.rows import LabelledRows

LEAK_AUC = 0.99
FEW_IN_CLASS = 50
COMMON_SHARE = 0.8
OVERFIT_GAP = 0.03
# A column of distinct integers or categories is an identifier only if it has this many rows.
FEWEST_IDENTIFIERS = 50
# Test rows that are also training rows are serious if there are many, or if they raise the AUC.
MANY_REPEATED, REPEATED_GAIN = 0.1, 0.005
_SAMPLE_ROWS = 50_000
_MOST_NAMED = 5


@dataclass(frozen=True)
class DataWarning:
    """A problem to check: what was found, and what to do."""

    level: str  # "serious" or "caution"
    title: str
    detail: str
    advice: str


def find_warnings(
    train: LabelledRows | None,
    test: LabelledRows,
    labels: tuple[str, str],
    scores: np.ndarray,
    interval: AUCInterval,
    train_auc: float | None,
    unused: frozenset[str],
) -> tuple[DataWarning, ...]:
    """Check the columns, the rows that are in both tables, and the numbers of rows.

    An identifier is not reported if the model does not use it.
    """
    rows = test if train is None else train
    found = [
        *_leaks(rows),
        *_duplicates(train, test, scores, interval),
        *_few_rows(test, interval),
        *_common_positives(test, labels),
        *_chance(interval),
        *_overfit(interval, train_auc),
        *_useless_columns(rows, unused),
    ]
    return tuple(sorted(found, key=lambda warning: warning.level != "serious"))


def leak_suspects(rows: LabelledRows) -> list[tuple[float, str]]:
    """Return the columns that rank suspiciously well on their own, with their AUC, best first."""
    sample = rows.balanced_sample(_SAMPLE_ROWS)
    ranked = ((column_auc(column, sample.positive), column.name) for column in columns(sample.X))
    return sorted((auc, name) for auc, name in ranked if auc > LEAK_AUC)[::-1]


@dataclass(frozen=True)
class RepeatedRows:
    """Test rows with the values of a training row, and the AUC with and without them."""

    n_repeated: int
    n_rows: int
    auc: float
    rest_auc: float | None

    @property
    def is_serious(self) -> bool:
        """Whether they are many, or raise the AUC."""
        gain = 0.0 if self.rest_auc is None else self.auc - self.rest_auc
        return self.n_repeated >= MANY_REPEATED * self.n_rows or gain > REPEATED_GAIN

    @property
    def words(self) -> str:
        """What was found, in one or two sentences."""
        share = self.n_repeated / self.n_rows
        words = (
            f"{self.n_repeated:,} of {self.n_rows:,} test rows ({share:.1%}) have the same values "
            "as a training row."
        )
        if self.rest_auc is None:
            return words
        return (
            f"{words} Without them the AUC is {self.rest_auc:.4f}; with them it is {self.auc:.4f}."
        )


def find_repeated(
    train_X, test: LabelledRows, scores: np.ndarray, auc: float
) -> RepeatedRows | None:
    """Find the test rows that are also training rows; None if there are none."""
    repeated = np.isin(row_hashes(test.X), row_hashes(train_X))
    if not repeated.any():
        return None
    rest, rest_auc = ~repeated, None
    if len(np.unique(test.positive[rest & (test.weights > 0)])) == 2:
        rest_auc = weighted_auc(scores[rest], test.positive[rest], test.weights[rest])
    return RepeatedRows(int(np.count_nonzero(repeated)), len(repeated), auc, rest_auc)


def _leaks(rows: LabelledRows) -> list[DataWarning]:
    suspects = leak_suspects(rows)
    if not suspects:
        return []
    listed = "; ".join(f"“{name}” has an AUC of {auc:.4g}" for auc, name in suspects[:_MOST_NAMED])
    return [
        DataWarning(
            "serious",
            f"{_plural(len(suspects), 'column')} that may leak the label",
            f"On its own, {listed}{_and_more(suspects)}. A column that separates the classes so "
            "well is often recorded after the outcome, or derived from it.",
            "Find out when and how the column is recorded. If it is not known at prediction time, "
            "drop it and fit again.",
        )
    ]


def _duplicates(
    train: LabelledRows | None, test: LabelledRows, scores, interval
) -> list[DataWarning]:
    found = None if train is None else find_repeated(train.X, test, scores, interval.auc)
    if found is None:
        return []
    return [
        DataWarning(
            "serious" if found.is_serious else "caution",
            f"{_plural(found.n_repeated, 'test row')} also in the training rows",
            found.words,
            "If the same case was recorded twice, drop duplicates before splitting, or split by "
            "case with GroupShuffleSplit. With few distinct values, equal rows can be chance.",
        )
    ]


def _few_rows(test: LabelledRows, interval: AUCInterval) -> list[DataWarning]:
    n_positive = int(np.count_nonzero(test.positive))
    counts = {"positive": n_positive, "negative": len(test.positive) - n_positive}
    return [
        DataWarning(
            "caution",
            f"Only {_plural(count, f'{side} test row')}",
            f"With fewer than {FEW_IN_CLASS} rows of a class, every figure is uncertain: the 95% "
            f"interval of the AUC is {interval.low:.3f} to {interval.high:.3f}.",
            "Test on more rows of this class, or compare models by repeated cross-validation over "
            "all rows.",
        )
        for side, count in counts.items()
        if count < FEW_IN_CLASS
    ]


def _common_positives(test: LabelledRows, labels: tuple[str, str]) -> list[DataWarning]:
    share = np.mean(test.positive)
    if share < COMMON_SHARE:
        return []
    negative, positive = labels
    return [
        DataWarning(
            "caution",
            "The positive class is the common one",
            f"“{positive}” is the positive class and has {share:.1%} of the test rows. Every "
            f"figure is about finding “{positive}”, not “{negative}”.",
            f"To find “{negative}”, fit to labels in which it is the positive class, such as "
            f"y == {negative!r}.",
        )
    ]


def _chance(interval: AUCInterval) -> list[DataWarning]:
    if interval.low > 0.5:
        return []
    return [
        DataWarning(
            "serious",
            "The ranking may be random",
            f"The 95% interval of the AUC is {interval.low:.3f} to {interval.high:.3f} and "
            "includes 0.5.",
            "Do not use this model yet. Find more informative columns or more rows.",
        )
    ]


def _overfit(interval: AUCInterval, train_auc) -> list[DataWarning]:
    if train_auc is None or train_auc <= interval.high or train_auc - interval.auc < OVERFIT_GAP:
        return []
    return [
        DataWarning(
            "caution",
            "The AUC is much higher on the training rows",
            f"The AUC is {train_auc:.3f} on the training rows and {interval.auc:.3f} on the test "
            "rows.",
            "The model may overfit: try fewer centres (truncate) or a smaller C, or let "
            "SparseKernelAUCCV choose both. The data may also have changed if the test rows come "
            "from another time or place.",
        )
    ]


def _useless_columns(rows: LabelledRows, unused: frozenset[str]) -> list[DataWarning]:
    sample = rows.balanced_sample(_SAMPLE_ROWS)
    constant, identifiers = [], []
    for column in columns(sample.X):
        n_distinct = len(np.unique(column.values))
        if n_distinct == 1:
            constant.append(column.name)
        elif column.name in unused or column.is_float:
            continue
        elif n_distinct == len(sample) >= FEWEST_IDENTIFIERS:
            identifiers.append(column.name)
    found = []
    if identifiers:
        found.append(
            DataWarning(
                "caution",
                f"{_plural(len(identifiers), 'column')} that may be an identifier",
                f"{_listed(identifiers)}: every row has a different value.",
                "An identifier carries no information about new rows, and it can leak the order in "
                "which rows were recorded. Drop it.",
            )
        )
    if constant:
        found.append(
            DataWarning(
                "caution",
                f"{_plural(len(constant), 'constant column')}",
                f"{_listed(constant)}: every checked row has the same value.",
                "Constant columns do not help to rank. Drop them, or find out why they are "
                "constant.",
            )
        )
    return found


def describe_checks(train: LabelledRows | None, test: LabelledRows) -> str:
    """Describe what was checked, and what could not be checked."""
    n_columns = len(column_names(test.X))
    part = f"the first {MOST_CHECKED:,} of " if n_columns > MOST_CHECKED else ""
    sentence = (
        f"Checked: columns with an AUC above {LEAK_AUC} on their own, constant columns and "
        f"identifiers (in {part}{n_columns:,} columns); fewer than {FEW_IN_CLASS} rows of a class; "
        f"more than {COMMON_SHARE:.0%} positive rows; a random ranking; a much higher AUC on the "
        "training rows"
    )
    if train is None:
        return (
            f"{sentence}. The training rows were not available: the columns of the test rows were "
            "checked, and test rows that are also training rows could not be found."
        )
    return f"{sentence}; test rows that are also training rows."


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _listed(names: list[str]) -> str:
    return ", ".join(f"“{name}”" for name in names[:_MOST_NAMED]) + _and_more(names)


def _and_more(items) -> str:
    return f" and {len(items) - _MOST_NAMED:,} more" if len(items) > _MOST_NAMED else ""
