"""Gain rules against finite differences, dense linear algebra and scipy's optimisers."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose
from scipy import optimize
from toys import KERNEL, explicit_columns, grow, make_toy

from skauc.kernels import RBF
from skauc.solvers.newton import cholesky_step, minimise
from skauc.sparse.gains import Candidates, Exhaustive, LineMinimum, NewtonLine, OrthogonalNewton
from skauc.sparse.objective import Objective, pair_weight

CENTRES = [3, 17, 40, 71]
CANDIDATES = np.array([5, 11, 80, 100])
WEIGHTS = np.array([0.5, -1.0, 0.8, 0.2])
optimise = partial(minimise, step=cholesky_step, tol=1e-12, max_iter=100)


@pytest.fixture(params=[0.05, 10.0], ids=lambda C: f"C={C}")
def case(engine_case, request):
    """A basis, a point off its optimum, candidates, and a tolerance for curvatures."""
    toy = make_toy()
    engine = engine_case.build(toy)
    basis = grow(engine, KERNEL, CENTRES)
    objective = Objective(engine, pair_weight(request.param, engine))
    centres = toy.X[CANDIDATES]
    return SimpleNamespace(
        toy=toy,
        objective=objective,
        basis=basis,
        point=objective.at(WEIGHTS),
        candidates=Candidates(KERNEL, 0, centres, CANDIDATES, basis.project(centres)),
        # Binned curvatures leave some of the violating pairs out.
        curvature_tolerance=1e-5 if engine_case.exact else 0.02,
        tolerance=1e-7 if engine_case.exact else 1e-3,
        line_tolerance=2e-6 if engine_case.exact else 1e-4,
    )


def evaluate(rule, case, model=None):
    return rule.evaluate(case.objective, case.point, model, case.candidates)


def with_candidate(case, index):
    """E and its gradient over the basis with a candidate added, by definition."""
    toy, columns = case.toy, explicit_columns(case.toy.X, [*CENTRES, index])
    return lambda weights: oracles.objective(
        weights, columns, case.objective.C_pair, toy.positive, toy.weights
    )


def along_candidates(case):
    """For each candidate, t -> (E, dE/dt) along its kernel column, in units of it."""
    start = np.append(WEIGHTS, 0.0)
    for index, column in zip(CANDIDATES, case.candidates.columns.T, strict=True):
        value_of = with_candidate(case, index)

        def value_and_slope(t, value_of=value_of, column=column):
            value, gradient = value_of(start + t * column)
            return value, gradient @ column

        yield value_and_slope


def model_and_new_point(case):
    """The quadratic model of one point, and the slopes of another."""
    model = OrthogonalNewton().model(case.objective, case.objective.at(0.5 * WEIGHTS))
    return model, explicit_models(case, model)


def explicit_models(case, model):
    """For each candidate the gradient and the Hessian, formed over the wider basis."""
    toy, C_pair = case.toy, case.objective.C_pair
    cell = model.state.coarse.cell
    counted = cell[toy.positive][:, None] < cell[~toy.positive]
    loss_hessian = oracles.hessian(counted, toy.positive, toy.weights)
    for index in CANDIDATES:
        columns = explicit_columns(toy.X, [*CENTRES, index])
        _, gradient = with_candidate(case, index)(np.append(WEIGHTS, 0.0))
        yield gradient, np.eye(5) + C_pair * columns.T @ loss_hessian @ columns


# One Newton step along the column


def test_newton_line_gains_what_the_parabola_of_finite_differences_gains(case):
    result = evaluate(NewtonLine(), case)
    expected = []
    for along in along_candidates(case):
        slope = (along(1e-5)[0] - along(-1e-5)[0]) / 2e-5
        curvature = (along(1e-7)[1] - along(-1e-7)[1]) / 2e-7
        expected.append((slope**2 / (2 * curvature), -slope / curvature))
    gains, steps = np.array(expected).T
    assert_allclose(result.gains, gains, rtol=case.curvature_tolerance)
    moves = case.candidates.columns * steps
    assert_allclose(result.moves, moves, rtol=case.curvature_tolerance)


def test_newton_line_keeps_no_model(case):
    assert NewtonLine().model(case.objective, case.point) is None
    assert evaluate(NewtonLine(), case).factor_rows is None


# One Newton step over all coefficients


def test_orthogonal_newton_gains_what_the_candidate_adds_to_the_quadratic_model(case):
    model, explicit = model_and_new_point(case)
    result = evaluate(OrthogonalNewton(), case, model)
    for gain, (gradient, hessian) in zip(result.gains, explicit, strict=True):
        with_it = 0.5 * gradient @ np.linalg.solve(hessian, gradient)
        without = 0.5 * gradient[:-1] @ np.linalg.solve(hessian[:-1, :-1], gradient[:-1])
        assert_allclose(gain, with_it - without, rtol=case.tolerance)


def test_orthogonal_newton_moves_to_the_minimum_of_the_quadratic_model(case):
    model, explicit = model_and_new_point(case)
    result = evaluate(OrthogonalNewton(), case, model)
    for move, (gradient, hessian) in zip(result.moves.T, explicit, strict=True):
        expected = -np.linalg.solve(hessian, gradient)
        assert_allclose(move, expected, rtol=0, atol=case.tolerance * np.abs(expected).max())


def test_factor_rows_extend_the_cholesky_factor_of_the_hessian(case):
    model, explicit = model_and_new_point(case)
    result = evaluate(OrthogonalNewton(), case, model)
    for row, (_, hessian) in zip(result.factor_rows.T, explicit, strict=True):
        factor = model.extend(row).factor
        assert_allclose(factor, np.tril(factor))
        atol = case.tolerance * np.abs(hessian).max()
        assert_allclose(factor @ factor.T, hessian, rtol=0, atol=atol)


def test_a_hessian_that_rounding_made_indefinite_has_a_model():
    indefinite = SimpleNamespace(hessian=lambda point: np.diag([1.0, 1.0, -1e-9]))
    factor = OrthogonalNewton().model(indefinite, SimpleNamespace(state=None)).factor
    assert_allclose(factor @ factor.T, np.diag([1.0, 1.0, 0.0]), atol=1e-6)


def test_without_a_basis_the_newton_steps_are_the_same(engine_case):
    toy = make_toy()
    engine = engine_case.build(toy)
    basis = grow(engine, KERNEL, [], capacity=1)
    objective = Objective(engine, pair_weight(1.0, engine))
    point = objective.at(np.empty(0))
    candidates = Candidates(KERNEL, 0, toy.X, np.arange(len(toy.X)), basis.project(toy.X))
    model = OrthogonalNewton().model(objective, point)
    line = NewtonLine().evaluate(objective, point, None, candidates)
    orthogonal = OrthogonalNewton().evaluate(objective, point, model, candidates)
    assert_allclose(orthogonal.gains, line.gains, rtol=1e-12)
    assert_allclose(orthogonal.moves, line.moves, rtol=1e-12)


def test_no_candidate_near_the_span_is_promised_more_than_the_objective(engine_case):
    # Wide functions are nearly dependent, and a huge C lets nothing but rounding tell them apart.
    toy, kernel = make_toy(n_rows=600), RBF(0.005)
    engine = engine_case.build(toy)
    basis = grow(engine, kernel, range(12))
    objective = Objective(engine, pair_weight(1e8, engine))
    point = optimise(objective, np.zeros(12), tol=1e-6).point
    projection = basis.project(toy.X)
    kept = np.flatnonzero(projection.independent)
    candidates = Candidates(kernel, 0, toy.X[kept], kept, projection.part(kept))
    model = OrthogonalNewton().model(objective, point)
    result = OrthogonalNewton().evaluate(objective, point, model, candidates)
    assert len(candidates) > 100
    assert np.all((result.gains >= 0) & (result.gains <= point.value))
    assert np.isfinite(result.factor_rows).all()


# The whole problem along the column, and over all coefficients


def test_line_minimum_is_the_one_that_scipy_finds(case):
    result = evaluate(LineMinimum(), case)
    for i, along in enumerate(along_candidates(case)):
        found = optimize.minimize_scalar(lambda t, along=along: along(t)[0])
        assert_allclose(result.gains[i], along(0.0)[0] - found.fun, rtol=case.line_tolerance)
        expected = found.x * case.candidates.columns[:, i]
        assert_allclose(result.moves[:, i], expected, rtol=1e-2)


def test_exhaustive_gains_are_those_of_refits_by_scipy(case):
    case.point = optimise(case.objective, WEIGHTS).point
    result = evaluate(Exhaustive(optimise), case)
    for i, index in enumerate(CANDIDATES):
        start = np.append(case.point.weights, 0.0)
        options = {"gtol": 1e-6}
        found = optimize.minimize(
            with_candidate(case, index), start, jac=True, method="BFGS", options=options
        )
        assert_allclose(result.gains[i], case.point.value - found.fun, rtol=1e-3)
        assert_allclose(result.moves[:, i], found.x - start, atol=1e-2 * np.abs(found.x).max())


def test_exhaustive_leaves_the_basis_as_it_was(case):
    evaluate(Exhaustive(optimise), case)
    assert_allclose(case.objective.at(WEIGHTS).value, case.point.value, rtol=1e-12)


def test_the_more_a_rule_optimises_the_more_it_gains(case):
    case.point = optimise(case.objective, WEIGHTS).point
    newton, line, refit = (
        evaluate(each, case) for each in (NewtonLine(), LineMinimum(), Exhaustive(optimise))
    )
    taken = []
    for i, index in enumerate(CANDIDATES):
        value, _ = with_candidate(case, index)(
            np.append(case.point.weights, 0.0) + newton.moves[:, i]
        )
        taken.append(case.point.value - value)
    slack = 1e-6 * case.point.value
    assert np.all(line.gains >= np.array(taken) - slack)
    assert np.all(refit.gains >= line.gains - slack)


@pytest.mark.parametrize("make_rule", [NewtonLine, OrthogonalNewton, LineMinimum])
def test_a_move_lowers_the_objective(case, make_rule):
    case.point = optimise(case.objective, WEIGHTS).point
    model = make_rule().model(case.objective, case.point)
    result = evaluate(make_rule(), case, model)
    best = int(np.argmax(result.gains))
    objective = with_candidate(case, CANDIDATES[best])
    value, _ = objective(np.append(case.point.weights, 0.0) + result.moves[:, best])
    assert value < case.point.value
