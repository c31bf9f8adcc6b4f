"""The AUC of a single column used as a score."""

from __future__ import annotations

import numpy as np

from skauc.metrics.area import weighted_auc
from skauc.report.columns import Column


def column_auc(column: Column, positive: np.ndarray) -> float:
    """Return the AUC of a column as a score, in the better direction.

    Missing values are ranked below all others and above all others, and the better AUC counts.
    """
    if not column.is_number:
        return _category_auc(column.values, positive)
    missing = np.isnan(column.values)
    finite = np.isfinite(column.values)
    if not finite.any():
        return 0.5
    inside = np.clip(column.values, column.values[finite].min(), column.values[finite].max())
    _, ranks = np.unique(np.where(missing, inside[finite][0], inside), return_inverse=True)
    weights = np.ones(len(positive))
    fillings = (-1, len(ranks)) if missing.any() else (0,)
    aucs = [weighted_auc(np.where(missing, fill, ranks), positive, weights) for fill in fillings]
    return max(max(auc, 1 - auc) for auc in aucs)


def _category_auc(categories: np.ndarray, positive: np.ndarray) -> float:
    """Rank half of the rows by the share of positives of their category in the other half.

    An identifier would rank perfectly on its own rows. Categories that the other half does not
    have get the overall share.
    """
    _, codes = np.unique(categories, return_inverse=True)
    # Every second row of each class, so that both halves have both classes.
    order = np.argsort(positive, kind="stable")
    known, new = order[::2], order[1::2]
    if len(np.unique(positive[new])) < 2:
        return 0.5
    n_seen = np.bincount(codes[known], minlength=codes.max() + 1)
    n_positive = np.bincount(codes[known], positive[known], codes.max() + 1)
    share = (n_positive + positive.mean()) / (n_seen + 1)
    return weighted_auc(share[codes[new]], positive[new], np.ones(len(new)))
