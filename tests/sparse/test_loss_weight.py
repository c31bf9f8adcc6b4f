"""C="auto": an estimate of C from the coefficients of a small basis."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skauc import Selection, SparseKernelAUC, SparseKernelAUCCV
from skauc.data.training import TrainingData
from skauc.engines import LinearColumns, make_engine
from skauc.exceptions import FewCentresWarning, InvalidParameterError
from skauc.solvers.newton import cholesky_step, minimise
from skauc.sparse.loss_weight import LEAST_C, MOST_C, estimated_loss_weight
from skauc.sparse.objective import Objective, pair_weight


def noisy(n_rows: int, noise: float):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + noise * rng.normal(size=n_rows) > 1.0


def estimate(X, y, C: float, weights=None) -> tuple[float, np.ndarray]:
    """Return the estimate of a linear model, and its coefficients."""
    weights = np.ones(len(y)) if weights is None else weights
    rows = TrainingData(X, y, weights, np.array([False, True]))
    with make_engine(rows, capacity=X.shape[1], n_jobs=1) as engine:
        engine.append(LinearColumns(np.zeros(X.shape[1]), 1.0))
        engine.hold_out(None)
        objective = Objective(engine, pair_weight(C, engine))
        start = np.zeros(X.shape[1])
        found = minimise(objective, start, cholesky_step, tol=1e-12, max_iter=100).point
        return estimated_loss_weight(objective, found.weights), found.weights


def test_it_is_that_of_the_definition():
    X, y = noisy(400, 0.0)
    found, w = estimate(X, y, 1.0)
    differences = (X[y][:, None] - X[~y][None]).reshape(-1, X.shape[1])
    hinges = np.maximum(0, 1 - differences @ w)
    violating = differences[hinges > 0]
    values = np.linalg.eigvalsh(violating.T @ violating / len(y))
    parts = values / (1 + values)
    mean_loss = np.mean(hinges**2)
    # |w|^2 = t sum f^2 + s C/2 sum f (1 - f), with C = 1 and s = mean loss / 2
    t = (w @ w - mean_loss / 4 * np.sum(parts * (1 - parts))) / np.sum(parts**2)
    assert LEAST_C < found < MOST_C
    assert_allclose(found, (4 * t / mean_loss / 6) ** 2, rtol=0.05)


@pytest.mark.parametrize("C", [0.3, 3.0])
def test_coefficients_of_another_c_give_about_the_same(C):
    X, y = noisy(400, 0.0)
    assert_allclose(estimate(X, y, C)[0], estimate(X, y, 1.0)[0], rtol=0.2)


def test_weights_equal_repetition():
    X, y = noisy(400, 0.0)
    counts = np.random.default_rng(1).integers(1, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), counts)
    expected, _ = estimate(X[repeated], y[repeated], 1.0)
    assert LEAST_C < expected < MOST_C
    assert estimate(X, y, 1.0, counts.astype(float))[0] == expected


def test_noise_makes_it_small_and_clear_classes_large():
    found = [SparseKernelAUC(random_state=0).fit(*noisy(600, noise)).C_ for noise in (0, 1, 20)]
    assert found[0] == MOST_C
    assert found[0] > found[1] > found[2]


@pytest.mark.parametrize("focus", [{}, {"max_fpr": 0.2}], ids=str)
def test_many_rows_have_an_estimate(focus):
    model = SparseKernelAUC(16, random_state=0, **focus).fit(*noisy(9000, 0.6))
    assert 1.0 < model.C_ <= MOST_C


@pytest.mark.parametrize("n_basis", [3, 16, 32])
def test_bases_of_any_size_have_an_estimate(n_basis):
    selection = Selection(retrain="geometric")
    model = SparseKernelAUC(n_basis, selection=selection, random_state=0).fit(*noisy(600, 0.0))
    assert model.C_ == MOST_C
    assert model.truncate(2).C_ == 1.0


@pytest.mark.parametrize(
    "parameters",
    [{"refine": False}, {"kernel": "linear"}, {"selection": Selection(solver="cg")}],
    ids=str,
)
def test_it_is_1_without_refinement_and_with_conjugate_gradients(parameters):
    X, y = noisy(300, 0.5)
    found = SparseKernelAUC(8, random_state=0, **parameters).fit(X, y)
    expected = SparseKernelAUC(8, random_state=0, C=1.0, **parameters).fit(X, y)
    assert found.C_ == expected.C_ == 1.0
    assert_array_equal(found.decision_function(X), expected.decision_function(X))


def test_equal_rows_tell_nothing():
    X = np.ones((40, 2))
    with pytest.warns(FewCentresWarning):
        model = SparseKernelAUC(8, random_state=0).fit(X, np.arange(40) % 2)
    assert model.C_ == 1.0


def test_a_search_has_the_c_of_its_model():
    X, y = noisy(300, 0.5)
    search = SparseKernelAUCCV(Cs=[2.5], effort="quick", ensemble=False, random_state=0).fit(X, y)
    assert search.C_ == search.best_estimator_.C_ == 2.5


def test_a_number_is_used_as_it_is():
    assert SparseKernelAUC(8, C=0.7, random_state=0).fit(*noisy(300, 0.5)).C_ == 0.7


@pytest.mark.parametrize("C", ["scale", None, 0, -1.0, np.nan])
def test_other_values_are_refused(C):
    with pytest.raises(InvalidParameterError, match=r"`C` must be .* 'auto' estimates it"):
        SparseKernelAUC(C=C).fit(*noisy(30, 0.5))
