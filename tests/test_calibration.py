"""Probabilities from scores, against the definitions and scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.calibration import CalibratedClassifierCV
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from skauc import SparseKernelAUCCV
from skauc.base.calibration import (
    ENOUGH_FOR_ISOTONIC,
    IsotonicCalibration,
    LogisticCalibration,
    calibrate,
    fit_isotonic,
    fit_logistic,
)


def scored_rows(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n_rows)
    odds = 1.5 * scores - 1.5 - 0.3 * scores**2
    return scores, rng.random(n_rows) < 1 / (1 + np.exp(-odds)), np.ones(n_rows)


@pytest.mark.parametrize("n_rows", [30, 3000])
def test_the_logistic_function_is_that_of_scikit_learn(n_rows):
    scores, positive, counts = scored_rows(n_rows)
    found = fit_logistic(scores, positive, counts)
    rows = scores[:, None]
    linear = LogisticRegression().fit(rows, positive)
    values = linear.decision_function(rows)
    by_sklearn = CalibratedClassifierCV(linear, cv=[(np.arange(n_rows),) * 2], ensemble=False)
    by_sklearn.fit(rows, positive)
    ours = fit_logistic(values, positive, counts)
    theirs = by_sklearn.calibrated_classifiers_[0].calibrators[0]
    assert_allclose([ours.a_, ours.b_], [theirs.a_, theirs.b_], rtol=1e-5)
    assert found.a_ < 0


def test_isotonic_regression_is_that_of_scikit_learn_but_for_ties():
    scores, positive, counts = scored_rows(5000)
    ours = fit_isotonic(scores, positive, counts).predict(scores)
    theirs = IsotonicRegression().fit(scores, positive).predict(scores)
    assert np.abs(ours - theirs).mean() < 0.02
    assert log_loss(positive, ours) < log_loss(positive, np.clip(theirs, 1e-3, 1 - 1e-3)) + 0.005
    in_order = np.sort(scores)
    beyond = np.concatenate(([in_order[0] - 1], in_order, [in_order[-1] + 1]))
    assert (np.diff(fit_isotonic(scores, positive, counts).predict(beyond)) > 0).all()


@pytest.mark.parametrize("fit", [fit_logistic, fit_isotonic])
def test_weights_are_repetition(fit):
    scores, positive, _ = scored_rows(400)
    counts = np.random.default_rng(1).integers(1, 4, size=400)
    weighted = fit(scores, positive, counts.astype(float))
    repeated = fit(np.repeat(scores, counts), np.repeat(positive, counts), np.ones(counts.sum()))
    assert_allclose(weighted.predict(scores), repeated.predict(scores), rtol=1e-6)


def test_few_rows_of_a_class_get_the_logistic_function():
    scores, positive, weights = scored_rows(10_000)
    assert isinstance(calibrate(scores, positive, weights), IsotonicCalibration)
    few = np.flatnonzero(positive)[: ENOUGH_FOR_ISOTONIC - 1]
    rows = np.concatenate((few, np.flatnonzero(~positive)))
    found = calibrate(scores[rows], positive[rows], weights[rows])
    assert isinstance(found, LogisticCalibration)
    # The unit of the weights does not matter if it is small, and rows of weight 0 do not count.
    smaller = calibrate(scores[rows], positive[rows], weights[rows] / 1000)
    assert_allclose([smaller.a_, smaller.b_], [found.a_, found.b_])


@pytest.mark.parametrize("n_rows", [400, 10_000])
def test_several_scores_of_a_row_count_as_one_row(n_rows):
    scores, positive, weights = scored_rows(n_rows)
    once = calibrate(scores, positive, weights)
    thrice = (np.tile(each, 3) for each in (scores, positive, weights))
    repeated = calibrate(*thrice, scores_per_row=3.0)
    assert type(repeated) is type(once)
    assert_allclose(repeated.predict(scores), once.predict(scores), atol=1e-6)


@pytest.mark.parametrize("n_rows", [400, 10_000])
@pytest.mark.parametrize("unit", [1e-290, 1e-200, 1e200])
def test_the_unit_of_the_scores_does_not_matter(n_rows, unit):
    scores, positive, weights = scored_rows(n_rows)
    found = calibrate(scores, positive, weights).predict(scores)
    again = calibrate(unit * scores, positive, weights).predict(unit * scores)
    assert_allclose(again, found, rtol=1e-6)


@pytest.mark.parametrize("n_rows", [400, 10_000])
def test_far_scores_have_the_probabilities_0_and_1(n_rows):
    calibrator = calibrate(*scored_rows(n_rows))
    assert_allclose(calibrator.predict(np.array([-1e6, -1e5, 1e5, 1e6])), [0, 0, 1, 1])


def test_tiny_weights_give_probabilities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=300) > 1
    search = SparseKernelAUCCV(n_basis=4, effort="quick", random_state=0)
    search.fit(X, y, sample_weight=np.full(300, 1e-100))
    probabilities = search.predict_proba(X)[:, 1]
    assert log_loss(y, probabilities) < 0.8 * log_loss(y, np.full(300, y.mean()))


def test_scores_that_do_not_rank_get_the_share_of_positives_in_their_order():
    scores, positive, weights = scored_rows(500)
    upside_down = calibrate(-scores, positive, weights).predict(np.sort(scores))
    assert (np.diff(upside_down) > 0).all()
    assert_allclose(upside_down, positive.mean(), rtol=0.02)
    constant = calibrate(np.zeros(500), positive, weights).predict(np.zeros(3))
    assert_allclose(constant, positive.mean(), rtol=0.02)
