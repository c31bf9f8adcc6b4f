"""Sums of models, and small models that approximate them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification

from skauc import SparseKernelAUC
from skauc.data.training import TrainingData
from skauc.sparse import compression
from skauc.sparse.compression import Difference, NormalEquations, Points, compressed, joined, moved

X, y = make_classification(300, 6, flip_y=0.1, random_state=0)
SHAPES = (("round", 12), ("local", 12), ("ridge", 6), ("additive", 6))


def training_rows(features, weights=None):
    weights = np.ones(len(y)) if weights is None else weights
    return TrainingData(features, y == 1, weights, np.array([0, 1]))


def fit_models(linear_term=True, **parameters):
    return [
        SparseKernelAUC(
            n_basis, shapes=shapes, linear_term=linear_term, random_state=0, **parameters
        ).fit(X, y)
        for shapes, n_basis in SHAPES
    ]


@pytest.fixture(name="models", scope="module", params=[True, False], ids=["linear", "no linear"])
def fitted_models(request):
    return fit_models(request.param, scaling="normal")


def compress(model, n_most, features=None):
    features = model.scaled(X) if features is None else features
    return compressed(model, training_rows(features), n_most, np.random.RandomState(0))


@pytest.fixture(name="resting")
def centres_that_do_not_move(monkeypatch):
    monkeypatch.setattr(compression, "N_STEPS", 0)


def test_scores_of_models_add_up(models):
    total = joined([each._model for each in models])
    expected = sum(each.decision_function(X) for each in models)
    assert_allclose(total.scores(X), expected, atol=1e-10)
    assert len(total.coef) == 36
    assert (total.linear_coef is None) == (models[0]._model.linear_coef is None)


def test_several_widths_are_part_of_the_metric():
    one = SparseKernelAUC(8, gamma=[0.1, 1.0], random_state=0).fit(X, y)
    other = SparseKernelAUC(4, gamma=3.0, refine=False, random_state=0).fit(X, y)
    total = joined([one._model, other._model])
    expected = one.decision_function(X) + other.decision_function(X)
    assert_allclose(total.scores(X), expected, atol=1e-10)


def test_all_centres_give_the_same_scores(models, resting, monkeypatch):
    """But for the small penalty on the coefficients."""
    monkeypatch.setattr(compression, "UNEXPLAINED", 0.0)
    total = joined([each._model for each in models])
    found = compress(total, 36)
    scores = total.scores(X)
    assert_allclose(found[max(found)].scores(X), scores, atol=0.02 * scores.std())


def unexplained(model, total):
    """The part of the variance of the scores that a model leaves."""
    return np.var(model.scores(X) - total.scores(X)) / np.var(total.scores(X))


def test_fewer_centres_explain_less(models, resting, monkeypatch):
    monkeypatch.setattr(compression, "UNEXPLAINED", 0.0)
    total = joined([each._model for each in models])
    found = compress(total, 30)
    assert list(found) == [4, 8, 16, 30]
    rests = [unexplained(model, total) for model in found.values()]
    assert rests == sorted(rests, reverse=True)
    assert rests[-1] < 2e-3
    for size, model in found.items():
        assert len(model.coef) == size
        assert_array_equal(model.centres, found[30].centres[:size])
        assert_array_equal(model.kernel.metric, found[30].kernel.metric[:size])


def test_centres_that_move_explain_more(models, monkeypatch):
    monkeypatch.setattr(compression, "UNEXPLAINED", 0.0)
    total = joined([each._model for each in models])
    moving = compress(total, 16)[16]
    monkeypatch.setattr(compression, "N_STEPS", 0)
    resting = compress(total, 16)[16]
    assert unexplained(moving, total) < 0.7 * unexplained(resting, total)
    is_ridge = moving.kernel.is_ridge
    assert_array_equal(is_ridge, resting.kernel.is_ridge)
    # But for the rounding of all centres.
    assert_allclose(moving.centres[is_ridge], resting.centres[is_ridge], atol=1e-3)


def test_the_gradient_is_that_of_finite_differences(models):
    total = joined([each._model for each in models])
    points = Points.of(total, training_rows(total.scaled(X)), np.random.RandomState(0))
    columns = NormalEquations.of(total, points)
    difference = Difference(columns.solve(columns.choose(20)), points)
    rng = np.random.default_rng(0)
    theta = difference.start + 0.1 * rng.normal(size=len(difference.start))
    value, gradient = difference.at(theta)
    assert value > difference.at(difference.start)[0] > 0
    for _ in range(5):
        step = 1e-5 * rng.normal(size=len(theta))
        ahead, behind = difference.at(theta + step)[0], difference.at(theta - step)[0]
        assert_allclose((ahead - behind) / 2, gradient @ step, rtol=1e-4)


def test_the_difference_is_that_of_the_model(models):
    total = joined([each._model for each in models])
    points = Points.of(total, training_rows(total.scaled(X)), np.random.RandomState(0))
    columns = NormalEquations.of(total, points)
    model = columns.solve(columns.choose(20))
    difference = Difference(model, points)
    centres, metric = difference.shape(difference.start)
    assert_allclose(centres, model.centres, atol=1e-12)
    assert_allclose(metric, model.kernel.metric, rtol=1e-12)
    errors = replace(model, scaling=None).scores(points.X) - points.scores
    expected = 0.5 * points.weights @ errors**2 / points.variance
    assert_allclose(difference.at(difference.start)[0], expected, rtol=0.1)


def test_a_model_of_ridges_alone_does_not_move():
    model = SparseKernelAUC(6, shapes="additive", random_state=0).fit(X, y)._model
    points = Points.of(model, training_rows(X), np.random.RandomState(0))
    assert moved(model, points) is model


def test_there_are_as_many_centres_as_needed(models, resting, monkeypatch):
    total = joined([each._model for each in models])
    sizes = []
    for most in (0.3, 0.05, 1e-3):
        monkeypatch.setattr(compression, "UNEXPLAINED", most)
        found = compress(total, 36)
        sizes.append(max(found))
        # The limit holds on average over rows and points between them.
        assert unexplained(found[max(found)], total) <= 2 * most
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_coefficients_are_those_of_least_squares(models, resting, monkeypatch):
    """With so many rows that there are no other points."""
    monkeypatch.setattr(compression, "UNEXPLAINED", 0.0)
    monkeypatch.setattr(compression, "LEAST_POINTS", 0)
    monkeypatch.setattr(compression, "_RIDGE", 1e-12)
    total = joined([each._model for each in models])
    features = total.scaled(X)
    model = compress(total, 8)[8]
    kernel = model.kernel.columns(model.centres, np.float64)(features)
    linear = [] if total.linear_coef is None else [features]
    columns = np.hstack((np.ones((len(X), 1)), *linear, kernel))
    root = np.sqrt(1 / np.array([np.sum(y == 0), np.sum(y == 1)]))[y]
    best, *_ = np.linalg.lstsq(columns * root[:, None], total.scores(X) * root, rcond=None)
    assert_allclose(model.scores(X), columns @ best, atol=1e-5)


def test_units_of_the_features_do_not_matter(resting):
    units = np.array([1e-3, 1.0, 1e4, 1.0, 1.0, 1e-2])
    one, other = (
        joined(
            [
                SparseKernelAUC(8, gamma=0.2, refine=False, random_state=0).fit(X, y)._model,
                SparseKernelAUC(6, shapes="additive", random_state=0).fit(X, y)._model,
            ]
        )
        for _ in range(2)
    )
    other = type(other)(
        **{
            **vars(other),
            "centres": other.centres * units,
            "kernel": type(other.kernel)(other.kernel.metric / units, other.kernel.is_ridge),
            "linear_coef": other.linear_coef / units,
        }
    )
    found = compress(one, 8, X)[8].scores(X)
    assert_allclose(compress(other, 8, X * units)[8].scores(X * units), found, atol=1e-6)


def test_many_rows_are_sampled(monkeypatch):
    monkeypatch.setattr(compression, "MOST_COMPARED", 100)
    models = fit_models(scaling="normal")
    total = joined([each._model for each in models])
    found = compress(total, 20)
    scores = total.scores(X)
    assert np.corrcoef(found[max(found)].scores(X), scores)[0, 1] > 0.98
