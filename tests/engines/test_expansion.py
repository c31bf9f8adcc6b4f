"""Kernel expansions against scikit-learn's kernel matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel

from skauc.engines.expansion import Scorer, evaluate_expansion
from skauc.kernels import RBF

KERNEL = RBF(0.4)


def make_expansion(n_rows=200, n_models=None, seed=0):
    """Rows, centres of which some are rows, and coefficients of one model or of several."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, 4))
    centres = np.vstack((rows[:5], rng.normal(size=(3, 4))))
    return rows, centres, rng.normal(size=8 if n_models is None else (8, n_models))


@pytest.fixture(params=[np.asarray, sparse.csr_array, sparse.csr_matrix])
def as_format(request):
    return request.param


@pytest.mark.parametrize("n_models", [None, 1, 3])
def test_scores_are_sums_of_kernels(n_models):
    rows, centres, coef = make_expansion(n_models=n_models)
    scores = evaluate_expansion(KERNEL, centres, coef, rows)
    assert_allclose(scores, rbf_kernel(rows, centres, gamma=0.4) @ coef, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("centres_as", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_rows_and_centres_may_differ_in_format(as_format, centres_as):
    rows, centres, coef = make_expansion()
    scores = evaluate_expansion(KERNEL, centres_as(centres), coef, as_format(rows))
    assert_allclose(scores, rbf_kernel(rows, centres, gamma=0.4) @ coef, rtol=1e-11, atol=1e-13)


def test_blocks_and_threads_change_nothing(use_sizes):
    use_sizes(prediction_block=1000)
    rows, centres, coef = make_expansion(n_rows=1000, n_models=2)
    one, two, four = (
        evaluate_expansion(KERNEL, centres, coef, rows, n_jobs=n_jobs) for n_jobs in (1, 2, 4)
    )
    assert_array_equal(one, two)
    assert_array_equal(one, four)
    assert_allclose(one, rbf_kernel(rows, centres, gamma=0.4) @ coef, rtol=1e-11, atol=1e-13)


def test_a_single_row_is_scored_like_the_rest(as_format):
    rows, centres, coef = make_expansion()
    together = evaluate_expansion(KERNEL, centres, coef, as_format(rows))
    alone = [
        evaluate_expansion(KERNEL, centres, coef, as_format(rows[[i]]))[0] for i in range(len(rows))
    ]
    assert_allclose(alone, together, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("size", [1.0, 1e6])
def test_float32_rows_are_scored_to_a_ten_thousandth_of_the_margin(as_format, size):
    rows, centres, coef = make_expansion()
    rows, centres = rows.astype(np.float32), centres.astype(np.float32)
    coef *= size
    distances = cdist(rows.astype(np.float64), centres.astype(np.float64), "sqeuclidean")
    scores = evaluate_expansion(KERNEL, as_format(centres), coef, as_format(rows))
    assert scores.dtype == np.float64
    assert_allclose(scores, np.exp(-0.4 * distances) @ coef, rtol=0, atol=1e-4)


def test_float32_rows_meet_float64_centres():
    rows, centres, coef = make_expansion()
    scores = evaluate_expansion(KERNEL, centres, coef, rows.astype(np.float32))
    assert_allclose(scores, rbf_kernel(rows, centres, gamma=0.4) @ coef, atol=1e-5)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_a_model_without_any_coefficient_has_the_scores_of_its_intercept(as_format, shape):
    rows = as_format(make_expansion()[0])
    score = Scorer(KERNEL, np.zeros((0, 4)), np.zeros((0, *shape)), rows, intercept=0.5)
    assert_array_equal(score(rows), np.full((200, *shape), 0.5))
