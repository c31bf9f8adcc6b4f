"""Rows with scores for tests of metrics, and metrics computed by brute force."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import roc_curve


def slow_placements(y, scores, weights):
    """Placements by comparing all p * n pairs: of the positives, then of the negatives."""
    difference = scores[y == 1][:, None] - scores[y == 0][None, :]
    wins = (difference > 0) + 0.5 * (difference == 0)
    positive_weights, negative_weights = weights[y == 1], weights[y == 0]
    return (
        wins @ negative_weights / negative_weights.sum(),
        positive_weights @ wins / positive_weights.sum(),
    )


def slow_auc(y, scores, weights):
    return np.average(slow_placements(y, scores, weights)[0], weights=weights[y == 1])


def slow_partial_auc(y, scores, weights, max_fpr, min_tpr):
    """The area by summing a million thin rectangles."""
    fpr, tpr, _ = roc_curve(y, scores, sample_weight=weights)
    edges = np.linspace(0, max_fpr, 1_000_001)
    middles = (edges[1:] + edges[:-1]) / 2
    return max_fpr * np.mean(np.maximum(np.interp(middles, fpr, tpr) - min_tpr, 0))


any_weights = st.floats(0.01, 100)
whole_weights = st.integers(0, 4).map(float)


@st.composite
def scored_rows(draw, weights=any_weights):
    """Two to thirty rows with many ties, both classes present."""
    n_rows = draw(st.integers(2, 30))
    y = draw(hnp.arrays(np.int64, n_rows, elements=st.integers(0, 1)))
    assume(0 < y.sum() < n_rows)
    scores = draw(hnp.arrays(np.float64, n_rows, elements=st.integers(-4, 4).map(float)))
    return y, scores, draw(hnp.arrays(np.float64, n_rows, elements=weights))


def repeated(y, scores, weights):
    times = weights.astype(int)
    return np.repeat(y, times), np.repeat(scores, times)
