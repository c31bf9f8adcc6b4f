"""Candidates screened on a sample: sums that are right on average, winners judged on all rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from toys import grow_by

from skauc import SparseKernelAUC
from skauc.data.training import TrainingData
from skauc.engines import block
from skauc.engines.cpu import CPUEngine
from skauc.kernels import RBF
from skauc.sparse.basis import Basis
from skauc.sparse.objective import Objective, pair_weight
from skauc.sparse.selection import make_selector

KERNEL = RBF(0.3)


def make_data(n_rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    positive = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n_rows) > 0.7
    return TrainingData(X, positive, rng.integers(0, 3, n_rows) * 1.0, np.array([0, 1]))


@pytest.fixture(name="engine")
def engine_with_a_column():
    data = make_data(12_000)
    engine = CPUEngine(data, capacity=8, n_jobs=1)
    basis = Basis([KERNEL], 8, engine.precision)
    with engine:
        for row in (0, 1):
            grow_by(engine, basis, row)
        yield engine


def test_slopes_of_samples_are_right_on_average(engine, monkeypatch):
    monkeypatch.setattr(block, "SCREENING_ROWS", 2000)
    state = engine.at(np.array([0.5, -0.2]))
    question = state, state, KERNEL, engine.rows(np.arange(20, 30)), 2
    exact = engine.candidate_slopes(*question)
    drawn = [engine.screening_slopes(*question) for _ in range(60)]
    for name, error in (("slopes", 0.05), ("curvatures", 0.1), ("cross", 0.2)):
        expected = getattr(exact, name)
        mean = np.mean([getattr(one, name) for one in drawn], axis=0)
        assert_allclose(mean, expected, atol=error * np.abs(expected).max())


def test_a_sample_as_large_as_the_rows_is_the_rows(engine, monkeypatch):
    monkeypatch.setattr(block, "SCREENING_ROWS", 10**9)
    state = engine.at(np.array([0.5, -0.2]))
    question = state, state, KERNEL, engine.rows(np.arange(20, 30)), 2
    exact, found = engine.candidate_slopes(*question), engine.screening_slopes(*question)
    assert_allclose(found.slopes, exact.slopes, rtol=1e-6)
    assert_allclose(found.curvatures, exact.curvatures, rtol=1e-6)
    assert_allclose(found.cross, exact.cross, rtol=1e-4, atol=1e-3)


def test_the_winner_is_judged_on_all_rows(engine, monkeypatch):
    monkeypatch.setattr(block, "SCREENING_ROWS", 500)
    assert engine.screens
    settings = {"n_basis": 8, "n_candidates": 60, "minimise": None}
    selector = make_selector("greedy", engine, random_state=np.random.RandomState(0), **settings)
    basis = Basis([KERNEL], 8, engine.precision)
    objective = Objective(engine, pair_weight(1.0, engine))
    engine.resize(0)
    point = objective.at(np.zeros(0))
    choice = selector.next(objective, basis, point, None)
    along = engine.candidate_slopes(point.state, point.state, KERNEL, choice.centre, 0)
    slope, curvature = objective.C_pair * along.slopes, 1 + objective.C_pair * along.curvatures
    assert_allclose(choice.gain, slope[0] ** 2 / (2 * curvature[0]), rtol=1e-6)


def test_screened_fits_are_the_same_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(block, "SCREENING_ROWS", 500)
    data = make_data(12_000)
    one, two = (
        SparseKernelAUC(6, selection="greedy", n_jobs=n_jobs, random_state=0)
        .fit(data.X, data.positive)
        .decision_function(data.X)
        for n_jobs in (1, 2)
    )
    assert_array_equal(one, two)
