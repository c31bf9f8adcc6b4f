"""How good scores are, and what thresholds do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import average_precision_score

from skauc.app.workflow.scoring import ScoredRows
from skauc.metrics import AUCInterval, OperatingPoints, auc_interval, operating_points, partial_auc
from skauc.validation import check_scored


@dataclass(frozen=True)
class OperatingPoint:
    """What one threshold does.

    Attributes
    ----------
    wanted : str
        What it was chosen for.
    threshold : float or None
        Flag a row if its probability, or its score for a model without, is at least this; None
        where no threshold does what was wanted.
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
        """Share of the positive rows that is flagged."""
        return self.true_positives / (self.true_positives + self.false_negatives)

    @property
    def precision(self) -> float | None:
        """Share of the flagged rows that is positive, None where nothing is flagged."""
        flagged = self.true_positives + self.false_positives
        return self.true_positives / flagged if flagged else None


@dataclass(frozen=True)
class Evaluation:
    """Figures from rows with known labels.

    Attributes
    ----------
    n_rows, n_positive : int
        Numbers of rows.
    auc : AUCInterval
        With its 95 % limits.
    partial_auc : float
        The standardised one up to ``max_fpr``.
    max_fpr : float
        The share of false alarms up to which it goes.
    average_precision : float
        The mean precision over all recalls.
    own : OperatingPoint
        What the model's threshold does.
    wanted : tuple of OperatingPoint
        What other thresholds do.
    """

    n_rows: int
    n_positive: int
    auc: AUCInterval
    partial_auc: float
    max_fpr: float
    average_precision: float
    own: OperatingPoint
    wanted: tuple[OperatingPoint, ...]


def evaluate_rows(
    rows: ScoredRows,
    positive: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    threshold: float | None = None,
    max_fpr: float = 0.1,
    recalls: tuple[float, ...] = (),
    precisions: tuple[float, ...] = (),
    costs: tuple[float, float] | None = None,
) -> Evaluation:
    """Work out how good scores are.

    Parameters
    ----------
    rows : ScoredRows
        What a model says of the rows.
    positive : ndarray of bool
        Which of them are positive.
    weights : ndarray, default=None
        How much each counts.
    threshold : float, default=None
        The threshold by which rows were flagged, to be shown with what it did.
    max_fpr : float, default=0.1
        For the partial AUC.
    recalls, precisions : tuple of float
        Find a threshold for each.
    costs : tuple of two floats, default=None
        Of a false alarm and of a miss: find the threshold of least cost.

    Returns
    -------
    evaluation : Evaluation
        The figures.
    """
    scores, labels, counts = check_scored(positive, rows.ranking, weights, True)
    as_metric = {"y_true": labels, "y_score": scores, "sample_weight": counts}
    points = operating_points(scores, labels, counts)
    entries = [(f"recall of {recall:g}", points.at_recall(recall)) for recall in recalls]
    entries += [(f"precision of {each:g}", points.at_precision(each)) for each in precisions]
    if costs is not None:
        name = f"least cost ({costs[0]:g} a false alarm, {costs[1]:g} a miss)"
        entries.append((name, points.at_least_cost(*costs)))
    return Evaluation(
        n_rows=len(positive),
        n_positive=int(np.count_nonzero(positive)),
        auc=auc_interval(**as_metric),
        partial_auc=partial_auc(**as_metric, max_fpr=max_fpr),
        max_fpr=max_fpr,
        average_precision=float(average_precision_score(**as_metric)),
        own=_own_point(rows, positive, weights, threshold),
        wanted=tuple(_point(points, name, entry) for name, entry in entries),
    )


def _own_point(rows: ScoredRows, positive, weights, threshold) -> OperatingPoint:
    weights = np.ones(len(positive)) if weights is None else weights
    flagged = rows.flagged
    counts = (
        _count(weights[a & b].sum())
        for a, b in (
            (flagged, positive),
            (flagged, ~positive),
            (~flagged, positive),
            (~flagged, ~positive),
        )
    )
    return OperatingPoint("the model's own threshold", threshold, *counts)


def _point(points: OperatingPoints, name: str, entry: int | None) -> OperatingPoint:
    if entry is None:
        return OperatingPoint(name, None)
    found, alarms = points.true_positives[entry], points.false_positives[entry]
    counts = found, alarms, points.n_positive - found, points.n_negative - alarms
    return OperatingPoint(name, float(points.thresholds[entry]), *map(_count, counts))


def _count(value: float) -> float:
    """Return a whole number as an int."""
    return int(value) if value == int(value) else float(value)
