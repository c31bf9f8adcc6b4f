"""The curves of a report, with few enough points to draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from skauc.metrics import Bands, OperatingPoints, score_histogram
from skauc.metrics.partial_area import check_corner
from skauc.report.scored import LabelledScores
from skauc.unwrapping import UnwrappedModel

MOST_POINTS = 300
# Probabilities closer than this to 0 or 1 are drawn here.
SURE = 1e-6


@dataclass(frozen=True)
class Curve:
    """A curve and its pointwise 95 % band. The band has its own points."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    band_x: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Histogram:
    """Share of each class in each bin of the score.

    The edges of probabilities are at equal steps of log(p / (1 - p)). With rare positives, most
    rows would be in the first bin otherwise.
    """

    is_probability: bool
    edges: tuple[float, ...]
    positives: tuple[float, ...]
    negatives: tuple[float, ...]


@dataclass(frozen=True)
class CurvePart:
    """The part of the ROC curve that a model was fitted for."""

    max_fpr: float
    min_tpr: float

    @classmethod
    def of(cls, unwrapped: UnwrappedModel) -> CurvePart | None:
        """Return the part; None for the whole curve."""
        corner = check_corner(**unwrapped.limits)
        return None if corner == (1.0, 0.0) else cls(*corner)


def roc_curve(points: OperatingPoints, bands: Bands) -> Curve:
    """Return the ROC curve."""
    shown = points.thinned(MOST_POINTS)
    return Curve(
        significant(shown.false_positive_rate),
        significant(shown.recall),
        significant(bands.false_positive_rate),
        significant(bands.recall_low),
        significant(bands.recall_high),
    )


def precision_recall_curve(points: OperatingPoints, bands: Bands) -> Curve:
    """Return the precision-recall curve."""
    shown = points.thinned(MOST_POINTS)
    return Curve(
        significant(shown.recall[1:]),
        significant(shown.precision[1:]),
        significant(bands.recall),
        significant(bands.precision_low),
        significant(bands.precision_high),
    )


def histogram(scored: LabelledScores, is_probability: bool) -> Histogram:
    """Return the histogram of the scores by class."""
    scores = scored.scores
    if is_probability:
        scores = logit(np.clip(scores, SURE, 1 - SURE))
    bins = score_histogram(scores, scored.positive, scored.weights)
    edges = expit(bins.edges) if is_probability else bins.edges
    return Histogram(
        is_probability,
        significant(edges, digits=10),
        significant(bins.positives),
        significant(bins.negatives),
    )


def significant(values, digits: int = 5) -> tuple[float, ...]:
    """Return Python floats with this many significant digits."""
    return tuple(float(f"{value:.{digits}g}") for value in np.asarray(values).tolist())
