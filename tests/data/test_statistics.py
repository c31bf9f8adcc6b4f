"""Means and variances against NumPy's, of repeated rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skauc.data.statistics import feature_statistics, overall_variance, rounded
from skauc.data.training import WeightedRows
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
