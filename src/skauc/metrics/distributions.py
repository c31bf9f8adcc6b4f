"""Histograms of the scores of the two classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# At most this share of each class is beyond an end of the axis. It is counted in the end bins.
_BEYOND = 0.002


@dataclass(frozen=True, eq=False)
class ScoreHistogram:
    """Share of each class in each bin. Scores beyond the edges are counted in the end bins."""

    edges: np.ndarray
    positives: np.ndarray
    negatives: np.ndarray


def score_histogram(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray, n_bins: int | None = None
) -> ScoreHistogram:
    """Compute the histogram of each class over the same bins. The shares of a class sum to 1.

    The default number of bins grows with the number of rows of the smaller class, from 12 to 48.
    """
    if n_bins is None:
        n_fewest = min(np.count_nonzero(positive), np.count_nonzero(~positive))
        n_bins = int(np.clip(2 * np.sqrt(n_fewest), 12, 48))
    # Differences of quarters do not overflow.
    quantiles = [
        np.quantile(scores[side] / 4, [_BEYOND, 1 - _BEYOND]) for side in (positive, ~positive)
    ]
    low, high = np.min(quantiles), np.max(quantiles)
    if low == high:
        low, high = low - 0.125, high + 0.125
    edges = 4 * np.linspace(low, high, n_bins + 1)
    inside = np.clip(scores, edges[0], edges[-1])
    shares = [
        np.histogram(inside[side], edges, weights=weights[side])[0] / weights[side].sum()
        for side in (positive, ~positive)
    ]
    return ScoreHistogram(edges, *shares)
