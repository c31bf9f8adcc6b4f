"""The kernel matrix in blocks: the same products whatever is kept and however many threads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel

from skauc.engines.gram_matrix import GramMatrix
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.kernels import RBF, CallableKernel, Laplacian, Linear, Polynomial

rng = np.random.default_rng(0)
X = rng.normal(size=(700, 5))
VECTOR = rng.normal(size=700)
# The six blocks of 700 rows take 2.2 MB in float64; these hold all, some and none of them.
CACHE_SIZES = (100, 2.1, 1.4)

KERNELS = [
    (RBF(0.3), lambda rows: rbf_kernel(rows, gamma=0.3)),
    (Laplacian(0.3), lambda rows: laplacian_kernel(rows, gamma=0.3)),
    (Polynomial(0.5, 2, 1.0), lambda rows: polynomial_kernel(rows, gamma=0.5, degree=2)),
    (Linear(), lambda rows: rows @ rows.T),
    (CallableKernel(lambda a, b: (a @ b.T) ** 3), lambda rows: (rows @ rows.T) ** 3),
]


def product(kernel, rows, vector, **options):
    with GramMatrix(kernel, rows, **{"cache_size": 100, **options}) as gram:
        gram.product(vector)
        return gram.product(vector)


@pytest.mark.parametrize(("kernel", "matrix"), KERNELS)
@pytest.mark.parametrize("cache_size", CACHE_SIZES)
def test_products_are_those_of_the_whole_matrix(kernel, matrix, cache_size):
    found = product(kernel, X, VECTOR, cache_size=cache_size)
    assert_allclose(found, matrix(X) @ VECTOR, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 127, 128, 129, 131, 258])
def test_any_number_of_rows(n_rows):
    found = product(RBF(0.3), X[:n_rows], VECTOR[:n_rows])
    assert_allclose(found, rbf_kernel(X[:n_rows], gamma=0.3) @ VECTOR[:n_rows], rtol=1e-10)


@pytest.mark.parametrize(("kernel", "matrix"), KERNELS[:4])
def test_sparse_rows(kernel, matrix):
    rows = X * (np.abs(X) > 1)
    found = product(kernel, sparse.csr_array(rows), VECTOR)
    assert_allclose(found, matrix(rows) @ VECTOR, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("exact_rows", [0, 10**6], ids=["float32", "float64"])
def test_neither_threads_nor_memory_change_a_bit(use_sizes, exact_rows):
    use_sizes(gram_exact_rows=exact_rows)
    reference = product(RBF(0.3), X, VECTOR)
    for cache_size in CACHE_SIZES:
        for n_jobs in (1, 2, 5):
            found = product(RBF(0.3), X, VECTOR, cache_size=cache_size, n_jobs=n_jobs)
            assert_array_equal(found, reference)


def test_float32_values_are_summed_in_float64(use_sizes):
    use_sizes(gram_exact_rows=0)
    found = product(CallableKernel(lambda a, b: a @ b.T), X, VECTOR)
    expected = (X @ X.T).astype(np.float32).astype(np.float64) @ VECTOR
    assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_the_matrix_is_symmetric_though_float32_kernels_are_not_quite(use_sizes):
    use_sizes(gram_exact_rows=0)
    other = rng.normal(size=700)
    left = VECTOR @ product(RBF(0.3), X, other)
    assert_allclose(left, other @ product(RBF(0.3), X, VECTOR), rtol=1e-12)


def test_what_is_kept_stays_within_the_memory_given():
    kept = [GramMatrix(RBF(1.0), X, cache_size=size, n_jobs=2).kept_bytes for size in CACHE_SIZES]
    assert kept[0] == sum(min(128, 700 - s) * (700 - s) * 8 for s in range(0, 700, 128))
    for size, n_bytes in zip(CACHE_SIZES[1:], kept[1:], strict=True):
        assert n_bytes <= size * 2**20 - 2 * 128 * 700 * 8
    assert kept[1] > 0


def test_kept_blocks_are_computed_once():
    calls = []

    def kernel(rows, centres):
        calls.append(len(centres))
        return rows @ centres.T

    with GramMatrix(CallableKernel(kernel), X, cache_size=2.1) as gram:
        gram.product(VECTOR)
        assert calls == [700, 572, 444, 316, 188, 60]
        gram.product(VECTOR)
    n_kept = 12 - len(calls)
    assert 0 < n_kept < 6
    assert calls[6:] == [700, 572, 444, 316, 188, 60][n_kept:]


def test_memory_for_less_than_two_blocks():
    message = (
        r"`cache_size` must hold two blocks of the kernel matrix, 1\.37 MB for these rows; "
        r"got 1\. Raise it: .* and 2\.2 MB hold all\."
    )
    with pytest.raises(InvalidParameterError, match=message):
        GramMatrix(RBF(1.0), X, cache_size=1)


def test_values_that_overflow():
    with pytest.raises(InvalidDataError, match=r"The kernel's values, .* overflow\. Scale the"):
        product(Polynomial(1.0, 3, 1.0), 1e150 * X, VECTOR)
