"""Newton's method against scipy's optimisers on the O(p * n) objective."""

from dataclasses import replace

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize
from sklearn.exceptions import ConvergenceWarning
from toys import KERNEL, explicit_columns, grow, make_toy

from skauc.exceptions import InvalidParameterError
from skauc.solvers.newton import (
    CHOLESKY_SIZE,
    Point,
    cholesky_step,
    conjugate_gradient_step,
    halving_search,
    make_step,
    minimise,
    parabola_search,
)
from skauc.sparse.objective import Objective, pair_weight

CENTRES = [3, 17, 40, 71, 90, 101]
both_steps = pytest.mark.parametrize("step", [cholesky_step, conjugate_gradient_step])


@pytest.fixture
def toy():
    return make_toy()


@pytest.fixture
def make_objective(engine_case):
    def make(toy, C=1.0):
        engine = engine_case.build(toy)
        grow(engine, toy.X, KERNEL, CENTRES)
        return Objective(engine, pair_weight(C, engine))

    return make


def solve(objective, step=cholesky_step, tol=1e-13):
    return minimise(objective, np.zeros(len(CENTRES)), step, tol=tol, max_iter=100)


def reference(toy, C_pair):
    """The minimum by scipy, of every pair."""
    problem = explicit_columns(toy.X, CENTRES), C_pair, toy.positive, toy.weights
    found = optimize.minimize(
        oracles.objective,
        np.zeros(len(CENTRES)),
        args=problem,
        jac=True,
        method="BFGS",
        options={"gtol": 1e-9 * max(C_pair * len(toy.X) ** 2, 1)},
    )
    return found.x, found.fun


@both_steps
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, 1e4])
def test_minimum_is_the_one_that_scipy_finds(engine_case, make_objective, toy, step, C):
    objective = make_objective(toy, C)
    weights, value = reference(toy, objective.C_pair)
    found = solve(objective, step).point
    assert_allclose(found.value, value, rtol=max(engine_case.tolerance, 1e-8))
    atol = 1e-5 if engine_case.exact else 1e-3
    assert_allclose(found.weights, weights, rtol=0, atol=atol * np.abs(weights).max())


@both_steps
def test_gradient_vanishes_at_the_end(engine_case, make_objective, toy, step):
    objective = make_objective(toy)
    at_zero = objective.gradient(objective.at(np.zeros(len(CENTRES))))
    at_end = objective.gradient(solve(objective, step).point)
    # What is left promises a decrease below 1e-14 of the objective: the square of this.
    assert np.linalg.norm(at_end) < max(engine_case.tolerance, 1e-6) * np.linalg.norm(at_zero)


def test_both_steps_end_at_the_same_point(engine_case, make_objective, toy):
    objective = make_objective(toy)
    factored, iterated = solve(objective), solve(objective, conjugate_gradient_step)
    atol = 1e-9 if engine_case.exact else 1e-5
    assert_allclose(iterated.point.weights, factored.point.weights, atol=atol)


@both_steps
def test_huge_c_is_solved_to_the_end(make_objective, toy, step):
    objective = make_objective(toy, C=1e12)
    point = solve(objective, step, tol=1e-6).point
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1e-1):
        moves = scale * rng.normal(size=(10, len(CENTRES)))
        assert all(objective.at(point.weights + move).value > point.value for move in moves)


def test_repeated_rows_are_weights(engine_case, make_objective, toy):
    times = np.random.default_rng(1).integers(1, 4, size=len(toy.X))
    weighted = make_objective(replace(toy, weights=times.astype(np.float64)))
    # The first rows stay in place, so that the centres are the same.
    copies = np.concatenate((np.arange(len(toy.X)), np.repeat(np.arange(len(toy.X)), times - 1)))
    repeated = replace(
        toy, X=toy.X[copies], positive=toy.positive[copies], weights=np.ones(len(copies))
    )
    expected, actual = solve(weighted).point, solve(make_objective(repeated)).point
    rtol = max(engine_case.tolerance, 1e-9)
    assert_allclose(actual.value, expected.value, rtol=rtol)
    assert_allclose(actual.weights, expected.weights, rtol=0, atol=100 * rtol)


@both_steps
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
def test_what_is_left_is_below_tol(make_objective, toy, step, tol):
    objective = make_objective(toy, C=100.0)
    lowest = solve(objective).point.value
    assert solve(objective, step, tol=tol).point.value - lowest <= tol * lowest
    assert solve(objective, step, tol=tol).n_iter <= solve(objective, step).n_iter


def test_the_minimum_is_left_where_it_is(make_objective, toy):
    objective = make_objective(toy)
    first = solve(objective)
    again = minimise(objective, first.point.weights, cholesky_step, tol=1e-6, max_iter=100)
    assert again.n_iter == 1
    assert_allclose(again.point.weights, first.point.weights, atol=1e-6)


def test_one_iteration_too_few_is_a_warning_that_says_what_to_do(make_objective, toy):
    objective = make_objective(toy, C=100.0)
    message = (
        r"did not converge in max_iter=1 iterations on a basis of 6: the last step promised a "
        r"relative decrease of \d\.\de[-+]\d\d, tol=1e-08. Raise `max_iter`, lower `C`, or scale"
    )
    with pytest.warns(ConvergenceWarning, match=message):
        found = minimise(objective, np.zeros(len(CENTRES)), cholesky_step, tol=1e-8, max_iter=1)
    assert found.n_iter == 1
    assert found.point.value < objective.at(np.zeros(len(CENTRES))).value


# Steps


@both_steps
def test_a_step_comes_with_the_gradient(engine_case, make_objective, toy, step):
    objective = make_objective(toy)
    point = objective.at(np.full(len(CENTRES), 0.3))
    expected = objective.gradient(point)
    atol = engine_case.tolerance * np.abs(expected).max()
    assert_allclose(step(objective, point)[0], expected, rtol=0, atol=atol)


def test_cholesky_step_solves_with_the_hessian(make_objective, toy):
    objective = make_objective(toy)
    point = objective.at(np.full(len(CENTRES), 0.3))
    gradient, step = cholesky_step(objective, point)
    assert_allclose(objective.derivatives(point)[1] @ step, -gradient, rtol=1e-8)


class Indefinite:
    """An objective whose Hessian has lost its definiteness to rounding."""

    def derivatives(self, point):
        return np.array([1.0, -2.0, 0.5]), np.diag([1.0, 1.0, -1e-9])


def test_cholesky_step_descends_though_rounding_made_the_hessian_indefinite():
    gradient, step = cholesky_step(Indefinite(), None)
    assert gradient @ step < 0


def test_conjugate_gradients_solve_more_exactly_near_the_optimum(make_objective, toy):
    objective = make_objective(toy)
    point = solve(objective).point
    near = objective.at(point.weights * (1 + 1e-6))
    gradient, step = conjugate_gradient_step(objective, near)
    left = objective.hessian_product(near, step) + gradient
    assert np.linalg.norm(left) < 0.05 * np.linalg.norm(gradient)


@pytest.mark.parametrize(
    ("solver", "size", "step"),
    [
        ("auto", CHOLESKY_SIZE, cholesky_step),
        ("auto", CHOLESKY_SIZE + 1, conjugate_gradient_step),
        ("cholesky", 10 * CHOLESKY_SIZE, cholesky_step),
        ("cg", 1, conjugate_gradient_step),
    ],
)
def test_solver_names_a_step(solver, size, step):
    assert make_step(solver, size) is step


def test_an_unknown_solver_is_refused():
    message = r"`solver` must be one of 'auto', 'cholesky', 'cg'; got 'lbfgs'\."
    with pytest.raises(InvalidParameterError, match=message):
        make_step("lbfgs", 1)


# Line search


def test_search_halves_until_the_objective_falls(make_objective, toy):
    objective = make_objective(toy)
    point = objective.at(np.zeros(len(CENTRES)))
    gradient = objective.gradient(point)
    direction = -gradient
    slope = float(gradient @ direction)
    line = objective.engine.direction(direction)
    length, found = halving_search(objective, point, direction, line, slope=slope)
    assert 0 < length < 1
    assert found.value <= point.value + 1e-4 * length * slope
    longer = objective.step(point, direction, line, 2 * length)
    assert longer.value > point.value + 1e-4 * 2 * length * slope


def test_search_uphill_stays_where_it_is(make_objective, toy):
    objective = make_objective(toy)
    point = solve(objective).point
    direction = np.ones(len(CENTRES))
    line = objective.engine.direction(direction)
    length, found = halving_search(objective, point, direction, line, slope=-1.0)
    assert length == 0
    assert found is point
    assert_array_equal(found.weights, point.weights)


class LacksCurvature:
    """A parabola in ten directions, of whose second derivatives some are seen as six tenths."""

    def __init__(self):
        self.hessian = np.diag(np.arange(1.0, 11.0))
        self.seen = np.where(np.arange(10) % 2, 0.6, 1.0) * self.hessian

    def at(self, weights):
        return Point(weights, 1.0 + 0.5 * float(weights @ self.hessian @ weights), None)

    def direction(self, weights):
        return None

    def step(self, point, direction, line, length):
        return self.at(point.weights + length * direction)

    def derivatives(self, point):
        return self.hessian @ point.weights, self.seen.copy()


def test_the_parabola_makes_up_for_missing_curvature():
    objective = LacksCurvature()
    halving, parabola = (
        minimise(objective, np.ones(10), cholesky_step, tol=1e-9, max_iter=100, search=search)
        for search in (halving_search, parabola_search)
    )
    assert parabola.n_iter < 15 < halving.n_iter
    assert_allclose(parabola.point.value, 1.0, rtol=1e-9)


def test_a_parabola_that_cannot_be_reached_changes_nothing():
    """Beyond the first step the objective is not finite, or falls faster than the slope says."""
    for values in ({0.0: 1.0, 1.0: 0.9}, {0.0: 1.0, 1.0: -3.0}):

        class Table(LacksCurvature):
            def step(self, point, direction, line, length, values=values):
                return Point(point.weights, values[length], None)

        start = Point(np.zeros(1), 1.0, None)
        length, found = parabola_search(Table(), start, np.ones(1), None, slope=-0.11)
        assert (length, found.value) == (1.0, values[1.0])
