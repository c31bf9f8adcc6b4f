"""The variables of refinement against finite differences of the O(p * n) objective."""

from functools import partial

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from toys import grow_by, make_toy

from skauc.engines import LinearColumns
from skauc.kernels import RBF
from skauc.shaped_rbf import ShapedRBF
from skauc.solvers.newton import cholesky_step, minimise
from skauc.solvers.triangular import cholesky_factor
from skauc.sparse.basis import RIDGE, Added, Basis
from skauc.sparse.objective import Objective, pair_weight
from skauc.sparse.refinement import Refined, _Problem, refine, shape_ridge
from skauc.sparse.shapes import DEVIATION_PENALTY, SCALE_BOUNDS, Shape

optimise = partial(minimise, step=cholesky_step, tol=1e-13, max_iter=200)
ROUND, RIDGES = [3, 40, 71], [17, 90]
DIRECTIONS = np.array([[1.2, -0.9, 0.0], [0.0, 0.0, 2.5]])


class Setup:
    """Three round centres of two widths, a ridge of two features, another of one."""

    def __init__(self, engine_case):
        self.toy = toy = make_toy()
        self.engine = engine_case.build(toy)
        self.engine.append(LinearColumns(np.zeros(3), 0.3))
        basis = Basis([RBF(0.5), RBF(0.1)], 9, self.engine.precision, 3, n_scales=3)
        grow_by(self.engine, basis, toy.X, ROUND[:1], 0)
        self.add_ridges(basis)
        grow_by(self.engine, basis, toy.X, ROUND[1:], 1)
        self.basis, self.kernel = basis, basis.kernel()
        self.objective = Objective(self.engine, pair_weight(2.0, self.engine))
        scales = np.array([0.7, 1.5, 1.0])
        metric = self.kernel.metric.copy()
        metric[~self.kernel.is_ridge] *= scales * [[0.8, 1.0, 1.3], [1.0] * 3, [1.1, 1.0, 0.9]]
        self.shape = Shape(basis.centres.copy(), scales, metric)
        self.start = Refined(self.shape, np.zeros(3), np.zeros(5))
        self.problem = _Problem(self.objective, basis, optimise, self.start)

    def add_ridges(self, basis):
        kernel = ShapedRBF(DIRECTIONS, np.ones(2, bool))
        centres = self.toy.X[RIDGES] * (DIRECTIONS != 0)
        coordinates = basis.project(kernel, centres).coordinates
        added = Added(kernel, centres, np.array(RIDGES), np.full(2, RIDGE), coordinates, np.eye(2))
        basis.append(self.engine, added)

    def value(self, shape):
        """The objective of a shape, by definition, and the penalty."""
        toy, kernel = self.toy, ShapedRBF(shape.metric, self.kernel.is_ridge)
        values = kernel.columns(shape.centres, np.float64)(toy.X)
        gram = kernel.gram(shape.centres, kernel, shape.centres)
        gram += self.engine.precision**0.75 * np.eye(5)
        columns = np.linalg.solve(np.linalg.cholesky(gram), values.T).T
        columns = np.hstack((0.3 * toy.X, columns))
        least = oracles.minimum(columns, self.objective.C_pair, toy.positive, toy.weights)[1]
        return least + self.penalty(shape)

    def penalty(self, shape):
        round_ones, ridges = ~self.kernel.is_ridge, self.kernel.is_ridge
        roots = np.sqrt([0.5, 0.1, 0.1])[:, None]
        moves = (shape.centres - self.shape.centres)[round_ones] * roots * self.shape.scales
        own = np.log(shape.metric[round_ones] / (roots * shape.scales))
        lengths = np.linalg.norm(DIRECTIONS, axis=1)[:, None]
        turns = (shape.metric[ridges] - DIRECTIONS) / lengths
        apart = shape.centres[ridges] - self.shape.centres[ridges]
        shifts = (shape.metric[ridges] * apart).sum(axis=1)
        total = np.sum(np.log(shape.scales) ** 2) + DEVIATION_PENALTY * np.sum(own**2)
        total += sum(np.sum(part**2) for part in (moves, turns, shifts))
        return 0.5 * shape_ridge(self.engine) * total


@pytest.fixture
def setup(engine_case):
    return Setup(engine_case)


def test_value_and_gradient_are_those_of_the_definition(engine_case, setup):
    problem = setup.problem
    theta = problem.pack(setup.shape)
    theta += 0.2 * np.random.default_rng(0).normal(size=len(theta)) * is_free(setup)
    value, gradient = problem(theta)
    assert setup.penalty(problem.unpack(theta)) > 0.05
    tolerance = 1e-9 if engine_case.exact else 1e-4
    assert_allclose(value, setup.value(problem.unpack(theta)), rtol=tolerance)
    slopes = np.zeros(len(theta))
    for i in np.flatnonzero(is_free(setup)):
        move = 1e-4 * np.eye(len(theta))[i]
        ends = (setup.value(problem.unpack(theta + sign * move)) for sign in (1, -1))
        slopes[i] = (next(ends) - next(ends)) / 2e-4
    tolerance = 1e-5 if engine_case.exact else 2e-3
    assert_allclose(gradient, slopes, rtol=0, atol=tolerance * np.abs(slopes).max())


def is_free(setup):
    """All variables but the zeros of directions."""
    free = np.ones(len(setup.problem.rest), bool)
    free[-8:-2] = (DIRECTIONS != 0).ravel()
    return free


def test_a_shape_survives_packing(setup):
    again = setup.problem.unpack(setup.problem.pack(setup.shape))
    for name in ("centres", "scales", "metric"):
        assert_allclose(getattr(again, name), getattr(setup.shape, name), rtol=1e-12)


def test_scales_and_deviations_stay_between_their_bounds(setup):
    theta = setup.problem.pack(setup.shape)
    n_round = 9
    theta[n_round : n_round + 3] = SCALE_BOUNDS[0] - 1, 0.0, SCALE_BOUNDS[1] + 1
    theta[n_round + 3] = SCALE_BOUNDS[1] + 1
    shape = setup.problem.unpack(theta)
    assert_allclose(np.log(shape.scales), [SCALE_BOUNDS[0], 0.0, SCALE_BOUNDS[1]])
    assert_allclose(shape.metric[0, 0], np.sqrt(0.5) * np.exp(sum(SCALE_BOUNDS)))
    at_bounds = [n_round, n_round + 2, n_round + 3]
    penalties = shape_ridge(setup.engine) * setup.problem.variables.penalties()
    # The kernel changes no more; the penalty pulls the variables back.
    _, gradient = setup.problem(theta)
    assert_allclose(gradient[at_bounds], (penalties * theta)[at_bounds])


def test_refinement_keeps_the_features_of_a_ridge(setup):
    found = refine(setup.objective, setup.basis, setup.start, 10, optimise)
    assert setup.value(found.shape) < 0.95 * setup.value(setup.shape)
    ridges = setup.kernel.is_ridge
    assert_array_equal(found.shape.metric[ridges] != 0, DIRECTIONS != 0)
    assert_array_equal(found.shape.centres[ridges][DIRECTIONS == 0], 0)
    assert not np.allclose(found.shape.metric[ridges], DIRECTIONS)
    gram = ShapedRBF(found.shape.metric, ridges)
    gram = gram.gram(found.shape.centres, gram, found.shape.centres)
    factor = cholesky_factor(gram + setup.engine.precision**0.75 * np.eye(5))
    assert_allclose(found.factor, factor, atol=1e-8)


def test_rounding_keeps_the_metric_with_the_centres(setup):
    rounded = setup.shape.rounded()
    for name in ("centres", "metric"):
        single = getattr(setup.shape, name).astype(np.float32)
        assert_array_equal(getattr(rounded, name), single)
