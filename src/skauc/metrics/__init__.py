"""Metrics of rankings: AUC with intervals, operating points, confidence bands, calibration."""

from skauc.metrics.area import auc
from skauc.metrics.bands import Bands, curve_bands
from skauc.metrics.calibration import CalibrationBins, calibration_bins, cross_fitted_probabilities
from skauc.metrics.distributions import ScoreHistogram, score_histogram
from skauc.metrics.intervals import AUCInterval, auc_interval
from skauc.metrics.partial_area import partial_auc
from skauc.metrics.thresholds import OperatingPoints, operating_points

__all__ = [
    "AUCInterval",
    "Bands",
    "CalibrationBins",
    "OperatingPoints",
    "ScoreHistogram",
    "auc",
    "auc_interval",
    "calibration_bins",
    "cross_fitted_probabilities",
    "curve_bands",
    "operating_points",
    "partial_auc",
    "score_histogram",
]
