"""Graded rows in queries: which of them can be compared with which."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skauc.exceptions import InvalidDataError


@dataclass(frozen=True, eq=False)
class Queries:
    """The rows that have a partner to be compared with, query after query.

    ``indices`` are their places among all rows, ``bounds`` the ranges of the queries among them;
    ``grades`` count from 0 within each query.
    """

    indices: np.ndarray
    bounds: np.ndarray
    grades: np.ndarray
    weights: np.ndarray
    n_skipped: int

    @property
    def n_all(self) -> int:
        """The number of queries, with those that were skipped."""
        return len(self.bounds) - 1 + self.n_skipped


def compare(codes: np.ndarray, weights: np.ndarray, qid=None) -> Queries:
    """Leave out rows of no weight and queries of one grade: they have no part in any pair.

    Without ``qid`` all rows are one query.
    """
    qid = np.zeros(len(codes), np.int64) if qid is None else check_qid(qid, len(codes))
    counted = np.flatnonzero(weights)
    bounds, grades = grades_by_query(qid[counted], codes[counted])
    is_compared = np.maximum.reduceat(grades, bounds[:-1]) > 0
    if not is_compared.any():
        raise InvalidDataError(
            f"No query has rows of different grades, of {len(is_compared)}: there are no pairs to "
            "rank. Pass queries of two grades or more, and look whether `qid` numbers the queries "
            "and not the rows."
        )
    sizes = np.diff(bounds)
    kept = np.repeat(is_compared, sizes)
    return Queries(
        indices=counted[kept],
        bounds=np.append(0, np.cumsum(sizes[is_compared])),
        grades=grades[kept],
        weights=weights[counted[kept]],
        n_skipped=int(np.count_nonzero(~is_compared)),
    )


def grades_by_query(qid: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ranges of the queries, and grades that count from 0 within each of them."""
    starts = np.flatnonzero(np.append(True, np.diff(qid) != 0))
    bounds = np.append(starts, len(qid))
    order = np.lexsort((codes, qid))
    is_higher = np.append(False, np.diff(codes[order]) != 0)
    is_higher[starts] = False
    steps = np.cumsum(is_higher)
    grades = np.empty(len(codes), np.int64)
    grades[order] = steps - np.repeat(steps[starts], np.diff(bounds))
    return bounds, grades


def check_qid(qid, n_rows: int) -> np.ndarray:
    """Return the query of each row as whole numbers in ascending order, or say what is wrong."""
    numbers = np.asarray(qid)
    if numbers.shape != (n_rows,):
        raise InvalidDataError(
            f"`qid` must have one number a row, shape ({n_rows},); got shape {numbers.shape}. "
            "Pass the number of each row's query."
        )
    if numbers.dtype.kind == "f" and np.all(numbers == np.trunc(numbers)):
        numbers = numbers.astype(np.int64)
    if numbers.dtype.kind not in "iu":
        raise InvalidDataError(
            f"`qid` must hold whole numbers; got values of type {numbers.dtype}. Number the "
            "queries, for instance by np.unique(qid, return_inverse=True)[1]."
        )
    if numbers.min(initial=0) < 0:
        row = int(np.argmin(numbers))
        raise InvalidDataError(
            f"`qid` must not be negative; got {numbers[row]} in row {row}. Number the queries "
            "from 0 on."
        )
    falls = np.flatnonzero(numbers[1:] < numbers[:-1])
    if len(falls):
        row = int(falls[0]) + 1
        raise InvalidDataError(
            f"`qid` must be sorted; got {numbers[row]} in row {row}, after {numbers[row - 1]}. "
            "Sort the rows first: order = np.argsort(qid, kind='stable'), then X[order], y[order] "
            "and qid[order]."
        )
    return numbers.astype(np.int64)
