"""OPAUC: statistics against NumPy's, steps against the formula, sketches against their bound."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from toys import make_toy

from skauc import OPAUC
from skauc.metrics import auc

TOY = make_toy(150)
SHIFTED = TOY.X + np.array([1e4, -1e4, 0.0])


def slow_gradient(w, x, y, others, lam):
    """The gradient of the mean square loss over all pairs, pair by pair."""
    pairs = [-y * (1 - y * w @ (x - other)) * (x - other) for other in others]
    return lam * w + np.mean(pairs, axis=0)


def slow_iterates(X, positive, eta, lam):
    """Yield w after each row."""
    w, past = np.zeros(X.shape[1]), {1: [], -1: []}
    for x, y in zip(X, np.where(positive, 1, -1), strict=True):
        past[y].append(x)
        others = np.array(past[-y])
        if len(others):
            spread = np.mean(np.sum((others - others.mean(axis=0)) ** 2, axis=1))
            longest = 1 / (lam + np.sum((x - others.mean(axis=0)) ** 2) + spread)
            w = w - min(eta, longest) * slow_gradient(w, x, y, others, lam)
        yield w


def closed_gradient(w, x, y, others, lam):
    """The formula of the paper, with NumPy's covariance."""
    c, G = others.mean(axis=0), np.cov(others.T, bias=True)
    return lam * w - y * (x - c) + np.outer(x - c, x - c) @ w + G @ w


def test_the_formula_is_the_gradient_over_all_pairs():
    w, others = np.array([0.3, -1.0, 2.0]), TOY.X[:40]
    for y in (1, -1):
        expected = slow_gradient(w, TOY.X[50], y, others, 0.1)
        assert_allclose(closed_gradient(w, TOY.X[50], y, others, 0.1), expected, rtol=1e-12)


@pytest.mark.parametrize("eta", [0.005, 10.0], ids=["the paper's step", "the longest step"])
@pytest.mark.parametrize("rank", [None, 3])
def test_every_step_is_the_formula_s(eta, rank):
    options = {"rank": rank, "eta": eta, "lam": 0.01}
    last, mean = (OPAUC(average=average, **options) for average in (False, True))
    total = np.zeros(3)
    for t, w in enumerate(slow_iterates(TOY.X, TOY.positive, eta, 0.01)):
        row = TOY.X[t : t + 1], TOY.positive[t : t + 1], [False, True]
        total += w
        assert_allclose(last.partial_fit(*row).coef_[0], w, rtol=1e-10, atol=1e-10)
        assert_allclose(mean.partial_fit(*row).coef_[0], total / (t + 1), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("X", [TOY.X, SHIFTED], ids=["centred", "far away"])
def test_statistics_are_numpy_s(X):
    state = OPAUC().partial_fit(X, TOY.positive, [False, True])._state
    for k, rows in enumerate((X[~TOY.positive], X[TOY.positive])):
        covariance = np.cov(rows.T, bias=True)
        assert state.n_seen[k] == len(rows)
        assert_allclose(state.means[k], rows.mean(axis=0), rtol=1e-12)
        assert_allclose(state.scatter[k] / len(rows), covariance, rtol=1e-9, atol=1e-9)
        assert_allclose(state.traces[k] / len(rows), np.trace(covariance), rtol=1e-9)


@pytest.mark.parametrize("n_features", [1, 4, 30])
@pytest.mark.parametrize("more", [0, 5])
def test_full_rank_is_the_full_version(n_features, more):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, n_features)) @ rng.normal(size=(n_features, n_features))
    y = X[:, 0] + rng.normal(size=400) > 0.5
    full = OPAUC(average=False).partial_fit(X, y, [False, True])
    sketched = OPAUC(n_features + more, average=False).partial_fit(X, y, [False, True])
    assert_allclose(sketched.coef_, full.coef_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("rank", [1, 3, 8])
def test_the_sketch_keeps_its_guarantee(rank):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 12)) * np.linspace(3, 0.2, 12)
    y = rng.random(500) < 0.3
    state = OPAUC(rank).partial_fit(X, y, [False, True])._state
    for k, rows in enumerate((X[~y], X[y])):
        scatter = np.cov(rows.T, bias=True) * len(rows)
        error = np.linalg.eigvalsh(scatter - state.sketch[k].T @ state.sketch[k])
        squares = np.linalg.eigvalsh(scatter)[::-1]
        bounds = [squares[k:].sum() / (rank + 1 - k) for k in range(rank + 1)]
        assert error.min() > -1e-9 * squares[0]
        assert error.max() <= min(bounds) * (1 + 1e-9)
        assert state.n_rows[k] <= 2 * rank


def test_a_low_rank_ranks_nearly_as_well():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3000, 40)) * np.linspace(2, 0.05, 40)
    y = X[:, 0] - X[:, 3] + rng.normal(size=3000) > 1
    scores = {
        rank: OPAUC(rank).partial_fit(X[:2000], y[:2000], [False, True]).decision_function(X[2000:])
        for rank in (None, 5)
    }
    assert auc(y[2000:], scores[5]) > auc(y[2000:], scores[None]) - 0.01


def test_no_scale_of_the_features_blows_it_up():
    for scale in (1e-100, 1e-3, 1e3, 1e100):
        model = OPAUC(eta=1e6).fit(TOY.X * scale, TOY.positive)
        assert np.isfinite(model.coef_).all()
