"""AdaOAM: each step against its formula."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from toys import make_toy

from skauc import AdaOAM

TOY = make_toy(150)


def slow_iterates(X, positive, eta, lam, delta):
    """Yield w after each row, from NumPy's moments of the rows so far."""
    w, squares, past = np.zeros(X.shape[1]), np.zeros(X.shape[1]), {1: [], -1: []}
    for x, y in zip(X, np.where(positive, 1, -1), strict=True):
        past[y].append(x)
        if past[-y]:
            others = np.array(past[-y])
            c, G = others.mean(axis=0), np.cov(others.T, bias=True)
            g = lam * w - y * (x - c) + np.outer(x - c, x - c) @ w + G @ w
            squares += g**2
            w = w - eta * np.linalg.solve(delta * np.eye(len(w)) + np.diag(np.sqrt(squares)), g)
            norm = np.linalg.norm(w)
            w = w if norm <= 1 / np.sqrt(lam) else w / (norm * np.sqrt(lam))
        yield w


@pytest.mark.parametrize(("eta", "lam", "delta"), [(0.1, 1e-4, 0.5), (4.0, 9.0, 0.01)])
def test_every_step_is_the_formula_s(eta, lam, delta):
    options = {"eta": eta, "lam": lam, "delta": delta}
    last, mean = (AdaOAM(average=average, **options) for average in (False, True))
    total = np.zeros(3)
    for t, w in enumerate(slow_iterates(TOY.X, TOY.positive, eta, lam, delta)):
        row = TOY.X[t : t + 1], TOY.positive[t : t + 1], [False, True]
        total += w
        assert_allclose(last.partial_fit(*row).coef_[0], w, rtol=1e-10, atol=1e-10)
        assert_allclose(mean.partial_fit(*row).coef_[0], total / (t + 1), rtol=1e-10, atol=1e-10)


def test_the_weights_stay_in_the_ball():
    model = AdaOAM(eta=100.0, lam=4.0).partial_fit(TOY.X, TOY.positive, [False, True])
    assert np.linalg.norm(model.coef_) <= 0.5 + 1e-12


def test_statistics_are_numpy_s():
    state = AdaOAM().partial_fit(TOY.X, TOY.positive, [False, True])._state
    for k, rows in enumerate((TOY.X[~TOY.positive], TOY.X[TOY.positive])):
        assert_allclose(state.scatter[k] / len(rows), np.cov(rows.T, bias=True), rtol=1e-12)
