"""Products over blocks of rows, compared with plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from skauc.engines.gram_matrix import GramMatrix
from skauc.kernels import RBF, Linear
from skauc.structural.function_spaces import FeatureSpace, open_space
from skauc.threads import RowThreads

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 7)) * (rng.uniform(size=(300, 7)) < 0.6)
coef = rng.normal(size=300) * (rng.uniform(size=300) < 0.5)
other = rng.normal(size=300)


@pytest.fixture(autouse=True)
def many_blocks(use_sizes):
    use_sizes(float64_block=512)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_features(container, dtype):
    rows = X.astype(dtype)
    with RowThreads(1) as threads:
        space = FeatureSpace(container(rows), threads)
        vector = space.vector(coef)
        assert vector.dtype == np.float64
        assert_allclose(vector, rows.astype(float).T @ coef, rtol=1e-10)
        assert_allclose(space.scores(vector), rows.astype(float) @ vector, rtol=1e-10)
        assert_allclose(space.inner(vector, space.vector(other)), vector @ (rows.T @ other))
        assert_array_equal(space.zero(), np.zeros(7))


@pytest.mark.parametrize("cache_size", [1, 1000], ids=["recomputed", "kept"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_functions(container, cache_size):
    matrix = rbf_kernel(X, gamma=0.3)
    with open_space(RBF(0.3), container(X), cache_size=cache_size) as space:
        vector = space.vector(coef)
        assert_allclose(space.scores(vector), matrix @ coef, atol=1e-10)
        assert_allclose(space.inner(space.vector(other), vector), other @ matrix @ coef)
        assert_array_equal(vector[0], coef)
        assert_array_equal(space.scores(space.zero()), np.zeros(300))


def test_functions_and_rank_svm_share_one_kernel_matrix(use_sizes):
    """Only its upper triangle is kept, in float32 for many rows."""
    use_sizes(gram_exact_rows=0)
    with open_space(RBF(0.3), X, cache_size=1000) as space:
        assert isinstance(space._gram, GramMatrix)
        assert space._gram.kept_bytes < 4 * 300**2
        assert_allclose(
            space.scores(space.vector(coef)), rbf_kernel(X, gamma=0.3) @ coef, atol=1e-5
        )


@pytest.mark.parametrize("kernel", [RBF(0.3), Linear()], ids=str)
def test_the_number_of_threads_does_not_matter(kernel):
    found = []
    for n_jobs in (1, 2):
        with open_space(kernel, X, cache_size=1, n_jobs=n_jobs) as space:
            vector = space.vector(coef)
            found.append((vector, space.scores(vector)))
    for one, two in zip(*found, strict=True):
        assert_array_equal(one, two)


def test_float32_rows_without_entries():
    with RowThreads(1) as threads:
        space = FeatureSpace(sparse.csr_array((5, 3), dtype=np.float32), threads)
        assert_array_equal(space.vector(np.ones(5)), np.zeros(3))
        assert_array_equal(space.scores(np.ones(3)), np.zeros(5))
