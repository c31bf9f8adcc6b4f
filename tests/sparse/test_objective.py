"""The objective against its definition and its finite differences."""

from dataclasses import replace

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose
from toys import KERNEL, explicit_columns, grow, make_toy

from skauc.sparse.objective import Objective, pair_weight

CENTRES = [3, 17, 40, 71, 90]
WEIGHTS = np.array([0.9, -1.1, 0.4, 0.7, -0.3])


@pytest.fixture
def toy():
    return make_toy()


@pytest.fixture
def objective(engine_case, toy):
    engine = engine_case.build(toy)
    grow(engine, toy.X, KERNEL, CENTRES)
    return Objective(engine, C_pair=0.02)


def test_value_and_gradient_are_their_definitions(engine_case, objective, toy):
    point = objective.at(WEIGHTS)
    value, gradient = oracles.objective(
        WEIGHTS, explicit_columns(toy.X, CENTRES), 0.02, toy.positive, toy.weights
    )
    assert_allclose(point.value, value, rtol=engine_case.tolerance)
    atol = engine_case.tolerance * np.abs(gradient).max()
    for found in (objective.gradient(point), objective.derivatives(point)[0]):
        assert_allclose(found, gradient, rtol=0, atol=atol)


def test_hessian_is_the_finite_difference_of_the_gradient(objective):
    # The step changes the violating pairs of a few rows at most: a loose tolerance.
    step = 1e-3
    differences = [
        objective.gradient(objective.at(WEIGHTS + step * unit))
        - objective.gradient(objective.at(WEIGHTS - step * unit))
        for unit in np.eye(len(WEIGHTS))
    ]
    hessian = objective.derivatives(objective.at(WEIGHTS))[1]
    error = np.array(differences) / (2 * step) - hessian
    assert np.linalg.norm(error) < 0.02 * np.linalg.norm(hessian)


def test_hessian_is_at_least_the_identity(objective):
    hessian = objective.derivatives(objective.at(WEIGHTS))[1]
    assert np.linalg.eigvalsh(hessian).min() >= 1 - 1e-6


def test_hessian_product_multiplies_by_the_hessian(engine_case, objective):
    point, vector = objective.at(WEIGHTS), np.array([1.0, -2.0, 0.5, 3.0, 0.1])
    expected = objective.derivatives(point)[1] @ vector
    atol = engine_case.tolerance * np.abs(expected).max()
    assert_allclose(objective.hessian_product(point, vector), expected, rtol=0, atol=atol)


def test_a_step_is_the_point_at_the_sum(engine_case, objective):
    move = np.array([0.2, 0.1, -0.5, 0.0, 1.0])
    line = objective.engine.direction(move)
    stepped = objective.step(objective.at(WEIGHTS), move, line, 0.7)
    direct = objective.at(WEIGHTS + 0.7 * move)
    assert_allclose(stepped.weights, direct.weights)
    assert_allclose(stepped.value, direct.value, rtol=engine_case.tolerance)


def test_pair_weight_is_c_per_row(engine_case, toy):
    engine = engine_case.build(toy)
    assert_allclose(pair_weight(3.0, engine), 3.0 / toy.weights.sum())


def test_c_weighs_the_rarer_class_whatever_the_number_of_others(engine_case, toy):
    """With many negatives the whole loss weighs C times the positives."""
    weights = toy.weights[toy.positive].sum()
    of_the_loss = []
    for times in (1, 10, 1000):
        more = replace(toy, weights=np.where(toy.positive, 1.0, times) * toy.weights)
        engine = engine_case.build(more)
        state = engine.at(np.empty(0))  # every pair loses one
        of_the_loss.append(pair_weight(2.0, engine) * state.loss)
    assert_allclose(of_the_loss[-1], 2.0 * weights, rtol=1e-3)
    assert np.all(np.diff(of_the_loss) > 0)
    assert of_the_loss[1] > 0.9 * of_the_loss[-1]
