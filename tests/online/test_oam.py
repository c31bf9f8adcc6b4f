"""OAM: each update against its formula, row by row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from slow_buffers import SlowBuffer, SplitMix64
from toys import make_toy

from skauc import OAM

TOY = make_toy(150)


def sequential(w, x, y, opponents, C):
    for opponent in opponents:
        z = y * (x - opponent)
        loss = max(0.0, 1.0 - w @ z)
        w = w + min(C / 2, loss / (z @ z)) * z
    return w


def gradient(w, x, y, opponents, C):
    violators = [opponent for opponent in opponents if y * (w @ (x - opponent)) < 1]
    return w + C / 2 * sum((y * (x - opponent) for opponent in violators), np.zeros(len(w)))


def slow_iterates(update, policy, size, C):
    """Yield w after each row."""
    draw = SplitMix64(0)
    buffers = {y: SlowBuffer(policy, size, draw) for y in (1, -1)}
    n_seen = {1: 0, -1: 0}
    w = np.zeros(3)
    for x, y in zip(TOY.X, np.where(TOY.positive, 1, -1), strict=True):
        n_seen[y] += 1
        buffers[y].offer(x, n_seen[y])
        opponents = buffers[-y].slots
        if opponents:
            w = update(w, x, y, opponents, C * max(1, n_seen[-y] / len(opponents)))
        yield w


@pytest.mark.parametrize("update", [sequential, gradient])
@pytest.mark.parametrize(
    ("policy", "size", "C"),
    [("reservoir", 200, 1.0), ("reservoir", 7, 0.003), ("fifo", 7, 1.0), ("rsx", 7, 0.003)],
)
def test_every_step_is_that_of_the_formula(update, policy, size, C):
    options = {"C": C, "buffer": policy, "buffer_size": size, "random_state": 0}
    last, mean = (OAM(update.__name__, average=average, **options) for average in (False, True))
    total = np.zeros(3)
    for t, w in enumerate(slow_iterates(update, policy, size, C)):
        row = TOY.X[t : t + 1], TOY.positive[t : t + 1], [False, True]
        total += w
        assert_allclose(last.partial_fit(*row).coef_[0], w, rtol=1e-10, atol=1e-10)
        assert_allclose(mean.partial_fit(*row).coef_[0], total / (t + 1), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("update", ["sequential", "gradient"])
def test_equal_rows_of_both_classes_teach_nothing(update):
    model = OAM(update).partial_fit(np.ones((2, 3)), [0, 1], classes=[0, 1])
    assert_allclose(model.coef_, 0)


def test_empty_slots_are_no_rows():
    """One row a class: the step is along their difference, not along rows of zeros."""
    model = OAM(C=100.0, average=False).partial_fit([[1.0, 2.0], [3.0, 2.5]], [0, 1], [0, 1])
    difference = np.array([2.0, 0.5])
    assert_allclose(model.coef_[0], difference / (difference @ difference), rtol=1e-12)
