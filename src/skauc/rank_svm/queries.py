"""Graded rows in queries: validation, and which rows form pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skauc.exceptions import InvalidDataError
from skauc.validation import (
    check_column,
    check_features,
    check_no_negative_weight,
    check_scored_weights,
    check_weights,
    unique_labels,
)


@dataclass(frozen=True, eq=False)
class Queries:
    """The rows that are part of at least one pair, sorted by query.

    ``indices`` are their indices among all rows. Query q holds the rows from ``bounds[q]`` to
    ``bounds[q + 1]``. ``grades`` count from 0 within each query.
    """

    indices: np.ndarray
    bounds: np.ndarray
    grades: np.ndarray
    weights: np.ndarray
    n_skipped: int

    @property
    def n_all(self) -> int:
        """The number of queries, including those that were skipped."""
        return len(self.bounds) - 1 + self.n_skipped


def make_queries(codes: np.ndarray, weights: np.ndarray, qid=None) -> Queries:
    """Leave out rows of zero weight and queries of one grade, which are part of no pair.

    Without ``qid`` all rows are one query.
    """
    qid = np.zeros(len(codes), np.int64) if qid is None else check_qid(qid, len(codes))
    counted = np.flatnonzero(weights)
    bounds, grades = grades_by_query(qid[counted], codes[counted])
    is_compared = np.maximum.reduceat(grades, bounds[:-1]) > 0
    if not is_compared.any():
        raise InvalidDataError(
            f"None of the {len(is_compared)} queries has rows of different grades, so there are no "
            "pairs to rank. Pass queries of at least two grades, and check that `qid` numbers the "
            "queries and not the rows."
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
    """Return the bounds of the queries, and grades that count from 0 within each query."""
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
    """Return the query of each row as integers in ascending order, or raise an error."""
    numbers = np.asarray(qid)
    if numbers.shape != (n_rows,):
        raise InvalidDataError(
            f"`qid` must have one number per row, shape ({n_rows},); got shape {numbers.shape}. "
            "Pass the number of each row's query."
        )
    if numbers.dtype.kind == "f" and np.all(numbers == np.trunc(numbers)):
        numbers = numbers.astype(np.int64)
    if numbers.dtype.kind not in "iu":
        raise InvalidDataError(
            f"`qid` must hold integers; got values of type {numbers.dtype}. Number the "
            "queries, for instance by np.unique(qid, return_inverse=True)[1]."
        )
    if numbers.min(initial=0) < 0:
        row = int(np.argmin(numbers))
        raise InvalidDataError(
            f"`qid` must not be negative; got {numbers[row]} in row {row}. Number the queries "
            "from 0."
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


def check_graded(estimator, X, y, sample_weight):
    """Validate graded rows; return the rows, the sorted grades, the codes of the rows, and weights.

    Two labels can be of any type. More than two must be numbers, so that their order is known.
    """
    X, y = check_features(estimator, X, y)
    grades, codes = _check_grades(y)
    return X, grades, codes, check_weights(sample_weight, X)


def check_scored_grades(y_true, n_rows: int, sample_weight) -> tuple[np.ndarray, np.ndarray]:
    """Validate the grades and weights that `score` takes; return codes and weights."""
    column = check_column("y", y_true, "Pass one grade per row.")
    if len(column) != n_rows:
        raise InvalidDataError(
            f"`y` must be as long as `X`; got {len(column)} and {n_rows}. Pass one grade per row."
        )
    _, codes = _check_grades(column)
    weights = check_scored_weights(sample_weight, n_rows)
    check_no_negative_weight(weights)
    return codes, weights


def _check_grades(grades) -> tuple[np.ndarray, np.ndarray]:
    labels, codes = unique_labels("y", grades)
    if len(labels) > 2 and labels.dtype.kind not in "biuf":
        raise InvalidDataError(
            f"Grades must be numbers; `y` has {len(labels)} different values of type "
            f"{labels.dtype}. Code them as numbers, the most relevant highest."
        )
    return labels, codes
