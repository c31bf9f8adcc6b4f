"""Test rows that are set aside from a table, and folds of rows that are not exchangeable."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, TimeSeriesSplit, train_test_split

from skauc.app.tables import LabelledTable
from skauc.exceptions import InvalidDataError, InvalidParameterError

# A class needs at least this many rows for a test.
FEWEST_TO_TEST = 10
N_FOLDS = 5
# Random orders of the groups, of which the best one gives the test rows.
_N_ORDERS = 50


@dataclass(frozen=True, eq=False)
class TableParts:
    """Training rows, and test rows or None if there are too few rows.

    ``notes`` say what the user should know of the two.
    """

    train: LabelledTable
    test: LabelledTable | None
    notes: tuple[str, ...] = ()


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
    if share == 0 or table.n_fewest < FEWEST_TO_TEST:
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
        for label in part.weightless:
            raise InvalidDataError(
                f"The weights are 0 in every {name} row of label {label!r}. Change --test-share, "
                "give more rows a positive weight, or pass test rows with --test."
            )
    return TableParts(train, test)


def _check_share(share: float, n_fewest: int) -> None:
    """Raise an error if a part of the rows would lack the smaller class, or nearly so."""
    class_size = f"of the smaller class, which has {n_fewest} rows"
    if share * n_fewest < 1:
        digits = 2 + int(math.log10(n_fewest))
        least = math.ceil(10**digits / n_fewest) / 10**digits
        raise InvalidParameterError(
            f"--test-share {share:g} leaves less than one test row {class_size}. Use at least "
            f"{least:g}, or pass test rows with --test."
        )
    if n_fewest - share * n_fewest < 2:
        most = math.floor(100 * (n_fewest - 2) / n_fewest) / 100
        raise InvalidParameterError(
            f"--test-share {share:g} leaves fewer than two training rows {class_size}. Use at most "
            f"{most:g}, or pass test rows with --test."
        )


def _test_rows(table: LabelledTable, share: float, seed: int) -> np.ndarray:
    if table.times is not None:
        return table.times > _latest_training_time(table.times, share)
    if table.groups is not None:
        return _is_in_test_groups(table, share, seed)
    _check_share(share, table.n_fewest)
    rows, is_test = np.arange(len(table.y)), np.zeros(len(table.y), dtype=bool)
    test = train_test_split(rows, test_size=share, stratify=table.y, random_state=seed)[1]
    is_test[test] = True
    return is_test


def _is_in_test_groups(table: LabelledTable, share: float, seed: int) -> np.ndarray:
    """Return which rows are of test groups.

    The first groups of several random orders are tried. Those are taken whose shares of both
    classes are nearest to ``share``.
    """
    assert table.groups is not None
    distinct, codes = np.unique(table.groups, return_inverse=True)
    if len(distinct) < 2:
        raise InvalidDataError(
            "All rows are of one group, so no other group can be set aside. Choose another column "
            "for --group, or leave it out."
        )
    counts = np.array([np.bincount(codes, is_counted) for is_counted in (table.y, ~table.y)])
    shares = counts / counts.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(seed)
    least, chosen = np.inf, distinct[:0]
    for _ in range(_N_ORDERS):
        order = rng.permutation(len(distinct))
        errors = np.abs(np.cumsum(shares[:, order[:-1]], axis=1) - share).sum(axis=0)
        best = int(np.argmin(errors))
        if errors[best] < least:
            least, chosen = errors[best], order[: best + 1]
    return np.isin(codes, chosen)


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
        if _have_both_classes(folds, table.y):
            return folds
    raise InvalidDataError(
        "The rows cannot be split by time so that both classes are in every part. Use more rows, "
        "or leave out --time."
    )


def folds_of_groups(
    table: LabelledTable, n_most: int, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return folds that keep the rows of a group together.

    There are up to ``n_most``, and at least two, so that each has both classes in both parts.
    """
    assert table.groups is not None
    n_groups = len(np.unique(table.groups))
    for n_folds in range(min(n_most, n_groups, table.n_fewest), 1, -1):
        splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        folds = list(splitter.split(table.y, table.y, table.groups))
        if _have_both_classes(folds, table.y):
            return folds
    raise InvalidDataError(
        f"The groups of the training rows ({n_groups}) cannot be split into folds so that both "
        "classes are in every part. Use more groups, or leave out --group."
    )


def _have_both_classes(folds: list[tuple[np.ndarray, np.ndarray]], y: np.ndarray) -> bool:
    return all(len(np.unique(y[part])) == 2 for fold in folds for part in fold)


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
