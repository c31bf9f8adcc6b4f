"""Refinement against finite differences of the O(p * n) objective, and its promises."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import make_classification
from toys import grow_by, make_toy, those

from skauc import SparseKernelAUC
from skauc.engines import LinearColumns, OrthonormalColumns
from skauc.engines.passes import Moments
from skauc.kernels import RBF, same_format
from skauc.solvers.newton import cholesky_step, minimise
from skauc.sparse.basis import Basis
from skauc.sparse.objective import Objective, pair_weight
from skauc.sparse.refinement import (
    FEW_SHAPED_ROWS,
    Refined,
    _Problem,
    refine,
    shape_ridge,
    solve_for_shape,
)
from skauc.sparse.shapes import SCALE_BOUNDS, Shape

optimise = partial(minimise, step=cholesky_step, tol=1e-13, max_iter=200)
# As an estimator has it by default, with more iterations.
loose = partial(minimise, step=cholesky_step, tol=1e-4, max_iter=500)
CENTRES = [3, 17, 40, 71, 90]
ONE_WIDTH = ([0.5], [0, 0, 0, 0, 0])
TWO_WIDTHS = ([0.5, 0.1], [0, 1, 0, 1, 1])
ORIGIN, SLOPE = np.array([0.2, -0.1, 0.3]), 0.4


@dataclass(frozen=True)
class Setup:
    """Rows in an engine, a basis over some of them, and where refinement would start."""

    toy: object
    objective: Objective
    basis: Basis
    gammas: np.ndarray
    start: Refined
    held_out: np.ndarray | None

    @property
    def engine(self):
        return self.objective.engine

    def kernel_values(self, rows, shape):
        distances = cdist(rows * shape.scales, shape.centres * shape.scales, "sqeuclidean")
        return np.exp(-self.gammas * distances)

    def columns(self, shape):
        """Orthonormal columns for a shape, the linear ones first, by dense linear algebra."""
        widths = np.array(self.basis.widths)
        gram = self.kernel_values(shape.centres, shape) * (widths[:, None] == widths)
        ridge = self.engine.precision**0.75 * np.eye(len(gram))
        columns = np.linalg.solve(
            np.linalg.cholesky(gram + ridge), self.kernel_values(dense(self.toy.X), shape).T
        ).T
        if self.basis.n_linear:
            columns = np.hstack((SLOPE * (dense(self.toy.X) - ORIGIN), columns))
        return columns

    def least(self, shape):
        """E(Z, s), by definition."""
        toy = self.toy
        weights = toy.weights if self.held_out is None else toy.weights * ~self.held_out
        return oracles.minimum(self.columns(shape), self.objective.C_pair, toy.positive, weights)[1]

    def penalty(self, shape):
        """Half the squared log scales and displacements in units of the width, by definition."""
        toy = self.toy
        weights = toy.weights if self.held_out is None else toy.weights * ~self.held_out
        p, n = weights[toy.positive].sum(), weights[~toy.positive].sum()
        rarer = p * n / (p + n)
        moves = (shape.centres - self.start.shape.centres) * self.start.shape.scales
        moves *= np.sqrt(self.gammas)[:, None]
        ridge = min(1.0, FEW_SHAPED_ROWS / rarer)
        return 0.5 * ridge * (np.sum(np.log(shape.scales) ** 2) + np.sum(moves**2))

    def scores(self, refined):
        rows = dense(self.toy.X)
        scores = self.kernel_values(rows, refined.shape) @ refined.coef
        if self.basis.n_linear:
            scores = scores + SLOPE * (rows - ORIGIN) @ refined.linear
        return scores


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X, np.float64)


@pytest.fixture
def make_setup(engine_case):
    def make(
        toy, widths=ONE_WIDTH, linear=False, C=2.0, held_out=None, centres=None, scales=(1, 1, 1)
    ):
        engine = engine_case.build(toy)
        engine.hold_out(those(held_out))
        gammas, chosen = widths
        basis = Basis([RBF(gamma) for gamma in gammas], 9, engine.precision, 3 * linear)
        if linear:
            engine.append(LinearColumns(ORIGIN, SLOPE))
        for index, width in zip(CENTRES, chosen, strict=True):
            grow_by(engine, basis, toy.X, [index], width)
        objective = Objective(engine, pair_weight(C, engine))
        shape = Shape(
            dense(toy.X)[CENTRES] if centres is None else centres, np.array(scales, float)
        )
        nothing = Refined(shape, np.zeros(basis.n_linear), np.zeros(len(CENTRES)), None)
        start, _ = solve_for_shape(objective, basis, nothing, optimise)
        gammas = np.array(gammas)[chosen]
        return Setup(toy, objective, basis, gammas, start, held_out)

    return make


@pytest.fixture
def toy():
    return make_toy()


# Derivatives


@pytest.mark.parametrize("widths", [ONE_WIDTH, TWO_WIDTHS], ids=["one width", "two widths"])
@pytest.mark.parametrize("linear", [False, True])
def test_value_and_gradient_are_those_of_the_definition(engine_case, make_setup, widths, linear):
    # With a row in twelve held out, and some rows of weight zero.
    toy = make_toy()
    toy.weights[::10] = 0.0
    held_out = np.arange(120) % 12 == 5
    setup = make_setup(toy, widths, linear, held_out=held_out, scales=(0.7, 1.5, 1.0))
    problem = _Problem(setup.objective, setup.basis, optimise, setup.start)
    theta = problem.pack(setup.start.shape)
    theta += 0.2 * np.random.default_rng(0).normal(size=len(theta))
    value, gradient = problem.penalised(theta, *problem.evaluate(theta))

    def least(theta):
        shape = problem.unpack(theta)
        return setup.least(shape) + setup.penalty(shape)

    assert setup.penalty(problem.unpack(theta)) > 0.05
    assert_allclose(value, least(theta), rtol=1e-9 if engine_case.exact else 1e-4)
    moves = 1e-4 * np.eye(len(theta))
    slopes = [(least(theta + move) - least(theta - move)) / 2e-4 for move in moves]
    tolerance = 1e-5 if engine_case.exact else 2e-3
    assert_allclose(gradient, slopes, rtol=0, atol=tolerance * np.abs(slopes).max())


def test_the_penalty_on_the_shape_falls_with_the_rows_of_the_rarer_class(engine_case, toy):
    def ridge(times):
        return shape_ridge(engine_case.build(replace(toy, weights=times)))

    # 40 positives and 80 negatives: p n / (p + n) = 26.7, less than fifty.
    assert ridge(np.ones(120)) == 1.0
    assert_allclose(ridge(np.full(120, 10.0)), FEW_SHAPED_ROWS / 266.67, rtol=1e-4)
    # However many negatives there are.
    assert_allclose(ridge(np.where(toy.positive, 10.0, 1e6)), FEW_SHAPED_ROWS / 400, rtol=1e-3)


def test_a_scale_at_its_bound_stays_there(make_setup, toy):
    setup = make_setup(toy)
    problem = _Problem(setup.objective, setup.basis, optimise, setup.start)
    theta = problem.pack(setup.start.shape)
    theta[-3:] = SCALE_BOUNDS[0] - 1, SCALE_BOUNDS[1] + 1, 0.0
    assert_allclose(problem.unpack(theta).scales, np.exp([*SCALE_BOUNDS, 0.0]))
    _, gradient = problem.penalised(theta, *problem.evaluate(theta))
    # The kernel changes no more; the penalty pulls the log scale back.
    ridge = shape_ridge(setup.engine)
    assert_allclose(gradient[-3:-1], ridge * theta[-3:-1])


def test_a_shape_survives_packing(make_setup, toy):
    setup = make_setup(toy, TWO_WIDTHS)
    problem = _Problem(setup.objective, setup.basis, optimise, setup.start)
    shape = Shape(toy.X[:5] + 1.0, np.array([0.1, 1.0, 7.0]))
    again = problem.unpack(problem.pack(shape))
    assert_allclose(again.centres, shape.centres, rtol=1e-12)
    assert_allclose(again.scales, shape.scales, rtol=1e-12)


@pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_array])
def test_kernel_moments_are_sums_over_rows_and_centres(engine_case, make_setup, toy, as_format):
    toy = replace(toy, X=as_format(toy.X))
    setup = make_setup(toy, TWO_WIDTHS)
    shape = Shape(dense(toy.X)[CENTRES] + 0.3, np.array([0.5, 1.0, 2.0]))
    coef = np.array([0.4, -1.0, 0.8, 0.1, -0.6])
    state = setup.engine.at(np.array([0.9, -1.1, 0.4, 0.7, -0.3]))
    values = setup.kernel_values(dense(toy.X), shape)
    factor = np.tril(np.random.default_rng(0).normal(size=(5, 5))) + 3 * np.eye(5)
    kernel = RBF(setup.gammas, shape.scales)
    rows = same_format(shape.centres, toy.X)
    columns = OrthonormalColumns(kernel, rows, np.zeros((0, 5)), np.linalg.inv(factor).T)
    setup.engine.append(columns)
    origin = shape.centres.mean(axis=0)
    moments = setup.engine.ask(Moments(5, origin, factor, coef), state)
    residual = oracles.residual(state.scores, toy.positive, toy.weights)
    total, first, second = np.zeros(5), np.zeros((5, 3)), np.zeros((5, 3))
    for i, row in enumerate(dense(toy.X)):
        for k in range(5):
            product = residual[i] * values[i, k] * coef[k]
            total[k] += product
            first[k] += product * (row - origin)
            second[k] += product * (row - origin) ** 2
    for actual, expected in (
        (moments.total, total),
        (moments.first, first),
        (moments.second, second),
    ):
        atol = engine_case.tolerance * np.abs(expected).max()
        assert_allclose(actual, expected, rtol=0, atol=atol)


def test_solving_for_a_shape_gives_the_best_coefficients(engine_case, make_setup, toy):
    setup = make_setup(toy, TWO_WIDTHS, linear=True)
    shape = Shape(toy.X[CENTRES] - 0.2, np.array([0.5, 1.0, 2.0]))
    start = replace(setup.start, shape=shape)
    solved, point = solve_for_shape(setup.objective, setup.basis, start, optimise)
    tolerance = 1e-8 if engine_case.exact else 1e-4
    assert_allclose(point.value, setup.least(shape), rtol=tolerance)
    assert_allclose(setup.scores(solved), point.state.scores, atol=10 * tolerance)
    assert_allclose(solved.factor.T @ solved.coef, point.weights[3:], rtol=1e-6, atol=1e-9)
    assert_allclose(solved.shape.centres, shape.centres, rtol=1e-12)


# The descent


@pytest.mark.parametrize("widths", [ONE_WIDTH, TWO_WIDTHS], ids=["one width", "two widths"])
@pytest.mark.parametrize("linear", [False, True])
def test_the_objective_falls(make_setup, toy, widths, linear):
    setup = make_setup(toy, widths, linear)
    steps = []
    found = refine(setup.objective, setup.basis, setup.start, 30, optimise, steps.append)
    assert 1 <= found.n_iter <= 30
    assert steps == list(range(1, found.n_iter + 1))
    # The penalty is zero at the start.
    values = [
        setup.least(shape) + setup.penalty(shape) for shape in (setup.start.shape, found.shape)
    ]
    assert values[1] < 0.9 * values[0]
    solved, _ = solve_for_shape(setup.objective, setup.basis, found, optimise)
    assert_allclose(setup.scores(found), setup.scores(solved), atol=1e-2)


def test_no_step_leaves_the_start(make_setup, toy):
    setup = make_setup(toy)
    assert refine(setup.objective, setup.basis, setup.start, 0, optimise) is setup.start


def test_scales_stay_between_their_bounds_and_find_the_features_that_matter(make_setup):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    toy = replace(make_toy(300), X=X, positive=np.abs(X[:, 1]) > 1, weights=np.ones(300))
    setup = make_setup(toy, C=100.0)
    refined = refine(setup.objective, setup.basis, setup.start, 200, optimise)
    scales = refined.shape.scales
    lowest, highest = np.exp(SCALE_BOUNDS)
    assert np.all((scales >= lowest * (1 - 1e-12)) & (scales <= highest * (1 + 1e-12)))
    assert scales[1] > 2 * max(scales[0], scales[2])


@pytest.mark.parametrize("as_format", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_are_refined_like_dense_ones(engine_case, make_setup, toy, as_format):
    expected, actual = (
        refine(setup.objective, setup.basis, setup.start, 5, optimise)
        for setup in (make_setup(toy), make_setup(replace(toy, X=as_format(toy.X))))
    )
    atol = 1e-6 if engine_case.exact else 1e-2
    assert_allclose(actual.shape.centres, expected.shape.centres, atol=atol)
    assert_allclose(actual.shape.scales, expected.shape.scales, atol=atol)


# Nothing but numbers


def assert_numbers(setup, refined):
    for array in (refined.shape.centres, refined.shape.scales, refined.coef, refined.linear):
        assert np.isfinite(array).all()
    assert np.isfinite(setup.scores(refined)).all()


@pytest.mark.parametrize("linear", [False, True])
def test_centres_that_coincide_are_no_trouble(make_setup, toy, linear):
    centres = np.repeat(toy.X[[3]], 5, axis=0)
    setup = make_setup(toy, linear=linear, centres=centres)
    refined = refine(setup.objective, setup.basis, setup.start, 30, optimise)
    assert_numbers(setup, refined)


def test_a_constant_feature_has_no_gradient(make_setup, toy):
    X = toy.X.copy()
    X[:, 1] = 7.0
    setup = make_setup(replace(toy, X=X))
    problem = _Problem(setup.objective, setup.basis, optimise, setup.start)
    theta = problem.pack(setup.start.shape)
    _, gradient = problem.penalised(theta, *problem.evaluate(theta))
    assert_allclose(gradient.reshape(-1, 3)[:, 1], 0, atol=1e-4 * np.abs(gradient).max())
    refined = refine(setup.objective, setup.basis, setup.start, 30, optimise)
    assert_numbers(setup, refined)


@pytest.mark.parametrize("C", [1e-6, 1e4, 1e8])
def test_no_c_makes_anything_but_numbers(make_setup, toy, C):
    setup = make_setup(toy, C=C, linear=True)
    refined = refine(setup.objective, setup.basis, setup.start, 30, loose)
    assert_numbers(setup, refined)


def test_classes_that_part_completely_are_no_trouble(make_setup, toy):
    X = toy.X + 40.0 * toy.positive[:, None]
    setup = make_setup(replace(toy, X=X), C=100.0)
    refined = refine(setup.objective, setup.basis, setup.start, 30, loose)
    assert_numbers(setup, refined)


def test_refinement_leaves_its_start_as_it_was(make_setup, toy):
    setup = make_setup(toy)
    before = setup.start.shape.centres.copy(), setup.start.coef.copy()
    refine(setup.objective, setup.basis, setup.start, 3, optimise)
    assert_array_equal(setup.start.shape.centres, before[0])
    assert_array_equal(setup.start.coef, before[1])


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_refined_centres_have_few_decimals(offset):
    X, y = make_classification(200, 4, random_state=0)
    model = SparseKernelAUC(6, scaling=None, refine=3, random_state=0).fit(X + offset, y)
    centres, decimals = model.basis_vectors_, np.round(model.basis_vectors_, 5)
    is_single = offset == 0.0
    assert_array_equal(centres, decimals.astype(np.float32) if is_single else decimals)
