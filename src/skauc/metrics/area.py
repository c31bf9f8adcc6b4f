"""The area under the ROC curve, and the threshold of best balanced accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skauc.metrics.sorted_scores import (
    SortedScores,
    cumulative_share,
    share_below,
    sort_scores,
    weighted_mean,
)
from skauc.validation import check_scored


def auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Compute the area under the ROC curve.

    The AUC is the probability that a random positive row has a higher score than a random negative
    row. With weights w and sums over all pairs of a positive row i and a negative row j::

        AUC = sum w_i w_j ([s_i > s_j] + [s_i = s_j] / 2) / sum w_i w_j

    The result is exact. Ties count one half. The cost is O(l log l) for l rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels. There must be two distinct values.
    y_score : array-like of shape (n_samples,)
        Scores, such as the output of `decision_function`. Higher scores mean more positive.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row. A weight of 2 equals repeating the row twice. None gives all rows
        weight 1.
    pos_label : label, default=None
        Label of the positive class. If None, it is the larger label in sorted order.

    Returns
    -------
    auc : float
        1 for a perfect ranking, 0.5 for a random ranking, 0 for a perfectly reversed ranking.

    See Also
    --------
    auc_interval : The AUC with a confidence interval.

    References
    ----------
    Hanley, McNeil (1982). The meaning and use of the area under a receiver operating
    characteristic (ROC) curve. Radiology 143, 29-36.

    Examples
    --------
    >>> from skauc.metrics import auc
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> auc(["no", "no", "yes", "yes"], [0.1, 0.4, 0.4, 0.8])
    0.875
    """
    return weighted_auc(*check_scored(y_true, y_score, sample_weight, pos_label))


def weighted_auc(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
    """Compute the AUC of arrays that are already validated."""
    return auc_of(sort_scores(scores, positive, weights))


def best_threshold(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
    """Find the best threshold of arrays that are already validated; see `threshold_of`."""
    return threshold_of(sort_scores(scores, positive, weights))


def auc_of(ranked: SortedScores) -> float:
    """Compute the AUC of sorted scores."""
    return weighted_mean(share_below(ranked.negatives), ranked.positives)


def threshold_of(ranked: SortedScores) -> float:
    """Find the threshold t for which "positive if score > t" has the best balanced accuracy.

    The candidates are the midpoints between adjacent distinct scores. Candidates within 1e-12 of
    the best count as ties, and the middle one is returned, so that rounding (and thus the order of
    the rows) does not matter. If all scores are equal, the result is that score.
    """
    distinct = ranked.scores
    if len(distinct) == 1:
        return float(distinct[0])
    # Recall is 1 - p and specificity is n, where p and n are the shares of the positive and the
    # negative class at or below a score.
    gain = cumulative_share(ranked.negatives)[:-1]
    gain -= cumulative_share(ranked.positives)[:-1]
    best = np.flatnonzero(gain >= gain.max() - 2e-12)
    middle = best[len(best) // 2]
    return _midpoint(float(distinct[middle]), float(distinct[middle + 1]))


def _midpoint(low: float, high: float) -> float:
    """Return the midpoint m with low <= m < high, also if the two floats are adjacent."""
    halfway = low / 2 + high / 2  # (low + high) / 2 can overflow
    return halfway if low <= halfway < high else low
