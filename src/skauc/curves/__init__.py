"""The numbers behind curves and reports: thresholds, bands, distributions, calibration.

Displays draw them and reports embed them; nothing here knows of either. Arrays are clean, as
`skauc.validation.check_scored` returns them.
"""

from skauc.curves.bands import Bands, curve_bands
from skauc.curves.calibration import CalibrationBins, calibration_bins, cross_fitted_probabilities
from skauc.curves.distributions import ScoreHistogram, score_histogram
from skauc.curves.operating import OperatingPoints, operating_points

__all__ = [
    "Bands",
    "CalibrationBins",
    "OperatingPoints",
    "ScoreHistogram",
    "calibration_bins",
    "cross_fitted_probabilities",
    "curve_bands",
    "operating_points",
    "score_histogram",
]
