"""The orthonormal basis against dense linear algebra on the kernel matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from toys import KERNEL, explicit_columns, grow_by, make_toy

from skauc.data.training import TrainingData
from skauc.engines import make_engine
from skauc.kernels import RBF, Laplacian, Linear, Polynomial
from skauc.sparse.basis import Basis

EPS = np.finfo(np.float64).eps
CENTRES = [3, 17, 40, 71, 90]


def build(X, indices, kernel=KERNEL, precision=EPS):
    basis = Basis([kernel], len(indices) + 5, precision)
    with make_engine(as_data(X), capacity=len(indices), n_jobs=1) as engine:
        for index in indices:
            grow_by(engine, basis, X, [index])
    return basis


def as_data(X):
    return TrainingData(X, np.arange(X.shape[0]) % 2 == 0, np.ones(X.shape[0]), np.array([0, 1]))


def project(basis, X, width=0):
    return basis.project(basis.kernel_of(np.full(X.shape[0], width)), X)


def is_independent(basis, X, width=0):
    projection = project(basis, X, width)
    return projection.residuals > projection.smallest


def gram(X, Z):
    return rbf_kernel(X, Z, gamma=KERNEL.gamma)


@pytest.fixture(name="X")
def rows():
    return make_toy().X


def test_norm_is_the_distance_to_the_span(X):
    projection = project(build(X, CENTRES), X)
    cross = gram(X[CENTRES], X)
    explained = np.sum(cross * np.linalg.solve(gram(X[CENTRES], X[CENTRES]), cross), axis=0)
    assert_allclose(projection.squared_lengths, 1.0)
    assert_allclose(projection.residuals, 1 - explained, atol=1e-12)


def test_coordinates_are_inner_products_with_the_orthonormal_functions(X):
    projection = project(build(X, CENTRES), X)
    assert_allclose(projection.coordinates, explicit_columns(X, CENTRES).T, atol=1e-12)


def test_an_empty_basis_explains_nothing(X):
    basis = Basis([KERNEL], 3, EPS)
    assert project(basis, X).coordinates.shape == (0, len(X))
    assert_array_equal(project(basis, X).residuals, np.ones(len(X)))
    assert is_independent(basis, X).all()


def test_coef_are_those_of_the_kernel_expansion(X):
    weights = np.array([0.9, -1.1, 0.4, 0.7, -0.3])
    coef = build(X, CENTRES).coef(weights)
    assert_allclose(gram(X, X[CENTRES]) @ coef, explicit_columns(X, CENTRES) @ weights, atol=1e-12)
    assert_allclose(coef @ gram(X[CENTRES], X[CENTRES]) @ coef, weights @ weights, rtol=1e-12)


def test_part_keeps_some_candidates(X):
    projection = project(build(X, CENTRES), X)
    part = projection.part(np.array([2, 0]))
    assert_array_equal(part.coordinates, projection.coordinates[:, [2, 0]])
    for name in ("residuals", "squared_lengths", "smallest"):
        assert_array_equal(getattr(part, name), getattr(projection, name)[[2, 0]])


@pytest.mark.parametrize("as_format", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_centres_span_what_dense_ones_span(X, as_format):
    basis = build(as_format(X), CENTRES)
    assert sparse.issparse(basis.centres)
    assert_array_equal(basis.centres.toarray(), X[CENTRES])
    dense = build(X, CENTRES)
    actual, expected = project(basis, as_format(X)), project(dense, X)
    assert_allclose(actual.coordinates, expected.coordinates, atol=1e-12)
    assert_array_equal(is_independent(basis, as_format(X)), is_independent(dense, X))


# Independence


@pytest.mark.parametrize("kernel", [RBF(0.5), RBF(50.0), Laplacian(0.5), Polynomial(0.5, 3, 1.0)])
@pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_copies_of_centres_are_dependent_and_other_rows_are_not(X, kernel, as_format, dtype):
    X = X.astype(dtype)
    basis = build(as_format(X), CENTRES, kernel)
    expected = ~np.isin(np.arange(len(X)), CENTRES)
    assert_array_equal(is_independent(basis, as_format(X)), expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_copies_of_centres_are_dependent_however_narrow_the_kernel(dtype):
    X = np.random.default_rng(0).normal(size=(20, 30)).astype(dtype)
    assert not is_independent(build(X, range(20), RBF(512.0)), X).any()


@pytest.mark.parametrize("precision", [EPS, np.finfo(np.float32).eps])
def test_rows_nearer_than_the_columns_can_tell_are_dependent(X, precision):
    basis = build(X, CENTRES, precision=precision)
    near = X[[CENTRES[0]]] + 0.01 * np.sqrt(precision)
    apart = X[[CENTRES[0]]] + 10 * precision**0.375
    assert not is_independent(basis, near).any()
    assert is_independent(basis, apart).all()


def test_the_linear_kernel_has_as_many_independent_rows_as_features(X):
    assert not is_independent(build(X, CENTRES[:3], Linear()), X).any()


def test_a_row_of_zeros_is_dependent_under_the_linear_kernel():
    assert not is_independent(Basis([Linear()], 1, EPS), np.zeros((1, 3))).any()


# Several kernels and a linear term

WIDTHS = [RBF(2.0), RBF(0.4), RBF(0.08)]
MIXED = [(3, 0), (17, 1), (40, 0), (3, 1), (90, 2)]


def build_mixed(X, n_linear=0):
    basis = Basis(WIDTHS, 8, EPS, n_linear)
    with make_engine(as_data(X), capacity=n_linear + len(MIXED), n_jobs=1) as engine:
        for index, width in MIXED:
            grow_by(engine, basis, X, [index], width)
    return basis


def mixed_inner(X, width):
    """Inner products of k_width(x, .) with the basis functions in the direct sum of spaces."""
    return np.column_stack(
        [
            rbf_kernel(X, X[[index]], gamma=WIDTHS[width].gamma)[:, 0] * (width == other)
            for index, other in MIXED
        ]
    )


def mixed_gram(X):
    return np.vstack([mixed_inner(X, width)[[index]] for index, width in MIXED])


@pytest.mark.parametrize("width", [0, 1, 2])
def test_widths_do_not_see_each_other(X, width):
    basis = build_mixed(X)
    inner = mixed_inner(X, width)
    explained = np.sum(inner.T * np.linalg.solve(mixed_gram(X), inner.T), axis=0)
    assert_allclose(project(basis, X, width).residuals, 1 - explained, atol=1e-12)
    taken = sorted(index for index, other in MIXED if other == width)
    assert_array_equal(np.flatnonzero(~is_independent(basis, X, width)), taken)
    assert basis.taken(width) == [index for index, other in MIXED if other == width]


def test_candidates_of_several_widths_are_projected_together(X):
    basis, widths = build_mixed(X), np.arange(len(X)) % 3
    kernel = basis.kernel_of(widths)
    found = basis.project(kernel, X)
    assert_array_equal(kernel.gamma, [WIDTHS[width].gamma for width in widths])
    for width in range(3):
        part, expected = found.part(np.flatnonzero(widths == width)), project(basis, X, width)
        assert_allclose(part.coordinates, expected.coordinates[:, widths == width])
        assert_allclose(part.residuals, expected.residuals[widths == width])
    inner = kernel.part(slice(9)).gram(X[:9], kernel.part(slice(9)), X[:9])
    gammas = np.array([kernel.gamma for kernel in WIDTHS])[widths[:9]]
    for row, column in np.ndindex(9, 9):
        same = widths[row] == widths[column]
        value = rbf_kernel(X[[row]], X[[column]], gamma=gammas[row])[0, 0] if same else 0.0
        assert_allclose(inner[row, column], value, rtol=1e-12)


def test_coef_of_several_widths_have_the_norm_of_the_direct_sum(X):
    weights = np.array([0.9, -1.1, 0.4, 0.7, -0.3])
    coef = build_mixed(X).coef(weights)
    assert_allclose(coef @ mixed_gram(X) @ coef, weights @ weights, rtol=1e-12)


def test_one_kernel_stands_for_all_widths(X):
    basis = build_mixed(X)
    values = basis.kernel().columns(basis.centres, np.float64)(X)
    expected = [
        rbf_kernel(X, X[[index]], gamma=WIDTHS[width].gamma)[:, 0] for index, width in MIXED
    ]
    assert_allclose(values, np.transpose(expected), rtol=1e-10)


def test_the_linear_columns_come_first_and_explain_nothing_of_a_kernel(X):
    with_linear, without = build_mixed(X, n_linear=3), build_mixed(X)
    weights = np.array([0.9, -1.1, 0.4, 0.7, -0.3])
    assert_array_equal(with_linear.coef(np.append(np.ones(3), weights)), without.coef(weights))
    projection, expected = project(with_linear, X, 1), project(without, X, 1)
    assert_array_equal(projection.coordinates[:3], 0)
    assert_array_equal(projection.coordinates[3:], expected.coordinates)
    assert_array_equal(projection.residuals, expected.residuals)


def test_a_reshaped_basis_has_the_centres_and_the_factor_that_it_was_given(X):
    basis = build(X, CENTRES)
    moved = X[CENTRES] + 0.1
    factor = np.linalg.cholesky(gram(moved, moved))
    reshaped = basis.reshaped([KERNEL], KERNEL, moved, factor)
    weights = np.array([0.9, -1.1, 0.4, 0.7, -0.3])
    assert_allclose(factor.T @ reshaped.coef(weights), weights)
    assert reshaped.indices == CENTRES
    assert not is_independent(reshaped, moved).any()
    assert is_independent(reshaped, X[[5]]).all()
    # The rows that the centres have left are free again.
    assert reshaped.taken(0) == []


def test_a_batch_is_the_same_basis_as_its_centres_one_by_one(X):
    one_by_one, basis = build(X, CENTRES), Basis([KERNEL], 5, EPS)
    with make_engine(as_data(X), capacity=5, n_jobs=1) as engine:
        grow_by(engine, basis, X, CENTRES[:2])
        grow_by(engine, basis, X, CENTRES[2:])
    assert basis.batches == [2, 3]
    assert basis.merged().batches == [5]
    assert basis.indices == one_by_one.indices == basis.taken(0)
    assert_allclose(basis.factor, np.linalg.cholesky(gram(X[CENTRES], X[CENTRES])), atol=1e-12)
    assert_allclose(basis.factor, one_by_one.factor, atol=1e-12)
