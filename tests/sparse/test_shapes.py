"""The variables of refinement against finite differences of the O(p * n) objective."""

from functools import partial

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from toys import grow_by, make_toy

from skauc import SparseKernelAUC
from skauc.engines import LinearColumns
from skauc.exceptions import InvalidParameterError
from skauc.kernels import RBF
from skauc.shaped_rbf import ShapedRBF
from skauc.solvers.newton import cholesky_step, minimise
from skauc.solvers.triangular import cholesky_factor
from skauc.sparse.basis import RIDGE, Added, Basis
from skauc.sparse.objective import Objective, pair_weight
from skauc.sparse.refinement import Refined, _Problem, refine, shape_ridge
from skauc.sparse.shapes import DEVIATION_UNIT, SCALE_BOUNDS, Shape

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
        total = np.sum(np.log(shape.scales) ** 2) + np.sum((own / DEVIATION_UNIT) ** 2)
        total += sum(np.sum(part**2) for part in (moves, turns, shifts))
        return 0.5 * shape_ridge(self.engine) * total


@pytest.fixture
def setup(engine_case):
    return Setup(engine_case)


def test_value_and_gradient_are_those_of_the_definition(engine_case, setup):
    problem = setup.problem
    theta = problem.pack(setup.shape)
    theta += 0.2 * np.random.default_rng(0).normal(size=len(theta)) * is_free(setup)
    value, gradient = problem.penalised(theta, *problem.evaluate(theta))
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
    theta[n_round + 3] = SCALE_BOUNDS[1] / DEVIATION_UNIT + 1
    shape = setup.problem.unpack(theta)
    assert_allclose(np.log(shape.scales), [SCALE_BOUNDS[0], 0.0, SCALE_BOUNDS[1]])
    assert_allclose(shape.metric[0, 0], np.sqrt(0.5) * np.exp(sum(SCALE_BOUNDS)))
    at_bounds = [n_round, n_round + 2, n_round + 3]
    # The kernel changes no more; the penalty pulls the variables back.
    _, gradient = setup.problem.penalised(theta, *setup.problem.evaluate(theta))
    assert_allclose(gradient[at_bounds], shape_ridge(setup.engine) * theta[at_bounds])


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


def test_centres_are_rounded_in_units_of_the_steepest_metric(setup):
    rounded = setup.shape.rounded(0.5)
    apart = np.abs(rounded.centres - setup.shape.centres)
    assert 0 < (apart * np.abs(setup.shape.metric).max(axis=0)).max() < 1e-4
    assert_array_equal(rounded.metric, setup.shape.metric.astype(np.float32))


# Estimators


def equal_cards(n_rows, seed):
    """Four features of a few levels; a row is positive if two of them are equal."""
    rows = np.random.default_rng(seed).integers(0, 9, size=(n_rows, 4)).astype(float)
    return rows, (rows[:, 0] == rows[:, 1]) | (rows[:, 2] == rows[:, 3])


def wells(n_rows, seed):
    """A narrow well in one feature on one side, and in the other feature on the other side."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-2, 2, size=(n_rows, 2))
    side = rows[:, 0] > 0
    inside = np.where(side, np.abs(rows[:, 1]) < 0.2, np.abs(rows[:, 0] + 1) < 0.1)
    return rows, inside


def explicit_scores(model, rows):
    """The scores by the formula in the docstring."""
    terms = (rows[:, None] - model.basis_vectors_) * model.metric_
    squares = np.where(model.is_ridge_, terms.sum(axis=2) ** 2, (terms**2).sum(axis=2))
    return np.exp(-squares) @ model.dual_coef_ + rows @ model.linear_coef_ + model.intercept_


def test_ridges_see_equality():
    train, test = equal_cards(1500, 0), equal_cards(1000, 1)
    scores = []
    for shapes in ("round", "ridge"):
        model = SparseKernelAUC(16, scaling=None, shapes=shapes, random_state=0).fit(*train)
        scores.append(model.score(*test))
    assert scores[0] < 0.85
    assert scores[1] > 0.97
    assert model.is_ridge_.sum() > 8
    assert np.count_nonzero(model.metric_[model.is_ridge_], axis=1).max() <= 4
    assert_allclose(model.decision_function(test[0]), explicit_scores(model, test[0]), atol=1e-6)


def test_ridges_see_equality_on_a_gpu(monkeypatch):
    """Fewer rows and steps, because here the GPU is the CPU."""
    pytest.importorskip("torch", reason='needs pip install "skauc[gpu]"')
    monkeypatch.setenv("SKAUC_GPU_DEVICE", "cpu")
    options = {"scaling": None, "shapes": "ridge", "refine": 3, "random_state": 0}
    train, test = equal_cards(600, 0), equal_cards(500, 1)
    model = SparseKernelAUC(8, engine="gpu", **options).fit(*train)
    assert model.score(*test) > 0.9
    expected = SparseKernelAUC(8, **options).fit(*train)
    assert_allclose(
        model.decision_function(test[0]), expected.decision_function(test[0]), atol=1e-4
    )
    assert_allclose(model.decision_function(test[0]), explicit_scores(model, test[0]), atol=1e-6)


def test_local_scales_learn_where_a_feature_matters():
    train, test = wells(2500, 0), wells(2000, 1)
    scores = {}
    for shapes in ("round", "local"):
        options = {"scaling": None, "shapes": shapes, "refine": 30}
        model = SparseKernelAUC(16, **options, random_state=0).fit(*train)
        scores[shapes] = model.score(*test)
    assert scores["local"] > scores["round"] + 0.005
    assert np.log(model.metric_).std(axis=0).min() > 0.05
    assert not model.is_ridge_.any()
    assert_allclose(model.decision_function(test[0]), explicit_scores(model, test[0]), atol=1e-6)


@pytest.mark.parametrize("shapes", ["local", "ridge"])
def test_sparse_rows_and_smaller_models(shapes):
    rows, labels = equal_cards(300, 0)
    options = {"scaling": None, "shapes": shapes, "refine": 3}
    dense = SparseKernelAUC(8, **options, random_state=0).fit(rows, labels)
    model = clone(dense).fit(sparse.csr_array(rows), labels)
    assert_allclose(model.decision_function(rows), dense.decision_function(rows), atol=1e-4)
    smaller = dense.truncate(4)
    assert smaller.metric_.shape == (4, 4)
    assert smaller.is_ridge_.shape == (4,)
    assert_allclose(smaller.decision_function(rows), explicit_scores(smaller, rows), atol=1e-6)
    assert_array_equal(list(dense.staged_decision_function(rows))[-1].shape, (300,))


def test_centres_that_share_their_scales_have_no_metric():
    rows, labels = equal_cards(200, 0)
    for parameters in ({"shapes": "round"}, {"shapes": "local", "refine": False}):
        model = SparseKernelAUC(4, random_state=0, **parameters).fit(rows, labels)
        assert model.metric_ is None
        assert_array_equal(model.is_ridge_, np.zeros(4, bool))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"shapes": "oval"},
            "`shapes` must be one of 'round', 'local', 'ridge', 'additive'; got 'oval'",
        ),
        ({"shapes": "local", "kernel": "laplacian"}, "shapes='local' needs kernel='rbf'; got"),
        ({"shapes": "ridge", "selection": "greedy"}, "needs the selection rule 'orthogonal'; got"),
    ],
)
def test_what_shapes_need(parameters, message):
    rows, labels = equal_cards(50, 0)
    with pytest.raises(InvalidParameterError, match=message):
        SparseKernelAUC(4, **parameters).fit(rows, labels)
