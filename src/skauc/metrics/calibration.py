"""Calibration: compare predicted probabilities with observed frequencies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

# Most rows per class that are used to fit the two coefficients of a logistic map.
_MOST_FITTED = 20_000
_N_FOLDS = 5
# Probability beyond each of two 95 % limits.
_TAIL = 0.025


@dataclass(frozen=True, eq=False)
class CalibrationBins:
    """Rows grouped by their predicted probability.

    Attributes
    ----------
    predicted : ndarray of shape (n_bins,)
        Mean predicted probability of each group.
    observed, low, high : ndarray of shape (n_bins,)
        Share of positive rows in each group, with 95 % limits (Clopper and Pearson).
    n_rows : ndarray of shape (n_bins,)
        Number of rows in each group.
    """

    predicted: np.ndarray
    observed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_rows: np.ndarray


def calibration_bins(
    probabilities: np.ndarray, positive: np.ndarray, weights: np.ndarray, n_bins: int = 10
) -> CalibrationBins:
    """Group the rows by quantiles of their probability, into groups of about equal size."""
    edges = np.unique(np.quantile(probabilities, np.linspace(0, 1, n_bins + 1)[1:-1]))
    group = np.searchsorted(edges, probabilities)
    n_groups = len(edges) + 1
    n_rows = np.bincount(group, minlength=n_groups)
    largest = np.zeros(n_groups)
    np.maximum.at(largest, group, weights)
    weights = weights / largest[group]  # squares of huge weights would overflow
    total, squares, predicted, positives = (
        np.bincount(group, values, n_groups)[n_rows > 0]
        for values in (weights, weights**2, weights * probabilities, weights * positive)
    )
    observed = positives / total
    low, high = share_limits(observed, total**2 / squares)
    return CalibrationBins(predicted / total, observed, low, high, n_rows[n_rows > 0])


def share_limits(shares: ArrayLike, n_rows: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the 95 % limits of Clopper and Pearson for shares in `n_rows` rows each."""
    seen = np.asarray(shares) * n_rows
    unseen = n_rows - seen
    # The beta distribution degenerates at 0 and 1. The limits there are 0 and 1.
    low = np.where(seen > 0, betaincinv(np.maximum(seen, 1e-300), unseen + 1, _TAIL), 0.0)
    high = np.where(unseen > 0, betaincinv(seen + 1, np.maximum(unseen, 1e-300), 1 - _TAIL), 1.0)
    return low, high


def cross_fitted_probabilities(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray
) -> np.ndarray | None:
    """Map scores to probabilities by Platt's logistic map, cross-fitted.

    The map for the rows of a fold is fitted to the other folds. Returns None if a class has a
    single row.
    """
    n_fewest = min(np.count_nonzero(positive), np.count_nonzero(~positive))
    if n_fewest < 2:
        return None
    scores = scores / (np.abs(scores).max() or 1.0)  # squares of huge scores would overflow
    spread = np.std(scores)
    standardised = ((scores - np.mean(scores)) / (spread if spread > 0 else 1.0))[:, None]
    weights = weights / np.mean(weights)
    probabilities = np.empty(len(scores))
    folds = StratifiedKFold(min(_N_FOLDS, n_fewest), shuffle=True, random_state=0)
    for others, held_out in folds.split(standardised, positive):
        fitted, counts = _part_of_each_class(others, positive[others])
        platt = LogisticRegression(C=100.0, solver="newton-cholesky")
        platt.fit(standardised[fitted], positive[fitted], sample_weight=counts * weights[fitted])
        probabilities[held_out] = platt.predict_proba(standardised[held_out])[:, 1]
    return probabilities


def _part_of_each_class(rows: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Thin out a large class. Return the rows, and the number of rows that each stands for."""
    parts, counts = [], []
    for side in (rows[positive], rows[~positive]):
        part = side[:: -(-len(side) // _MOST_FITTED)]
        parts.append(part)
        counts.append(np.full(len(part), len(side) / len(part)))
    return np.concatenate(parts), np.concatenate(counts)
