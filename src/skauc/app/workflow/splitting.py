"""Test rows that are set aside from a table, and folds of rows that are not exchangeable."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, TimeSeriesSplit, train_test_split

from skauc.app.tables import LabelledTable
from skauc.exceptions import InvalidDataError

# A class needs at least this many rows for a test.
FEWEST_TO_TEST = 10
N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class TableParts:
    """Training rows, and test rows or None if there are too few rows."""

    train: LabelledTable
    test: LabelledTable | None


def split_off_test(table: LabelledTable, share: float, seed: int) -> TableParts:
    """Set a part of the rows aside, if both classes have enough of them.

    Parameters
    ----------
    table : LabelledTable
        The rows. If they have times, the last ones are set aside. If they have groups, whole groups
        are. Otherwise the part is stratified.
    share : float
        The share of test rows, at least 0 and below 1.
    seed : int
        Random seed.

    Returns
    -------
    parts : TableParts
        The two parts.
    """
    n_fewest = min(np.count_nonzero(table.y), np.count_nonzero(~table.y))
    if share == 0 or n_fewest < FEWEST_TO_TEST:
        return TableParts(table, None)
    is_test = _test_rows(table, share, seed)
    train, test = (take_rows(table, np.flatnonzero(rows)) for rows in (~is_test, is_test))
    for part, name in ((train, "training"), (test, "test")):
        if part.y.all() or not part.y.any():
            raise InvalidDataError(
                f"The {name} rows lack one of the classes when the table is split by "
                f"{'time' if table.times is not None else 'groups'}. Change --test-share, or pass "
                "test rows with --test."
            )
    return TableParts(train, test)


def _test_rows(table: LabelledTable, share: float, seed: int) -> np.ndarray:
    rows, is_test = np.arange(len(table.y)), np.zeros(len(table.y), dtype=bool)
    if table.times is not None:
        return table.times > _latest_training_time(table.times, share)
    if table.groups is not None:
        folds = StratifiedGroupKFold(max(round(1 / share), 2), shuffle=True, random_state=seed)
        test = next(iter(folds.split(rows, table.y, table.groups)))[1]
    else:
        test = train_test_split(rows, test_size=share, stratify=table.y, random_state=seed)[1]
    is_test[test] = True
    return is_test


def _latest_training_time(times: np.ndarray, share: float) -> float:
    """Return the time after which rows are test rows. Rows of the same time stay together."""
    distinct, counts = np.unique(times, return_counts=True)
    if len(distinct) < 2:
        raise InvalidDataError(
            "All rows have the same time, so no later rows can be set aside. Choose another column "
            "for --time, or leave it out."
        )
    later = 1.0 - np.cumsum(counts) / len(times)
    return float(distinct[:-1][np.argmin(np.abs(later[:-1] - share))])


def folds_in_time(table: LabelledTable) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return folds whose test rows are later than their training rows.

    There are up to five, and at least two, so that each has both classes in both parts.
    """
    assert table.times is not None
    order = np.argsort(table.times, kind="stable")
    for n_folds in range(N_FOLDS, 1, -1):
        folds = [
            (order[train], order[test]) for train, test in TimeSeriesSplit(n_folds).split(order)
        ]
        if all(len(np.unique(table.y[part])) == 2 for fold in folds for part in fold):
            return folds
    raise InvalidDataError(
        "The rows cannot be split by time so that both classes are in every part. Use more rows, "
        "or leave out --time."
    )


def take_rows(table: LabelledTable, rows: np.ndarray) -> LabelledTable:
    """Return some of the rows.

    Parameters
    ----------
    table : LabelledTable
        The rows.
    rows : ndarray of int
        Their indices.

    Returns
    -------
    table : LabelledTable
        A smaller table.
    """

    def part(array: np.ndarray | None) -> np.ndarray | None:
        return None if array is None else array[rows]

    return replace(
        table,
        X=table.X.iloc[rows],
        y=table.y[rows],
        weights=part(table.weights),
        times=part(table.times),
        groups=part(table.groups),
    )
