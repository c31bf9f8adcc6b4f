"""What in the data may make the figures better, or less certain, than they look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skauc.metrics import AUCInterval
from skauc.metrics.area import weighted_auc
from skauc.report.columns import MOST_COLUMNS, Column, column_names, columns, row_hashes
from skauc.report.rows import Rows

LEAK_AUC = 0.99
FEW_ROWS = 50
COMMON_SHARE = 0.8
OVERFIT_GAP = 0.03
# A column of distinct whole numbers or words is an identifier only where there are many of them.
FEWEST_IDENTIFIERS = 50
_SAMPLE_ROWS = 50_000
_NAMED = 5


@dataclass(frozen=True)
class DataWarning:
    """Something to look into: what was seen, and what to do about it."""

    level: str  # "serious" or "caution"
    title: str
    detail: str
    advice: str


def find_warnings(
    train: Rows | None,
    test: Rows,
    labels: tuple[str, str],
    scores: np.ndarray,
    interval: AUCInterval,
    train_auc: float | None,
) -> tuple[DataWarning, ...]:
    """Look at columns, at rows that are in both tables, and at numbers of rows."""
    known = test if train is None else train
    found = [
        *_leaks(known),
        *_duplicates(train, test, scores, interval),
        *_few(test, interval),
        *_common_positives(test, labels),
        *_chance(interval),
        *_overfit(interval, train_auc),
        *_useless_columns(known),
    ]
    return tuple(sorted(found, key=lambda warning: warning.level != "serious"))


def leak_suspects(rows: Rows) -> list[tuple[float, str]]:
    """Return the columns that alone rank too well, with their AUC, the best first."""
    sample = rows.sample(_SAMPLE_ROWS)
    ranked = ((_single_auc(column, sample.positive), column.name) for column in columns(sample.X))
    return sorted((auc, name) for auc, name in ranked if auc > LEAK_AUC)[::-1]


def _leaks(rows: Rows) -> list[DataWarning]:
    suspects = leak_suspects(rows)
    if not suspects:
        return []
    listed = "; ".join(f"“{name}” has an AUC of {auc:.4g}" for auc, name in suspects[:_NAMED])
    return [
        DataWarning(
            "serious",
            f"{_plural(len(suspects), 'column')} that may give the answer away",
            f"On its own, {listed}{_and_more(suspects)}. A single column that separates the "
            "classes so well is often recorded after the outcome, or derived from it.",
            "Find out when and how the column is recorded. If it is not known at the time of "
            "prediction, leave it out and fit again.",
        )
    ]


def _single_auc(column: Column, positive: np.ndarray) -> float:
    """Return the AUC of a column as a score, in the better direction.

    Missing values are put below all others, and above them.
    """
    if not column.is_number:
        return _word_auc(column.values, positive)
    missing = np.isnan(column.values)
    finite = np.isfinite(column.values)
    if not finite.any():
        return 0.5
    inside = np.clip(column.values, column.values[finite].min(), column.values[finite].max())
    _, ranks = np.unique(np.where(missing, inside[finite][0], inside), return_inverse=True)
    weights = np.ones(len(positive))
    fillings = (-1, len(ranks)) if missing.any() else (0,)
    aucs = [weighted_auc(np.where(missing, fill, ranks), positive, weights) for fill in fillings]
    return max(max(auc, 1 - auc) for auc in aucs)


def _word_auc(words: np.ndarray, positive: np.ndarray) -> float:
    """Rank half of the rows by how often their word was positive in the other half.

    In-sample an identifier would rank perfectly; words that the other half lacks say nothing.
    """
    _, codes = np.unique(words, return_inverse=True)
    # Every other row of each class, so that both halves have both classes.
    order = np.argsort(positive, kind="stable")
    known, new = order[::2], order[1::2]
    if len(np.unique(positive[new])) < 2:
        return 0.5
    n_seen = np.bincount(codes[known], minlength=codes.max() + 1)
    n_positive = np.bincount(codes[known], positive[known], codes.max() + 1)
    share = (n_positive + positive.mean()) / (n_seen + 1)
    return weighted_auc(share[codes[new]], positive[new], np.ones(len(new)))


def _duplicates(train: Rows | None, test: Rows, scores, interval) -> list[DataWarning]:
    if train is None:
        return []
    repeated = np.isin(row_hashes(test.X), row_hashes(train.X))
    n_repeated = np.count_nonzero(repeated)
    if n_repeated == 0:
        return []
    rest = ~repeated
    without = ""
    if len(np.unique(test.positive[rest & (test.weights > 0)])) == 2:
        auc = weighted_auc(scores[rest], test.positive[rest], test.weights[rest])
        without = f" Without them the AUC is {auc:.4f}; with them it is {interval.auc:.4f}."
    share = n_repeated / len(repeated)
    return [
        DataWarning(
            "serious" if share >= 0.01 else "caution",
            f"Test rows that are also among the training rows: {n_repeated:,}",
            f"{n_repeated:,} of {len(repeated):,} test rows ({share:.1%}) have the same features "
            f"as a training row.{without}",
            "If they are the same case recorded twice, drop duplicates before splitting, or split "
            "by case with GroupShuffleSplit. If features are coarse, this can be chance.",
        )
    ]


def _few(test: Rows, interval: AUCInterval) -> list[DataWarning]:
    n_positive = np.count_nonzero(test.positive)
    counts = {"positive": n_positive, "negative": len(test.positive) - n_positive}
    return [
        DataWarning(
            "caution",
            f"Only {_plural(count, f'{side} test row')}",
            f"With fewer than {FEW_ROWS} rows of a class every figure here is uncertain: the AUC "
            f"may be anywhere from {interval.low:.3f} to {interval.high:.3f}.",
            "Compare models by repeated cross-validation over all rows, or test on more rows of "
            "this class.",
        )
        for side, count in counts.items()
        if count < FEW_ROWS
    ]


def _common_positives(test: Rows, labels: tuple[str, str]) -> list[DataWarning]:
    share = np.mean(test.positive)
    if share < COMMON_SHARE:
        return []
    negative, positive = labels
    return [
        DataWarning(
            "caution",
            "The positive class is the common one",
            f"“{positive}”, {share:.1%} of the test rows, counts as positive because it comes last "
            f"in sorted order. Everything here is about finding “{positive}”, not “{negative}”.",
            f"If “{negative}” is what you look for, fit to labels in which it comes last, such as "
            f"y == {negative!r}.",
        )
    ]


def _chance(interval: AUCInterval) -> list[DataWarning]:
    if interval.low > 0.5:
        return []
    return [
        DataWarning(
            "serious",
            "The ranking may be no better than chance",
            f"The interval of the AUC, {interval.low:.3f} to {interval.high:.3f}, includes 0.5.",
            "Do not act on this model yet: look for features that say more, or for more rows.",
        )
    ]


def _overfit(interval: AUCInterval, train_auc) -> list[DataWarning]:
    if train_auc is None or train_auc <= interval.high or train_auc - interval.auc < OVERFIT_GAP:
        return []
    return [
        DataWarning(
            "caution",
            "The model ranks its training rows much better",
            f"Its AUC is {train_auc:.3f} on the rows it was fitted to and {interval.auc:.3f} on "
            "the test rows.",
            "Try fewer centres (truncate) or a smaller C; SparseKernelAUCCV chooses both. If "
            "training and test rows come from different times or places, this may be a shift "
            "instead.",
        )
    ]


def _useless_columns(rows: Rows) -> list[DataWarning]:
    sample = rows.sample(_SAMPLE_ROWS)
    constant, identifiers = [], []
    for column in columns(sample.X):
        n_distinct = len(np.unique(column.values))
        if n_distinct == 1:
            constant.append(column.name)
        elif n_distinct == len(sample.positive) >= FEWEST_IDENTIFIERS and not column.is_float:
            identifiers.append(column.name)
    found = []
    if identifiers:
        found.append(
            DataWarning(
                "caution",
                f"{_plural(len(identifiers), 'column')} that may be an identifier",
                f"{_listed(identifiers)}: a different value in every row.",
                "An identifier says nothing about new rows, and one given out in order of time "
                "can leak. Leave it out.",
            )
        )
    if constant:
        found.append(
            DataWarning(
                "caution",
                f"{_plural(len(constant), 'column')} with one value only",
                f"{_listed(constant)}: the same value in every row looked at.",
                "They cannot help to rank. Leave them out, or find out why they are constant.",
            )
        )
    return found


def looked_at(train: Rows | None, test: Rows) -> str:
    """Say in a sentence what was looked for, and what could not be."""
    n_columns = len(column_names(test.X))
    part = f"the first {MOST_COLUMNS:,} of " if n_columns > MOST_COLUMNS else ""
    sentence = (
        f"Looked for: columns that alone rank with an AUC above {LEAK_AUC}, constant columns and "
        f"identifiers (in {part}{n_columns:,} columns), fewer than {FEW_ROWS} rows of a class, "
        f"more than {COMMON_SHARE:.0%} positives, a ranking no better than chance, and a much "
        "better one on training rows."
    )
    if train is None:
        return (
            f"{sentence} Training rows were not at hand: columns were looked at in the test rows, "
            "and rows that are in both could not be looked for."
        )
    return f"{sentence} Also for test rows that are among the training rows."


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _listed(names: list[str]) -> str:
    return ", ".join(f"“{name}”" for name in names[:_NAMED]) + _and_more(names)


def _and_more(items) -> str:
    return f" and {len(items) - _NAMED:,} more" if len(items) > _NAMED else ""
