"""Candidates screened on a sample: unbiased sums, and winners evaluated on all rows."""

from contextlib import ExitStack

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from toys import grow_by

from skauc import SparseKernelAUC
from skauc.data.training import TrainingData
from skauc.engines import SizePolicy, make_engine
from skauc.engines.passes import CandidateGains, ScreenedGains
from skauc.kernels import RBF
from skauc.sparse.basis import Basis
from skauc.sparse.objective import Objective, pair_weight
from skauc.sparse.selection import make_selector

KERNEL = RBF(0.3)
KINDS = CandidateGains, ScreenedGains


def make_data(n_rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    positive = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n_rows) > 0.7
    return TrainingData(X, positive, rng.integers(0, 3, n_rows) * 1.0, np.array([0, 1]))


@pytest.fixture
def make():
    """Build an engine with two columns, which screens on samples of this size."""
    with ExitStack() as stack:

        def build(screening_rows):
            policy = SizePolicy(screening_rows=screening_rows)
            engine = make_engine(make_data(12_000), capacity=8, n_jobs=1, policy=policy)
            stack.enter_context(engine)
            basis = Basis([KERNEL], 8, engine.precision)
            for row in (0, 1):
                grow_by(engine, basis, row)
            return engine

        yield build


def test_slopes_of_samples_are_right_on_average(make):
    engine = make(2000)
    state = engine.at(np.array([0.5, -0.2]))
    question = KERNEL, engine.rows(np.arange(20, 30)), 2
    exact = engine.ask(CandidateGains(*question), state, state)
    drawn = [engine.ask(ScreenedGains(*question), state, state) for _ in range(60)]
    for name, error in (("slopes", 0.05), ("curvatures", 0.1), ("cross", 0.2)):
        expected = getattr(exact, name)
        mean = np.mean([getattr(one, name) for one in drawn], axis=0)
        assert_allclose(mean, expected, atol=error * np.abs(expected).max())


def test_a_sample_as_large_as_the_rows_is_the_rows(make):
    engine = make(10**9)
    state = engine.at(np.array([0.5, -0.2]))
    question = KERNEL, engine.rows(np.arange(20, 30)), 2
    exact, found = (engine.ask(kind(*question), state, state) for kind in KINDS)
    assert_allclose(found.slopes, exact.slopes, rtol=1e-6)
    assert_allclose(found.curvatures, exact.curvatures, rtol=1e-6)
    assert_allclose(found.cross, exact.cross, rtol=1e-4, atol=1e-3)


def test_the_winner_is_evaluated_on_all_rows(make):
    engine = make(500)
    assert engine.screens
    settings = {"n_basis": 8, "n_candidates": 60, "minimise": None}
    selector = make_selector("greedy", engine, random_state=np.random.RandomState(0), **settings)
    basis = Basis([KERNEL], 8, engine.precision)
    objective = Objective(engine, pair_weight(1.0, engine))
    point = objective.at(np.zeros(0))
    choice = selector.next(objective, basis, point, None)
    along = engine.ask(CandidateGains(KERNEL, choice.centre, 0), point.state, point.state)
    slope, curvature = objective.C_pair * along.slopes, 1 + objective.C_pair * along.curvatures
    assert_allclose(choice.gain, slope[0] ** 2 / (2 * curvature[0]), rtol=1e-6)


def test_screened_fits_are_the_same_for_any_number_of_threads(use_sizes):
    use_sizes(screening_rows=500)
    data = make_data(12_000)
    one, two = (
        SparseKernelAUC(6, selection="greedy", n_jobs=n_jobs, random_state=0)
        .fit(data.X, data.positive)
        .decision_function(data.X)
        for n_jobs in (1, 2)
    )
    assert_array_equal(one, two)
