"""Measures of scores, and the errors at thresholds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import average_precision_score

from skauc.app.workflow.scoring import ScoredRows, check_threshold
from skauc.metrics import (
    AUCInterval,
    BootstrapInterval,
    OperatingPoints,
    auc_interval,
    operating_points,
    partial_auc_interval,
)
from skauc.validation import check_positive, check_scored

# The largest false positive rate of the partial AUC of a model for the whole curve.
USUAL_MAX_FPR = 0.1
# Bootstrap samples of the interval of the partial AUC.
_N_DRAWS = 400


@dataclass(frozen=True)
class OperatingPoint:
    """The errors at one threshold.

    Attributes
    ----------
    wanted : str
        What the threshold was chosen for.
    threshold : float or None
        Rows with at least this probability (or score, for a model without probabilities) are
        flagged. None if no threshold does what was wanted.
    true_positives, false_positives, false_negatives, true_negatives : float
        Numbers of rows, or sums of their weights.
    """

    wanted: str
    threshold: float | None
    true_positives: float = 0
    false_positives: float = 0
    false_negatives: float = 0
    true_negatives: float = 0

    @property
    def recall(self) -> float:
        """The share of positive rows that are flagged."""
        return self.true_positives / (self.true_positives + self.false_negatives)

    @property
    def precision(self) -> float | None:
        """The share of flagged rows that are positive. None if no row is flagged."""
        flagged = self.true_positives + self.false_positives
        return self.true_positives / flagged if flagged else None


@dataclass(frozen=True)
class Evaluation:
    """Measures from rows with known labels.

    Attributes
    ----------
    n_rows, n_positive : int
        Number of rows and of positive rows.
    auc : AUCInterval
        The AUC with its 95 % interval.
    partial_auc : BootstrapInterval
        The standardised partial AUC with its 95 % interval.
    max_fpr, min_tpr : float or None
        The limits of the partial AUC.
    average_precision : float
        The mean precision over all recalls.
    own : OperatingPoint
        The errors at the threshold of the model.
    wanted : tuple of OperatingPoint
        The errors at other thresholds.
    """

    n_rows: int
    n_positive: int
    auc: AUCInterval
    partial_auc: BootstrapInterval
    max_fpr: float | None
    min_tpr: float | None
    average_precision: float
    own: OperatingPoint
    wanted: tuple[OperatingPoint, ...]

    @property
    def positive_share(self) -> float:
        """The share of positive rows, by weight. A random ranking has this average precision."""
        own = self.own
        positive = own.true_positives + own.false_negatives
        return positive / (positive + own.false_positives + own.true_negatives)


def evaluate_rows(
    rows: ScoredRows,
    positive: np.ndarray,
    weights: np.ndarray | None,
    *,
    threshold: float | None,
    other_threshold: float | None = None,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    recalls: tuple[float, ...] = (),
    precisions: tuple[float, ...] = (),
    costs: tuple[float, float] | None = None,
) -> Evaluation:
    """Measure how good scores are.

    Parameters
    ----------
    rows : ScoredRows
        The output of a model.
    positive : ndarray of bool
        Whether each row is positive.
    weights : ndarray, default=None
        Sample weights.
    threshold : float, default=None
        The threshold of the model, at which rows were flagged.
    other_threshold : float, default=None
        Another threshold at which to count the errors.
    max_fpr, min_tpr : float, default=None
        The limits of the partial AUC. If both are None, ``max_fpr`` is 0.1.
    recalls, precisions : tuple of float
        Find a threshold for each of these.
    costs : tuple of two floats, default=None
        The cost of a false alarm and of a miss. Find the threshold with the least cost.

    Returns
    -------
    evaluation : Evaluation
        The measures.
    """
    for cost in costs or ():
        check_positive("costs", cost, "Pass the cost of a false alarm and of a miss.")
    others = []
    if other_threshold is not None:
        check_threshold(other_threshold, rows.probabilities is not None)
        flagged = rows.ranking >= other_threshold
        name = f"threshold of {other_threshold:g}"
        others.append(_count_errors(name, other_threshold, flagged, positive, weights))
    if max_fpr is None and min_tpr is None:
        max_fpr = USUAL_MAX_FPR
    scores, labels, counts = check_scored(positive, rows.ranking, weights, True)
    as_metric = {"y_true": labels, "y_score": scores, "sample_weight": counts}
    points = operating_points(scores, labels, counts)
    entries: list[tuple[str, int | None]] = [
        (f"recall of {recall:g}", points.at_recall(recall)) for recall in recalls
    ]
    entries += [(f"precision of {each:g}", points.at_precision(each)) for each in precisions]
    if costs is not None:
        name = f"least cost ({costs[0]:g} per false alarm, {costs[1]:g} per miss)"
        entries.append((name, points.at_least_cost(*costs)))
    return Evaluation(
        n_rows=len(positive),
        n_positive=int(np.count_nonzero(positive)),
        auc=auc_interval(**as_metric),
        partial_auc=partial_auc_interval(
            **as_metric, max_fpr=max_fpr, min_tpr=min_tpr, n_draws=_N_DRAWS
        ),
        max_fpr=max_fpr,
        min_tpr=min_tpr,
        average_precision=float(average_precision_score(**as_metric)),
        own=_count_errors("the model's own threshold", threshold, rows.flagged, positive, weights),
        wanted=(*others, *(_point(points, name, entry) for name, entry in entries)),
    )


def _count_errors(name: str, threshold, flagged, positive, weights) -> OperatingPoint:
    weights = np.ones(len(positive)) if weights is None else weights
    counts = (
        _count(weights[a & b].sum())
        for a, b in (
            (flagged, positive),
            (flagged, ~positive),
            (~flagged, positive),
            (~flagged, ~positive),
        )
    )
    return OperatingPoint(name, threshold, *counts)


def _point(points: OperatingPoints, name: str, entry: int | None) -> OperatingPoint:
    if entry is None:
        return OperatingPoint(name, None)
    found, alarms = points.true_positives[entry], points.false_positives[entry]
    counts = found, alarms, points.n_positive - found, points.n_negative - alarms
    return OperatingPoint(name, float(points.thresholds[entry]), *map(_count, counts))


def _count(value: float) -> float:
    """Return a count as an integer if it is one."""
    return int(value) if value == int(value) else float(value)
