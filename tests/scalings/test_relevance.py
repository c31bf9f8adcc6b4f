"""Which features count as relevant, against a test of independence."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2_contingency
from skewed_rows import training

from skauc import SparseKernelAUC
from skauc.scalings import SCREENED, RankScaling, make_scaling
from skauc.scalings.relevance import IRRELEVANT_PART, LEAST_DEVIATIONS, relevance_weights


def with_few_relevant(n_rows=2_000, n_features=12, seed=0):
    """Return rows of which the first two features are relevant, one of them by its distance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    X[:, 2] = rng.random(n_rows) < 0.05
    return X, X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n_rows) > 1


def screened_weights(X, y, weights=None):
    """Return the weights of the features, as the maps have them."""
    data = training(X, y, weights)
    return make_scaling("normal", data).deviation / make_scaling(SCREENED, data).deviation


def test_features_that_seem_irrelevant_weigh_less():
    X, y = with_few_relevant()
    found = screened_weights(X, y)
    assert_allclose(found[:2], found[0])
    assert_allclose(found[2:], found[0] * np.sqrt(IRRELEVANT_PART * 2 / 10))
    assert_allclose(np.mean(found**2), 1.0)


def test_constant_features_do_not_count():
    X, y = with_few_relevant()
    more = np.hstack((X, np.ones((len(X), 50))))
    assert_allclose(screened_weights(more, y)[: X.shape[1]], screened_weights(X, y))


def relevance_by_table(column, y):
    """Return by how many deviations a table of counts differs from independence."""
    table = np.array([np.bincount(column[y == label], minlength=8) for label in (False, True)])
    table = table[:, table.any(axis=0)]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(y)
    statistic = (np.maximum(np.abs(table - expected) - 0.5, 0) ** 2 / expected).sum()
    n_free = table.shape[1] - 1
    assert n_free == chi2_contingency(table, correction=False)[2]
    return (statistic - n_free) / np.sqrt(2 * n_free)


@pytest.mark.parametrize("seed", range(5))
def test_relevance_is_a_test_of_independence(seed):
    """On few levels, which are the intervals, with relations of all strengths."""
    rng = np.random.default_rng(seed)
    n_rows = 400
    y = rng.random(n_rows) < 0.3
    X = np.stack([rng.integers(0, 2 + j % 7, n_rows) for j in range(30)], axis=1)
    for j in range(15):
        moved = y & (rng.random(n_rows) < 0.05 * j)
        X[moved, j] = 0
    expected = [relevance_by_table(column, y) > LEAST_DEVIATIONS for column in X.T]
    assert 0 < sum(expected) < len(expected)
    knots = RankScaling.of(training(X, y), "rank").knots
    weights = relevance_weights(X.astype(float), y, np.ones(n_rows), knots)
    assert_array_equal(weights == weights.max(), expected)


def test_middle_levels_and_zeros_are_seen():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 3, 2_000)
    amount = np.where(rng.random(2_000) < 0.9, 0.0, rng.random(2_000))
    noise = rng.normal(size=(2_000, 10))
    y = rng.random(2_000) < np.array([0.1, 0.9, 0.5])[level]
    found = screened_weights(np.column_stack((level, noise)), y)
    assert np.all(found[0] > 2 * found[1:])
    y = rng.random(2_000) < np.where(amount > 0, 0.7, 0.4)
    found = screened_weights(np.column_stack((amount, noise)), y)
    assert np.all(found[0] > 2 * found[1:])


def test_a_single_positive_row_proves_nothing():
    rng = np.random.default_rng(0)
    y = np.arange(20_000) < 200
    rare = np.stack([rng.permutation(np.arange(20_000) < 8) for _ in range(300)], axis=1)
    X = np.column_stack((y + rng.normal(size=20_000), rare))
    weights = screened_weights(X, y)
    assert np.mean(weights[1:] == weights[0]) < 0.02


def test_without_a_relevant_feature_all_weigh_the_same():
    X = np.random.default_rng(0).normal(size=(500, 8))
    assert_array_equal(screened_weights(X, np.arange(500) % 2 == 0), np.ones(8))


def test_a_few_irrelevant_features_keep_their_weight():
    """They weigh no more than they may, all together."""
    X, y = with_few_relevant()
    columns = [0, 1, 0, 1, 5]
    assert_array_equal(screened_weights(X[:, columns], y), np.ones(5))


def test_weights_are_repetitions_for_relevance():
    X, y = with_few_relevant(300)
    times = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = screened_weights(X, y, times.astype(float))
    repeated = screened_weights(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert 0 < np.count_nonzero(weighted < 1) < X.shape[1]
    assert_allclose(weighted, repeated)


def test_many_irrelevant_features_hide_fewer_others():
    rng = np.random.default_rng(0)
    X, y = with_few_relevant(1_200)
    X = np.hstack((X[:, :2], rng.normal(size=(len(X), 300))))
    half = slice(600), slice(600, None)
    scores = {
        word: SparseKernelAUC(16, scaling=word, random_state=0)
        .fit(X[half[0]], y[half[0]])
        .score(X[half[1]], y[half[1]])
        for word in ("normal", SCREENED)
    }
    assert scores[SCREENED] > scores["normal"] + 0.03
