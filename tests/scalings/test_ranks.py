"""Ranks, normal scores and bounds against their definitions, and what they leave unchanged."""

from bisect import bisect_left
from fractions import Fraction
from functools import partial
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, rankdata
from skewed_rows import skewed

from skauc import SparseKernelAUC
from skauc.data.training import TrainingData
from skauc.feature_map import FeatureMap
from skauc.scalings import RankScaling
from skauc.scalings.ranks import N_KNOTS

WORDS = pytest.mark.parametrize("word", ["rank", "normal"])


def ranks_of(X, weights=None, word="rank"):
    X = np.asarray(X, dtype=float)
    weights = np.ones(len(X)) if weights is None else weights
    positive = np.arange(len(X)) % 2 == 0
    return RankScaling.of(TrainingData(X, positive, weights, np.array([0, 1])), word)


def test_images_are_mid_ranks_of_unit_variance():
    X = skewed()[:, :2]
    images = ranks_of(X).transform(X)
    assert_allclose(images.mean(axis=0), 0, atol=0.02)
    assert_allclose(images.std(axis=0), 1, atol=0.02)
    for column, image in zip(X.T, images.T, strict=True):
        expected = (rankdata(column) / len(column) - 0.5) * np.sqrt(12)
        # Between two knots a rank is known to the distance of the knots.
        assert_allclose(image, expected, atol=2 * np.sqrt(12) / N_KNOTS)


@WORDS
def test_a_rare_level_is_no_further_away_than_a_rare_number(word):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=5000)
    images = ranks_of(np.column_stack((numbers, numbers > 2.0)), word=word).transform(
        np.array([[-3.0, 0.0], [3.0, 1.0]])
    )
    number, level = np.ptp(images, axis=0)
    assert level < number


def test_knots_are_shared_between_rows_and_distinct_values():
    """A feature that is nearly always zero has knots among its other values."""
    rng = np.random.default_rng(0)
    column = np.where(rng.random(10_000) < 0.99, 0.0, rng.random(10_000))
    knots = np.unique(ranks_of(column[:, None]).knots)
    assert N_KNOTS // 5 <= np.count_nonzero(knots) <= N_KNOTS // 3
    shares = np.searchsorted(np.sort(column[column > 0]), knots[1:]) / np.count_nonzero(column)
    assert_allclose(shares, np.linspace(0, 1, len(shares)), atol=0.15)


def test_normal_images_are_quantiles_of_mid_ranks():
    X = skewed(20_000)[:, :2]
    images = ranks_of(X, word="normal").transform(X)
    assert_allclose(images.mean(axis=0), 0, atol=0.02)
    assert_allclose(images.std(axis=0), 0.9, atol=0.02)
    for column, image in zip(X.T, images.T, strict=True):
        shares = rankdata(column) / len(column)
        # Half a knot is left at both ends, where the quantile is infinite.
        expected = norm.ppf((shares * (N_KNOTS - 1) + 0.5) / N_KNOTS)
        # Within a knot of the ends, where the curve is steep, a straight line stands for it.
        inner = np.abs(shares - 0.5) < 0.5 - 2 / N_KNOTS
        assert_allclose(image[inner], expected[inner], atol=0.1)
        assert_allclose(image, expected, atol=0.6)


@WORDS
def test_the_middle_is_as_far_from_either_end(word):
    levels = ranks_of(np.arange(1000.0)[:, None], word=word).levels[:, 0]
    assert_allclose(levels, -levels[::-1], atol=1e-9)


def test_places_of_knots_are_whole_half_steps():
    scaling = ranks_of(skewed())
    assert scaling.half_steps.dtype == np.uint8
    assert_array_equal(scaling.half_steps[:, 0], 2 * np.arange(N_KNOTS))
    for half_steps, knots in zip(scaling.half_steps.T, scaling.knots.T, strict=True):
        n_distinct = len(np.unique(knots))
        assert np.all(np.diff(half_steps[:n_distinct].astype(int)) > 0)
        assert_array_equal(half_steps[n_distinct:], half_steps[n_distinct - 1])
    shares = scaling.half_steps / (2 * (N_KNOTS - 1))
    assert_allclose(scaling.levels, (shares - 0.5) * np.sqrt(12), atol=1e-12)


@WORDS
def test_order_and_ties_are_kept(word):
    X = skewed()
    images = ranks_of(X, word=word).transform(X)
    for column, image in zip(X.T, images.T, strict=True):
        order = np.argsort(column, kind="stable")
        assert np.all(np.diff(image[order]) >= 0)
        assert np.all(np.diff(image[order])[np.diff(column[order]) == 0] == 0)


@pytest.mark.parametrize(("n_rows", "n_copies"), [(1, 1), (300, 1), (5_000, 40)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_map_is_the_interpolation_between_its_knots(n_rows, n_copies, dtype):
    """The last case has several blocks of rows and of features."""
    X, new = (np.tile(skewed(seed=seed), n_copies).astype(dtype) for seed in (0, 1))
    scaling, new = ranks_of(X), new[:n_rows]
    expected = [np.interp(*c) for c in zip(new.T, scaling.knots.T, scaling.levels.T, strict=True)]
    for images in scaling.transform(new), FeatureMap(scaling).transform_in_fit(new):
        assert images.dtype == dtype
        assert_array_equal(images, np.transpose(expected).astype(dtype))


def quantiles_of_the_mixture(column, weights):
    """Return the knots by their definition, in exact fractions."""
    values, place = np.unique(column, return_inverse=True)
    mass = np.bincount(place, weights)
    parts = [
        Fraction(3, 4) * Fraction(part) / Fraction(mass.sum()) + Fraction(1, 4) / len(values)
        for part in mass
    ]
    below = list(accumulate(parts))
    shares = [Fraction(k, N_KNOTS - 1) for k in range(N_KNOTS)]
    return [values[min(bisect_left(below, share), len(values) - 1)] for share in shares]


@pytest.mark.parametrize("is_even", [True, False])
@given(seed=st.integers(0, 1000), n_rows=st.integers(2, 200), n_digits=st.integers(0, 2))
def test_knots_are_quantiles_of_rows_and_distinct_values(is_even, seed, n_rows, n_digits):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2)).round(n_digits)
    weights = np.ones(n_rows) if is_even else rng.integers(1, 4, n_rows).astype(float)
    scaling = ranks_of(X, weights)
    for column, knots in zip(X.T, scaling.knots.T, strict=True):
        assert_array_equal(np.unique(knots), np.unique(quantiles_of_the_mixture(column, weights)))


@WORDS
@given(seed=st.integers(0, 100), n_rows=st.integers(2, 30))
def test_weights_equal_repetition(word, seed, n_rows):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2)).round(1)
    weights = rng.integers(0, 4, n_rows).astype(float)
    weights[:2] = 1
    weighted = ranks_of(X, weights, word)
    repeated = ranks_of(np.repeat(X, weights.astype(int), axis=0), word=word)
    assert_allclose(weighted.knots, repeated.knots)
    assert_allclose(weighted.levels, repeated.levels, atol=1e-9)


@WORDS
def test_monotone_maps_of_the_features_change_nothing(word):
    """It holds exactly as long as each row has a knot."""
    X = np.random.default_rng(0).normal(size=(N_KNOTS, 3))
    y = X.sum(axis=1) > 0
    model = partial(SparseKernelAUC, 8, scaling=word, random_state=0)
    plain, bent = (model().fit(rows, y) for rows in (X, np.exp(X)))
    assert_allclose(plain.decision_function(X), bent.decision_function(np.exp(X)), atol=1e-6)


@WORDS
def test_inverse_leads_back(word):
    X = skewed()[:, :2]
    scaling = ranks_of(X, word=word)
    assert_allclose(scaling.inverse(scaling.transform(X)), X, rtol=1e-6)


@pytest.mark.parametrize("value", [0.0, -3.5, 1e30])
def test_a_constant_feature_has_one_image(value):
    scaling = ranks_of(np.full((5, 1), value), word="normal")
    assert_array_equal(scaling.transform(np.array([[value], [value - 1], [7.0]])), np.zeros((3, 1)))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_features", [1, 3])
def test_the_rows_stay_as_they_are(order, n_features):
    X = np.array(skewed()[:, :n_features], order=order)
    before = X.copy()
    ranks_of(X)
    assert_array_equal(X, before)


def test_precision_is_kept():
    X = skewed().astype(np.float32)
    assert ranks_of(X).transform(X).dtype == np.float32


@WORDS
@pytest.mark.parametrize("unit", [1e-310, 1e308, np.finfo(float).max])
def test_ranks_do_not_depend_on_the_unit(word, unit):
    X = np.random.default_rng(0).uniform(-1, 1, size=(200, 3))
    X[:2] = [[-1.0], [1.0]]
    ranks = ranks_of(unit * X, word=word)
    images = ranks.transform(unit * X)
    assert_array_equal(images, FeatureMap(ranks).transform_in_fit(unit * X))
    assert_allclose(images, ranks_of(X, word=word).transform(X), atol=1e-5)
    assert_allclose(ranks.inverse(images), unit * X, rtol=1e-5, atol=0.02 * unit)


@WORDS
def test_ranks_of_the_largest_floats_apart_stay_finite_and_in_order(word):
    most = np.finfo(float).max
    ranks = ranks_of(np.repeat([[-most], [-most / 2], [most]], 20, axis=0), word=word)
    rows = most * np.linspace(-1, 1, 21)[:, None]
    images = ranks.transform(rows)
    assert np.isfinite(images).all()
    assert (np.diff(images[:, 0]) > 0).all()
    assert_array_equal(images, FeatureMap(ranks).transform_in_fit(rows))


@WORDS
def test_rows_below_the_smallest_floats_have_the_lowest_rank(word):
    ranks = ranks_of(np.repeat([[1e-315], [2e-315]], 20, axis=0), word=word)
    rows = np.array([[-1.0], [0.0], [1e-315], [2e-315], [1.0]])
    images = ranks.transform(rows)
    assert_array_equal(images[:, 0], ranks.levels[[0, 0, 0, -1, -1], 0])
    assert_array_equal(images, FeatureMap(ranks).transform_in_fit(rows))
