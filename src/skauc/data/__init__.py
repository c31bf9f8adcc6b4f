"""Training rows: what was passed to fit, statistics of features, samples drawn by hash."""

from skauc.data.sampling import Lottery
from skauc.data.training import TrainingData, WeightedRows, check_chunk, check_training

__all__ = ["Lottery", "TrainingData", "WeightedRows", "check_chunk", "check_training"]
