"""How well scores rank: AUC, its confidence interval, and the part of it that matters.

Everything here starts from one table: the distinct scores in ascending order, and the weight that
each class has at each of them. Sorting is the only step that costs O(l log l) for l rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.integrate import trapezoid
from scipy.special import expit, logit, ndtri

from skauc.exceptions import InvalidParameterError
from skauc.validation import check_fraction, check_scored, is_number

__all__ = ["AUCInterval", "auc", "auc_interval", "partial_auc"]


def auc(y_true, y_score, *, sample_weight=None, pos_label=None) -> float:
    """Compute the area under the ROC curve: the chance that a positive outranks a negative.

    With weights w, over the pairs of a positive row i and a negative row j::

        AUC = sum w_i w_j ([s_i > s_j] + [s_i = s_j] / 2) / sum w_i w_j

    The result is exact, and ties count one half. The cost is O(l log l) for l rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, of any two values.
    y_score : array-like of shape (n_samples,)
        Scores, higher for rows that look more positive, such as the output of `decision_function`.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts; a whole number counts as repeating the row. None counts each once.
    pos_label : label, default=None
        The label of the positive class. None takes the larger of the two in sorted order.

    Returns
    -------
    auc : float
        1 for a perfect ranking, 0.5 for chance, 0 for the perfect ranking upside down.

    See Also
    --------
    auc_interval : The same number with its uncertainty.

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


@dataclass(frozen=True)
class AUCInterval:
    """An AUC, its confidence limits and its standard error.

    Attributes
    ----------
    auc : float
        The estimate.
    low, high : float
        The confidence limits, 0 <= low <= auc <= high <= 1.
    standard_error : float
        The square root of DeLong's variance; 0 where all pairs agree.
    """

    auc: float
    low: float
    high: float
    standard_error: float


def auc_interval(
    y_true, y_score, *, sample_weight=None, confidence_level=0.95, pos_label=None
) -> AUCInterval:
    """Compute the AUC with a confidence interval, by DeLong's method on the logit scale.

    The placement of a row is the share of the other class that it outranks (positive rows) or
    that outranks it (negative rows), ties counting one half. The AUC is the mean placement of
    either class, and its variance, with S the sample variance of the placements of a class, is::

        variance = S_positive / p + S_negative / n

    The limits are those of logit(AUC) = log(AUC / (1 - AUC)), whose standard error is
    sqrt(variance) / (AUC (1 - AUC)), brought back to the AUC: they stay within [0, 1] and reach
    further towards 1/2. The cost is O(l log l) for l rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, of any two values.
    y_score : array-like of shape (n_samples,)
        Scores, higher for rows that look more positive. They must not depend on `y_true`: the
        scores of rows that a model was trained on give an interval that is too good.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts. Their scale does not matter. See the notes.
    confidence_level : float, default=0.95
        The share of intervals, between 0 and 1, that should contain the true AUC.
    pos_label : label, default=None
        The label of the positive class. None takes the larger of the two in sorted order.

    Returns
    -------
    interval : AUCInterval
        With attributes `auc`, `low`, `high` and `standard_error`.

    Notes
    -----
    *Weights.* The estimate is that of :func:`auc`. The variance treats the weights as sampling
    weights: each row is one independent observation however much it counts, and a class has the
    linearised variance sum w^2 (placement - AUC)^2 / (sum w)^2, times p / (p - 1). Where a weight
    stands for that many independent rows instead, repeat the rows with `numpy.repeat`.

    *All pairs agree.* DeLong's variance is 0 if, and only if, the pairs are all right (AUC = 1),
    all wrong (AUC = 0) or all tied. Then m = min(p, n) disjoint pairs, which are independent, all
    agree, so that with a = 1 - `confidence_level` the share q of such pairs is at least
    (a / 2)^(1 / m), the limit of Clopper and Pearson for m successes in m trials. The other pairs
    may be anything, and the limits are q AUC and q AUC + 1 - q. They are wide: of all p n pairs
    only m are used. With weights, p and n are Kish's effective sizes (sum w)^2 / sum w^2, and the
    limit is no longer exact.

    *Few rows in a class.* The interval is asymptotic: in simulations of normal scores with an AUC
    of 0.92, the 95 % interval covered it in 95 % of samples with 25 positives and 75 negatives and
    in 91 % with 10 and 90. A single row has no sample variance; AUC (1 - AUC), the largest variance
    that placements with that mean can have, takes its place.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson (1988). Comparing the areas under two or more correlated receiver
    operating characteristic curves: a nonparametric approach. Biometrics 44, 837-845.

    Sun, Xu (2014). Fast implementation of DeLong's algorithm for comparing the areas under
    correlated receiver operating characteristic curves. IEEE Signal Processing Letters 21,
    1389-1393.

    Pepe (2003). The Statistical Evaluation of Medical Tests for Classification and Prediction.
    Oxford University Press. (The logit scale.)

    Binder (1983). On the variances of asymptotically normal estimators from complex surveys.
    International Statistical Review 51, 279-292. (The weights.)

    Clopper, Pearson (1934). The use of confidence or fiducial limits illustrated in the case of the
    binomial. Biometrika 26, 404-413.

    Examples
    --------
    >>> from skauc.metrics import auc_interval
    >>> interval = auc_interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6])
    >>> print(f"{interval.auc:.3f}, 95 % limits {interval.low:.3f} to {interval.high:.3f}")
    0.889, 95 % limits 0.261 to 0.995
    >>> auc_interval([0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6]).low  # 0.025 ** (1 / 3)
    0.292...
    """
    confidence_level = check_fraction(
        "confidence_level", confidence_level, "Use 0.95 for a 95 % interval."
    )
    rows = check_scored(y_true, y_score, sample_weight, pos_label)
    estimate, variance = _delong(*rows)
    tail = (1 - confidence_level) / 2
    if variance > 0:
        low, high = _logit_limits(estimate, variance, tail)
    else:
        low, high = _unanimous_limits(estimate, _disjoint_pairs(*rows[1:]), tail)
    return AUCInterval(estimate, float(low), float(high), float(np.sqrt(variance)))


def partial_auc(
    y_true,
    y_score,
    *,
    max_fpr=None,
    min_tpr=None,
    sample_weight=None,
    standardize=True,
    pos_label=None,
) -> float:
    """Compute the area under the part of the ROC curve with few false alarms, few misses, or both.

    The part of the area that lies left of the false positive rate `max_fpr` and above the true
    positive rate `min_tpr`, the curve being interpolated linearly::

        A = integral from 0 to max_fpr of max(0, TPR(x) - min_tpr) dx

    With `max_fpr` alone this is the usual partial AUC; with `min_tpr` alone, the area between the
    curve and the horizontal line at `min_tpr`; with both, the two-way partial AUC; with neither,
    the AUC. The cost is O(l log l) for l rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, of any two values.
    y_score : array-like of shape (n_samples,)
        Scores, higher for rows that look more positive.
    max_fpr : float in (0, 1], default=None
        The largest false positive rate of interest. None means 1.
    min_tpr : float in [0, 1), default=None
        The smallest true positive rate of interest. None means 0.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts; a whole number counts as repeating the row. None counts each once.
    standardize : bool, default=True
        Whether to map the area linearly so that a perfect ranking has 1 and the diagonal has 0.5,
        as McClish does; False returns A itself. A region that lies wholly above the diagonal
        (`max_fpr` <= `min_tpr`) has no area under it, and no standardised value below 0.5.
    pos_label : label, default=None
        The label of the positive class. None takes the larger of the two in sorted order.

    Returns
    -------
    partial_auc : float
        (1 + (A - A_diagonal) / (A_perfect - A_diagonal)) / 2, or A, where A_perfect is
        max_fpr (1 - min_tpr) and A_diagonal is max(0, max_fpr - min_tpr)^2 / 2.

    Notes
    -----
    With `max_fpr` alone, the result is that of ``sklearn.metrics.roc_auc_score(max_fpr=...)``.

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
    max_fpr = 1.0 if max_fpr is None else _check_max_fpr(max_fpr)
    min_tpr = 0.0 if min_tpr is None else _check_min_tpr(min_tpr)
    fpr, tpr = _roc_curve(*check_scored(y_true, y_score, sample_weight, pos_label))
    area = _area_in_corner(fpr, tpr, max_fpr, min_tpr)
    if not standardize:
        return area
    perfect = max_fpr * (1 - min_tpr)
    diagonal = max(0.0, max_fpr - min_tpr) ** 2 / 2
    return (1 + (area - diagonal) / (perfect - diagonal)) / 2


def weighted_auc(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
    """Compute the AUC of clean arrays: both classes present, finite scores, nothing is checked."""
    return auc_of(score_table(scores, positive, weights))


def best_threshold(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
    """Find the threshold of clean arrays; see `threshold_of`."""
    return threshold_of(score_table(scores, positive, weights))


def auc_of(table: ScoreTable) -> float:
    """Compute the AUC of scores in a table."""
    return _weighted_mean(_share_below(table.negatives), table.positives)


def threshold_of(table: ScoreTable) -> float:
    """Find the threshold t at which "positive if score > t" has the best balanced accuracy.

    The candidates are the midpoints between neighbouring distinct scores of positive weight. Of
    several within 1e-12 of the best, the middle one is taken: the order of summation, and so the
    order of the rows, cannot decide. If all scores are equal the result is that score.
    """
    distinct = table.scores
    if len(distinct) == 1:
        return float(distinct[0])
    # Recall and specificity are 1 - p and n, with p and n the shares of each class up to a score.
    gain = _cumulative_share(table.negatives)[:-1]
    gain -= _cumulative_share(table.positives)[:-1]
    best = np.flatnonzero(gain >= gain.max() - 2e-12)
    middle = best[len(best) // 2]
    return _midpoint(float(distinct[middle]), float(distinct[middle + 1]))


def _midpoint(low: float, high: float) -> float:
    """Return the number halfway, such that low <= midpoint < high even for adjacent floats."""
    halfway = low / 2 + high / 2  # (low + high) / 2 can overflow
    return halfway if low <= halfway < high else low


class ScoreTable(NamedTuple):
    """The distinct scores, ascending, and the weight of each class at each."""

    scores: np.ndarray
    positives: np.ndarray
    negatives: np.ndarray


def score_table(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> ScoreTable:
    """Sort clean scores, once for all that is asked of them; rows of weight 0 are left out."""
    scores, positive, weights = _counted(scores, positive, weights)
    order = np.argsort(scores)
    scores, negatives, positive = scores[order], weights[order], positive[order]
    del order  # as long as the data, like everything here
    positives = negatives * positive
    negatives[positive] = 0.0
    is_first = np.ones(len(scores), dtype=bool)
    np.not_equal(scores[1:], scores[:-1], out=is_first[1:])
    if is_first.all():
        return ScoreTable(scores, positives, negatives)
    first = np.flatnonzero(is_first)
    positives, negatives = (np.add.reduceat(part, first) for part in (positives, negatives))
    return ScoreTable(scores[first], positives, negatives)


class _Ranking(NamedTuple):
    """The distinct scores, ascending; the weight of each class at each; and each row's place."""

    scores: np.ndarray
    positives: np.ndarray
    negatives: np.ndarray
    place: np.ndarray


def _counted(scores, positive, weights) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows of positive weight: weight 0 is the same as leaving the row out."""
    counted = weights > 0
    if counted.all():
        return scores, positive, weights
    return scores[counted], positive[counted], weights[counted]


def _rank(scores, positive, weights) -> _Ranking:
    distinct, place = np.unique(scores, return_inverse=True)
    positives = np.bincount(place, weights * positive)
    negatives = np.bincount(place, weights * ~positive)
    return _Ranking(distinct, positives, negatives, place)


def _cumulative_share(weights: np.ndarray) -> np.ndarray:
    # Divided by its own last entry, not by weights.sum(), which may round differently: the last
    # share is exactly 1, and a perfect ranking has an AUC of exactly 1 whatever the weights.
    cumulative = np.cumsum(weights)
    cumulative /= cumulative[-1]
    return cumulative


def _share_below(weights: np.ndarray) -> np.ndarray:
    """Return the share of a class that lies below each distinct score, ties counting one half."""
    cumulative = np.cumsum(weights)
    total = cumulative[-1]
    cumulative -= weights / 2
    cumulative /= total
    return cumulative


def _weighted_mean(values: np.ndarray, weights: np.ndarray) -> float:
    return float(np.sum(weights * values) / np.sum(weights))


def _delong(scores, positive, weights) -> tuple[float, float]:
    """Return the AUC and DeLong's variance of it."""
    ranking = _rank(scores, positive, weights)
    outranked = _share_below(ranking.negatives)
    outranking = 1 - _share_below(ranking.positives)
    estimate = _weighted_mean(outranked, ranking.positives)
    placement = np.where(positive, outranked[ranking.place], outranking[ranking.place])
    variance = sum(
        _variance_of_mean(placement[side], weights[side], estimate)
        for side in (positive, ~positive)
    )
    return estimate, variance


def _variance_of_mean(placements, weights, mean) -> float:
    count = len(weights)
    if count == 1:
        return mean * (1 - mean)
    share = weights / weights.sum()
    return count / (count - 1) * np.sum((share * (placements - mean)) ** 2)


def _logit_limits(estimate, variance, tail) -> np.ndarray:
    standard_error = np.sqrt(variance) / (estimate * (1 - estimate))
    return expit(logit(estimate) + ndtri([tail, 1 - tail]) * standard_error)


def _unanimous_limits(estimate, n_pairs, tail) -> tuple[float, float]:
    agreeing = tail ** (1 / n_pairs)
    return agreeing * estimate, 1 - agreeing * (1 - estimate)


def _disjoint_pairs(positive, weights) -> float:
    """Return the effective size of the smaller class; without weights, its number of rows."""
    return min(
        weights[side].sum() ** 2 / np.sum(weights[side] ** 2) for side in (positive, ~positive)
    )


def _roc_curve(scores, positive, weights) -> tuple[np.ndarray, np.ndarray]:
    """Return the false and true positive rates at the corners of the curve, from (0, 0)."""
    ranking = _rank(scores, positive, weights)
    fpr, tpr = (
        np.insert(_cumulative_share(side[::-1]), 0, 0.0)
        for side in (ranking.negatives, ranking.positives)
    )
    return fpr, tpr


def _area_in_corner(fpr, tpr, max_fpr, min_tpr) -> float:
    """Integrate max(0, tpr - min_tpr) from 0 to max_fpr.

    The curve gets a corner where it meets each of the two limits, so that the integrand is linear
    between corners.
    """
    end = np.searchsorted(fpr, max_fpr, side="right")
    x = np.append(fpr[:end], max_fpr)
    y = np.append(tpr[:end], np.interp(max_fpr, fpr, tpr))
    start = np.searchsorted(y, min_tpr)
    x = np.insert(x, start, np.interp(min_tpr, y, x))
    y = np.insert(y, start, min_tpr)
    return float(trapezoid(np.maximum(y - min_tpr, 0), x))


def _check_max_fpr(max_fpr) -> float:
    if not is_number(max_fpr) or not 0 < max_fpr <= 1:
        raise InvalidParameterError(
            f"`max_fpr` must be a number in (0, 1]; got {max_fpr!r}. "
            "Set it to the largest false positive rate that you can accept."
        )
    return float(max_fpr)


def _check_min_tpr(min_tpr) -> float:
    if not is_number(min_tpr) or not 0 <= min_tpr < 1:
        raise InvalidParameterError(
            f"`min_tpr` must be a number in [0, 1); got {min_tpr!r}. "
            "Set it to the smallest true positive rate that you can accept."
        )
    return float(min_tpr)
