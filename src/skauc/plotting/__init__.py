"""Displays in the style of scikit-learn. matplotlib is imported when a display is drawn."""

from skauc.plotting.basis_size import BasisSizeDisplay
from skauc.plotting.contributions import ImportanceDisplay, WaterfallDisplay
from skauc.plotting.feature_relevance import FeatureRelevanceDisplay
from skauc.plotting.precision_recall import PrecisionRecallBandDisplay
from skauc.plotting.roc import RocBandDisplay
from skauc.plotting.score_distribution import ScoreDistributionDisplay
from skauc.plotting.shape import InteractionDisplay, ShapeDisplay
from skauc.plotting.threshold import ThresholdDisplay
from skauc.plotting.tuning import TuningDisplay

__all__ = [
    "BasisSizeDisplay",
    "FeatureRelevanceDisplay",
    "ImportanceDisplay",
    "InteractionDisplay",
    "PrecisionRecallBandDisplay",
    "RocBandDisplay",
    "ScoreDistributionDisplay",
    "ShapeDisplay",
    "ThresholdDisplay",
    "TuningDisplay",
    "WaterfallDisplay",
]
