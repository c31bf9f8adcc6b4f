"""Feature maps: scaling and principal axes in the estimator."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from skewed_rows import skewed

from skauc import SparseKernelAUC
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.feature_map import principal_axes

WORDS = pytest.mark.parametrize("word", ["rank", "normal", "clip", "log"])


@WORDS
def test_the_estimator_scores_its_scaled_rows(word):
    X = skewed()
    y = X[:, 0] * X[:, 1] > 1
    model = SparseKernelAUC(8, scaling=word, refine=False, random_state=0).fit(X, y)
    scaled = model.scaling_.transform(X)
    plain = SparseKernelAUC(8, scaling=None, refine=False, random_state=0).fit(scaled, y)
    assert_allclose(model.decision_function(X), plain.decision_function(scaled), atol=1e-8)
    assert_array_equal(model.basis_vectors_, scaled[model.basis_indices_])
    assert_allclose(list(model.staged_decision_function(X))[-1], model.decision_function(X))
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert_array_equal(twin.decision_function(X), model.decision_function(X))


def test_the_default_ranks_features_of_any_unit():
    X = skewed()
    y = X[:, 0] * X[:, 1] > 1
    model, other = (SparseKernelAUC(8, random_state=0).fit(rows, y) for rows in (X, 1e9 * X))
    assert_allclose(other.decision_function(1e9 * X), model.decision_function(X), rtol=1e-6)


@pytest.mark.filterwarnings("ignore::skauc.exceptions.UnscaledFeaturesWarning")
def test_without_scaling_there_is_none():
    model = SparseKernelAUC(4, scaling=None).fit(skewed(), np.arange(300) % 2)
    assert model.scaling_ is None


@pytest.mark.parametrize("scaling", ["ranks", "", 1, True, ["rank"]])
def test_other_words_are_refused(scaling):
    with pytest.raises(
        InvalidParameterError,
        match=r"`scaling` must be 'auto', None, 'rank', .*'clip' or 'log'; got",
    ):
        SparseKernelAUC(scaling=scaling).fit(skewed(), np.arange(300) % 2)


@WORDS
def test_sparse_rows_are_refused(word):
    with pytest.raises(InvalidDataError, match=f"'{word}' needs dense rows; got a sparse matrix"):
        SparseKernelAUC(scaling=word).fit(sparse.csr_array(skewed()), np.arange(300) % 2)


@pytest.mark.parametrize("options", [{}, {"scaling": "clip"}, {"rotate": True}], ids=str)
def test_models_of_dense_rows_score_sparse_rows(options):
    X = np.where(skewed() > 1, skewed(), 0.0)
    model = SparseKernelAUC(8, random_state=0, **options).fit(X, X[:, 0] > 2)
    expected = model.decision_function(X)
    assert_allclose(model.decision_function(sparse.csr_array(X)), expected)
    assert_allclose(model.decision_function(sparse.csr_array(X[:1])), expected[:1])
    assert_allclose(list(model.staged_decision_function(sparse.csr_array(X)))[-1], expected)


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


def test_axes_do_not_depend_on_rounding_errors_where_nothing_varies():
    """With more features than rows, most axes have no variance."""
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(6, 9)), rng.integers(1, 4, 6)
    repeated = np.repeat(X, weights, axis=0)
    axes = principal_axes(X, weights.astype(float))
    order = rng.permutation(len(repeated))
    assert_allclose(axes, principal_axes(repeated[order], np.ones(len(repeated))), atol=1e-6)
    assert_allclose(axes.T @ axes, np.eye(9), atol=1e-6)


def test_length_scales_along_axes_tell_how_far_apart_features_are_seen():
    X = correlated(400)
    y = X[:, 0] - X[:, 1] > 0
    model = SparseKernelAUC(8, rotate=True, refine=5, scaling="rank", random_state=0).fit(X, y)
    images = model.scaling_.by_feature.transform(X)
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
