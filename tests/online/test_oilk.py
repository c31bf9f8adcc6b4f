"""OILK: each step against the definition, with every buffer and both of KOIL's refinements."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from slow_buffers import SlowBuffer, SplitMix64
from toys import make_toy

from skauc import OILK
from skauc.metrics import auc

TOY = make_toy(100)
GAMMA = 0.7


def kernel(x, z):
    return np.exp(-GAMMA * np.sum((x - z) ** 2))


class Point:
    """A row of the expansion; copies of it in a buffer are the same object."""

    def __init__(self, x, alpha):
        self.x, self.alpha = x, alpha


class SlowOILK:
    """The algorithm with lists and sums."""

    def __init__(self, policy, size, C, eta, n_violators, compensate):
        draw = SplitMix64(0)
        self.buffers = {y: SlowBuffer(policy, size, draw) for y in (1, -1)}
        self.n_seen = {1: 0, -1: 0}
        self.C, self.eta, self.n_violators, self.compensate = C, eta, n_violators, compensate

    def score(self, x):
        """f(x); a slot holds its share of its point's coefficient."""
        slots = self.buffers[-1].slots + self.buffers[1].slots
        return sum(slot.alpha * kernel(slot.x, x) for slot in slots)

    def learn(self, x, y):
        self.n_seen[y] += 1
        others, C_t = self.buffers[-y].slots, self.C
        violators = [o for o in others if 1 - y * (self.score(x) - self.score(o.x)) > 0]
        if self.n_violators is not None:
            violators = sorted(violators, key=lambda o: -kernel(o.x, x))[: self.n_violators]
        if others:
            C_t = self.C * max(1, self.n_seen[-y] / len(others))
        for slot in self.buffers[-1].slots + self.buffers[1].slots:
            slot.alpha *= 1 - self.eta
        for slot in violators:
            slot.alpha -= self.eta * C_t * y
        alpha = self.eta * C_t * y * (len(violators) if others else 1)
        if alpha != 0:
            self.store(Point(x, alpha), self.buffers[y], self.n_seen[y])

    def store(self, new, buffer, n_seen):
        before = buffer.offer(new, n_seen)
        if self.compensate:
            for lost in [*before, new]:
                if not any(lost is slot for slot in buffer.slots):
                    heir = max(buffer.slots, key=lambda slot: kernel(slot.x, lost.x))
                    heir.alpha += lost.alpha
        copies = {id(slot): sum(slot is s for s in buffer.slots) for slot in buffer.slots}
        buffer.slots[:] = [Point(s.x, s.alpha / copies[id(s)]) for s in buffer.slots]


@pytest.mark.parametrize(
    ("policy", "compensate", "size", "n_violators", "C", "eta"),
    [
        ("reservoir", True, 4, None, 0.5, 0.05),
        ("reservoir", False, 9, 3, 20.0, 0.01),
        ("fifo", True, 9, 3, 20.0, 0.01),
        ("fifo", False, 25, 6, 2.0, 0.1),
        ("rsx", True, 25, 6, 2.0, 0.1),
        ("rsx", True, 9, 3, 20.0, 0.01),
        ("rsx", False, 4, None, 0.5, 0.05),
    ],
)
def test_every_step_is_the_definition_s(policy, compensate, size, n_violators, C, eta):
    slow = SlowOILK(policy, size, C, eta, n_violators, compensate)
    model = OILK(
        policy,
        buffer_size=size,
        C=C,
        gamma=GAMMA,
        eta=eta,
        n_violators=n_violators,
        compensate=compensate,
        random_state=0,
    )
    probes = TOY.X[::30]
    for t, (x, y) in enumerate(zip(TOY.X, np.where(TOY.positive, 1, -1), strict=True)):
        slow.learn(x, y)
        model.partial_fit(TOY.X[t : t + 1], TOY.positive[t : t + 1], [False, True])
        slots = slow.buffers[-1].slots + slow.buffers[1].slots
        assert_allclose(model.dual_coef_, [s.alpha for s in slots], rtol=1e-10, atol=1e-10)
        assert_allclose(model.basis_vectors_, [s.x for s in slots], rtol=0)
        if t % 10 == 0:
            expected = [slow.score(probe) for probe in probes]
            scores = model.decision_function(probes) - model.intercept_
            assert_allclose(scores, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("policy", ["reservoir", "fifo", "rsx"])
def test_the_kernel_matrix_is_that_of_the_slots(policy):
    model = OILK(policy, buffer_size=6, gamma=GAMMA, C=5.0, random_state=0)
    for t in range(len(TOY.X)):
        model.partial_fit(TOY.X[t : t + 1], TOY.positive[t : t + 1], [False, True])
        slots = model._state.buffers.rows.reshape(12, -1)
        filled = (np.arange(6) < model._state.buffers.n_offered[:, None]).ravel()
        expected = [[kernel(x, z) for z in slots[filled]] for x in slots[filled]]
        assert_allclose(model._state.gram[np.ix_(filled, filled)], expected, rtol=1e-12)


def test_the_threshold_is_midway_between_the_buffers_mean_scores():
    model = OILK(random_state=0).partial_fit(TOY.X, TOY.positive, [False, True])
    scores = model.decision_function(model.basis_vectors_)
    n_negative = np.count_nonzero(~TOY.positive)
    negative, positive = scores[:n_negative].mean(), scores[n_negative:].mean()
    assert_allclose(negative, -positive, rtol=1e-9)


@pytest.mark.parametrize("policy", ["reservoir", "fifo", "rsx"])
def test_compensation_keeps_the_sum_of_coefficients(policy):
    """Every step adds as much to one side as it takes from the other; only rows that go, take."""
    options = {"gamma": GAMMA, "C": 5.0, "eta": 0.01, "random_state": 0}
    small = OILK(policy, buffer_size=4, **options).partial_fit(TOY.X, TOY.positive, [False, True])
    lossy = OILK(policy, buffer_size=4, compensate=False, **options)
    lossy.partial_fit(TOY.X, TOY.positive, [False, True])
    n_alone = np.argmax(TOY.positive != TOY.positive[0])  # rows that met an empty buffer
    sign = 2 * TOY.positive[0] - 1
    alone = sum(sign * 5.0 * 0.01 * 0.99 ** (len(TOY.X) - 1 - t) for t in range(n_alone))
    assert_allclose(small.dual_coef_.sum(), alone, rtol=1e-9)
    assert abs(lossy.dual_coef_.sum() - alone) > 0.01


def test_a_ring_is_ranked_by_a_budget_of_forty():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = np.hypot(*X.T) + 0.1 * rng.normal(size=2000) > 1.2
    for policy in ("reservoir", "fifo", "rsx"):
        model = OILK(policy, buffer_size=20, C=0.1, gamma=0.5, eta=0.01, random_state=0)
        model.partial_fit(X[:1500], y[:1500], [False, True])
        assert len(model.dual_coef_) == 40
        assert auc(y[1500:], model.decision_function(X[1500:])) > 0.95


def test_gamma_auto_is_one_over_the_number_of_features():
    assert OILK().fit(TOY.X, TOY.positive).gamma_ == 1 / 3
