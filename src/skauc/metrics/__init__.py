"""Metrics of rankings: AUC with intervals and tests, operating points, bands, calibration."""

from skauc.metrics.area import auc
from skauc.metrics.bands import Bands, curve_bands
from skauc.metrics.bootstrap import (
    BootstrapInterval,
    average_precision_interval,
    partial_auc_interval,
)
from skauc.metrics.calibration import CalibrationBins, calibration_bins, cross_fitted_probabilities
from skauc.metrics.comparison import AUCComparison, delong_test
from skauc.metrics.distributions import ScoreHistogram, score_histogram
from skauc.metrics.intervals import AUCInterval, auc_interval
from skauc.metrics.partial_area import partial_auc
from skauc.metrics.scorers import partial_auc_scorer
from skauc.metrics.thresholds import OperatingPoints, operating_points
from skauc.metrics.top_rows import precision_at_k, recall_at_k

__all__ = [
    "AUCComparison",
    "AUCInterval",
    "Bands",
    "BootstrapInterval",
    "CalibrationBins",
    "OperatingPoints",
    "ScoreHistogram",
    "auc",
    "auc_interval",
    "average_precision_interval",
    "calibration_bins",
    "cross_fitted_probabilities",
    "curve_bands",
    "delong_test",
    "operating_points",
    "partial_auc",
    "partial_auc_interval",
    "partial_auc_scorer",
    "precision_at_k",
    "recall_at_k",
    "score_histogram",
]
