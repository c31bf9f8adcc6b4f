"""Compiled optimisations agree with the general ones, and leave difficulties to them."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from toys import KERNEL, grow, make_toy

from skauc import Selection, SparseKernelAUC
from skauc.data.training import TrainingData
from skauc.engines import SizePolicy, make_engine, size_policy
from skauc.exceptions import InvalidDataError
from skauc.losses.cells import sorted_cells
from skauc.losses.focus import Focus
from skauc.solvers.few_rows import (
    factorise_in_place,
    inverse_of,
    pair_factors,
    pair_roots,
    row_products,
)
from skauc.solvers.newton import Newton, cholesky_step, halving_search, minimise
from skauc.sparse.objective import Objective, pair_weight

GENERAL = SizePolicy(few_rows=0)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(size=150) > 0.5


def training(toy):
    return TrainingData(toy.X, toy.positive, toy.weights, np.array([0, 1]))


def objective_of(toy, n_centres=6, C=1.0, policy=None):
    engine = make_engine(training(toy), capacity=n_centres, n_jobs=1, policy=policy)
    grow(engine, toy.X, KERNEL, list(range(n_centres)))
    return Objective(engine, pair_weight(C, engine))


@pytest.mark.parametrize(
    "parameters",
    [
        {"refine": False, "linear_term": False},
        {"C": 100.0},
        {"gamma": [0.05, 0.5], "early_stopping": True},
        {"scaling": "normal", "shapes": "local"},
    ],
)
def test_fits_agree_with_the_general_path(rows, parameters):
    X, y = rows
    weights = np.random.default_rng(1).integers(1, 3, len(y)).astype(float)
    found, general = (SparseKernelAUC(12, random_state=0, **parameters) for _ in range(2))
    found.fit(X.astype(np.float32), y, weights)
    with size_policy(GENERAL):
        general.fit(X.astype(np.float32), y, weights)
    assert_array_equal(found.basis_indices_, general.basis_indices_)
    assert_allclose(found.decision_function(X), general.decision_function(X), atol=1e-10)
    assert found.n_iter_ == general.n_iter_


@pytest.mark.parametrize("coarse_cells", [512, 8])
@pytest.mark.parametrize("C", [1.0, 1e6])
def test_every_step_is_that_of_the_general_path(C, coarse_cells):
    objective = objective_of(make_toy(), C=C, policy=SizePolicy(coarse_cells=coarse_cells))
    newton = Newton(cholesky_step, 1e-9, 100, halving_search)
    found = newton(objective, np.zeros(6))
    expected = minimise(objective, np.zeros(6), cholesky_step, tol=1e-9, max_iter=100)
    assert_allclose(found.point.weights, expected.point.weights, rtol=1e-8)
    assert_allclose(found.point.value, expected.point.value, rtol=1e-12)
    assert_allclose(found.point.state.scores, expected.point.state.scores, rtol=1e-8)
    assert found.n_iter == expected.n_iter


def test_too_few_iterations_give_the_usual_warning(rows):
    model = SparseKernelAUC(8, C=1e4, refine=False, selection=Selection(max_iter=1), tol=1e-9)
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=1"):
        model.fit(*rows)


def test_numbers_that_overflow_give_the_usual_error():
    objective = objective_of(make_toy())
    newton = Newton(cholesky_step, 1e-4, 100, halving_search)
    assert objective.minimum(np.zeros(6), tol=1e-4, max_iter=100) is not None
    objective.engine.block.columns[3, 2] = np.inf
    objective.engine.few_rows.replace_columns(2)
    with pytest.raises(InvalidDataError, match="overflow"):
        newton(objective, np.full(6, 0.1))


@pytest.mark.parametrize("merged", [0, 2])
@pytest.mark.parametrize("n_columns", [1, 4, 6])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_the_hessian_is_the_sum_over_violating_pairs(n_columns, merged, offset):
    rng = np.random.default_rng(n_columns)
    # Scores repeat, and some rows have the weight zero.
    scores, positive = rng.normal(size=90).round(1), rng.random(90) < 0.3
    weights, x = rng.integers(0, 4, 90).astype(float), rng.normal(size=(n_columns, 90)) + offset
    cell = sorted_cells(scores, positive).cell
    factors = np.full((-(-n_columns // 4) * 4, 104), np.nan)
    pair_factors(x, *pair_roots(cell, merged, positive, weights), factors)
    i, j = np.meshgrid(np.flatnonzero(positive), np.flatnonzero(~positive), indexing="ij")
    pair = weights[i] * weights[j] * (cell[i] >> merged < cell[j] >> merged)
    difference = x[:, i] - x[:, j]
    expected = np.einsum("kij,lij,ij->kl", difference, difference, pair)
    assert_allclose(row_products(factors, n_columns), expected, rtol=1e-8)


@pytest.mark.parametrize("size", [1, 2, 7])
def test_the_inverse_of_a_triangular_matrix(size):
    lower = np.tril(np.random.default_rng(0).normal(size=(size, size))) + 3 * np.eye(size)
    assert_allclose(inverse_of(lower), np.linalg.inv(lower), atol=1e-12)


def test_columns_that_were_replaced_are_read_again():
    objective = objective_of(make_toy())
    engine, few = objective.engine, objective.engine.few_rows
    assert_array_equal(few.columns_of(6), engine.block.columns.T)
    before = few.columns_of(6).copy()
    grow(engine, make_toy().X, KERNEL, [20, 21, 22, 23, 24, 25])
    assert not np.array_equal(few.columns_of(6), before)
    assert_array_equal(few.columns_of(6), engine.block.columns.T)


def test_few_rows_have_few_numbers():
    toy = training(make_toy())
    sizes = SizePolicy(few_numbers=toy.X.size - 1)
    assert make_engine(toy, capacity=2, n_jobs=1, policy=sizes).few_rows is None


@pytest.mark.parametrize("last", [0.0, np.nan, np.inf])
def test_a_matrix_that_is_not_positive_definite_has_no_factor(last):
    matrix = np.array([[4.0, 2.0], [2.0, 10.0]])
    assert factorise_in_place(matrix)
    assert_allclose(matrix, [[2, 0], [1, 3]])
    assert not factorise_in_place(np.diag([1.0, last]))


def test_only_few_dense_rows_of_the_whole_curve_are_few_rows():
    toy = training(make_toy())
    engine = partial(make_engine, capacity=2, n_jobs=1)
    assert engine(toy).few_rows is not None
    assert engine(toy, policy=GENERAL).few_rows is None
    assert engine(toy, policy=SizePolicy(exact_rows=10)).few_rows is None
    assert engine(toy, focus=Focus(0.5, 1.0)).few_rows is None
    assert engine(replace(toy, X=sparse.csr_array(toy.X))).few_rows is None
