"""Centres with a metric each, against their definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.integrate import quad
from sklearn.metrics.pairwise import rbf_kernel

from skauc.kernels import RBF
from skauc.shaped_rbf import ShapedRBF, as_shaped

IS_RIDGE = np.array([False, True, False, True, False])


@pytest.fixture(name="kernel")
def mixed_kernel():
    rng = np.random.default_rng(1)
    metric = rng.uniform(0.3, 1.5, size=(5, 4))
    metric[IS_RIDGE] *= [[1, -1, 0, 0], [0, 2, 0, 1]]
    return ShapedRBF(metric, IS_RIDGE)


@pytest.fixture(name="X")
def half_empty_rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 4)) * (rng.random((30, 4)) < 0.7)


def by_definition(kernel, rows, centres):
    values = np.empty((len(rows), len(centres)))
    for k, (centre, scales, is_ridge) in enumerate(
        zip(centres, kernel.metric, kernel.is_ridge, strict=True)
    ):
        terms = scales * (rows - centre)
        squares = terms.sum(axis=1) ** 2 if is_ridge else (terms**2).sum(axis=1)
        values[:, k] = np.exp(-squares)
    return values


@pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_are_those_of_the_definition(kernel, X, as_format, dtype):
    rows = as_format(X.astype(dtype))
    values = kernel.columns(rows[:5], dtype)(rows)
    tolerance = 1e-12 if dtype == np.float64 else 2e-6
    assert values.dtype == dtype
    assert_allclose(values, by_definition(kernel, X, X[:5]), atol=tolerance)


@pytest.mark.parametrize("which", [[0, 2, 4], [1, 3], [3, 0]], ids=["round", "ridges", "both"])
def test_a_part_is_the_kernel_of_some_centres(kernel, X, which):
    part = kernel.part(which)
    values = part.columns(X[which], np.float64)(X)
    assert_allclose(values, by_definition(kernel, X, X[:5])[:, which], rtol=1e-12)
    joined = part.joined(kernel.part([1]))
    assert_array_equal(joined.metric, kernel.metric[[*which, 1]])
    assert_array_equal(joined.is_ridge, IS_RIDGE[[*which, 1]])


@pytest.mark.parametrize("unit", [1e8, 1e-9])
def test_the_units_of_the_features_do_not_matter(kernel, X, unit):
    units = np.array([unit, 1.0, 1.0 / unit, 1.0])
    scaled = ShapedRBF(kernel.metric / units, IS_RIDGE)
    rows = X * units
    values = scaled.columns(rows[:5], np.float64)(rows)
    assert_allclose(values, by_definition(kernel, X, X[:5]), rtol=1e-7)


def test_rows_far_from_zero_are_told_apart(kernel, X):
    rows = X + 1e7
    values = kernel.columns(rows[:5], np.float64)(rows)
    assert_allclose(values, by_definition(kernel, rows, rows[:5]), atol=1e-9)


def test_centres_far_from_each_other_are_compared_by_differences(kernel, X):
    rows = X.copy()
    rows[2] += 1e6
    values = kernel.columns(rows[:5], np.float64)(rows)
    assert_allclose(values, by_definition(kernel, rows, rows[:5]), atol=1e-9)


def overlap(s, t, apart):
    """The inner product of two normal densities in L2, both scaled to length one."""
    bounds = (-30, 30)
    product = quad(lambda x: np.exp(-2 * (s * x) ** 2 - 2 * (t * (x - apart)) ** 2), *bounds)[0]
    lengths = [quad(lambda x, u=u: np.exp(-4 * (u * x) ** 2), *bounds)[0] for u in (s, t)]
    return product / np.sqrt(lengths[0] * lengths[1])


def test_inner_products_are_overlaps_of_normal_densities(kernel, X):
    gram = kernel.gram(X[:5], kernel, X[:5])
    assert_allclose(gram, gram.T)
    assert_allclose(np.diag(gram), kernel.diagonal(X[:5]))
    for i, k in ((0, 2), (0, 4), (2, 4)):
        factors = map(overlap, kernel.metric[i], kernel.metric[k], X[i] - X[k])
        assert_allclose(gram[i, k], np.prod(list(factors)), rtol=1e-6)


def test_ridges_are_orthogonal_to_everything_but_themselves(kernel, X):
    twice, points = kernel.joined(kernel), np.vstack((X[:5], X[:5]))
    # Another point of the same ridge.
    points[6] += [kernel.metric[1, 1], -kernel.metric[1, 0], 5.0, 0.0]
    expected = np.zeros((10, 10))
    expected[np.diag_indices(10)] = 1.0
    for k in (1, 3):
        expected[[k, k + 5], [k + 5, k]] = 1.0
    ridges = np.flatnonzero(twice.is_ridge)
    gram = twice.gram(points, twice, points)
    points[6] = X[1]
    assert_allclose(twice.gram(points, twice, points)[ridges], expected[ridges])
    assert_allclose(np.delete(gram[ridges], ridges, axis=1), 0)


def test_equal_rows_are_an_rbf_kernel(X):
    rbf = RBF(np.array([0.3, 0.3, 0.3]), np.array([0.5, 1.0, 2.0, 1.0]))
    shaped = ShapedRBF.of(rbf, 3, 4)
    expected = rbf_kernel(X * rbf.scales, X[:3] * rbf.scales, gamma=0.3)
    assert_allclose(shaped.columns(X[:3], np.float64)(X), expected, rtol=1e-12)
    assert_allclose(shaped.gram(X[:3], shaped, X[:3]), expected[:3], rtol=1e-12)
    assert_allclose(shaped.scales, np.sqrt(0.3) * rbf.scales)


def test_the_gram_matrix_is_positive_definite():
    rng = np.random.default_rng(0)
    metric, points = np.exp(rng.normal(size=(40, 3))), rng.normal(size=(40, 3))
    kernel = ShapedRBF(metric, np.zeros(40, bool))
    assert np.linalg.eigvalsh(kernel.gram(points, kernel, points))[0] > 0


def test_ridges_count_the_numbers_that_they_use(kernel):
    # Three round centres have eight numbers each, two ridges two features, and all a flag.
    assert kernel.n_numbers == 3 * 8 + 2 * 4 + 5
    scales = kernel.part([1]).scales
    assert_allclose(scales[:2], np.abs(kernel.metric[1, :2]))
    assert_allclose(scales[2:], 1e-6 * scales.max())


def test_other_kernels_are_not_shaped():
    with pytest.raises(TypeError, match="need a ShapedRBF kernel; got RBF"):
        as_shaped(RBF(1.0))
