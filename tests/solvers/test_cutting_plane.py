"""The master problem against its optimality conditions, the loop against solved problems."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from skauc.exceptions import InvalidDataError
from skauc.losses.roc_area import Cut
from skauc.solvers import cutting_plane
from skauc.solvers.cutting_plane import minimise_by_planes, mix_planes

# -- the master problem -----------------------------------------------------------------------


@st.composite
def planes(draw):
    """Planes in few dimensions, the one of zero first: plain, repeated, near-parallel, parallel."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_planes, n_dimensions = draw(st.integers(1, 40)), draw(st.integers(1, 20))
    directions = rng.normal(size=(n_planes, n_dimensions))
    kind = draw(st.sampled_from(["plain", "repeated", "near", "parallel", "grid"]))
    if kind == "repeated":
        directions = directions[rng.integers(0, n_planes, n_planes)]
    elif kind == "near":
        directions = directions[:1] + 1e-7 * directions
    elif kind == "parallel":
        directions = np.outer(rng.uniform(size=n_planes), directions[0])
    elif kind == "grid":
        directions = np.round(directions)
    offsets = np.round(rng.uniform(size=n_planes), draw(st.sampled_from([1, 16])))
    directions[0], offsets[0] = 0.0, 0.0
    scale = 10.0 ** draw(st.integers(-6, 5))
    return scale * directions @ directions.T, offsets


@given(planes(), st.floats(0, 1))
def test_the_mix_is_optimal_to_a_tight_duality_gap(problem, slack):
    gram, offsets = problem
    mix, found = mix_planes(gram, offsets, slack, 1e-10)
    assert (mix >= 0).all()
    assert_allclose(mix.sum(), 1.0, rtol=1e-12)
    dual = offsets @ mix - 0.5 * mix @ gram @ mix
    xi = np.max(offsets - gram @ mix)
    primal = 0.5 * mix @ gram @ mix + xi
    floor = 1e-14 * np.abs(gram).max()
    assert primal - dual <= 1e-9 + floor
    assert_allclose(found, xi, atol=1e-12)


def test_the_mix_agrees_with_a_generic_solver():
    rng = np.random.default_rng(0)
    directions, offsets = rng.normal(size=(6, 4)), rng.uniform(size=6)
    directions[0], offsets[0] = 0.0, 0.0
    gram = directions @ directions.T
    generic = minimize(
        lambda mix: 0.5 * mix @ gram @ mix - offsets @ mix,
        np.full(6, 1 / 6),
        jac=lambda mix: gram @ mix - offsets,
        method="SLSQP",
        bounds=[(0, None)] * 6,
        constraints={"type": "eq", "fun": lambda mix: mix.sum() - 1},
        options={"ftol": 1e-15, "maxiter": 500},
    )
    mix, _ = mix_planes(gram, offsets, 1.0, 1e-13)
    assert 0.5 * mix @ gram @ mix - offsets @ mix <= generic.fun + 1e-12
    assert_allclose(mix @ directions, generic.x @ directions, atol=1e-6)


# -- the loop ---------------------------------------------------------------------------------


class Line:
    """One dimension, one row: the vector is the score."""

    def zero(self):
        return np.zeros(1)

    def vector(self, coef):
        return coef

    def inner(self, one, other):
        return float(one @ other)

    def scores(self, vector):
        return vector


def hinge(scores):
    """max(0, 1 - f), whose minimum with 1/2 |w|^2 is known."""
    is_violated = float(scores[0] < 1)
    return Cut(np.array([is_violated]), is_violated, max(0.0, 1.0 - scores[0]))


def absolute(scores):
    """|f - 3|."""
    sign = 1.0 if scores[0] < 3 else -1.0
    return Cut(np.array([sign]), 3 * sign, abs(scores[0] - 3))


@pytest.mark.parametrize("step", [0.2, 1.0])
@pytest.mark.parametrize(
    ("oracle", "C", "expected"),
    [(hinge, 0.25, 0.25), (hinge, 4.0, 1.0), (absolute, 2.0, 2.0), (absolute, 50.0, 3.0)],
)
def test_it_finds_minima_that_are_known(oracle, C, expected, step):
    found = minimise_by_planes(Line(), oracle, C, step=step, tol=1e-9, max_iter=200)
    risk = oracle(np.array([expected])).risk
    least = 0.5 * expected**2 + C * risk
    assert_allclose(found.objective, least, atol=1e-8 * C)
    assert found.objective - found.gap <= least + 1e-12
    assert found.gap <= 1e-9 * C
    assert_allclose(found.vector, expected, atol=1e-3)
    assert_allclose(found.scores, found.vector)


def test_the_report_hears_of_every_round_and_may_end_them():
    seen = []

    def report(solution):
        seen.append(solution)
        return len(seen) == 3

    found = minimise_by_planes(
        Line(), absolute, 50.0, step=0.2, tol=1e-12, max_iter=100, report=report
    )
    assert [solution.n_iter for solution in seen] == [1, 2, 3]
    assert found is seen[-1]
    objectives = [solution.objective for solution in seen]
    assert objectives == sorted(objectives, reverse=True)
    gaps = [solution.gap for solution in seen]
    assert gaps == sorted(gaps, reverse=True)


def test_a_warning_says_what_to_change():
    message = (
        r"did not converge in max_iter=2 rounds: the mean hinge may be .* too large .tol=1e-09.\. "
        "Raise `max_iter` or `tol`, lower `C`, or scale the features"
    )
    with pytest.warns(ConvergenceWarning, match=message):
        found = minimise_by_planes(Line(), absolute, 50.0, step=0.2, tol=1e-9, max_iter=2)
    assert found.n_iter == 2


class Plane:
    """As many dimensions as rows: scores are the vector."""

    def __init__(self, n_rows):
        self.n_rows = n_rows
        self.n_vectors = 0

    def zero(self):
        return np.zeros(self.n_rows)

    def vector(self, coef):
        self.n_vectors += 1
        return coef

    def inner(self, one, other):
        return float(one @ other)

    def scores(self, vector):
        return vector


def far_off(scores):
    """max_i |f_i - i|."""
    away = scores - np.arange(len(scores))
    worst = np.argmax(np.abs(away))
    coef = np.zeros(len(scores))
    coef[worst] = -np.sign(away[worst])
    return Cut(coef, float(coef[worst] * worst), float(np.abs(away[worst])))


def test_dropping_idle_planes_does_not_change_the_minimum(monkeypatch):
    everything = minimise_by_planes(Plane(8), far_off, 30.0, step=1.0, tol=1e-8, max_iter=900)
    monkeypatch.setattr(cutting_plane, "IDLE_ROUNDS", 8)
    dropped = minimise_by_planes(Plane(8), far_off, 30.0, step=1.0, tol=1e-8, max_iter=900)
    assert_allclose(dropped.objective, everything.objective, rtol=1e-7)


def test_overflow_is_an_error_with_advice():
    def oracle(scores):
        return Cut(np.array([1e200]), 1.0, 1.0)

    with (
        np.errstate(over="ignore"),
        pytest.raises(InvalidDataError, match=r"overflow.*Scale the features"),
    ):
        minimise_by_planes(Line(), oracle, 1.0, step=1.0, tol=1e-3, max_iter=10)
