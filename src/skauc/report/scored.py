"""The scores of the test rows, and the main figures computed from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score

from skauc.metrics import AUCInterval, Bands, OperatingPoints, partial_auc_interval
from skauc.metrics.partial_area import describe_corner

FEW_FALSE_ALARMS = 0.05
PARTIAL = 0.1
# Bootstrap samples of the interval of the partial AUC.
_N_DRAWS = 400


@dataclass(frozen=True, eq=False)
class LabelledScores:
    """Scores, classes and weights of the test rows with a positive weight."""

    scores: np.ndarray
    positive: np.ndarray
    weights: np.ndarray

    @property
    def as_metric(self) -> dict[str, Any]:
        """The arguments of a metric."""
        return {
            "y_true": self.positive,
            "y_score": self.scores,
            "sample_weight": self.weights,
        }


@dataclass(frozen=True)
class Score:
    """A figure with its 95 % limits, if it has any, and an explanation."""

    key: str
    name: str
    value: float
    low: float | None
    high: float | None
    meaning: str


def main_scores(
    scored: LabelledScores,
    interval: AUCInterval,
    points: OperatingPoints,
    bands: Bands,
    limits: dict[str, float | None],
) -> tuple[Score, ...]:
    """Compute the figures at the top of the report.

    ``limits`` are those of the part of the curve that the model was fitted for.
    """
    return (
        Score(
            "auc",
            "AUC",
            interval.auc,
            interval.low,
            interval.high,
            "Probability that a random positive row has a higher score than a random negative row.",
        ),
        _average_precision(scored, points, bands),
        _recall_at_few_alarms(points, bands),
        _partial_auc(scored, limits),
    )


def _partial_auc(scored: LabelledScores, limits: dict[str, float | None]) -> Score:
    name, why = "Partial AUC", " The model was fitted for this part of the curve."
    if limits == {"max_fpr": None, "min_tpr": None}:
        limits = {"max_fpr": PARTIAL, "min_tpr": None}
        name, why = f"Partial AUC up to {PARTIAL:.0%}", ""
    found = partial_auc_interval(
        **scored.as_metric,
        max_fpr=limits["max_fpr"],
        min_tpr=limits["min_tpr"],
        n_draws=_N_DRAWS,
    )
    return Score(
        "partial_auc",
        name,
        found.value,
        found.low,
        found.high,
        f"Area {describe_corner(**limits)}, standardised: 0.5 is a random ranking.{why}",
    )


def _average_precision(scored: LabelledScores, points: OperatingPoints, bands: Bands) -> Score:
    value = float(average_precision_score(**scored.as_metric))
    low, high = bands.average_precision
    share = points.n_positive / (points.n_positive + points.n_negative)
    return Score(
        "average_precision",
        "Average precision",
        value,
        min(low, value),
        max(high, value),
        f"Mean precision over all recalls. A random ranking has {share:.3g}.",
    )


def _recall_at_few_alarms(points: OperatingPoints, bands: Bands) -> Score:
    allowed = np.searchsorted(points.false_positive_rate, FEW_FALSE_ALARMS, side="right") - 1
    value = float(points.recall[allowed])
    low, high = (
        float(np.interp(FEW_FALSE_ALARMS, bands.false_positive_rate, limit))
        for limit in (bands.recall_low, bands.recall_high)
    )
    return Score(
        "recall_few_alarms",
        f"Recall at {FEW_FALSE_ALARMS:.0%} false alarms",
        value,
        min(low, value),
        max(high, value),
        f"Share of the positive rows found if {FEW_FALSE_ALARMS:.0%} of the negative rows are "
        "flagged.",
    )
