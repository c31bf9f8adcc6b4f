"""Compiled kernel values, columns and scores agree with those of NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skauc.engines.blocks.cpu import CPUBlock
from skauc.engines.policy import SizePolicy
from skauc.kernels import RBF, Laplacian, centred_rbf
from skauc.model import Model
from skauc.rbf_columns import exponentiate
from skauc.scratch import CompiledScratch
from skauc.shaped_rbf import ShapedRBF
from skauc.threads import RowThreads

RNG = np.random.default_rng(0)
N_ROWS, N_FEATURES, N_CENTRES = 500, 4, 7
X = RNG.normal(size=(N_ROWS, N_FEATURES))
GAMMAS = np.repeat([0.5, 0.02], [4, 3])
SCALES = np.array([1.0, 0.3, 2.0, 1.0])
KERNELS = [RBF(0.5), RBF(GAMMAS, SCALES)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exponentials_are_those_of_numpy(dtype):
    values = -RNG.exponential(20, size=(50, 33)).astype(dtype)
    expected = np.exp(values.astype(np.float64)).astype(dtype)
    exponentiate(values)
    assert_allclose(values, expected, rtol=2 * np.finfo(dtype).eps, atol=0)


def test_exponentials_beyond_the_range_are_zero_infinite_or_not_a_number():
    values = np.array([[0.0, -709, -1e300, -np.inf, 710, 1e300, np.inf, np.nan]])
    exponentiate(values)
    assert_array_equal(values, [[1, 0, 0, 0, np.inf, np.inf, np.inf, np.nan]])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("is_projected", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_are_kernel_values_that_are_projected_and_transformed(
    kernel, dtype, is_projected, order
):
    policy = SizePolicy(matrix_block=1_000, least_task_rows=100, task_rows=100)
    threads = RowThreads(2)
    block = CPUBlock(
        np.asarray(X, order=order), X[:, 0] > 0, np.ones(N_ROWS), threads=threads, policy=policy
    )
    block = block.with_columns(block.no_columns(N_CENTRES + 3, np.dtype(dtype)))
    before = RNG.normal(size=(N_ROWS, 3))
    block.columns[:, :3] = before
    projection = is_projected * RNG.normal(size=(3, N_CENTRES))
    transform = np.triu(RNG.normal(size=(N_CENTRES, N_CENTRES)))
    with threads:
        block.set_columns(kernel, X[:N_CENTRES], projection, transform.T)
    values = kernel.columns(X[:N_CENTRES], np.float64)(X)
    expected = (values - block.columns[:, :3] @ projection) @ transform.T
    assert_allclose(block.columns[:, 3:], expected, rtol=1e-5, atol=20 * np.finfo(dtype).eps)
    assert_array_equal(block.columns[:, :3], before.astype(dtype))


@pytest.mark.parametrize(
    "kernel",
    [*KERNELS, Laplacian(0.3), ShapedRBF(RNG.uniform(0.1, 1, (N_CENTRES, N_FEATURES)), GAMMAS < 0)],
)
@pytest.mark.parametrize("linear_coef", [None, np.array([1.0, -2.0, 0.0, 0.5])])
@pytest.mark.parametrize("as_rows", [np.asarray, np.float32, sparse.csr_array])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_scores_in_a_fit_are_those_of_prediction(kernel, linear_coef, as_rows, n_jobs):
    model = Model(
        kernel=kernel,
        centres=X[:N_CENTRES],
        indices=np.arange(N_CENTRES),
        coef=RNG.normal(size=N_CENTRES),
        linear_coef=linear_coef,
        intercept=0.25,
        generation=0,
        scaling=None,
    )
    rows = as_rows(X)
    assert_allclose(model.scores_in_fit(rows, n_jobs), model.scores(rows), rtol=1e-5, atol=1e-5)
    if rows.dtype == np.float64:
        assert_allclose(model.scores_in_fit(rows, n_jobs), model.scores(rows), rtol=1e-12)


def test_other_kernels_rows_and_distances_have_columns_of_their_own():
    scratch, far = CompiledScratch(), np.vstack((X[:2], np.full((1, N_FEATURES), 1e8)))
    assert centred_rbf(RBF(0.5), X[:3], X, scratch) is not None
    assert centred_rbf(RBF(0.5), far, X, scratch) is None
    assert centred_rbf(Laplacian(0.5), X[:3], X, scratch) is None
    assert centred_rbf(RBF(0.5), sparse.csr_array(X[:3]), sparse.csr_array(X), scratch) is None
