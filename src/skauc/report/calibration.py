"""The calibration of a report: predicted probabilities against observed frequencies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import brier_score_loss

from skauc.metrics import calibration_bins, cross_fitted_probabilities
from skauc.report.curves import significant
from skauc.report.missing import Missing
from skauc.report.scored import LabelledScores

_OWN = "These are the probabilities of the model itself (predict_proba)."
_FITTED = (
    "The model gives scores and no probabilities. The probabilities shown here come from a "
    "logistic map of the scores (Platt scaling). It is fitted to four fifths of the test rows and "
    "applied to the other fifth, five times. CalibratedClassifierCV(method='sigmoid') gives "
    "similar probabilities."
)


@dataclass(frozen=True)
class Calibration:
    """Groups of rows with similar probabilities, and where the probabilities come from."""

    source: str
    predicted: tuple[float, ...]
    observed: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    n_rows: tuple[int, ...]
    brier: float


def calibrate_scores(
    scored: LabelledScores, probabilities: np.ndarray | None
) -> Calibration | Missing:
    """Compare the probabilities of the model, or those of a logistic map, with the outcomes."""
    source = _FITTED if probabilities is None else _OWN
    if probabilities is None:
        probabilities = cross_fitted_probabilities(scored.scores, scored.positive, scored.weights)
    if probabilities is None:
        return Missing("A class has a single test row, which is too few for a calibration.")
    bins = calibration_bins(probabilities, scored.positive, scored.weights)
    return Calibration(
        source=source,
        predicted=significant(bins.predicted),
        observed=significant(bins.observed),
        low=significant(bins.low),
        high=significant(bins.high),
        n_rows=tuple(bins.n_rows.tolist()),
        brier=float(brier_score_loss(scored.positive, probabilities, sample_weight=scored.weights)),
    )
