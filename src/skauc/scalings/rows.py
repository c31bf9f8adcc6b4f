"""The rows that scalings and axes are computed from, and when two of their values are equal."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from skauc.data.sampling import HashOrder
from skauc.data.training import TrainingData
from skauc.support import rows_per_block
from skauc.threads import map_blocks

_Found = TypeVar("_Found")

# Number of rows that scalings and axes are computed from.
DECIDING_ROWS = 100_000
# Numbers of a block of features: two megabytes.
FEATURE_BLOCK = 1 << 18
# Values that are no further apart than this many neighbouring floats are the same.
SAME_FLOATS = 16


def deciding_rows(data: TrainingData) -> TrainingData:
    """Return up to `DECIDING_ROWS` rows, a stratified sample of more."""
    order = HashOrder(data, seed=0)
    share = min(DECIDING_ROWS / sum(order.counts), 1.0)
    negative, positive = (math.ceil(share * count) for count in order.counts)
    return data.take(order.between((0, 0), (negative, positive)))


def as_doubles(rows: TrainingData) -> tuple[np.ndarray, np.ndarray]:
    """Return the features in double precision, and the weights."""
    return np.asarray(rows.X, dtype=np.float64), rows.weights


def map_features(
    task: Callable[[int, int], _Found], X: np.ndarray, n_jobs: int | None
) -> list[_Found]:
    """Return ``task(first, stop)`` for blocks of features, on threads."""
    return map_blocks(task, X.shape[1], rows_per_block(len(X), FEATURE_BLOCK, least=1), n_jobs)
