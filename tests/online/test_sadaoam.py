"""SAdaOAM: each step against its formula, also in the lazy form of the paper."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from toys import make_toy

from skauc import AdaOAM, SAdaOAM

TOY = make_toy(150)


def soft(u, amount):
    return np.sign(u) * np.maximum(0.0, np.abs(u) - amount)


def slow_iterates(X, positive, eta, lam, delta, theta):
    """Yield w after each row."""
    w, squares, past = np.zeros(X.shape[1]), np.zeros(X.shape[1]), {1: [], -1: []}
    for x, y in zip(X, np.where(positive, 1, -1), strict=True):
        past[y].append(x)
        if past[-y]:
            others = np.array(past[-y])
            c, G = others.mean(axis=0), np.cov(others.T, bias=True)
            g = lam * w - y * (x - c) + np.outer(x - c, x - c) @ w + G @ w
            squares += g**2
            H = delta + np.sqrt(squares)
            w = soft(w - eta * g / H, eta * theta / H)
            w = w / max(1.0, np.linalg.norm(w) * np.sqrt(lam))
        yield w


@pytest.mark.parametrize(
    ("eta", "lam", "theta"), [(0.1, 1e-4, 0.01), (0.1, 1e-4, 0.4), (4.0, 9.0, 0.1)]
)
def test_every_step_is_the_formula_s(eta, lam, theta):
    model = SAdaOAM(eta=eta, lam=lam, theta=theta)
    for t, w in enumerate(slow_iterates(TOY.X, TOY.positive, eta, lam, 0.5, theta)):
        row = TOY.X[t : t + 1], TOY.positive[t : t + 1], [False, True]
        assert_allclose(model.partial_fit(*row).coef_[0], w, rtol=1e-10, atol=1e-10)
        assert_array_equal(model.coef_[0] == 0, w == 0)


def test_without_a_penalty_it_is_adaoam():
    sparse = SAdaOAM(theta=1e-300).partial_fit(TOY.X, TOY.positive, [False, True])
    plain = AdaOAM(average=False).partial_fit(TOY.X, TOY.positive, [False, True])
    assert_allclose(sparse.coef_, plain.coef_, rtol=1e-12)


def test_a_larger_theta_keeps_fewer_features_and_the_right_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    y = X[:, 0] - X[:, 1] > rng.normal(size=3000)
    models = [SAdaOAM(theta=theta, random_state=0).fit(X, y) for theta in (0.01, 0.2, 0.7)]
    n_kept = [np.count_nonzero(model.coef_) for model in models]
    assert n_kept[0] > n_kept[1] > n_kept[2]
    for model in models:
        assert set(np.argsort(-np.abs(model.coef_[0]))[:2]) == {0, 1}
        assert model.score(X, y) > 0.88


def test_a_weight_whose_gradient_stays_zero_shrinks_as_if_lazily():
    """One shrinkage of n times the amount, which is what the paper's lazy update does."""
    w, amount, n = 1.0, 0.01, 30
    for _ in range(n):
        w = soft(w, amount)
    assert_allclose(w, soft(1.0, n * amount), rtol=1e-12)
