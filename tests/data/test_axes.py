"""Leading axes against NumPy's singular vectors, of repeated rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skauc.data.axes import leading_axes
from skauc.data.training import TrainingData


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
