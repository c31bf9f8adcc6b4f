"""The paired test of two AUCs."""

import numpy as np
import pytest

from skauc.metrics import auc, delong_test


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


def test_equal_rankings_do_not_differ(noisy):
    y, scores, weights = noisy
    test = delong_test(y, scores, 2 * scores, sample_weight=weights)
    assert (test.difference, test.p_value, test.low, test.high) == (0, 1, 0, 0)
    with pytest.raises(ValueError, match="`y_score` must"):
        delong_test(y, scores, scores[:-1])
