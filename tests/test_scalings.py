"""Scalings against their definitions, and what they leave unchanged."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2_contingency, norm, rankdata

from skauc import SparseKernelAUC
from skauc.data.training import TrainingData
from skauc.scalings import (
    BOUNDED,
    IRRELEVANT_PART,
    LEAST_DEVIATIONS,
    N_KNOTS,
    SCREENED,
    RankScaling,
    make_scaling,
    relevance_weights,
)

WORDS = pytest.mark.parametrize("word", ["rank", "normal"])


def ranks_of(X, weights=None, word="rank"):
    X = np.asarray(X, dtype=float)
    weights = np.ones(len(X)) if weights is None else weights
    positive = np.arange(len(X)) % 2 == 0
    return RankScaling.of(TrainingData(X, positive, weights, np.array([0, 1])), word)


def skewed(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    tails = np.exp(3 * rng.normal(size=(n_rows, 2)))
    return np.column_stack((tails, rng.integers(0, 3, n_rows), rng.random(n_rows) < 0.1))


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


def test_each_map_is_the_interpolation_between_its_knots():
    X, new = skewed(), skewed(seed=1)
    scaling = ranks_of(X)
    expected = [np.interp(*c) for c in zip(new.T, scaling.knots.T, scaling.levels.T, strict=True)]
    assert_allclose(scaling.transform(new), np.transpose(expected), rtol=1e-12, atol=1e-12)


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
    assert_allclose(images, ranks_of(X, word=word).transform(X), atol=1e-5)
    assert_allclose(ranks.inverse(images), unit * X, rtol=1e-5, atol=0.02 * unit)


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


# -- bounds -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bounded_features_stay_as_they_are_in_the_range_of_the_training_rows(dtype):
    X = skewed().astype(dtype)
    X = np.column_stack((X, np.full(len(X), 7.0, dtype), 1e6 * X[:, 0] - 1e9))
    weights = np.ones(len(X))
    X[0, 0], weights[0] = 1e9, 0.0  # rows without weight do not count
    scaling = make_scaling(BOUNDED, training(X, X[:, 2] > 0, weights))
    least, greatest = X[1:].min(axis=0), X[1:].max(axis=0)
    found = scaling.transform(X)
    assert found.dtype == dtype
    assert_allclose(found, np.clip(X, least, greatest), rtol=1e-6 if dtype == np.float32 else 1e-12)
    for far, end in ((-1e30, least), (1e30, greatest)):
        assert_allclose(scaling.transform(np.full((1, X.shape[1]), far, dtype))[0], end, rtol=1e-6)


def test_bounds_of_the_largest_numbers_are_finite():
    X = np.array([[-1.7e308], [1.7e308], [0.0]])
    with np.errstate(over="ignore"):
        images = make_scaling(BOUNDED, training(X, X[:, 0] > 0)).transform(np.sort(X, axis=0))
    assert np.isfinite(images).all()
    assert (images[1:] >= images[:-1]).all()
    assert images[-1] > images[0]


# -- relevance --------------------------------------------------------------------------------


def with_few_relevant(n_rows=2_000, n_features=12, seed=0):
    """Return rows of which the first two features are relevant, one of them by its distance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    X[:, 2] = rng.random(n_rows) < 0.05
    return X, X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n_rows) > 1


def training(X, y, weights=None):
    return TrainingData(X, y, np.ones(len(X)) if weights is None else weights, np.array([0, 1]))


def screened_weights(X, y, weights=None):
    """Return the weights of the features, as the maps have them."""
    data = training(X, y, weights)
    return make_scaling("normal", data).deviation / make_scaling(SCREENED, data).deviation


def test_features_that_seem_irrelevant_weigh_less():
    X, y = with_few_relevant()
    found = screened_weights(X, y)
    assert_allclose(found[:2], found[0])
    assert_allclose(found[2:], found[0] * np.sqrt(IRRELEVANT_PART * 2 / 10))
    assert_allclose(np.mean(found**2), 1.0)


def test_constant_features_do_not_count():
    X, y = with_few_relevant()
    more = np.hstack((X, np.ones((len(X), 50))))
    assert_allclose(screened_weights(more, y)[: X.shape[1]], screened_weights(X, y))


def relevance_by_table(column, y):
    """Return by how many deviations a table of counts differs from independence."""
    table = np.array([np.bincount(column[y == label], minlength=8) for label in (False, True)])
    table = table[:, table.any(axis=0)]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(y)
    statistic = (np.maximum(np.abs(table - expected) - 0.5, 0) ** 2 / expected).sum()
    n_free = table.shape[1] - 1
    assert n_free == chi2_contingency(table, correction=False)[2]
    return (statistic - n_free) / np.sqrt(2 * n_free)


@pytest.mark.parametrize("seed", range(5))
def test_relevance_is_a_test_of_independence(seed):
    """On few levels, which are the intervals, with relations of all strengths."""
    rng = np.random.default_rng(seed)
    n_rows = 400
    y = rng.random(n_rows) < 0.3
    X = np.stack([rng.integers(0, 2 + j % 7, n_rows) for j in range(30)], axis=1)
    for j in range(15):
        moved = y & (rng.random(n_rows) < 0.05 * j)
        X[moved, j] = 0
    expected = [relevance_by_table(column, y) > LEAST_DEVIATIONS for column in X.T]
    assert 0 < sum(expected) < len(expected)
    knots = ranks_of(X).knots
    weights = relevance_weights(X.astype(float), y, np.ones(n_rows), knots)
    assert_array_equal(weights == weights.max(), expected)


def test_middle_levels_and_zeros_are_seen():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 3, 2_000)
    amount = np.where(rng.random(2_000) < 0.9, 0.0, rng.random(2_000))
    noise = rng.normal(size=(2_000, 10))
    y = rng.random(2_000) < np.array([0.1, 0.9, 0.5])[level]
    found = screened_weights(np.column_stack((level, noise)), y)
    assert np.all(found[0] > 2 * found[1:])
    y = rng.random(2_000) < np.where(amount > 0, 0.7, 0.4)
    found = screened_weights(np.column_stack((amount, noise)), y)
    assert np.all(found[0] > 2 * found[1:])


def test_a_single_positive_row_proves_nothing():
    rng = np.random.default_rng(0)
    y = np.arange(20_000) < 200
    rare = np.stack([rng.permutation(np.arange(20_000) < 8) for _ in range(300)], axis=1)
    X = np.column_stack((y + rng.normal(size=20_000), rare))
    weights = screened_weights(X, y)
    assert np.mean(weights[1:] == weights[0]) < 0.02


def test_without_a_relevant_feature_all_weigh_the_same():
    X = np.random.default_rng(0).normal(size=(500, 8))
    assert_array_equal(screened_weights(X, np.arange(500) % 2 == 0), np.ones(8))


def test_a_few_irrelevant_features_keep_their_weight():
    """They weigh no more than they may, all together."""
    X, y = with_few_relevant()
    columns = [0, 1, 0, 1, 5]
    assert_array_equal(screened_weights(X[:, columns], y), np.ones(5))


def test_weights_are_repetitions_for_relevance():
    X, y = with_few_relevant(300)
    times = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = screened_weights(X, y, times.astype(float))
    repeated = screened_weights(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert 0 < np.count_nonzero(weighted < 1) < X.shape[1]
    assert_allclose(weighted, repeated)


def test_many_irrelevant_features_hide_fewer_others():
    rng = np.random.default_rng(0)
    X, y = with_few_relevant(1_200)
    X = np.hstack((X[:, :2], rng.normal(size=(len(X), 300))))
    half = slice(600), slice(600, None)
    scores = {
        word: SparseKernelAUC(16, scaling=word, random_state=0)
        .fit(X[half[0]], y[half[0]])
        .score(X[half[1]], y[half[1]])
        for word in ("normal", SCREENED)
    }
    assert scores[SCREENED] > scores["normal"] + 0.03
