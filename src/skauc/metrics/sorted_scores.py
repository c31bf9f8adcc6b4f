"""Sorted scores, from which the ranking metrics are computed.

Sorting costs O(l log l) for l rows. The other steps are linear: they use the distinct scores in
ascending order and the total weight of each class at each of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class SortedScores(NamedTuple):
    """The distinct scores in ascending order, and the weight of each class at each of them."""

    scores: np.ndarray
    positives: np.ndarray
    negatives: np.ndarray


def sort_scores(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> SortedScores:
    """Sort scores that are already validated. Rows of weight 0 are ignored."""
    scores, positive, weights = _counted(scores, positive, weights)
    order = np.argsort(scores)
    scores, negatives, positive = scores[order], weights[order], positive[order]
    del order  # free memory: every array here has one entry per row
    positives = negatives * positive
    negatives[positive] = 0.0
    is_first = np.ones(len(scores), dtype=bool)
    np.not_equal(scores[1:], scores[:-1], out=is_first[1:])
    if is_first.all():
        return SortedScores(scores, positives, negatives)
    first = np.flatnonzero(is_first)
    positives, negatives = (np.add.reduceat(part, first) for part in (positives, negatives))
    return SortedScores(scores[first], positives, negatives)


class RankedRows(NamedTuple):
    """Sorted scores, and for each row the position of its score among the distinct scores."""

    scores: np.ndarray
    positives: np.ndarray
    negatives: np.ndarray
    position: np.ndarray


def _counted(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows of positive weight. A row of weight 0 does not count."""
    counted = weights > 0
    if counted.all():
        return scores, positive, weights
    return scores[counted], positive[counted], weights[counted]


def rank_rows(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> RankedRows:
    """Sort scores that are already validated, and keep the position of each row."""
    distinct, position = np.unique(scores, return_inverse=True)
    positives = np.bincount(position, weights * positive)
    negatives = np.bincount(position, weights * ~positive)
    return RankedRows(distinct, positives, negatives, position)


def cumulative_share(weights: np.ndarray) -> np.ndarray:
    """Return the share of a class at or below each distinct score."""
    # Dividing by the last entry makes the last share exactly 1. `weights.sum()` may round
    # differently, and a perfect ranking would then not have an AUC of exactly 1.
    cumulative = np.cumsum(weights)
    cumulative /= cumulative[-1]
    return cumulative


def share_below(weights: np.ndarray) -> np.ndarray:
    """Return the share of a class below each distinct score. Ties count one half."""
    cumulative = np.cumsum(weights)
    total = cumulative[-1]
    cumulative -= weights / 2
    cumulative /= total
    return cumulative


def weighted_mean(values: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted mean of values."""
    return float(np.sum(weights * values) / np.sum(weights))


def effective_size(weights: np.ndarray) -> float:
    """Return Kish's effective sample size, (sum w)^2 / sum w^2.

    It is the number of rows if all weights are equal.
    """
    relative = weights / weights.max()  # squares of huge weights would overflow
    return float(relative.sum() ** 2 / np.sum(relative**2))
