"""Normal scores with a smaller weight for features that seem irrelevant."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from skauc.compiling import compiled
from skauc.data.training import TrainingData
from skauc.scalings.ranks import RankScaling
from skauc.scalings.rows import as_doubles, deciding_rows

_N_INTERVALS = 8
# A feature is relevant if the shares of positives in its intervals differ by this many standard
# deviations of the chi-squared statistic. All other features together weigh this part of the
# relevant ones.
LEAST_DEVIATIONS, IRRELEVANT_PART = 5.0, 0.3


def screened(data: TrainingData, n_jobs: int | None = None) -> RankScaling:
    """Return normal scores, with larger deviations of features that seem irrelevant."""
    rows = deciding_rows(data)
    normal = RankScaling.of(rows, "normal", n_jobs)
    X, weights = as_doubles(rows)
    found = relevance_weights(X, rows.positive, weights, normal.knots)
    return replace(normal, deviation=normal.deviation / found)


def relevance_weights(
    X: np.ndarray, positive: np.ndarray, weights: np.ndarray, knots: np.ndarray
) -> np.ndarray:
    """Return a weight for each feature, larger if it is related to the labels on its own.

    If no feature is relevant, all weights are 1. Otherwise the mean of their squares is 1 over the
    features that vary, so that distances are as large as without weights. Rows of weight 2 count
    twice.
    """
    counts, hits = _sums_by_interval(X, positive, weights, _interval_bounds(knots))
    share = weights[positive].sum() / weights.sum()
    with np.errstate(all="ignore"):
        # Half a row is subtracted: a single positive row in a rare interval proves nothing.
        apart = np.maximum(np.abs(hits - counts * share) - 0.5, 0.0)
        parts = apart**2 / (counts * share * (1 - share))
    n_free = np.count_nonzero(counts, axis=1) - 1
    excess = np.nansum(parts, axis=1) - n_free
    is_relevant, varies = excess > LEAST_DEVIATIONS * np.sqrt(2 * n_free), n_free > 0
    n_relevant, n_others = np.count_nonzero(is_relevant), np.count_nonzero(varies & ~is_relevant)
    if not n_relevant or n_others <= IRRELEVANT_PART * n_relevant:
        return np.ones(len(is_relevant))
    small = math.sqrt(IRRELEVANT_PART * n_relevant / n_others)
    found = np.where(is_relevant, 1.0, small)
    return found / np.sqrt(np.mean(found[varies] ** 2))


def _interval_bounds(knots: np.ndarray) -> np.ndarray:
    """Return the bounds between intervals: some of the distinct knots of each feature, or all."""
    n_distinct = 1 + np.count_nonzero(np.diff(knots, axis=0) > 0, axis=0)
    places = np.arange(1, _N_INTERVALS)[:, None] * n_distinct // _N_INTERVALS
    # The lowest knot is often that of very many rows. It gets an interval of its own.
    return np.take_along_axis(knots, np.clip(places, 1, len(knots) - 1), axis=0)


@compiled
def _sums_by_interval(X, positive, weights, bounds):
    """Return the weight of all and of the positive rows in each interval, a row per feature."""
    n_features, n_bounds = bounds.shape[1], len(bounds)
    sums = np.zeros((2, n_features, n_bounds + 1))
    for i in range(len(X)):
        for j in range(n_features):
            interval = 0
            for k in range(n_bounds):
                interval += bounds[k, j] <= X[i, j]
            sums[0, j, interval] += weights[i]
            sums[1, j, interval] += weights[i] * positive[i]
    return sums
