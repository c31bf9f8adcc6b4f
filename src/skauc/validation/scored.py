"""Checks of the labels and scores that metrics take."""

from __future__ import annotations

import math

import numpy as np

from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.support import quiet_overflow
from skauc.validation.labels import check_class_weights, unique_labels, unusable_weights
from skauc.validation.rows import on_host


def check_scored(y_true, y_score, sample_weight, pos_label):
    """Validate the arguments of a metric; return scores, which rows are positive, and weights.

    Rows of zero weight are left out.
    """
    labels, codes = _check_labels(check_column("y_true", y_true, "Pass one label per row."))
    scores = check_numbers(
        "y_score",
        y_score,
        len(codes),
        "Pass one score per row, such as `decision_function(X)` or `predict_proba(X)[:, 1]`.",
    )
    weights = check_scored_weights(sample_weight, len(codes))
    check_class_weights(weights, labels, codes)
    with quiet_overflow():
        total = float(weights.sum())
    if not math.isfinite(total):
        raise unusable_weights(total)
    positive = codes == _positive_code(labels, pos_label)
    counted = weights > 0
    return scores[counted], positive[counted], weights[counted]


def check_column(name: str, values, advice: str) -> np.ndarray:
    """Return values as an array of one dimension."""
    column = np.asarray(on_host(values))
    if column.ndim == 2 and column.shape[1] == 1:
        return column.ravel()
    if column.ndim != 1:
        raise InvalidDataError(
            f"`{name}` must have one dimension; got an array of shape {column.shape}. {advice}"
        )
    return column


def check_scored_weights(sample_weight, n_rows: int) -> np.ndarray:
    """Return one finite weight per row, ones if there are no weights."""
    if sample_weight is None:
        return np.ones(n_rows)
    return check_numbers("sample_weight", sample_weight, n_rows, "Pass one weight per row.")


def check_numbers(name: str, values, n_rows: int, advice: str) -> np.ndarray:
    """Return values as an array of ``n_rows`` finite numbers."""
    column = check_column(name, values, advice)
    if len(column) != n_rows:
        raise InvalidDataError(
            f"`{name}` must be as long as `y_true`; got {len(column)} and {n_rows}. {advice}"
        )
    try:
        numbers = column.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidDataError(
            f"`{name}` must hold numbers; got values of type {column.dtype}. {advice}"
        ) from error
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.argmin(finite))
        raise InvalidDataError(
            f"`{name}` must be finite; got {numbers[row]} in row {row}. Leave such rows out."
        )
    return numbers


def _check_labels(y_true) -> tuple[list, np.ndarray]:
    """Return the two labels in sorted order, and the index of each row's label."""
    labels, codes = unique_labels("y_true", y_true)
    if len(labels) < 2:
        raise InvalidDataError(
            f"`y_true` must have two classes; got {labels.tolist()}. Pass rows of both classes."
        )
    if len(labels) > 2:
        raise InvalidDataError(
            f"`y_true` must have two classes; got {len(labels)}. "
            "Rank one class against the rest by passing `y_true == label`."
        )
    return labels.tolist(), codes


def _positive_code(labels: list, pos_label) -> int:
    if pos_label is None:
        return 1
    if pos_label not in labels:
        raise InvalidParameterError(
            f"`pos_label` must be one of the labels {labels[0]!r} and {labels[1]!r}; "
            f"got {pos_label!r}. Use the label of the class that should score high."
        )
    return labels.index(pos_label)
