"""The area under a part of the ROC curve."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.metrics.sorted_scores import SortedScores, cumulative_share, sort_scores
from skauc.validation import check_scored, is_number, shortened


def partial_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    sample_weight: ArrayLike | None = None,
    standardize: bool = True,
    pos_label: Any = None,
) -> float:
    """Compute the area under a part of the ROC curve: few false alarms, few misses, or both.

    The part has false positive rates up to `max_fpr` and true positive rates above `min_tpr`. The
    curve is interpolated linearly::

        A = integral from 0 to max_fpr of max(0, TPR(x) - min_tpr) dx

    With `max_fpr` alone, this is the usual partial AUC. With `min_tpr` alone, it is the area
    between the curve and the horizontal line at `min_tpr`. With both, it is the two-way partial
    AUC. With neither, it is the AUC. The cost is O(l log l) for l rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels. There must be two distinct values.
    y_score : array-like of shape (n_samples,)
        Scores. Higher scores mean more positive.
    max_fpr : float in (0, 1], default=None
        Largest false positive rate of interest. None means 1.
    min_tpr : float in [0, 1), default=None
        Smallest true positive rate of interest. None means 0.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row. A weight of 2 equals repeating the row twice. None gives all rows
        weight 1.
    standardize : bool, default=True
        Whether to scale the area linearly (McClish) so that a perfect ranking has 1 and the
        diagonal has 0.5. If False, A is returned. If `max_fpr` <= `min_tpr`, the whole region is
        above the diagonal and the standardised value is at least 0.5.
    pos_label : label, default=None
        Label of the positive class. If None, it is the larger label in sorted order.

    Returns
    -------
    partial_auc : float
        (1 + (A - A_diagonal) / (A_perfect - A_diagonal)) / 2, or A, where A_perfect is
        max_fpr (1 - min_tpr) and A_diagonal is max(0, max_fpr - min_tpr)^2 / 2.

    Notes
    -----
    With `max_fpr` alone, the result equals ``sklearn.metrics.roc_auc_score(max_fpr=...)``.

    References
    ----------
    McClish (1989). Analyzing a portion of the ROC curve. Medical Decision Making 9, 190-195.

    Jiang, Metz, Nishikawa (1996). A receiver operating characteristic partial area index for highly
    sensitive diagnostic tests. Radiology 201, 745-750. (`min_tpr`; their index is
    A / (1 - min_tpr).)

    Yang, Lu, Lyu, Hu (2019). Two-way partial AUC and its properties. Statistical Methods in Medical
    Research 28, 184-195.

    Examples
    --------
    >>> from skauc.metrics import partial_auc
    >>> y_true, y_score = [0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 6, 4, 5, 7, 8]
    >>> partial_auc(y_true, y_score, max_fpr=0.5, standardize=False)
    0.375
    >>> round(partial_auc(y_true, y_score, max_fpr=0.5), 3)
    0.833
    >>> partial_auc(y_true, y_score, max_fpr=0.5, min_tpr=0.5, standardize=False)
    0.125
    """
    corner = check_corner(max_fpr, min_tpr)
    ranked = sort_scores(*check_scored(y_true, y_score, sample_weight, pos_label))
    area = float(area_in_corner(*_roc_curve(ranked), *corner))
    return standardized(area, *corner) if standardize else area


def check_corner(max_fpr: Any, min_tpr: Any) -> tuple[float, float]:
    """Return the limits of the part of the curve, or raise an error."""
    return (
        1.0 if max_fpr is None else _check_max_fpr(max_fpr),
        0.0 if min_tpr is None else _check_min_tpr(min_tpr),
    )


def partial_auc_of(ranked: SortedScores, max_fpr: float, min_tpr: float) -> float:
    """Compute the standardised partial AUC of sorted scores."""
    area = float(area_in_corner(*_roc_curve(ranked), max_fpr, min_tpr))
    return standardized(area, max_fpr, min_tpr)


def standardized(area: float, max_fpr: float, min_tpr: float) -> float:
    """Scale an area so that a perfect ranking has 1 and the diagonal has 0.5."""
    perfect = max_fpr * (1 - min_tpr)
    diagonal = max(0.0, max_fpr - min_tpr) ** 2 / 2
    return (1 + (area - diagonal) / (perfect - diagonal)) / 2


def _roc_curve(ranked: SortedScores) -> tuple[np.ndarray, np.ndarray]:
    """Return the false and true positive rates at the corners of the curve, starting at (0, 0)."""
    fpr, tpr = (
        np.insert(cumulative_share(side[::-1]), 0, 0.0)
        for side in (ranked.negatives, ranked.positives)
    )
    return fpr, tpr


def area_in_corner(fpr: np.ndarray, tpr: np.ndarray, max_fpr: float, min_tpr: float) -> np.ndarray:
    """Integrate max(0, tpr - min_tpr) from 0 to max_fpr, along the last axis.

    The curves are linear between their corners, so the integral between two corners is that of a
    trapezium, or of a triangle where a curve crosses ``min_tpr``.
    """
    runs, rises = np.diff(fpr), np.diff(tpr)
    width = np.clip(max_fpr - fpr[..., :-1], 0.0, runs)
    low = tpr[..., :-1] - min_tpr
    with np.errstate(divide="ignore", invalid="ignore"):
        high = low + np.where(width > 0, width / runs, 0.0) * rises
        part = np.where(low < 0, high / (high - low), 1.0)
    height = np.where(high > 0, part * (np.maximum(low, 0.0) + high) / 2, 0.0)
    perfect = max_fpr * (1 - min_tpr)  # which rounding errors do not exceed
    return np.minimum(np.sum(width * height, axis=-1), perfect)


def describe_corner(max_fpr: float | None, min_tpr: float | None) -> str:
    """Return the limits of the part of the curve in words."""
    parts = []
    if max_fpr is not None:
        parts.append(f"up to a false positive rate of {max_fpr:g}")
    if min_tpr is not None:
        parts.append(f"above a recall of {min_tpr:g}")
    return " and ".join(parts) if parts else "of the whole curve"


def check_part(max_fpr: float | None, min_tpr: float | None, counts: tuple[int, int]) -> None:
    """Raise an error if a part of the curve is smaller than one row.

    ``counts`` are the numbers of negative and of positive rows.
    """
    limits = (
        ("max_fpr", max_fpr, 1.0 if max_fpr is None else max_fpr, "negative", "larger"),
        ("min_tpr", min_tpr, 1.0 if min_tpr is None else 1.0 - min_tpr, "positive", "smaller"),
    )
    for (name, value, fraction, side, way), count in zip(limits, counts, strict=True):
        needed = math.ceil(1.0 / fraction - 1e-9)
        if count < needed:
            raise InvalidDataError(
                f"{name}={value} keeps less than one of the {count} {side} rows to fit. It needs "
                f"at least {needed} {side} rows. Use a {way} `{name}`, or None for the whole curve."
            )


def _check_max_fpr(max_fpr: Any) -> float:
    if not is_number(max_fpr) or not 0 < max_fpr <= 1:
        raise InvalidParameterError(
            f"`max_fpr` must be a number in (0, 1]; got {shortened(max_fpr)}. "
            "Use the largest false positive rate that is acceptable."
        )
    return float(max_fpr)


def _check_min_tpr(min_tpr: Any) -> float:
    if not is_number(min_tpr) or not 0 <= min_tpr < 1:
        raise InvalidParameterError(
            f"`min_tpr` must be a number in [0, 1); got {shortened(min_tpr)}. "
            "Use the smallest true positive rate that is acceptable."
        )
    return float(min_tpr)
