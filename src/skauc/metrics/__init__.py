"""How well scores rank: AUC and its intervals, operating points, bands and calibration."""

from skauc.metrics.area import AUCInterval, auc, auc_interval, partial_auc
from skauc.metrics.bands import Bands, curve_bands
from skauc.metrics.calibration import CalibrationBins, calibration_bins, cross_fitted_probabilities
from skauc.metrics.distributions import ScoreHistogram, score_histogram
from skauc.metrics.operating_points import OperatingPoints, operating_points

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
