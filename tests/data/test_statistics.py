"""Means and variances against NumPy's, of repeated rows."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import skauc
from skauc.data.statistics import (
    feature_statistics,
    leading_axes,
    overall_variance,
    rounded,
    warn_if_unscaled,
)
from skauc.data.training import TrainingData, WeightedRows
from skauc.exceptions import UnscaledFeaturesWarning
from skauc.sparse.linear_term import LinearTerm

FORMATS = pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_array, sparse.csr_matrix])


@pytest.fixture(name="X")
def half_empty_rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 6)) * (rng.random((40, 6)) < 0.5) * [1, 10, 100, 1, 1, 1]


@FORMATS
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_weights_are_repetitions(X, as_format, dtype):
    X = X.astype(dtype)
    times = np.random.default_rng(1).integers(0, 4, size=40)
    repeated = np.repeat(X.astype(np.float64), times, axis=0)
    mean, variance = feature_statistics(WeightedRows(as_format(X), times.astype(np.float64)))
    assert mean.dtype == variance.dtype == np.float64
    assert_allclose(mean, repeated.mean(axis=0), rtol=1e-12, atol=1e-14)
    assert_allclose(variance, repeated.var(axis=0), rtol=1e-12)
    actual = overall_variance(WeightedRows(as_format(X), times.astype(np.float64)))
    assert_allclose(actual, repeated.var(), rtol=1e-9)


@FORMATS
def test_blocks_of_rows_add_up(as_format):
    X = np.random.default_rng(0).normal(size=(400, 3000)) + np.linspace(0, 9, 400)[:, None]
    mean, variance = feature_statistics(WeightedRows(as_format(X), np.ones(400)))
    assert_allclose(mean, X.mean(axis=0), rtol=1e-12)
    assert_allclose(variance, X.var(axis=0), rtol=1e-12)


def test_an_offset_costs_no_digits(X):
    _, variance = feature_statistics(WeightedRows(X + 1e6, np.ones(40)))
    assert_allclose(variance, X.var(axis=0), rtol=1e-8)


def test_constant_features_have_no_variance():
    mean, variance = feature_statistics(WeightedRows(np.full((70, 2), 3.25), np.ones(70)))
    assert_allclose(mean, 3.25)
    assert_allclose(variance, 0)


def test_a_variance_beyond_float64_is_infinite_without_a_warning(X):
    assert overall_variance(WeightedRows(X * 1e200, np.ones(40))) == np.inf


def test_rows_are_left_as_they_were(X):
    before = X.copy()
    overall_variance(WeightedRows(X, np.ones(40)))
    assert_allclose(X, before, rtol=0)


@pytest.mark.parametrize("spread", [1e-3, 1.0, 1e5])
@pytest.mark.parametrize("offset", [0.0, 0.3, 1e3])
def test_the_order_of_the_rows_changes_no_bit(spread, offset):
    rng = np.random.default_rng(0)
    X, weights = spread * rng.normal(size=(5000, 20)) + offset, rng.uniform(size=5000)
    X[:, 0] = offset
    order = rng.permutation(5000)
    rows, others = WeightedRows(X, weights), WeightedRows(X[order], weights[order])
    assert overall_variance(rows) == overall_variance(others)
    one, other = LinearTerm.of(rows), LinearTerm.of(others)
    assert_array_equal(one.origin, other.origin)
    assert one.scale == other.scale


def test_rounded_values_are_near():
    rng = np.random.default_rng(0)
    values = rng.normal(size=1000) * 10.0 ** rng.uniform(-300, 300, size=1000)
    assert_allclose(rounded(values, values), values, rtol=1e-9)
    assert_array_equal(rounded(rounded(values, values), values), rounded(values, values))
    assert_array_equal(rounded(np.array([0.0, np.inf, 5e-324]), np.ones(3)), [0.0, np.inf, 0.0])


# Spreads


def test_very_different_spreads_give_a_warning_with_names_and_a_remedy():
    message = (
        r"factor of 1,000: 2e\+03 for 'income' and 1 for 'age'\. The kernel hardly sees .*"
        r"StandardScaler .*scaling='normal'"
    )
    with pytest.warns(UnscaledFeaturesWarning, match=message):
        warn_if_unscaled(np.zeros(3), np.array([1.0, 0.0, 2000.0]), ["age", "one", "income"])


@pytest.mark.parametrize(
    ("mean", "spread"),
    [
        ([0, 0], [1.0, 1000.0]),
        ([0, 0], [0.0, 1000.0]),
        ([1e9, 0], [1e-3, 1000.0]),
        ([0], [1.0]),
        ([0, 0], [np.inf, 1.0]),
    ],
    ids=["a thousand", "constant", "constant up to rounding", "one feature", "overflow"],
)
def test_other_spreads_do_not(mean, spread):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_unscaled(np.array(mean), np.array(spread))


@pytest.mark.parametrize("name", ["SparseKernelAUC", "SparseKernelAUCCV"])
def test_estimators_warn_about_features_that_are_not_scaled(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1, 1, 10_000]
    y = (X[:, 0] > 0).astype(int)
    small = {"SparseKernelAUC": {}, "SparseKernelAUCCV": {"Cs": [1.0], "gammas": [1.0], "cv": 2}}
    model = getattr(skauc, name)(n_basis=2, refine=False, linear_term=False, **small[name])
    with pytest.warns(UnscaledFeaturesWarning, match="for 'x2' and .* for 'x[01]'"):
        model.set_params(scaling=None, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(scaling="rank").fit(X, y)
        model.set_params(scaling=None).fit(sparse.csr_array(X), y)
        if name == "SparseKernelAUCCV":
            model.set_params(scaling="auto").fit(X, y)


@pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_array])
def test_weights_are_repetitions_in_leading_axes(as_format):
    rng = np.random.default_rng(0)
    X, times = rng.normal(size=(30, 20)), rng.integers(0, 4, size=30)
    y, labels = np.arange(30) % 2 == 0, np.array([0, 1])
    weighted = TrainingData(as_format(X), y, times.astype(float), labels)
    rows = np.repeat(np.arange(30), times)
    repeated = TrainingData(as_format(X[rows]), y[rows], np.ones(len(rows)), labels)
    spans = [axes @ axes.T for axes in (leading_axes(weighted, 5), leading_axes(repeated, 5))]
    assert_allclose(*spans, atol=1e-8)


@pytest.mark.parametrize("as_format", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_rows", [10, 60])
def test_leading_axes_are_singular_vectors(as_format, n_rows):
    """With few rows the products of all rows are decomposed, with more the leading ones."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(n_rows, 5)) * 2.0 ** -np.arange(5)) @ rng.normal(size=(5, 40))
    data = TrainingData(as_format(X), np.arange(n_rows) % 2 == 0, np.ones(n_rows), np.arange(2))
    axes = leading_axes(data, 5)
    expected = np.linalg.svd(X, full_matrices=False)[2][:5]
    assert_allclose(axes.T @ axes, np.eye(5), atol=1e-8)
    assert_allclose(axes @ axes.T, expected.T @ expected, atol=1e-6)


def test_few_axes_of_short_numbers():
    """Rounding errors give no further axes."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(100, 5)) @ rng.normal(size=(5, 600))).astype(np.float32)
    data = TrainingData(X, np.arange(100) % 2 == 0, np.ones(100), np.arange(2))
    axes = leading_axes(data, 64)
    assert axes.shape[1] < 64
    assert_allclose(axes.T @ axes, np.eye(axes.shape[1]), atol=1e-5)
