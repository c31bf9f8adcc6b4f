"""The trust-region method on problems whose answer is known, in two inner products."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from skauc.solvers import trust_region
from skauc.solvers.trust_region import iterate, search, step_within


@dataclass
class At:
    vector: np.ndarray
    value: float
    gradient: np.ndarray
    curvatures: np.ndarray


@dataclass
class Hinges:
    """x'Mx/2 + sum of c/2 max(0, 1 - Ax)^2, with lengths of x measured by sqrt(x'Gx)."""

    metric: np.ndarray
    matrix: np.ndarray
    rows: np.ndarray
    C: float

    def at(self, x):
        hinges = np.maximum(1 - self.rows @ x, 0)
        derivative = self.matrix @ x - self.C * self.rows.T @ hinges
        value = 0.5 * x @ self.matrix @ x + 0.5 * self.C * hinges @ hinges
        return At(x, value, np.linalg.solve(self.metric, derivative), self.C * (hinges > 0))

    def hessian(self, place):
        return self.matrix + (self.rows.T * place.curvatures) @ self.rows

    def hessian_product(self, place, x):
        return np.linalg.solve(self.metric, self.hessian(place) @ x)

    def inner(self, left, right):
        return float(left @ self.metric @ right)

    def slopes(self, place, direction):
        curvature = float(direction @ self.hessian(place) @ direction)
        return self.inner(place.gradient, direction), curvature


def make_problem(C=10.0, is_natural=True, size=12, seed=0):
    """A badly conditioned regulariser, measured in itself or as if it were the identity."""
    rng = np.random.default_rng(seed)
    rotation = np.linalg.qr(rng.normal(size=(size, size)))[0]
    matrix = (rotation * 10.0 ** np.linspace(-3, 2, size)) @ rotation.T
    return Hinges(matrix if is_natural else np.eye(size), matrix, rng.normal(size=(60, size)), C)


def last(places):
    place = None
    for place in places:  # noqa: B007
        pass
    return place


@pytest.mark.parametrize("is_natural", [True, False])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_it_finds_the_minimum_that_scipy_finds(C, is_natural):
    problem = make_problem(C, is_natural)
    found = last(iterate(problem, np.zeros(12)))
    expected = minimize(
        lambda x: problem.at(x).value,
        np.zeros(12),
        jac=lambda x: problem.metric @ problem.at(x).gradient,
        method="BFGS",
        options={"gtol": 1e-9, "maxiter": 10_000},
    )
    assert_allclose(found.value, expected.fun, rtol=1e-9)
    assert found.value <= expected.fun * (1 + 1e-12)


def test_every_iteration_goes_down():
    values = [place.value for place in iterate(make_problem(1e3), np.ones(12))]
    assert len(values) > 3
    assert all(after < before for before, after in pairwise(values))


def test_a_start_at_the_minimum_is_the_end():
    problem = make_problem()
    minimum = last(iterate(problem, np.zeros(12)))
    assert len(list(iterate(problem, minimum.vector))) <= 2
    resting = Hinges(np.eye(2), np.eye(2), np.zeros((1, 2)), 0.0)
    assert len(list(iterate(resting, np.zeros(2)))) == 1


@pytest.mark.parametrize("is_natural", [True, False])
def test_a_step_stays_within_its_radius_and_its_decrease_is_the_models(is_natural):
    problem = make_problem(is_natural=is_natural)
    place = problem.at(np.ones(12))
    free = step_within(problem, place, 1e6)
    for radius in (0.1, 0.5, 0.9):
        radius *= np.sqrt(problem.inner(free.vector, free.vector))
        step = step_within(problem, place, radius)
        assert_allclose(problem.inner(step.vector, step.vector), radius**2, rtol=1e-10)
        slope, curvature = problem.slopes(place, step.vector)
        assert_allclose(step.predicted, -slope - 0.5 * curvature, rtol=1e-8)
        assert 0 < step.predicted <= free.predicted * (1 + 1e-9)


def test_a_direction_of_no_curvature_is_followed_to_the_edge():
    problem = Hinges(np.eye(2), np.zeros((2, 2)), np.array([[1.0, 0.0]]), 1.0)
    place = At(np.zeros(2), 1.0, np.array([3.0, 4.0]), np.zeros(1))
    assert_allclose(step_within(problem, place, 2.0).vector, [-1.2, -1.6])


@pytest.mark.parametrize("scale", [1e-6, 0.1, 1.0, 30.0])
def test_the_search_ends_near_the_minimum_along_the_line(scale):
    problem = make_problem(100.0)
    place = problem.at(np.ones(12))
    direction = -scale * place.gradient
    length, trial = search(problem, place, direction)
    assert_allclose(trial.vector, place.vector + length * direction)
    before, after = (problem.slopes(p, direction)[0] for p in (place, trial))
    assert abs(after) <= trust_region.FLAT * abs(before)
    assert trial.value < place.value


@pytest.mark.parametrize("exponent", [-500, 300])
def test_the_unit_of_the_inner_product_does_not_change_a_digit(exponent):
    """Squares of squared lengths would underflow, and overflow."""
    unit = 2.0**exponent
    problem = make_problem(is_natural=False)
    place = problem.at(np.ones(12))
    expected = step_within(problem, place, 0.1)
    place.gradient *= unit
    step = step_within(problem, place, 0.1 * unit)
    assert_array_equal(step.vector, unit * expected.vector)
    assert step.predicted == unit**2 * expected.predicted


def test_a_direction_whose_length_is_lost_in_rounding_is_the_end():
    problem = make_problem(is_natural=False)
    problem.metric = -1e-16 * np.eye(12)
    place = problem.at(np.ones(12))
    assert step_within(problem, place, 1.0).predicted == 0
    assert [other.value for other in iterate(problem, np.ones(12))] == [place.value]


def test_a_direction_that_does_not_descend_has_its_minimum_at_zero():
    """Along a line of constant slope the secant would divide by zero."""

    class Uphill(Hinges):
        def slopes(self, place, direction):
            return 1.0, 0.0

    problem = make_problem()
    uphill = Uphill(problem.metric, problem.matrix, problem.rows, problem.C)
    place = uphill.at(np.zeros(12))
    length, trial = search(uphill, place, np.ones(12))
    assert length == 0
    assert trial is place
