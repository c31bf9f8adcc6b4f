import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression

from skauc.metrics import calibration_bins, cross_fitted_probabilities, score_histogram
from skauc.metrics.calibration import share_limits


def make_probabilities(n_rows=1_000, seed=0):
    rng = np.random.default_rng(seed)
    probabilities = rng.beta(1, 3, n_rows)
    return probabilities, rng.random(n_rows) < probabilities


def test_groups_are_those_of_scikit_learn():
    probabilities, positive = make_probabilities()
    bins = calibration_bins(probabilities, positive, np.ones(1_000))
    observed, predicted = calibration_curve(positive, probabilities, n_bins=10, strategy="quantile")
    assert_allclose(bins.predicted, predicted)
    assert_allclose(bins.observed, observed)
    assert bins.n_rows.sum() == 1_000


def test_limits_are_those_of_clopper_and_pearson():
    for seen in (0, 1, 7, 12):
        low, high = share_limits(np.array([seen / 12]), np.array([12]))
        expected = binomtest(seen, 12).proportion_ci(method="exact")
        assert_allclose([low[0], high[0]], [expected.low, expected.high], atol=1e-9)


def test_weights_count_as_repetition_in_the_means():
    probabilities, positive = make_probabilities(200)
    weights = np.random.default_rng(1).integers(1, 4, 200)
    bins = calibration_bins(probabilities, positive, weights.astype(float), n_bins=1)
    repeated = np.repeat(probabilities, weights), np.repeat(positive, weights)
    again = calibration_bins(*repeated, np.ones(weights.sum()), n_bins=1)
    assert_allclose(bins.predicted, again.predicted)
    assert_allclose(bins.observed, again.observed)
    assert bins.low[0] < again.low[0]  # a weight is no further observation


@pytest.mark.parametrize("unit", [1e-300, 1e-170, 1e300])
def test_the_unit_of_the_weights_does_not_matter(unit):
    probabilities, positive = make_probabilities(200)
    weights = np.random.default_rng(1).random(200)
    bins = calibration_bins(probabilities, positive, weights)
    again = calibration_bins(probabilities, positive, unit * weights)
    assert_allclose(again.predicted, bins.predicted)
    assert_allclose([again.low, again.high], [bins.low, bins.high])
    expected = cross_fitted_probabilities(probabilities, positive, weights)
    assert_allclose(cross_fitted_probabilities(probabilities, positive, unit * weights), expected)


def test_few_distinct_probabilities_make_few_groups():
    positive = np.array([False, True] * 50)
    bins = calibration_bins(np.where(positive, 0.8, 0.2), positive, np.ones(100))
    assert_allclose(bins.predicted, [0.2, 0.8])


def test_a_row_is_not_in_the_fit_of_its_own_probability():
    """Scores of noise: a map fitted to a row itself would agree with it."""
    rng = np.random.default_rng(0)
    positive = np.arange(40) < 8
    held_out = cross_fitted_probabilities(rng.normal(size=40), positive, np.ones(40))
    assert held_out[positive].mean() < held_out[~positive].mean() + 0.1
    assert cross_fitted_probabilities(np.arange(5.0), np.arange(5) == 0, np.ones(5)) is None


@pytest.mark.parametrize("most", [100, 20_000])
def test_a_part_of_each_class_gives_nearly_the_same_map(most, monkeypatch):
    monkeypatch.setattr("skauc.metrics.calibration._MOST_FITTED", most)
    rng = np.random.default_rng(0)
    positive = np.arange(4_000) < 400
    scores = rng.normal(size=4_000) + 2 * positive
    probabilities = cross_fitted_probabilities(scores, positive, np.ones(4_000))
    platt = LogisticRegression(C=np.inf).fit(scores[:, None], positive)
    everything = platt.predict_proba(scores[:, None])[:, 1]
    assert np.abs(probabilities - everything).mean() < 0.03


def test_a_constant_score_has_the_share_of_positives():
    positive = np.arange(100) < 20
    probabilities = cross_fitted_probabilities(np.ones(100), positive, np.ones(100))
    assert_allclose(probabilities, 0.2, rtol=1e-3)


def test_each_class_adds_up_to_one_with_its_outliers():
    rng = np.random.default_rng(0)
    positive = np.arange(5_000) < 50
    scores = np.append(rng.normal(size=4_999), 1e6)
    weights = rng.uniform(0, 2, 5_000)
    bars = score_histogram(scores, positive, weights)
    assert_allclose([bars.positives.sum(), bars.negatives.sum()], 1)
    assert bars.edges[-1] < 10
    inside = scores[positive]
    expected, _ = np.histogram(
        np.clip(inside, bars.edges[0], bars.edges[-1]), bars.edges, weights=weights[positive]
    )
    assert_allclose(bars.positives, expected / weights[positive].sum())


def test_one_score_for_all_rows_is_one_bar():
    bars = score_histogram(np.full(10, 3.0), np.arange(10) < 5, np.ones(10))
    assert np.count_nonzero(bars.positives) == 1
    assert bars.edges[0] < 3 < bars.edges[-1]
