"""Displays in scikit-learn's style. matplotlib is loaded when something is drawn, not before."""

from skauc.plotting.basis_size import BasisSizeDisplay
from skauc.plotting.feature_relevance import FeatureRelevanceDisplay
from skauc.plotting.precision_recall import PrecisionRecallBandDisplay
from skauc.plotting.roc import RocBandDisplay
from skauc.plotting.score_distribution import ScoreDistributionDisplay
from skauc.plotting.threshold import ThresholdDisplay
from skauc.plotting.tuning import TuningDisplay

__all__ = [
    "BasisSizeDisplay",
    "FeatureRelevanceDisplay",
    "PrecisionRecallBandDisplay",
    "RocBandDisplay",
    "ScoreDistributionDisplay",
    "ThresholdDisplay",
    "TuningDisplay",
]
