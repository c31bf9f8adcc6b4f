"""Bands: known limits at single thresholds, coverage in simulation, weights."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import beta, norm

from skauc.metrics import curve_bands, operating_points
from skauc.metrics.calibration import share_limits


def bands_of(scores, positive, weights=None, **kwargs):
    weights = np.ones(len(scores)) if weights is None else weights
    return curve_bands(operating_points(scores, positive, weights), **kwargs)


def test_a_perfect_ranking_has_the_limits_of_clopper_and_pearson():
    """With 40 of 40 positives above all negatives, the recall at any rate but 0 is 40 of 40."""
    scores = np.arange(5_040.0)
    bands = bands_of(scores, scores >= 5_000, n_draws=6_000)
    middle = (bands.false_positive_rate > 0.05) & (bands.false_positive_rate < 0.9)
    assert_allclose(bands.recall_low[middle], beta.ppf(0.025, 40, 1), atol=0.008)
    assert_allclose(bands.recall_high[middle], 1.0)


def test_many_negatives_leave_the_limits_of_the_recall_alone():
    """Where the rate of negatives is as good as known, the band is binomial in the positives."""
    rng = np.random.default_rng(0)
    positive = np.arange(200_100) < 100
    scores = rng.normal(size=200_100) + 1.5 * positive
    bands = bands_of(scores, positive, n_draws=4_000)
    at = 60
    cut = np.quantile(scores[~positive], 1 - bands.false_positive_rate[at])
    low, high = share_limits(np.mean(scores[positive] > cut), 100)
    assert_allclose(bands.recall_low[at], low, atol=0.02)
    assert_allclose(bands.recall_high[at], high, atol=0.02)


def test_the_band_covers_the_true_curve():
    """At each rate in about 95 % of samples or more, for normal scores of 60 and 120 rows."""
    rng = np.random.default_rng(0)
    positive = np.arange(180) < 60
    roc, pr, area = [], [], []
    for _ in range(100):
        scores = rng.normal(size=180) + 1.5 * positive
        bands = bands_of(scores, positive, n_draws=300)
        truth = norm.sf(norm.isf(bands.false_positive_rate) - 1.5)
        roc.append((bands.recall_low <= truth) & (truth <= bands.recall_high))
        alarms = norm.sf(norm.isf(bands.recall) + 1.5)
        truth = bands.recall / (bands.recall + 2 * alarms)
        pr.append((bands.precision_low <= truth) & (truth <= bands.precision_high))
        area.append(bands.average_precision[0] <= truth.mean() <= bands.average_precision[1])
    assert np.mean(roc, axis=0)[1:-1].min() > 0.9
    assert np.mean(pr, axis=0)[:-1].min() > 0.9
    assert np.mean(area) > 0.9


def test_the_band_holds_the_curve_and_narrows_with_rows():
    rng = np.random.default_rng(0)
    widths = []
    for n_rows in (200, 20_000):
        positive = np.arange(n_rows) < n_rows // 4
        scores = rng.normal(size=n_rows) + positive
        points = operating_points(scores, positive, np.ones(n_rows))
        bands = curve_bands(points)
        curve = np.interp(bands.false_positive_rate, points.false_positive_rate, points.recall)
        assert np.all(bands.recall_low <= curve + 1e-9)
        assert np.all(curve <= bands.recall_high + 1e-9)
        widths.append(np.mean(bands.recall_high - bands.recall_low))
    assert widths[1] < widths[0] / 5


def test_equal_weights_change_nothing_and_uneven_ones_widen():
    rng = np.random.default_rng(0)
    positive = np.arange(400) < 100
    scores = rng.normal(size=400) + positive
    plain = bands_of(scores, positive)
    equal = bands_of(scores, positive, np.full(400, 7.0))
    assert_allclose(plain.recall_low, equal.recall_low, atol=1e-9)
    uneven = bands_of(scores, positive, rng.permutation([0.01, 4.0] * 200))
    width = np.mean(plain.recall_high - plain.recall_low)
    assert np.mean(uneven.recall_high - uneven.recall_low) > 1.2 * width


def test_one_row_of_a_class_says_almost_nothing():
    bands = bands_of(np.arange(50.0), np.arange(50) == 49)
    assert_allclose(bands.recall_low[60], 0.025, atol=0.02)
    assert bands.recall_high[60] == 1
