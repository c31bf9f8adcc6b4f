"""The paired test of two AUCs."""

import numpy as np
import pytest

from skauc.metrics import auc, delong_test
from skauc.metrics.intervals import auc_drop


def delong_by_definition(y, a, b):
    """Return the difference and its variance from the p x n matrix of pairs."""
    pairs = []
    for scores in (a, b):
        above, below = scores[y == 1][:, None], scores[y == 0][None, :]
        pairs.append((above > below) + 0.5 * (above == below))
    difference = pairs[0] - pairs[1]
    rows, columns = difference.mean(axis=1), difference.mean(axis=0)
    variance = rows.var(ddof=1) / len(rows) + columns.var(ddof=1) / len(columns)
    return difference.mean(), variance


def test_it_follows_the_definition(noisy):
    y, scores, _ = noisy
    other = np.round(scores + np.random.default_rng(1).normal(size=len(y)), 1)
    test = delong_test(y, scores, other)
    difference, variance = delong_by_definition(y, scores, other)
    assert test.difference == pytest.approx(difference, abs=1e-12)
    assert test.standard_error == pytest.approx(np.sqrt(variance), abs=1e-12)
    assert (test.auc_a, test.auc_b) == (auc(y, scores), auc(y, other))
    assert (test.p_value < 0.05) == (test.low > 0 or test.high < 0)


def test_it_rejects_as_often_as_it_says():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3 == 0
    signal = rng.normal(size=(400, 120)) + y
    noise = rng.normal(size=(2, 400, 120))
    p_values = [
        delong_test(y, base + one, base + two).p_value
        for base, one, two in zip(signal, *noise, strict=True)
    ]
    assert 0.02 < np.mean(np.array(p_values) < 0.05) < 0.09


@pytest.mark.parametrize(("n_positive", "most"), [(2, 0.14), (3, 0.08), (5, 0.08)])
def test_it_seldom_rejects_more_often_than_it_says_with_few_positives(n_positive, most):
    """With normal quantiles, it would reject in 24, 15 and 11 % of the samples."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [n_positive, 250])
    rejected = 0
    for _ in range(500):
        base = rng.normal(size=len(y)) + y
        test = delong_test(y, *(base + rng.normal(size=(2, len(y)))))
        assert (test.p_value < 0.05) == (test.low > 0 or test.high < 0)
        rejected += test.p_value < 0.05
    assert rejected / 500 <= most


def test_limits_touch_0_at_the_p_value(noisy):
    y, scores, _ = noisy
    other = scores + 0.3 * np.random.default_rng(1).normal(size=len(y))
    few = np.r_[np.flatnonzero(y == 1)[:6], np.flatnonzero(y == 0)[:30]]
    rows = y[few], scores[few], other[few]
    test = delong_test(*rows, confidence_level=1 - delong_test(*rows).p_value)
    assert min(abs(test.low), abs(test.high)) == pytest.approx(0, abs=1e-9)


def test_equal_rankings_do_not_differ(noisy):
    y, scores, weights = noisy
    test = delong_test(y, scores, 2 * scores, sample_weight=weights)
    assert (test.difference, test.p_value, test.low, test.high) == (0, 1, 0, 0)
    with pytest.raises(ValueError, match="`y_score` must"):
        delong_test(y, scores, scores[:-1])


@pytest.mark.parametrize("n_each", [2, 5, 50, 5000])
def test_pairs_that_all_agree_leave_doubt(n_each):
    y = np.repeat([0, 1], n_each)
    perfect, constant = np.arange(2 * n_each), np.zeros(2 * n_each)
    for other, difference in ((constant, 0.5), (-perfect, 1.0)):
        test = delong_test(y, perfect, other)
        assert test.difference == difference
        assert test.p_value == pytest.approx(min(1, 2 * (1 + difference) ** -n_each))
        assert test.low < difference <= test.high <= 1
        assert (test.low > 0) == (test.p_value < 0.05)
        swapped = delong_test(y, other, perfect)
        assert (swapped.low, swapped.high) == (-test.high, -test.low)
        assert swapped.p_value == test.p_value


def test_limits_of_pairs_that_all_agree_touch_0_at_the_p_value():
    y, perfect, constant = [0, 0, 1, 1], [1, 2, 3, 4], [1, 1, 1, 1]
    test = delong_test(y, perfect, constant)
    assert test.p_value == pytest.approx(8 / 9)
    level = 1 - test.p_value
    assert delong_test(y, perfect, constant, confidence_level=level).low == pytest.approx(0)
    drop = auc_drop(np.array(perfect), [np.array(constant)], np.array(y) == 1, np.ones(4))
    assert (drop.low, drop.high) == (test.low, test.high)


def test_pairs_that_all_agree_with_weights():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 10)
    a, b = np.where(y, 2, 1), np.ones(20)
    weights = rng.random(20)
    test = delong_test(y, a, b, sample_weight=weights)
    n_pairs = min(
        weights[y == each].sum() ** 2 / (weights[y == each] ** 2).sum() for each in (0, 1)
    )
    assert test.p_value == pytest.approx(2 / 1.5**n_pairs)


def test_rounding_errors_are_not_a_standard_error():
    rng = np.random.default_rng(0)
    y = np.array([0, 0, 0, 1, 1])
    # Two negative rows are below the positive rows, then tied. One is tied, then above.
    a, b = np.array([1, 2, 3, 3, 3]), np.array([3, 3, 5, 3, 3])
    for _ in range(50):
        test = delong_test(y, a, b, sample_weight=rng.random(5))
        assert test.difference == pytest.approx(0.5)
        assert test.standard_error == 0
        assert test.p_value > 0.5
