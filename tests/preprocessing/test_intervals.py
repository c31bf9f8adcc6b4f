"""Numbers where the odds jump: intervals, their log odds, and which columns have them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit, logit

from skauc.preprocessing import TablePreprocessor
from skauc.preprocessing.intervals import (
    FEWEST_OF_CLASS,
    MOST_BINS,
    StepFunction,
    _counts,
    _gain,
    _smooth_log_odds,
    _spline_design,
    _step_log_odds,
    fit_steps,
)

N_ROWS = 4000


@pytest.fixture(scope="module")
def rows():
    """A column with spikes at some amounts, a smooth one, labels, and folds."""
    random = np.random.default_rng(0)
    amount = np.round(random.lognormal(3, 1, N_ROWS))
    smooth = random.normal(size=N_ROWS)
    odds = np.where(np.isin(amount % 7, (0, 1)), 2.0, -1.5) + np.sin(smooth)
    positive = (random.random(N_ROWS) < expit(odds)).astype(int)
    amount[::50] = np.nan
    return amount, smooth, positive, np.arange(N_ROWS) % 5


def test_a_column_with_spikes_has_steps_and_a_smooth_one_has_none(rows):
    amount, smooth, positive, folds = rows
    assert fit_steps(smooth, positive, folds) is None
    steps, numbers = fit_steps(amount, positive, folds)
    assert steps(np.array([14.0, 15.0])).min() > steps(np.array([12.0, 17.0])).max()
    assert_allclose([numbers.mean(), numbers.std()], [0, 1], atol=1e-9)
    assert len(steps.numbers) == len(steps.edges) + 1


def test_numbers_of_intervals_are_shrunken_log_odds(rows):
    amount, _, positive, folds = rows
    steps, numbers = fit_steps(amount, positive, folds)
    share = positive.mean()
    more = 5 + 2 / min(share, 1 - share)
    places = pd.Series(np.searchsorted(steps.edges, amount)).where(~np.isnan(amount), -1)
    groups = pd.Series(positive).groupby(places.to_numpy())
    expected = logit((groups.sum() + more * share) / (groups.count() + more))
    found = pd.Series(steps(amount)).groupby(places.to_numpy()).first()
    slope, shift = np.polyfit(expected, found, 1)
    assert_allclose(found, slope * expected + shift, atol=1e-4)  # four decimals are kept
    assert np.corrcoef(numbers, steps(amount))[0, 1] > 0.95


def test_the_number_of_a_row_does_not_depend_on_its_own_fold(rows):
    """Other labels in a fold leave the numbers of its rows as they are, but for the scaling."""
    amount, _, positive, folds = rows
    own = np.flatnonzero(folds == 2)
    changed = positive.copy()
    changed[own[:100]] = 1 - changed[own[:100]]
    before, after = (fit_steps(amount, each, folds)[1][own] for each in (positive, changed))
    slope, shift = np.polyfit(before, after, 1)
    assert_allclose(after, slope * before + shift, atol=1e-9)


def test_gain_is_the_mean_difference_of_log_losses_in_standard_errors(rows):
    amount, _, positive, folds = rows
    bins = np.where(np.isnan(amount), 3, np.searchsorted([10.0, 30.0], amount))
    counts = _counts(bins, positive, folds, 4)
    random = np.random.default_rng(1)
    log_odds, baseline = random.normal(size=(2, 5, 4))
    sign = np.where(positive == 1, -1, 1)
    losses = [np.log1p(np.exp(sign * each[folds, bins])) for each in (baseline, log_odds)]
    gains = losses[0] - losses[1]
    expected = gains.mean() / (gains.std() / np.sqrt(N_ROWS))
    assert _gain(counts, list(log_odds), list(baseline)) == pytest.approx(expected)


def test_smooth_log_odds_minimise_the_penalised_log_loss():
    random = np.random.default_rng(2)
    counts = random.integers(1, 50, size=(31, 2)).astype(float)
    design = _spline_design(counts[:-1].sum(axis=1))
    start = logit(counts[:, 1].sum() / counts.sum())

    def loss(coef):
        found = start + design @ coef
        return (
            counts[:, 0] @ np.logaddexp(0, found)
            + counts[:, 1] @ np.logaddexp(0, -found)
            + (0.5 * coef @ coef)
        )

    best = minimize(loss, np.zeros(design.shape[1]), tol=1e-10)
    assert_allclose(_smooth_log_odds(design, counts), start + design @ best.x, atol=1e-4)


def test_intervals_have_at_least_ten_rows():
    counts = np.random.default_rng(3).integers(0, 4, size=(301, 2)).astype(float)
    _, starts = _step_log_odds(counts)
    assert np.add.reduceat(counts[:-1].sum(axis=1), starts).min() >= 10


def test_step_function_has_closed_right_ends():
    steps = StepFunction(np.array([1.0, 2.0]), np.array([10.0, 20.0, 30.0]), -1.0)
    assert_array_equal(steps(np.array([1.0, 1.5, 2.0, 9.0, np.nan])), [10, 20, 20, 30, -1])


@pytest.mark.parametrize("n_values", [20, 2000])
def test_values_next_to_each_other_are_told_apart(n_values):
    """The middle of two floats next to each other is one of them."""
    random = np.random.default_rng(4)
    values = random.integers(1, n_values, size=N_ROWS).astype(float)
    values[:1000] = 3.0
    is_next = random.random(N_ROWS) < 0.5
    values[is_next] = np.nextafter(values[is_next], np.inf)
    positive = is_next ^ (random.random(N_ROWS) < 0.05)
    steps, _ = fit_steps(values, positive.astype(int), np.arange(N_ROWS) % 5)
    assert (len(np.unique(values)) > MOST_BINS) == (n_values > MOST_BINS)
    assert np.diff(steps(np.array([3.0, np.nextafter(3.0, 4.0)])))[0] > 1


def test_preprocessor_adds_steps(rows):
    amount, smooth, positive, _ = rows
    frame = pd.DataFrame({"amount": amount, "smooth": smooth})
    step = TablePreprocessor()
    numbers = step.fit_transform(frame, np.where(positive, "yes", "no"))
    names = step.get_feature_names_out().tolist()
    assert names == ["amount", "smooth", "missingindicator_amount", "amount_steps"]
    assert step.feature_sources() == ["amount", "smooth", "amount", "amount"]
    assert_allclose(step.transform(frame)[:, :3], numbers[:, :3])
    back = step.inverse_transform(step.transform(frame))
    assert_allclose(back["amount"].to_numpy(), amount, atol=1e-9)
    few = np.flatnonzero(positive)[: FEWEST_OF_CLASS - 1]
    kept = np.union1d(few, np.flatnonzero(positive == 0))
    for y in (None, np.arange(len(kept)) % 3, positive[kept]):
        step = TablePreprocessor().fit(frame.iloc[kept], y)
        assert "amount_steps" not in step.get_feature_names_out()
