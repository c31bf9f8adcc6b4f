"""Rank scaling against its definition, and what it leaves unchanged."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import norm, rankdata

from skauc import SparseKernelAUC
from skauc.data.training import TrainingData
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.feature_map import N_KNOTS, RankScaling, principal_axes

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


def test_images_are_standardised_mid_ranks():
    X = skewed()
    images = ranks_of(X).transform(X)
    assert_allclose(images.mean(axis=0), 0, atol=1e-10)
    assert_allclose(images.std(axis=0), 1)
    for column, image in zip(X.T, images.T, strict=True):
        expected = rankdata(column) / len(column)
        expected = (expected - expected.mean()) / expected.std()
        # Between two knots a rank is known to the distance of the knots.
        assert_allclose(image, expected, atol=2 * np.sqrt(12) / N_KNOTS)


def test_knots_are_shared_between_rows_and_distinct_values():
    """A feature that is nearly always zero has knots among its other values."""
    rng = np.random.default_rng(0)
    column = np.where(rng.random(10_000) < 0.99, 0.0, rng.random(10_000))
    knots = np.unique(ranks_of(column[:, None]).knots)
    assert 20 <= np.count_nonzero(knots) <= 30
    shares = np.searchsorted(np.sort(column[column > 0]), knots[1:]) / np.count_nonzero(column)
    assert_allclose(shares, np.linspace(0, 1, len(shares)), atol=0.08)


def test_normal_images_are_standardised_quantiles_of_mid_ranks():
    X = skewed(20_000)
    images = ranks_of(X, word="normal").transform(X)
    assert_allclose(images.mean(axis=0), 0, atol=1e-10)
    assert_allclose(images.std(axis=0), 1)
    for column, image in zip(X.T, images.T, strict=True):
        shares = np.clip(rankdata(column) / len(column), 1 / (2 * N_KNOTS), 1 - 1 / (2 * N_KNOTS))
        expected = norm.ppf(shares)
        expected = (expected - expected.mean()) / expected.std()
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
    assert_array_equal(scaling.levels, (shares - scaling.mean) / scaling.deviation)


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
    X = np.random.default_rng(0).normal(size=(80, 3))
    y = X.sum(axis=1) > 0
    plain, bent = (SparseKernelAUC(8, scaling=word).fit(rows, y) for rows in (X, np.exp(X)))
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
def test_the_estimator_scores_its_scaled_rows(word):
    X = skewed()
    y = X[:, 0] * X[:, 1] > 1
    model = SparseKernelAUC(8, scaling=word, refine=False, random_state=0).fit(X, y)
    scaled = model.scaling_.transform(X)
    plain = SparseKernelAUC(8, refine=False, random_state=0).fit(scaled, y)
    assert_allclose(model.decision_function(X), plain.decision_function(scaled), atol=1e-8)
    assert_array_equal(model.basis_vectors_, scaled[model.basis_indices_])
    assert_allclose(list(model.staged_decision_function(X))[-1], model.decision_function(X))
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert_array_equal(twin.decision_function(X), model.decision_function(X))


@pytest.mark.filterwarnings("ignore::skauc.exceptions.UnscaledFeaturesWarning")
def test_without_scaling_there_is_none():
    model = SparseKernelAUC(4).fit(skewed(), np.arange(300) % 2)
    assert model.scaling_ is None


@pytest.mark.parametrize("scaling", ["ranks", "", 1, True, ["rank"]])
def test_other_words_are_refused(scaling):
    with pytest.raises(
        InvalidParameterError, match=r"`scaling` must be None, 'rank' or 'normal'; got"
    ):
        SparseKernelAUC(scaling=scaling).fit(skewed(), np.arange(300) % 2)


@WORDS
def test_sparse_rows_are_refused(word):
    with pytest.raises(InvalidDataError, match=f"'{word}' needs dense rows; got a sparse matrix"):
        SparseKernelAUC(scaling=word).fit(sparse.csr_array(skewed()), np.arange(300) % 2)


# -- principal axes ---------------------------------------------------------------------------


def correlated(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, 4)) @ rng.normal(size=(4, 4)) + 3


@given(seed=st.integers(0, 50), n_features=st.integers(1, 6))
def test_axes_are_those_of_the_weighted_covariance(seed, n_features):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, n_features)) @ rng.normal(size=(n_features, n_features))
    weights = rng.random(40)
    axes = principal_axes(X, weights)
    covariance = np.atleast_2d(np.cov(X.T, aweights=weights))
    assert_allclose(axes.T @ axes, np.eye(n_features), atol=1e-6)
    turned = axes.T @ covariance @ axes
    assert_allclose(turned, np.diag(np.diag(turned)), atol=1e-6 * np.trace(covariance))
    assert np.all(np.diff(np.diag(turned)) <= 1e-6 * np.trace(covariance))
    assert np.all(np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0) > 0)


def test_a_turn_alone_changes_no_kernel():
    X = correlated()
    y = X[:, 0] > X[:, 1]
    plain, turned = (
        SparseKernelAUC(8, rotate=turn, refine=False, random_state=0) for turn in (False, True)
    )
    scores = [model.fit(X, y).decision_function(X) for model in (plain, turned)]
    assert_array_equal(plain.basis_indices_, turned.basis_indices_)
    assert_allclose(*scores, atol=1e-4)


def test_length_scales_along_axes_tell_how_far_apart_features_are_seen():
    X = correlated(400)
    y = X[:, 0] - X[:, 1] > 0
    model = SparseKernelAUC(8, rotate=True, refine=5, scaling="rank", random_state=0).fit(X, y)
    images = model.scaling_.ranks.transform(X)
    assert_allclose(model.scaling_.transform(X), images @ model.scaling_.axes)
    assert_allclose(model.scaling_.inverse(model.scaling_.transform(X)), X, rtol=1e-3, atol=1e-3)
    steps = np.diag(images.std(axis=0)) @ model.scaling_.axes / model.length_scales_
    assert_allclose(model.feature_relevance_, np.linalg.norm(steps, axis=1), rtol=1e-6)


def test_axes_of_sparse_rows_are_refused():
    with pytest.raises(InvalidDataError, match="`rotate` needs dense rows; got a sparse matrix"):
        SparseKernelAUC(rotate=True).fit(sparse.csr_array(skewed()), np.arange(300) % 2)


def test_axes_of_variances_that_overflow_are_refused():
    X = np.full((20, 2), 1e200) * np.random.default_rng(0).choice([-1, 1], (20, 2))
    with pytest.raises(InvalidDataError, match="variances of the features overflow, so there are"):
        SparseKernelAUC(rotate=True, gamma=1.0).fit(X, np.arange(20) % 2)


def test_rotate_is_true_or_false():
    with pytest.raises(InvalidParameterError, match="`rotate` must be True or False; got 1"):
        SparseKernelAUC(rotate=1).fit(skewed(), np.arange(300) % 2)


@WORDS
@pytest.mark.parametrize("unit", [1e-310, 1e308, np.finfo(float).max])
def test_ranks_do_not_depend_on_the_unit(word, unit):
    X = np.random.default_rng(0).uniform(-1, 1, size=(200, 3))
    X[:2] = [[-1.0], [1.0]]
    ranks = ranks_of(unit * X, word=word)
    images = ranks.transform(unit * X)
    assert_allclose(images, ranks_of(X, word=word).transform(X), atol=1e-5)
    assert_allclose(ranks.inverse(images), unit * X, rtol=1e-5, atol=0.02 * unit)
