"""Fitted models: sums of kernels, one by one and together."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist

from skauc import SparseKernelAUC
from skauc.exceptions import InvalidDataError
from skauc.kernels import RBF, Linear
from skauc.model import Model, scores_of_models

FORMATS = pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_array, sparse.csr_matrix])


@pytest.fixture(name="X")
def rows():
    return np.random.default_rng(0).normal(size=(50, 3))


def make_model(X, size, *, generation=0, linear=False, gamma=0.5, scales=None):
    """Models of one generation begin with the same centres; each has its own coefficients."""
    rng = np.random.default_rng(1000 * generation + size)
    centres = np.random.default_rng(generation).permutation(X)[:size] + generation
    return Model(
        kernel=RBF(gamma, scales),
        centres=centres,
        indices=np.arange(size),
        coef=rng.normal(size=size),
        linear_coef=rng.normal(size=3) if linear else None,
        intercept=rng.normal(),
        generation=generation,
    )


def explicit_scores(model, X):
    scales = np.ones(3) if model.kernel.scales is None else model.kernel.scales
    distances = cdist(X * scales, model.centres * scales, "sqeuclidean")
    scores = np.exp(-model.kernel.gamma * distances) @ model.coef + model.intercept
    return scores if model.linear_coef is None else scores + X @ model.linear_coef


@FORMATS
@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("gamma", [0.5, np.array([0.1, 1.0, 3.0, 0.2])], ids=["one", "several"])
def test_scores_are_the_sum_of_kernels_the_linear_part_and_the_intercept(
    X, as_format, linear, gamma
):
    model = make_model(X, 4, linear=linear, gamma=gamma, scales=np.array([0.5, 1.0, 2.0]))
    assert_allclose(model.scores(as_format(X)), explicit_scores(model, X), rtol=1e-10)


@FORMATS
def test_models_together_are_scored_like_each_alone(X, as_format):
    scales = np.array([0.5, 1.0, 2.0])
    models = [
        *(make_model(X, size) for size in (1, 2, 5)),
        *(make_model(X, size, generation=1, scales=scales) for size in (5, 8)),
        make_model(X, 8, generation=2, linear=True, scales=2 * scales),
    ]
    together = list(scores_of_models(models, as_format(X)))
    assert len(together) == len(models)
    for model, scores in zip(models, together, strict=True):
        assert_allclose(scores, explicit_scores(model, X), rtol=1e-9, atol=1e-12)
        assert_allclose(scores, model.scores(as_format(X)), rtol=1e-9, atol=1e-12)


def test_each_centre_keeps_its_width_in_models_of_all_sizes(X):
    gammas = np.array([0.1, 1.0, 3.0, 0.2, 5.0])
    models = [make_model(X, size, gamma=gammas[:size]) for size in (1, 3, 5)]
    for model, scores in zip(models, scores_of_models(models, X), strict=True):
        assert_allclose(scores, explicit_scores(model, X), rtol=1e-10)


def test_a_generation_that_comes_back_is_scored_with_its_own_centres(X):
    old, new = make_model(X, 4), make_model(X, 6, generation=1)
    first, _, last = scores_of_models([old, new, old], X)
    assert_array_equal(first, last)


def test_no_models_have_no_scores(X):
    assert list(scores_of_models([], X)) == []


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_do_not_matter(X, n_jobs):
    rows = np.tile(X, (100, 1))
    model = make_model(X, 6)
    assert_array_equal(model.scores(rows, n_jobs), model.scores(rows))


def test_float32_rows_have_a_linear_part_in_float64(X):
    model = replace(make_model(X, 3, linear=True), linear_coef=np.array([1e4, -2e4, 3e4]))
    rows = X.astype(np.float32)
    scores = model.scores(rows)
    assert scores.dtype == np.float64
    assert_allclose(scores, explicit_scores(model, rows.astype(np.float64)), rtol=0, atol=1e-4)


@FORMATS
def test_a_linear_kernel_is_scored_by_one_product_per_feature(X, as_format):
    """The products with each centre cancel for features far from zero: here to nothing."""
    model = replace(make_model(X, 4, linear=True), kernel=Linear())
    expected = X @ (model.centres.T @ model.coef + model.linear_coef) + model.intercept
    assert_allclose(model.scores(as_format(X)), expected, rtol=1e-12)
    assert_allclose(next(scores_of_models([model], as_format(X))), expected, rtol=1e-12)


def test_scores_that_overflow_name_the_row(X):
    model = make_model(X, 4, linear=True)
    X[7, 1] = 1e308
    X[7, 2] = -1e308
    message = r"The score of row 7 of `X` overflows: the row has a value of magnitude 1e\+308\. "
    for rows in (X, sparse.csr_array(X)):
        with pytest.raises(InvalidDataError, match=message):
            replace(model, linear_coef=np.full(3, 1e10)).scores(rows)


def test_the_scorer_of_one_row_is_kept_and_not_pickled():
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = SparseKernelAUC(4, random_state=0).fit(X, X[:, 0] > 0)._model
    size = len(pickle.dumps(model))
    scores = model.scores(X[:1])
    assert model.scorer(X[:1]) is model.scorer(X[1:2])
    assert len(pickle.dumps(model)) == size
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).scores(X[:1]), scores)
