"""Gammas against scikit-learn's, and which parameters a kernel takes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel
from sklearn.svm import SVC
from toys import half_empty_rows

from skauc.data.training import WeightedRows
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.kernel_parameters import (
    KERNELS,
    check_kernel_parameters,
    make_kernels,
    resolve_gammas,
)


def resolve(gamma, X, weights, kernel="rbf"):
    (resolved,) = resolve_gammas(gamma, kernel, WeightedRows(X, weights))
    return resolved


@pytest.fixture(name="X")
def rows():
    return half_empty_rows()


@pytest.mark.parametrize(
    ("as_format", "dtype", "gamma"),
    [
        (np.asarray, np.float64, "scale"),
        (np.asarray, np.float32, "auto"),
        (sparse.csr_array, np.float32, "scale"),
        (sparse.csr_matrix, np.float64, "scale"),
        (sparse.csr_array, np.float64, 0.7),
    ],
)
def test_gamma_is_that_of_svc(X, gamma, dtype, as_format):
    X = as_format(X.astype(dtype))
    fitted = SVC(gamma=gamma).fit(X.astype(np.float64), np.arange(40) % 2)
    assert_allclose(resolve(gamma, X, np.ones(40)), fitted._gamma, rtol=1e-9)


@pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_array])
def test_scale_of_the_laplacian_kernel_is_of_first_order(X, as_format):
    gamma = resolve("scale", as_format(X), np.ones(40), "laplacian")
    assert_allclose(gamma, 1 / (6 * X.std()), rtol=1e-9)


def test_scale_of_features_far_from_zero_keeps_its_digits(X):
    assert_allclose(
        resolve("scale", X + 1e6, np.ones(40)),
        resolve("scale", X, np.ones(40)),
        rtol=1e-9,
    )


@pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_array])
def test_weights_of_scale_are_repetitions(X, as_format):
    times = np.random.default_rng(1).integers(0, 4, size=40)
    repeated = as_format(np.repeat(X, times, axis=0))
    assert_allclose(
        resolve("scale", as_format(X), times.astype(np.float64)),
        resolve("scale", repeated, np.ones(times.sum())),
        rtol=1e-12,
    )


def test_scale_adds_blocks_up():
    X = np.random.default_rng(0).normal(size=(70_000, 2)) + np.linspace(0, 9, 70_000)[:, None]
    assert_allclose(resolve("scale", X, np.ones(70_000)), 1 / (2 * X.var()), rtol=1e-9)


def test_scale_of_constant_features_is_one():
    assert resolve("scale", np.full((5, 2), 3.0), np.ones(5)) == 1.0


@pytest.mark.parametrize(
    ("unit", "variance"),
    [(1e200, "inf"), (1e-160, r"\d\S+e-3\d\d")],
)
def test_scale_that_is_no_number_is_an_error(X, unit, variance):
    with pytest.raises(
        InvalidDataError,
        match=rf"gamma='scale' cannot be computed: the variance of `X` is {variance}. Scale",
    ):
        resolve("scale", X * unit, np.ones(40))


# Parameters: what estimators refuse is in test_bad_input.py


GOOD = {"kernel": "rbf", "gamma": "scale", "degree": 3, "coef0": 1.0}


def test_good_parameters_pass():
    for gamma in ([0.1, 1.0], (3,), np.array([0.5, 2.0]), [np.float32(1)]):
        check_kernel_parameters(**{**GOOD, "gamma": gamma})
    for kernel in (*KERNELS, linear_kernel):
        for gamma in ("scale", "auto", 1, np.float32(0.5)):
            check_kernel_parameters(kernel, gamma, degree=np.int64(2), coef0=0)


def test_an_unknown_kernel_is_refused_when_made():
    with pytest.raises(InvalidParameterError, match="`kernel` must be one of 'rbf'"):
        make_kernels("sigmoid", gammas=[0.3], degree=3, coef0=1.0)


def test_each_gamma_makes_a_kernel():
    made = make_kernels("rbf", gammas=[0.1, 0.5], degree=3, coef0=1.0)
    assert [kernel.gamma for kernel in made] == [0.1, 0.5]
    assert resolve_gammas([0.1, 0.5], "rbf", None) == [0.1, 0.5]
