"""The summary of the training rows that classifiers keep."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from skauc import KernelRankSVM, SparseKernelAUC, SparseKernelAUCCV, load_model, save_model
from skauc.background import N_ROWS, summarise_rows


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 4)) * [1, 10, 1000, 1] + [0, 0, 5000, 3]
    X[:, 3] = rng.random(700) < 0.1
    return X, X[:, 0] + X[:, 1] / 10 + rng.normal(size=700) > 2


def test_averages_are_closer_than_those_of_random_rows(rows):
    X, _ = rows
    weights = np.random.default_rng(1).random(len(X))
    background = summarise_rows(X, weights)
    assert len(background.rows) <= N_ROWS
    assert background.rows.dtype == np.float32
    assert abs(background.weights.sum() - 1) < 1e-12
    spread = X.std(axis=0)
    error = np.abs(background.weights @ background.rows - weights @ X / weights.sum()) / spread
    assert error.max() < 0.5 / np.sqrt(N_ROWS)  # half of the error of random rows


@pytest.mark.parametrize("value", [1e200, 1e-200])
def test_extreme_values_stay_finite(value):
    X = np.random.default_rng(0).normal(size=(60, 2)) * [value, 1.0]
    background = summarise_rows(X, np.ones(60))
    assert np.isfinite(background.rows).all()


@pytest.mark.parametrize(
    "model",
    [
        SparseKernelAUC(4, scaling="rank", random_state=0),
        SparseKernelAUCCV(n_basis=4, refine=False, gammas=[0.1], scaling="rank", Cs=1, cv=2),
        KernelRankSVM(max_iter=5),
    ],
)
def test_files_and_pickles_keep_it(rows, model, tmp_path):
    X, y = rows
    X, y = X[:150] / X.std(axis=0), y[:150]
    with np.errstate(all="ignore"):
        model.fit(X, y)
    expected = model.shapley_values(X[:3])
    for copy in (
        load_model(save_model(model, tmp_path / "model.skauc")),
        pickle.loads(pickle.dumps(model)),
        getattr(model, "best_estimator_", model),
    ):
        np.testing.assert_array_equal(copy.shapley_values(X[:3]).values, expected.values)


def test_sparse_rows_stay_sparse(tmp_path):
    X = sparse.random_array((120, 300), density=0.05, format="csr", rng=np.random.default_rng(0))
    y = np.asarray(X[:, :20].sum(axis=1)).ravel() > 0.3
    model = SparseKernelAUC(4, random_state=0).fit(X, y)
    assert sparse.issparse(model.background_.rows)
    loaded = load_model(save_model(model, tmp_path / "model.skauc"))
    values = [each.shapley_values(X[:2]).values for each in (model, loaded)]
    np.testing.assert_array_equal(*values)


def test_old_files_ask_for_rows():
    from pathlib import Path

    path = Path(__file__).parent / "persistence" / "data" / "format_1_ranks.skauc"
    model = load_model(path)
    with pytest.raises(ValueError, match="keeps no summary of its training rows"):
        model.shapley_values(np.zeros((1, model.n_features_in_)))
