"""L-BFGS on functions with known minima, and where it stops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import rosen, rosen_der

from skauc.solvers.lbfgs import N_PAIRS, Descent

SCALES = np.geomspace(1.0, 100.0, 2 * N_PAIRS)


def quadratic(x):
    """1/2 x.S x - 1.x, with its minimum at 1 / S."""
    return 0.5 * x @ (SCALES * x) - x.sum(), SCALES * x - 1.0


def rosenbrock(x):
    return rosen(x), rosen_der(x)


def descent(function, start, n_steps):
    """The start and the points after each step."""
    points, search = [start], Descent(start)
    while len(points) <= n_steps and not search.is_over:
        trial = search.trial
        if search.tell(*function(trial)):
            points.append(trial)
    return points


@pytest.mark.parametrize(
    ("function", "start", "minimum"),
    [
        (quadratic, np.zeros(len(SCALES)), 1 / SCALES),
        (rosenbrock, np.array([-1.2, 1.0]), np.ones(2)),
        (rosenbrock, np.array([0.0, 2.0, -1.0, 0.5]), np.ones(4)),
    ],
    ids=["quadratic", "rosenbrock", "rosenbrock in four dimensions"],
)
def test_it_finds_the_minimum(function, start, minimum):
    points = descent(function, start, 120)
    values = [function(point)[0] for point in points]
    assert np.all(np.diff(values) <= 0)
    assert_allclose(points[-1], minimum, atol=1e-5)


@pytest.mark.parametrize("n_steps", [0, 1, 7])
def test_it_takes_no_more_steps_than_it_may(n_steps):
    points = descent(rosenbrock, np.array([-1.2, 1.0]), n_steps)
    assert len(points) == n_steps + 1
    longer = descent(rosenbrock, np.array([-1.2, 1.0]), 10)
    assert_array_equal(points, longer[: n_steps + 1])


def test_it_stays_at_a_minimum():
    assert len(descent(rosenbrock, np.ones(3), 10)) == 1


@pytest.mark.parametrize("gradient", [np.array([-1.0, 0.0]), np.full(2, np.nan)])
def test_it_ends_where_no_step_descends(gradient):
    """The gradient is wrong, or it is not a number."""
    assert len(descent(lambda x: (float(x @ x), gradient), np.zeros(2), 10)) == 1


@pytest.mark.parametrize("wall", [np.inf, np.nan])
def test_it_steps_back_from_values_that_are_not_numbers(wall):
    def walled(x):
        """The logarithm's barrier: there is nothing beyond zero."""
        if x[0] <= 0:
            return wall, np.full(1, np.nan)
        return float(x[0] - 0.1 * np.log(x[0])), 1 - 0.1 / x

    points = descent(walled, np.array([0.5]), 50)
    assert_allclose(points[-1], 0.1, rtol=1e-4)
