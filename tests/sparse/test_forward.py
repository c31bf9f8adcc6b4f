"""Forward selection against a brute force that solves the whole system for every candidate."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel
from toys import KERNEL, grow_by, make_toy

from skauc.engines import LinearColumns
from skauc.kernels import RBF
from skauc.solvers.newton import cholesky_step, minimise
from skauc.sparse.basis import Basis
from skauc.sparse.forward import PoolModel, select_forward
from skauc.sparse.gains import Candidates
from skauc.sparse.objective import Objective, pair_weight

optimise = partial(minimise, step=cholesky_step, tol=1e-10, max_iter=200)
CENTRES = [(3, 0), (17, 1), (40, 0)]
WIDTHS = [RBF(0.5), RBF(0.05)]


@pytest.fixture(params=[0.1, 30.0], ids=lambda C: f"C={C}")
def case(engine_case, request):
    """A basis of two widths and a linear term, and a point off its optimum."""
    toy = make_toy()
    engine = engine_case.build(toy, capacity=20)
    engine.append(LinearColumns(np.zeros(3), 0.3))
    basis = Basis(WIDTHS, 20, engine.precision, n_linear=3)
    for index, width in CENTRES:
        grow_by(engine, basis, toy.X, [index], width)
    objective = Objective(engine, pair_weight(request.param, engine))
    indices = np.delete(np.arange(len(toy.X)), [index for index, _ in CENTRES])
    candidates = Candidates.of(basis, indices, indices % 2, toy.X[indices])
    point = objective.at(np.array([0.1, 0.0, -0.2, 0.5, -1.0, 0.8]))
    cell = point.state.coarse.cell
    counted = cell[toy.positive][:, None] < cell[~toy.positive]
    return SimpleNamespace(
        toy=toy,
        grams=[rbf_kernel(toy.X, gamma=kernel.gamma) for kernel in WIDTHS],
        loss_hessian=oracles.hessian(counted, toy.positive, toy.weights),
        residual=oracles.residual(point.state.scores, toy.positive, toy.weights),
        objective=objective,
        basis=basis,
        candidates=candidates,
        point=point,
        tolerance=1e-7 if engine_case.exact else 1e-3,
    )


def quadratic(case, chosen):
    """Gradient and Hessian of the model over the basis and some candidates, by definition."""
    toy, C_pair = case.toy, case.objective.C_pair
    pool = zip(case.candidates.indices[chosen], case.candidates.widths[chosen], strict=True)
    centres = [*CENTRES, *pool]
    kernel_columns = np.column_stack([case.grams[width][:, i] for i, width in centres])
    rows, widths = np.array(centres).T
    factor = np.linalg.cholesky(kernel_columns[rows] * (widths[:, None] == widths))
    columns = np.hstack((0.3 * toy.X, np.linalg.solve(factor, kernel_columns.T).T))
    hessian = columns.T @ case.loss_hessian @ columns
    gradient = C_pair * columns.T @ case.residual
    gradient[: len(case.point.weights)] += case.point.weights
    return gradient, np.eye(len(hessian)) + C_pair * hessian


def forward_by_brute_force(case, n_chosen):
    """Solve with each candidate in turn, keep the best, and go on from there."""
    chosen = []
    for _ in range(n_chosen):
        gains = np.full(len(case.candidates), -np.inf)
        for candidate in np.setdiff1d(np.arange(len(gains)), chosen):
            gradient, hessian = quadratic(case, [*chosen, candidate])
            gains[candidate] = gradient @ np.linalg.solve(hessian, gradient)
        chosen.append(int(np.argmax(gains)))
    return chosen


def model_of(case):
    return PoolModel.of(case.objective, case.point, case.candidates)


def test_the_choice_is_that_of_a_solution_for_every_candidate(engine_case, case):
    chosen = model_of(case).choose(5)
    expected = forward_by_brute_force(case, 5)
    if engine_case.exact:
        assert_array_equal(chosen, expected)
        return
    # Gains of float32 columns may swap candidates that are nearly as good.
    gains = []
    for each in (chosen, expected):
        gradient, hessian = quadratic(case, each)
        gains.append(gradient @ np.linalg.solve(hessian, gradient))
    assert_allclose(*gains, rtol=1e-3)


def test_the_move_is_the_newton_step_over_all_coefficients(case):
    model = model_of(case)
    chosen = model.choose(4)
    found = model.addition(chosen)
    gradient, hessian = quadratic(case, chosen)
    expected = -np.linalg.solve(hessian, gradient)
    assert_allclose(found.step, expected, rtol=0, atol=case.tolerance * np.abs(expected).max())
    assert_allclose(found.slope, gradient @ expected, rtol=case.tolerance)
    added = found.added(case.candidates)
    assert_array_equal(added.indices, case.candidates.indices[chosen])
    assert_array_equal(added.centres, case.toy.X[added.indices])
    assert_array_equal(added.widths, added.indices % 2)


def test_the_centres_chosen_extend_the_orthonormal_basis(engine_case, case):
    model = model_of(case)
    found = model.addition(model.choose(4))
    added, step, slope = found.added(case.candidates), found.step, found.slope
    before = case.point.weights
    case.basis.append(case.objective.engine, added)
    kernel, centres = case.basis.kernel(), case.basis.centres
    gram = kernel.gram(centres, kernel, centres)
    assert_allclose(case.basis.factor @ case.basis.factor.T, gram, atol=1e-8)
    # The columns are in place: the old weights are the old point, and the move goes down.
    same = case.objective.at(np.append(before, np.zeros(4)))
    assert_allclose(same.value, case.point.value, rtol=engine_case.tolerance)
    assert_allclose(case.objective.gradient(same) @ step, slope, rtol=1e-3)
    assert slope < 0
    assert case.objective.at(same.weights + 0.1 * step).value < same.value


def test_more_choices_begin_like_fewer(case):
    model = model_of(case)
    assert_array_equal(model.choose(6)[:2], model.choose(2))


def test_copies_in_the_pool_are_chosen_once(engine_case):
    toy = make_toy()
    toy = replace(toy, X=toy.X[np.arange(len(toy.X)) % 5])
    engine = engine_case.build(toy)
    basis = Basis([KERNEL], 8, engine.precision)
    objective = Objective(engine, pair_weight(1.0, engine))
    indices = np.arange(len(toy.X))
    candidates = Candidates.of(basis, indices, np.zeros(len(indices), int), toy.X)
    model = PoolModel.of(objective, objective.at(np.empty(0)), candidates)
    chosen = model.choose(8)
    assert_array_equal(np.sort(chosen), np.arange(5))


def test_nearly_dependent_candidates_are_no_trouble(engine_case):
    # Wide functions are nearly dependent, and a huge C lets nothing but rounding tell them apart.
    toy, kernel = make_toy(n_rows=600), RBF(0.005)
    engine = engine_case.build(toy, capacity=30)
    basis = Basis([kernel], 30, engine.precision)
    grow_by(engine, basis, toy.X, [0])
    objective = Objective(engine, pair_weight(1e8, engine))
    point = optimise(objective, np.zeros(1), tol=1e-6).point
    indices = np.arange(600)
    candidates = Candidates.of(basis, indices, np.zeros(600, int), toy.X)
    model = PoolModel.of(objective, point, candidates)
    chosen = model.choose(29)
    found = model.addition(chosen)
    assert len(chosen) > 5
    assert np.isfinite(found.step).all()
    assert found.slope < 0
    assert np.all(np.diag(found.factor) ** 2 > candidates.projection.smallest[chosen])


# The loop itself


def test_ties_go_to_the_first_candidate():
    slopes = np.array([1.0, 3.0 * (1 - 1e-12), 3.0, -3.0])
    chosen = select_forward(np.eye(4), slopes, np.eye(4), np.zeros(4), 0.0, 4)
    assert chosen.tolist() == [1, 2, 3, 0]


def test_without_gains_the_first_independent_candidates_are_chosen():
    gram = np.diag([1e-9, 1.0, 1.0])
    chosen = select_forward(np.eye(3), np.zeros(3), gram, np.full(3, 1e-6), 0.0, 3)
    assert chosen.tolist() == [1, 2]


def test_among_negligible_gains_the_largest_rest_decides():
    """Rounding must not decide."""
    slopes, rests = np.array([2e-6, 1e-6, 3.0]), np.diag([0.1, 0.5, 0.2])
    assert select_forward(np.eye(3), slopes, rests, np.zeros(3), 1e-10, 3).tolist() == [2, 1, 0]
    assert select_forward(np.eye(3), slopes, rests, np.zeros(3), 0.0, 3).tolist() == [2, 0, 1]
