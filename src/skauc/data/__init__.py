"""Training rows: what was passed to fit, statistics of features, samples drawn by hash."""

from skauc.data.sampling import HashOrder
from skauc.data.training import TrainingData, WeightedRows, check_chunk, check_training

__all__ = ["HashOrder", "TrainingData", "WeightedRows", "check_chunk", "check_training"]
