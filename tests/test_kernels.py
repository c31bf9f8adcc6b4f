"""Kernel values against scikit-learn's, in every format, precision and unit of the features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import (
    chi2_kernel,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)
from toys import half_empty_rows

from skauc.exceptions import InvalidParameterError
from skauc.kernel_parameters import KERNELS, make_kernels
from skauc.kernels import RBF, Laplacian, Polynomial

GAMMA, DEGREE, COEF0 = 0.3, 3, 1.5
REFERENCES = {
    "rbf": lambda rows, centres: rbf_kernel(rows, centres, gamma=GAMMA),
    "laplacian": lambda rows, centres: laplacian_kernel(rows, centres, gamma=GAMMA),
    "polynomial": lambda rows, centres: polynomial_kernel(rows, centres, DEGREE, GAMMA, COEF0),
    "linear": linear_kernel,
}


FORMATS = [np.asarray, sparse.csr_array, sparse.csr_matrix]


def make(kernel):
    (made,) = make_kernels(kernel, gammas=[GAMMA], degree=DEGREE, coef0=COEF0)
    return made


def values(kernel, rows, n_centres=7, dtype=np.float64):
    """The first rows are the centres."""
    return kernel.columns(rows[:n_centres], dtype)(rows)


@pytest.fixture(name="X")
def rows():
    return half_empty_rows()


def test_every_kernel_has_a_reference():
    assert tuple(REFERENCES) == KERNELS


# Values


@pytest.mark.parametrize("as_format", FORMATS)
@pytest.mark.parametrize("name", KERNELS)
def test_values_are_scikit_learns(X, name, as_format):
    actual = values(make(name), as_format(X))
    assert type(actual) is np.ndarray
    assert_allclose(actual, REFERENCES[name](X, X[:7]), rtol=1e-12)


@pytest.mark.parametrize("as_format", FORMATS)
@pytest.mark.parametrize("name", KERNELS)
def test_float32_rows_and_values_keep_six_digits(X, name, as_format):
    X = X.astype(np.float32)
    expected = REFERENCES[name](X.astype(np.float64), X[:7].astype(np.float64))
    actual = values(make(name), as_format(X), dtype=np.float32)
    # Values of any magnitude stay in float64, whose range they may need.
    assert actual.dtype == (np.float32 if name in ("rbf", "laplacian") else np.float64)
    assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("as_format", FORMATS)
@pytest.mark.parametrize("name", KERNELS)
def test_float64_values_of_float32_rows_keep_all_digits(X, name, as_format):
    X = X.astype(np.float32)
    expected = REFERENCES[name](X.astype(np.float64), X[:7].astype(np.float64))
    actual = values(make(name), as_format(X))
    assert actual.dtype == np.float64
    assert_allclose(actual, expected, rtol=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_polynomials_have_the_degree_asked_for(X, degree):
    expected = polynomial_kernel(X, X[:7], degree, GAMMA, COEF0)
    assert_allclose(values(Polynomial(GAMMA, degree, COEF0), X), expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_no_value_of_the_rbf_kernel_exceeds_one_by_more_than_rounding(dtype):
    X = np.random.default_rng(0).normal(size=(200, 5)).astype(dtype)
    most = values(RBF(5.0), X, n_centres=200, dtype=dtype).max()
    assert 1 <= most <= 1 + 256 * np.finfo(dtype).eps


@pytest.mark.parametrize("name", KERNELS)
def test_rows_and_centres_are_left_as_they_were(X, name):
    before = X.copy()
    values(make(name), X)
    make(name).diagonal(X)
    assert_array_equal(X, before)


@pytest.mark.parametrize("as_format", FORMATS)
@pytest.mark.parametrize("name", KERNELS)
def test_diagonal_is_the_kernel_of_each_centre_with_itself(X, name, as_format):
    diagonal = make(name).diagonal(as_format(X))
    assert_allclose(diagonal, REFERENCES[name](X, X).diagonal(), rtol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_blocks_of_rows_do_not_change_a_value(X, name):
    block = make(name).columns(X[:7], np.float64)
    whole = block(X)
    assert_allclose(np.vstack([block(X[i : i + 9]) for i in range(0, 40, 9)]), whole, rtol=1e-14)


# Units, offsets and widths


@pytest.mark.parametrize(
    ("unit", "dtype", "as_format"),
    [
        (1e-30, np.float64, np.asarray),
        (1e30, np.float32, np.asarray),
        (1e-30, np.float32, sparse.csr_array),
        (1e30, np.float64, sparse.csr_array),
    ],
)
@pytest.mark.parametrize(
    ("name", "make_scaled"),
    [
        ("rbf", lambda unit: RBF(GAMMA / unit**2)),
        ("laplacian", lambda unit: Laplacian(GAMMA / unit)),
        ("polynomial", lambda unit: Polynomial(GAMMA / unit**2, DEGREE, COEF0)),
    ],
)
def test_the_unit_of_the_features_does_not_matter(X, name, make_scaled, as_format, dtype, unit):
    scaled = as_format((X * unit).astype(dtype))
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    actual = values(make_scaled(unit), scaled, dtype=dtype)
    assert_allclose(actual, REFERENCES[name](X, X[:7]), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("kernel", "metric"), [(RBF(GAMMA), "sqeuclidean"), (Laplacian(GAMMA), "cityblock")]
)
def test_an_offset_of_a_million_spreads_costs_no_accuracy(X, kernel, metric, dtype):
    X = (X + 1e6).astype(dtype)
    differences_first = cdist(X.astype(np.float64), X[:7].astype(np.float64), metric)
    actual = values(kernel, X, dtype=dtype)
    tolerance = 1e-6 if dtype == np.float32 else 1e-9
    assert_allclose(actual, np.exp(-GAMMA * differences_first), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("gamma", [1e3, 1e6])
def test_narrow_kernels_see_near_neighbours(X, gamma, dtype):
    X[7:14] = X[:7] + 0.3 / np.sqrt(gamma)
    X = X.astype(dtype)
    expected = np.exp(-gamma * cdist(X.astype(np.float64), X[:7].astype(np.float64), "sqeuclidean"))
    actual = values(RBF(gamma), X, dtype=dtype)
    # The exponent is exact to one rounding of gamma |x|^2.
    assert_allclose(actual, expected, atol=10 * np.finfo(dtype).eps * gamma)


@pytest.mark.parametrize("value", [1e20, 1e155, 1e308])
def test_one_huge_centre_does_not_hide_the_others(X, value):
    """Measured from the mean of the centres, all other rows would seem to be in one place."""
    X[3] = value
    with np.errstate(over="ignore"):
        actual = values(RBF(GAMMA), X)
        expected = np.exp(-GAMMA * cdist(X, X[:7], "sqeuclidean"))
    assert_allclose(actual, expected, rtol=1e-12)


def test_centres_whose_mean_overflows(X):
    X[:7] = 1.7e308
    found = values(RBF(GAMMA), X)
    assert (found[:7] == 1).all()
    assert (found[7:] == 0).all()


@pytest.mark.parametrize("gamma", [1.0, 1e3, 1e12, 1e300])
def test_a_row_is_at_no_distance_from_itself_however_narrow_the_kernel(X, gamma):
    assert_allclose(values(RBF(gamma), X)[:7].diagonal(), 1, rtol=1e-9)


@pytest.mark.parametrize("gamma", [1e12, 1e300])
def test_the_narrowest_kernel_with_one_centre_is_an_indicator(X, gamma):
    assert_array_equal(values(RBF(gamma), X, n_centres=1)[:, 0], np.arange(40) == 0)


# Several widths, and scales of features

GAMMAS = np.array([0.1, 3.0, 0.7, 25.0, 0.02, 0.1, 1.0])
SCALES = np.array([1.0, 0.2, 5.0, 1e-2, 0.0, 2.0])


@pytest.mark.parametrize("as_format", FORMATS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_each_centre_may_have_its_own_width_and_each_feature_its_scale(X, as_format, dtype):
    X = X.astype(dtype)
    actual = values(RBF(GAMMAS, SCALES), as_format(X), dtype=dtype)
    distances = cdist(X * SCALES, X[:7] * SCALES, "sqeuclidean")
    tolerance = 1e-12 if dtype == np.float64 else 1e-4
    assert_allclose(actual, np.exp(-GAMMAS * distances), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("scales", [None, SCALES])
def test_narrow_and_wide_centres_live_together(X, scales):
    gammas = np.array([1e12, 1e-3, 1e4, 1.0, 1e300, 10.0, 1e-9])
    X[7:14] = X[:7] + 1e-3
    scaled = X if scales is None else X * scales
    with np.errstate(under="ignore"):
        expected = np.exp(-gammas * cdist(scaled, scaled[:7], "sqeuclidean"))
    assert_allclose(values(RBF(gammas, scales), X), expected, rtol=1e-8, atol=1e-12)


# Functions as kernels


@pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_array])
def test_a_function_can_be_a_kernel(X, as_format):
    kernel = make(linear_kernel)
    assert_allclose(values(kernel, as_format(X)), X @ X[:7].T, atol=1e-14)
    assert_allclose(kernel.diagonal(as_format(X)), np.sum(X**2, axis=1), atol=1e-14)


def test_chi2_kernel_of_scikit_learn_is_taken(X):
    kernel = make(chi2_kernel)
    X = np.abs(X)
    assert_allclose(values(kernel, X), chi2_kernel(X, X[:7]))


def test_a_function_of_the_wrong_shape_is_refused(X):
    kernel = make(lambda rows, centres: centres @ rows.T)
    with pytest.raises(
        InvalidParameterError,
        match=r"must return a matrix of shape \(40, 7\), rows by centres; got \(7, 40\). Compare",
    ):
        values(kernel, X)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_function_that_returns_no_number_is_refused(X, bad):
    kernel = make(lambda rows, centres: np.full((len(rows), len(centres)), bad))
    with pytest.raises(
        InvalidParameterError, match=r"returned NaN or infinity. Scale the features"
    ):
        values(kernel, X)
    with pytest.raises(
        InvalidParameterError, match=r"returned NaN or infinity. Scale the features"
    ):
        kernel.diagonal(X)
