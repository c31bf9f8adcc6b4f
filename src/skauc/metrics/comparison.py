"""The paired test of two AUCs on the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from skauc.metrics.area import weighted_auc
from skauc.metrics.intervals import paired_difference
from skauc.validation import check_fraction, check_scored


@dataclass(frozen=True)
class AUCComparison:
    """Two AUCs on the same rows, and their difference.

    Attributes
    ----------
    auc_a, auc_b : float
        The two AUCs.
    difference : float
        ``auc_a - auc_b``.
    low, high : float
        Confidence limits of the difference.
    standard_error : float
        Standard error of the difference.
    p_value : float
        Two-sided p-value of the hypothesis that the two AUCs are equal.
    """

    auc_a: float
    auc_b: float
    difference: float
    low: float
    high: float
    standard_error: float
    p_value: float


def delong_test(
    y_true: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    confidence_level: float = 0.95,
    pos_label: Any = None,
) -> AUCComparison:
    """Test whether two rankings of the same rows have the same AUC.

    DeLong's test for correlated AUCs. The rows are the same, so the test is much sharper than a
    comparison of two intervals. The variance is that of `auc_interval` with the differences of the
    placements in place of the placements, and so are the degrees of freedom of Student's t, from
    which the limits and the p-value follow. The cost is O(l log l) for l rows.

    The variance is 0 if all pairs of rows agree on the difference d, for instance if one ranking is
    perfect and the other has constant scores. The p-value is then 2 / (1 + |d|)^m or 1, where m is
    the number of rows in the smaller class, and the limits follow from the rule of `auc_interval`
    for pairs that all agree. Two rankings in the same order have p = 1 and the limits 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels. There must be two distinct values.
    score_a, score_b : array-like of shape (n_samples,)
        Scores of the two rankings. Do not use rows that one of the models was trained on.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    confidence_level : float, default=0.95
        Confidence level of the limits, between 0 and 1.
    pos_label : label, default=None
        Label of the positive class. If None, it is the larger label in sorted order.

    Returns
    -------
    comparison : AUCComparison
        The AUCs, their difference with limits, and the p-value.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson (1988). Comparing the areas under two or more correlated receiver
    operating characteristic curves: a nonparametric approach. Biometrics 44, 837-845.

    Examples
    --------
    >>> from skauc.metrics import delong_test
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> test = delong_test(y, [1, 2, 3, 5, 4, 6, 7, 8], [3, 5, 1, 6, 2, 4, 7, 8])
    >>> print(f"{test.difference:.3f}, p = {test.p_value:.2f}")
    0.250, p = 0.21
    """
    level = check_fraction("confidence_level", confidence_level, "Use 0.95 for 95 % limits.")
    scores_a, positive, weights = check_scored(y_true, score_a, sample_weight, pos_label)
    scores_b = check_scored(y_true, score_b, sample_weight, pos_label)[0]
    difference = paired_difference(scores_a, [scores_b], positive, weights)
    low, high = difference.limits(level)
    return AUCComparison(
        auc_a=weighted_auc(scores_a, positive, weights),
        auc_b=weighted_auc(scores_b, positive, weights),
        difference=difference.value,
        low=low,
        high=high,
        standard_error=difference.standard_error,
        p_value=difference.p_value,
    )
