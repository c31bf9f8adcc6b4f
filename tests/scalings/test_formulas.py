"""The smooth clip and logarithms against their definitions, and what they leave unchanged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from skewed_rows import skewed

from skauc.data.training import TrainingData
from skauc.scalings import make_scaling

# -- smooth clip ------------------------------------------------------------------------------


def scaling_of(word, X, weights=None):
    X = np.asarray(X, dtype=float)
    weights = np.ones(len(X)) if weights is None else weights
    positive = np.arange(len(X)) % 2 == 0
    return make_scaling(word, TrainingData(X, positive, weights, np.array([0, 1])))


def test_clip_bends_distances_from_the_median_in_interquartile_ranges():
    X = np.exp(np.random.default_rng(0).normal(size=(401, 2)))
    low, middle, high = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
    u = (X - middle) / (high - low)
    assert_allclose(scaling_of("clip", X).transform(X), u / np.sqrt(1 + (u / 3) ** 2))
    beyond = np.array([[1e300, -1e300]])
    assert_allclose(scaling_of("clip", X).transform(beyond), [[3.0, -3.0]], rtol=1e-4)


def test_the_width_of_a_feature_that_is_mostly_zero_is_that_of_its_other_values():
    column = np.zeros(1000)
    column[:11] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1e9]
    scaling = scaling_of("clip", column[:, None])
    assert (scaling.middle[0], scaling.width[0]) == (0.0, 6.0)


def test_values_that_clipped_images_lead_back_to_are_finite():
    X = np.finfo(float).max * np.array([[-1.0], [-0.5], [0.0], [0.5], [1.0]])
    scaling = scaling_of("clip", X)
    assert np.isfinite(scaling.inverse(scaling.transform(X))).all()


# -- logarithms -------------------------------------------------------------------------------


def test_log_takes_logarithms_of_positive_skewed_features_and_standardises_all():
    rng = np.random.default_rng(0)
    tails, counts = np.exp(rng.normal(size=300)), rng.poisson(0.5, size=300) ** 2
    X = np.column_stack((tails, counts, tails - 1.0, rng.random(300)))
    scaling = scaling_of("log", X)
    assert scaling.is_log.tolist() == [True, True, False, False]
    assert scaling.offset.tolist() == [0.0, 1.0, 0.0, 0.0]
    logs = np.column_stack((np.log(tails), np.log1p(counts), X[:, 2:]))
    expected = (logs - logs.mean(axis=0)) / logs.std(axis=0)
    assert_allclose(scaling.transform(X), expected, atol=1e-12)
    smaller = scaling.transform(np.full((1, 4), -5.0))[0, :2]
    assert_allclose(smaller, expected[:, :2].min(axis=0))


@pytest.mark.parametrize("word", ["clip", "log"])
@given(seed=st.integers(0, 100), n_rows=st.integers(4, 30))
def test_weights_equal_repetition_in_clip_and_log(word, seed, n_rows):
    rng = np.random.default_rng(seed)
    X = np.exp(rng.normal(size=(n_rows, 2))).round(1)
    weights = rng.integers(0, 4, n_rows).astype(float)
    weights[:2] = 1
    weighted = scaling_of(word, X, weights)
    repeated = scaling_of(word, np.repeat(X, weights.astype(int), axis=0))
    assert_allclose(weighted.transform(X), repeated.transform(X), atol=1e-9)


@pytest.mark.parametrize("word", ["clip", "log"])
@pytest.mark.parametrize("unit", [1e-300, 1.0, 8e307])
def test_clip_and_log_lead_back_and_do_not_depend_on_the_unit(word, unit):
    X = np.column_stack((skewed()[:, 2:], np.random.default_rng(1).uniform(-1, 1, 300)))
    plain, scaling = scaling_of(word, X), scaling_of(word, unit * X)
    assert_allclose(scaling.transform(unit * X), plain.transform(X), atol=1e-9)
    assert_allclose(scaling.inverse(scaling.transform(unit * X)), unit * X, atol=1e-9 * unit)
    assert plain.transform(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("word", ["clip", "log"])
def test_a_constant_feature_has_the_image_zero(word):
    rows = np.full((5, 1), -3.5)
    assert_array_equal(scaling_of(word, rows).transform(rows), np.zeros((5, 1)))
