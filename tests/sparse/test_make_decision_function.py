"""The function without checks scores like `decision_function`, for every estimator."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from skauc import OAM, OILK, OPAUC, KernelRankSVM, SparseKernelAUC, SparseKernelAUCCV, StructuralAUC

ESTIMATORS = [
    SparseKernelAUC(8, random_state=0),
    SparseKernelAUC(8, linear_term=True, scaling="rank", random_state=0),
    SparseKernelAUC(8, gamma=[0.1, 1.0], refine=True, random_state=0),
    SparseKernelAUC(8, kernel="laplacian", random_state=0),
    SparseKernelAUC(8, kernel="polynomial", random_state=0),
    SparseKernelAUC(4, kernel="linear", random_state=0),
    SparseKernelAUC(8, kernel=rbf_kernel, random_state=0),
    SparseKernelAUCCV(Cs=[1.0], n_basis=4, refine=False, cv=2, random_state=0),
    KernelRankSVM(),
    StructuralAUC(),
    StructuralAUC(kernel="rbf"),
    OAM(),
    OPAUC(),
    OILK(),
]


def make_rows(n_rows=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    return X, X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n_rows) > 0.8


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_it_scores_like_decision_function(estimator):
    X, y = make_rows()
    model = estimator.fit(X, y)
    score = model.make_decision_function()
    assert_array_equal(score(X), model.decision_function(X))
    assert_allclose(score(X[:1]), model.decision_function(X)[:1], rtol=1e-10, atol=1e-12)
    single = X.astype(np.float32)
    assert_allclose(score(single), model.decision_function(single), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("estimator", [KernelRankSVM(), SparseKernelAUC(64, random_state=0)])
def test_rounding_depends_on_the_number_of_rows_alone(estimator):
    X, y = make_rows(600)
    model = estimator.fit(X, y)
    score = model.make_decision_function()
    one_by_one = np.concatenate([score(X[[i]]) for i in range(len(X))])
    assert_array_equal(
        one_by_one, np.concatenate([model.decision_function(X[[i]]) for i in range(len(X))])
    )
    # `decision_function` divides many rows into blocks.
    for scores in (score(X), one_by_one):
        assert_allclose(scores, model.decision_function(X), rtol=0, atol=1e-12)


def test_it_keeps_the_model_that_it_was_made_of():
    X, y = make_rows()
    model = SparseKernelAUC(4, random_state=0).fit(X, y)
    score, before = model.make_decision_function(), model.decision_function(X)
    model.fit(X, ~y)
    assert_array_equal(score(X), before)
