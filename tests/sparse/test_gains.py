"""Gain rules against finite differences, dense linear algebra and scipy's optimisers."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose
from scipy import optimize
from toys import KERNEL, explicit_columns, grow, grow_by, make_toy

from skauc.kernels import RBF
from skauc.solvers.newton import cholesky_step, minimise
from skauc.sparse.basis import Basis
from skauc.sparse.gains import Candidates, Exhaustive, LineMinimum, NewtonLine
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
    basis = grow(engine, toy.X, KERNEL, CENTRES)
    objective = Objective(engine, pair_weight(request.param, engine))
    widths = np.zeros(len(CANDIDATES), dtype=int)
    return SimpleNamespace(
        toy=toy,
        objective=objective,
        basis=basis,
        point=objective.at(WEIGHTS),
        candidates=Candidates.of(basis, CANDIDATES, widths, toy.X[CANDIDATES]),
        # Binned curvatures leave some of the violating pairs out.
        curvature_tolerance=1e-5 if engine_case.exact else 0.02,
        line_tolerance=2e-6 if engine_case.exact else 1e-4,
    )


def evaluate(rule, case):
    return rule.evaluate(case.objective, case.point, case.candidates)


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


@pytest.mark.parametrize("make_rule", [NewtonLine, LineMinimum, lambda: Exhaustive(optimise)])
def test_candidates_of_several_widths_gain_what_they_gain_alone(engine_case, make_rule):
    toy, indices = make_toy(), np.array([5, 5, 80, 100])
    engine = engine_case.build(toy)
    basis = Basis([KERNEL, RBF(0.05)], 5, engine.precision)
    grow_by(engine, basis, toy.X, [3])
    grow_by(engine, basis, toy.X, [17], width=1)
    objective = Objective(engine, pair_weight(1.0, engine))
    point = objective.at(np.array([0.5, -1.0]))
    widths = np.array([0, 1, 1, 0])
    together = Candidates.of(basis, indices, widths, toy.X[indices])
    found = make_rule().evaluate(objective, point, together)
    for i in range(4):
        alone = Candidates.of(basis, indices[[i]], widths[[i]], toy.X[indices[[i]]])
        expected = make_rule().evaluate(objective, point, alone)
        assert_allclose(found.gains[i], expected.gains[0], rtol=1e-5)
        assert_allclose(found.moves[:, i], expected.moves[:, 0], rtol=1e-4, atol=1e-6)


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


@pytest.mark.parametrize("make_rule", [NewtonLine, LineMinimum])
def test_a_move_lowers_the_objective(case, make_rule):
    case.point = optimise(case.objective, WEIGHTS).point
    result = evaluate(make_rule(), case)
    best = int(np.argmax(result.gains))
    objective = with_candidate(case, CANDIDATES[best])
    value, _ = objective(np.append(case.point.weights, 0.0) + result.moves[:, best])
    assert value < case.point.value
