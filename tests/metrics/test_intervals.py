"""The interval of the AUC against its definition and simulations."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from properties import quick
from scipy.special import expit, logit
from scipy.stats import t
from scored_rows import (
    scored_rows,
    slow_auc,
    slow_placements,
)

from skauc.exceptions import InvalidParameterError
from skauc.metrics import (
    auc,
    auc_interval,
    average_precision_interval,
    partial_auc_interval,
)
from skauc.metrics.intervals import auc_drop


@quick
@given(scored_rows())
def test_standard_error_is_that_of_the_structural_components(rows):
    y, scores, _ = rows
    assume(1 < y.sum() < len(y) - 1)
    positives, negatives = slow_placements(y, scores, np.ones(len(y)))
    variance = positives.var(ddof=1) / len(positives) + negatives.var(ddof=1) / len(negatives)
    interval = auc_interval(y, scores)
    assert_allclose(interval.standard_error**2, variance, rtol=1e-10, atol=1e-15)
    assert interval.auc == auc(y, scores)


def test_weighted_standard_error_is_the_linearised_one(noisy):
    y, scores, weights = noisy
    estimate = slow_auc(*noisy)
    variance = 0
    for code, placements in zip((1, 0), slow_placements(*noisy), strict=True):
        side = weights[y == code]
        squares = (side * (placements - estimate)) ** 2
        variance += squares.sum() / side.sum() ** 2 * len(side) / (len(side) - 1)
    for scale in (1, 1000):
        interval = auc_interval(y, scores, sample_weight=scale * weights)
        assert_allclose(interval.standard_error, np.sqrt(variance), rtol=1e-10)
        assert_allclose(interval.auc, estimate)


def test_weighted_standard_error_is_the_spread_of_samples():
    rng = np.random.default_rng(2)
    estimates, standard_errors = [], []
    for _ in range(300):
        y = np.repeat([1, 0], [60, 240])
        scores = rng.normal(size=300) + y
        # Weights that go with the scores, as sampling weights do.
        interval = auc_interval(y, scores, sample_weight=rng.exponential(1 + (scores > 1)))
        estimates.append(interval.auc)
        standard_errors.append(interval.standard_error)
    assert_allclose(np.mean(standard_errors), np.std(estimates), rtol=0.12)


@quick
@given(scored_rows(), st.floats(0.5, 0.999))
def test_limits_enclose_the_estimate_and_stay_in_range(rows, confidence_level):
    y, scores, weights = rows
    narrow = auc_interval(y, scores, sample_weight=weights, confidence_level=confidence_level / 2)
    wide = auc_interval(y, scores, sample_weight=weights, confidence_level=confidence_level)
    limits = [0, wide.low, narrow.low, narrow.auc, narrow.high, wide.high, 1]
    assert (np.diff(limits) >= -1e-12).all()
    assert wide.low < wide.high


@quick
@given(scored_rows())
def test_turning_the_scores_round_mirrors_the_interval(rows):
    y, scores, weights = rows
    up = auc_interval(y, scores, sample_weight=weights)
    down = auc_interval(y, -scores, sample_weight=weights)
    assert_allclose([down.low, down.high], [1 - up.high, 1 - up.low], atol=1e-9)


def t_quantile(y, scores, level=0.95):
    """Return the quantile of Student's t with the degrees of freedom of Welch's test."""
    sides = slow_placements(y, scores, np.ones(len(y)))
    terms = np.array([side.var(ddof=1) / len(side) for side in sides])
    freedoms = np.array([len(side) - 1 for side in sides])
    return t.ppf((1 + level) / 2, terms.sum() ** 2 / np.sum(terms**2 / freedoms))


@quick
@given(scored_rows(), st.floats(0.5, 0.999))
def test_limits_are_those_of_student_on_the_logit_scale(rows, level):
    y, scores, _ = rows
    assume(1 < y.sum() < len(y) - 1)
    interval = auc_interval(y, scores, confidence_level=level)
    assume(interval.standard_error > 0)
    error = interval.standard_error / (interval.auc * (1 - interval.auc))
    margin = t_quantile(y, scores, level) * error
    expected = expit(logit(interval.auc) + np.array([-margin, margin]))
    assert_allclose([interval.low, interval.high], expected, rtol=1e-6, atol=1e-12)


def test_few_rows_that_count_are_as_uncertain_as_few_rows():
    """Eight of ten positive rows have next to no weight: their degrees of freedom do not count."""
    y, scores = np.repeat([0, 1], [40, 10]), np.r_[np.arange(40), 35.5, 20.5, np.arange(8)]
    weights = np.r_[np.ones(42), np.full(8, 1e-9)]
    few = auc_interval(y[:42], scores[:42])
    weighted = auc_interval(y, scores, sample_weight=weights)
    # The factor p / (p - 1) of the variance is 10 / 9 instead of 2.
    assert weighted.standard_error < few.standard_error
    error = weighted.standard_error / (weighted.auc * (1 - weighted.auc))
    assert (logit(weighted.auc) - logit(weighted.low)) / error > 5  # ten rows: 2.3


@pytest.mark.parametrize(("n_positive", "least"), [(2, 0.8), (3, 0.86), (5, 0.88)])
def test_interval_covers_the_truth_with_few_positives(n_positive, least):
    """With normal quantiles, it would cover an AUC of 0.84 in 70, 79 and 84 % of the samples."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [n_positive, 250])
    true_auc, covered = 0.8389, 0
    for _ in range(1000):
        interval = auc_interval(y, rng.normal(size=len(y)) + 1.4 * y)
        covered += interval.low <= true_auc <= interval.high
    assert covered / 1000 >= least


def test_limits_of_many_rows_are_normal():
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 4 == 0
    interval = auc_interval(y, rng.normal(size=4000) + y)
    error = interval.standard_error / (interval.auc * (1 - interval.auc))
    expected = expit(logit(interval.auc) + 1.959964 * error * np.array([-1, 1]))
    assert_allclose([interval.low, interval.high], expected, atol=1e-4)


@pytest.mark.parametrize(("true_auc", "shift"), [(0.5, 0), (0.7602, 1), (0.9214, 2)])
def test_interval_covers_the_truth(true_auc, shift):
    rng = np.random.default_rng(3)
    y = np.repeat([1, 0], [25, 75])
    covered = 0
    for _ in range(1000):
        interval = auc_interval(y, rng.normal(size=100) + shift * y, confidence_level=0.9)
        covered += interval.low <= true_auc <= interval.high
    assert 870 <= covered <= 935


def test_perfect_ranking_has_the_limit_of_clopper_and_pearson():
    y, scores = np.repeat([0, 1], [40, 10]), np.arange(50)
    up, down = auc_interval(y, scores), auc_interval(y, -scores)
    assert (up.auc, up.high, up.standard_error) == (1, 1, 0)
    assert_allclose(up.low, 0.025**0.1)
    assert (down.auc, down.low, down.standard_error) == (0, 0, 0)
    assert_allclose(down.high, 1 - 0.025**0.1)


def test_limit_of_a_perfect_ranking_is_conservative():
    """Whatever the AUC, samples that rank perfectly by luck and exclude it are rare."""
    rng = np.random.default_rng(4)
    y = np.repeat([1, 0], [4, 8])
    excluded = 0
    for _ in range(1000):
        interval = auc_interval(y, rng.normal(size=12) + 0.2 * y)  # AUC 0.556
        excluded += interval.auc == 1 and interval.low > 0.556
    assert excluded <= 25


def test_perfect_ranking_with_weights_counts_effective_rows():
    y, scores = np.repeat([0, 1], [40, 10]), np.arange(50)
    weights = np.where(y == 1, 7.0, 1.0)
    assert_allclose(auc_interval(y, scores, sample_weight=weights).low, 0.025**0.1)
    weights[-9:] = 1e-6  # in effect one positive
    assert_allclose(auc_interval(y, scores, sample_weight=weights).low, 0.025, rtol=1e-4)


def test_all_scores_equal_leaves_room_on_both_sides():
    interval = auc_interval([0] * 30 + [1] * 5, np.zeros(35))
    assert (interval.auc, interval.standard_error) == (0.5, 0)
    assert_allclose([interval.low, interval.high], [0.025**0.2 / 2, 1 - 0.025**0.2 / 2])


def test_one_positive_takes_the_largest_variance():
    y, scores = [1, 0, 0, 0, 0], [3, 1, 2, 4, 5]
    interval = auc_interval(y, scores)
    assert_allclose(interval.standard_error**2, 0.25 + (1 / 3) / 4)
    assert 0 < interval.low < 0.1
    assert 0.9 < interval.high < 1


@pytest.mark.parametrize("value", [0, 1, 95, None])
def test_confidence_level_must_be_a_fraction(value):
    message = f"`confidence_level` must be .*; got {value!r}. Use 0.95 for a 95 % interval."
    with pytest.raises(InvalidParameterError, match=message):
        auc_interval([0, 1], [1, 2], confidence_level=value)


# The drop of the AUC


def test_drop_is_the_difference_of_the_aucs(noisy):
    y, scores, weights = noisy
    rng = np.random.default_rng(1)
    others = [scores + rng.normal(size=300) for _ in range(3)]
    drop = auc_drop(scores, others, y == 1, weights)
    aucs = [auc(y, other, sample_weight=weights) for other in others]
    expected = auc(y, scores, sample_weight=weights) - np.mean(aucs)
    assert drop.drop == pytest.approx(expected, abs=1e-12)
    assert drop.low < drop.drop < drop.high


def test_drop_to_constant_scores_has_the_standard_error_of_the_auc(noisy):
    y, scores, _ = noisy
    drop = auc_drop(scores, [np.zeros(300)], y == 1, np.ones(300))
    interval = auc_interval(y, scores)
    assert drop.drop == pytest.approx(interval.auc - 0.5)
    quantile = t_quantile(y, scores)
    assert quantile > 1.97
    assert drop.high - drop.drop == pytest.approx(quantile * interval.standard_error, rel=1e-6)


def test_same_scores_have_no_drop_and_a_single_row_has_a_wide_one(noisy):
    """The mean over three or five rankings is not exact."""
    y, scores, weights = noisy
    for n_others in (1, 2, 3, 5):
        for seed in range(20):
            order = np.random.default_rng(seed).permutation(len(y))
            same = auc_drop(scores[order], [scores[order]] * n_others, y == 1, weights)
            assert (same.drop, same.low, same.high) == (0, 0, 0)
    positive = np.arange(300) == 0
    single = auc_drop(scores, [scores[::-1]], positive, weights)
    assert (single.low, single.high) == (-1, 1)


def test_drop_limits_cover_the_truth():
    """The true drop of normal scores with shift 2 to those with shift 1 is 0.9214 - 0.7602."""
    rng = np.random.default_rng(0)
    positive = np.arange(400) < 80
    n_covered = 0
    for _ in range(300):
        noise = rng.normal(size=400)
        drop = auc_drop(noise + 2 * positive, [noise + positive], positive, np.ones(400))
        n_covered += drop.low <= 0.9214 - 0.7602 <= drop.high
    assert 0.91 <= n_covered / 300 <= 0.98


@pytest.mark.parametrize("unit", [1e-300, 1e-170, 1e300])
def test_the_unit_of_the_weights_does_not_matter(noisy, unit):
    y, scores, weights = noisy
    huge = unit * weights
    for ranking in (scores, y):  # all pairs agree in the second one
        interval = auc_interval(y, ranking, sample_weight=weights)
        again = auc_interval(y, ranking, sample_weight=huge)
        assert (again.low, again.high) == pytest.approx((interval.low, interval.high))
        expected = average_precision_interval(y, ranking, sample_weight=weights)
        bootstrapped = average_precision_interval(y, ranking, sample_weight=huge)
        assert bootstrapped.low == pytest.approx(expected.low)
        expected = partial_auc_interval(y, ranking, max_fpr=0.3, sample_weight=weights)
        bootstrapped = partial_auc_interval(y, ranking, max_fpr=0.3, sample_weight=huge)
        assert bootstrapped.high == pytest.approx(expected.high)
