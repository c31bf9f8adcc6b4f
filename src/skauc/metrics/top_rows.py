"""Precision and recall of the rows with the highest scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skauc.exceptions import InvalidParameterError
from skauc.metrics.thresholds import operating_points
from skauc.validation import check_scored, is_number


def precision_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    k: float,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Compute the share of positive rows among the k rows with the highest scores.

    If the k-th row is tied with others, the result is the mean over all orders of the tied rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels. There must be two distinct values.
    y_score : array-like of shape (n_samples,)
        Scores. Higher scores mean more positive.
    k : int, or float between 0 and 1
        Number of rows (a sum of weights if there are weights), or their share of all rows.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    pos_label : label, default=None
        Label of the positive class. If None, it is the larger label in sorted order.

    Returns
    -------
    precision : float
        Between 0 and 1.

    Examples
    --------
    >>> from skauc.metrics import precision_at_k
    >>> precision_at_k([0, 1, 0, 1], [4, 3, 2, 1], k=2)
    0.5
    """
    found, flagged, _ = _flagged(y_true, y_score, k, sample_weight, pos_label)
    return found / flagged


def recall_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    k: float,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Compute the share of the positive rows that are among the k rows with the highest scores.

    If the k-th row is tied with others, the result is the mean over all orders of the tied rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels. There must be two distinct values.
    y_score : array-like of shape (n_samples,)
        Scores. Higher scores mean more positive.
    k : int, or float between 0 and 1
        Number of rows (a sum of weights if there are weights), or their share of all rows.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    pos_label : label, default=None
        Label of the positive class. If None, it is the larger label in sorted order.

    Returns
    -------
    recall : float
        Between 0 and 1.

    Examples
    --------
    >>> from skauc.metrics import recall_at_k
    >>> recall_at_k([0, 1, 0, 1, 1], [5, 4, 3, 2, 1], k=0.4)
    0.333...
    """
    found, _, n_positive = _flagged(y_true, y_score, k, sample_weight, pos_label)
    return found / n_positive


def _flagged(
    y_true: ArrayLike, y_score: ArrayLike, k: Any, sample_weight: ArrayLike | None, pos_label: Any
) -> tuple[float, float, float]:
    """Return the positives among the first rows, the number of these rows, and all positives."""
    points = operating_points(*check_scored(y_true, y_score, sample_weight, pos_label))
    flagged = points.true_positives + points.false_positives
    wanted = _check_k(k, flagged[-1])
    return float(np.interp(wanted, flagged, points.true_positives)), wanted, points.n_positive


def _check_k(k: Any, total: float) -> float:
    """Return the number of rows."""
    is_share = isinstance(k, float | np.floating) and 0 < k <= 1
    if not is_number(k) or not (is_share or 1 <= k <= total):
        raise InvalidParameterError(
            f"`k` must be a number of rows from 1 to {total:g}, or a share of them between 0 and "
            f"1; got {k!r}."
        )
    return float(k * total) if is_share else float(k)
