"""Two models on the same labelled rows: the paired test, curves, agreement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import spearmanr

from skauc.app.workflow.scoring import ScoredRows
from skauc.metrics import (
    AUCComparison,
    AUCInterval,
    BootstrapInterval,
    OperatingPoints,
    auc_interval,
    average_precision_interval,
    delong_test,
    operating_points,
)
from skauc.validation import check_scored


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two models on the same rows.

    Attributes
    ----------
    test : AUCComparison
        The paired test of the AUCs.
    aucs : tuple of two AUCInterval
        The AUC of each model.
    average_precisions : tuple of two BootstrapInterval
        The average precision of each model.
    points : tuple of two OperatingPoints
        The curves of each model.
    rank_correlation : float
        Spearman's correlation of the scores.
    same_label : float
        Share of the rows with the same predicted label.
    n_positive : int
        Number of positive rows.
    shared_top : float
        Share of the ``n_positive`` rows that A scores highest which are also among the
        ``n_positive`` rows that B scores highest.
    """

    test: AUCComparison
    aucs: tuple[AUCInterval, AUCInterval]
    average_precisions: tuple[BootstrapInterval, BootstrapInterval]
    points: tuple[OperatingPoints, OperatingPoints]
    rank_correlation: float
    same_label: float
    n_positive: int
    shared_top: float

    @property
    def sentence(self) -> str:
        """The result in words."""
        test = self.test
        if test.p_value >= 0.05:
            return (
                "The AUCs of the two models do not differ significantly "
                f"(difference {test.difference:+.4f}, p = {test.p_value:.2g})."
            )
        better = "A" if test.difference > 0 else "B"
        return (
            f"Model {better} ranks better: the AUC is higher by {abs(test.difference):.4f} "
            f"(p = {test.p_value:.2g})."
        )


def compare_models(
    a: ScoredRows, b: ScoredRows, positive: np.ndarray, weights: np.ndarray | None
) -> Comparison:
    """Compare the output of two models for the same rows.

    Parameters
    ----------
    a, b : ScoredRows
        The output of the models.
    positive : ndarray of bool
        Whether each row is positive.
    weights : ndarray, default=None
        Sample weights.

    Returns
    -------
    comparison : Comparison
        The paired test and how much the models agree.
    """
    sides = (a.scores, b.scores)
    n_positive = int(np.count_nonzero(positive))
    tops = [set(np.argsort(-each, kind="stable")[:n_positive].tolist()) for each in sides]
    has_order = all(np.ptp(each) > 0 for each in sides)
    return Comparison(
        test=delong_test(positive, a.scores, b.scores, sample_weight=weights),
        aucs=(
            auc_interval(positive, a.scores, sample_weight=weights),
            auc_interval(positive, b.scores, sample_weight=weights),
        ),
        average_precisions=(
            average_precision_interval(positive, a.scores, sample_weight=weights),
            average_precision_interval(positive, b.scores, sample_weight=weights),
        ),
        points=(
            operating_points(*check_scored(positive, a.scores, weights, True)),
            operating_points(*check_scored(positive, b.scores, weights, True)),
        ),
        rank_correlation=float(spearmanr(*sides).statistic) if has_order else float("nan"),
        same_label=float(np.mean(a.flagged == b.flagged)),
        n_positive=n_positive,
        shared_top=len(tops[0] & tops[1]) / n_positive,
    )
