"""Counts at every threshold, against scikit-learn's confusion matrix and exhaustive search."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import confusion_matrix, roc_curve

from skauc.metrics import (
    auc_interval,
    average_precision_interval,
    cross_fitted_probabilities,
    operating_points,
    partial_auc_interval,
    precision_at_k,
    recall_at_k,
    score_histogram,
)
from skauc.metrics.thresholds import shortest_decimals


def make_rows(n_rows=300, seed=0, decimals=2, weighted=False):
    rng = np.random.default_rng(seed)
    positive = rng.random(n_rows) < 0.2
    scores = np.round(rng.normal(size=n_rows) + positive, decimals)
    weights = rng.uniform(0.5, 2, n_rows) if weighted else np.ones(n_rows)
    return scores, positive, weights


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_those_of_the_confusion_matrix_at_the_printed_threshold(weighted):
    scores, positive, weights = make_rows(weighted=weighted)
    points = operating_points(scores, positive, weights)
    assert len(points) == len(np.unique(scores)) + 1 == points.n_distinct
    for i, threshold in enumerate(points.thresholds):
        as_printed = float(repr(float(threshold)))
        (tn, fp), (fn, tp) = confusion_matrix(positive, scores >= as_printed, sample_weight=weights)
        assert_allclose(points.true_positives[i], tp, atol=1e-9)
        assert_allclose(points.false_positives[i], fp, atol=1e-9)
        assert_allclose(points.n_positive - points.true_positives[i], fn, atol=1e-9)
        assert_allclose(points.n_negative - points.false_positives[i], tn, atol=1e-9)


def test_rates_are_those_of_the_roc_curve():
    scores, positive, weights = make_rows(weighted=True)
    points = operating_points(scores, positive, weights)
    fpr, tpr, _ = roc_curve(positive, scores, sample_weight=weights, drop_intermediate=False)
    assert_allclose(points.false_positive_rate, fpr)
    assert_allclose(points.recall, tpr)
    assert_allclose(points.balanced_accuracy, (tpr + 1 - fpr) / 2)


def test_precision_is_one_where_nothing_is_flagged():
    points = operating_points(*make_rows())
    assert points.precision[0] == 1
    assert_allclose(
        points.precision[1:],
        points.true_positives[1:] / (points.true_positives + points.false_positives)[1:],
    )


def test_the_effective_size_is_that_of_kish():
    scores, positive, weights = make_rows(weighted=True)
    points = operating_points(scores, positive, weights)
    expected = weights[positive].sum() ** 2 / np.sum(weights[positive] ** 2)
    assert_allclose(points.n_effective[0], expected)
    assert operating_points(scores, positive, np.ones(300)).n_effective == (
        positive.sum(),
        (~positive).sum(),
    )


@given(
    hnp.arrays(float, st.integers(1, 30), elements=st.floats(-1e6, 1e6)),
    st.floats(1e-9, 1e3),
)
def test_the_shortest_decimal_lies_in_its_interval(high, width):
    low = high - width
    inside = low < high  # a width may be lost in rounding
    decimals = shortest_decimals(low[inside], high[inside])
    assert np.all((low[inside] < decimals) & (decimals <= high[inside]))


def test_decimals_are_short():
    low, high = np.array([0.1234, -0.51, 1.9]), np.array([0.1371, 0.26, 2.0])
    assert_array_equal(shortest_decimals(low, high), [0.13, 0.0, 2.0])
    assert not np.signbit(shortest_decimals(np.array([-0.5]), np.array([0.4]))[0])


def test_neighbouring_floats_are_still_told_apart():
    scores = np.array([0.1, np.nextafter(0.1, 1), 1 / 3])
    points = operating_points(scores, np.array([False, True, True]), np.ones(3))
    assert_array_equal(points.true_positives, [0, 1, 2, 2])
    for i, threshold in enumerate(points.thresholds):
        assert np.count_nonzero(scores >= threshold) == i


def test_thinning_keeps_the_best_for_any_costs():
    points = operating_points(*make_rows(20_000, decimals=9))
    kept = points.thinned(500)
    assert len(kept) <= 500
    assert kept.n_distinct == len(points) > 15_000
    for miss in (0.1, 1, 3.3, 10, 200):
        assert kept.cost(1, miss).min() == points.cost(1, miss).min()
    assert kept.balanced_accuracy.max() == points.balanced_accuracy.max()


def test_thinning_leaves_no_wide_gap_in_either_rate():
    kept = operating_points(*make_rows(20_000, decimals=9)).thinned(500)
    assert np.diff(kept.recall).max() < 0.02
    assert np.diff(kept.false_positive_rate).max() < 0.02
    assert_array_equal(kept.recall[[0, -1]], [0, 1])


def test_thinning_keeps_what_it_is_told_to():
    points = operating_points(*make_rows(20_000, decimals=9))
    assert points.thresholds[4321] in points.thinned(100, keep=(4321,)).thresholds
    assert points.thinned(10**6) is points


def test_entries_for_a_recall_a_precision_and_a_cost():
    scores = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    positive = np.array([True, False, True, True, False])
    points = operating_points(scores, positive, np.ones(5))
    assert points.at_recall(0.6) == 3  # two of three are flagged among the first three
    assert points.at_recall(1.0) == 4
    assert points.at_precision(0.75) == 4
    assert points.at_precision(1.0) == 1
    assert points.at_least_cost(1, 10) == 4
    assert points.at_least_cost(10, 1) == 1
    assert points.at_least_cost(1e308, 1e307) == 1  # without an overflow


def test_no_entry_for_a_precision_that_is_not_reached():
    points = operating_points(np.array([2.0, 1.0]), np.array([False, True]), np.ones(2))
    assert points.at_precision(0.9) is None


GREATEST = np.finfo(float).max
HUGE = {
    "both signs": np.linspace(-1, 1, 12) * 1.7e308,
    "one sign": np.linspace(0.9, 1, 12) * 1.7e308,
    "the greatest": np.array([-GREATEST, GREATEST] * 6),
    "constant": np.full(12, GREATEST),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", HUGE)
def test_huge_scores_do_not_overflow(name):
    scores, positive = HUGE[name], np.arange(12) % 3 == 0
    ranks = np.unique(scores, return_inverse=True)[1].astype(float)
    points = operating_points(scores, positive, np.ones(12))
    expected = operating_points(ranks, positive, np.ones(12))
    assert_array_equal(points.true_positives, expected.true_positives)
    flagged = [np.count_nonzero(scores >= threshold) for threshold in points.thresholds]
    assert_array_equal(flagged, points.true_positives + points.false_positives)
    assert np.isfinite(points.thresholds[1:]).all()
    for metric in (precision_at_k, recall_at_k):
        assert metric(positive, scores, 5) == metric(positive, ranks, 5)
    partial_interval = partial(partial_auc_interval, max_fpr=0.3)
    for interval in (auc_interval, average_precision_interval, partial_interval):
        assert interval(positive, scores) == interval(positive, ranks)
    histogram = score_histogram(scores, positive, np.ones(12))
    assert np.isfinite(histogram.edges).all()
    assert (histogram.positives.sum(), histogram.negatives.sum()) == pytest.approx((1, 1))
    assert_allclose(
        cross_fitted_probabilities(scores, positive, np.ones(12)),
        cross_fitted_probabilities(scores / GREATEST, positive, np.ones(12)),
    )
