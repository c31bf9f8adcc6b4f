"""Test rows that are set aside from a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import train_test_split

from skauc.app.tables import LabelledTable

# A class needs at least this many rows for a test.
FEWEST_TO_TEST = 10


@dataclass(frozen=True, eq=False)
class TableParts:
    """Training rows, and test rows or None if there are too few rows."""

    train: LabelledTable
    test: LabelledTable | None


def split_off_test(table: LabelledTable, share: float, seed: int) -> TableParts:
    """Set a stratified part of the rows aside, if both classes have enough of them.

    Parameters
    ----------
    table : LabelledTable
        The rows.
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
    return TableParts(*split_rows(table, share, seed))


def split_rows(table: LabelledTable, size: float | int, seed: int) -> tuple:
    """Return two stratified parts, the second a share or a number of the rows."""
    rows = np.arange(len(table.y))
    first, second = train_test_split(rows, test_size=size, stratify=table.y, random_state=seed)
    return take_rows(table, np.sort(first)), take_rows(table, np.sort(second))


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
    weights = None if table.weights is None else table.weights[rows]
    return LabelledTable(table.X.iloc[rows], table.y[rows], weights, table.labels)
