"""Cuts to a part of the pairs against the O(p * n) definitions."""

from itertools import permutations

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from properties import quick

from skauc.losses.cells import binned_cells, sorted_cells
from skauc.losses.focus import WHOLE, Focus, make_focus
from skauc.losses.pairs import (
    focused_weights,
    pair_statistics,
    residual,
    score_moments,
    statistics_of,
)

eighths = st.integers(-20, 20).map(lambda k: k / 8)
fractions = st.one_of(st.just(1.0), st.floats(0.01, 0.99))


@st.composite
def focused_rows(draw, scores=eighths):
    """Scores, classes, weights and the limits of a focus. Scores and weights may be equal or 0."""
    n_positive, n_negative = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    n_rows = n_positive + n_negative
    positive = np.array(draw(st.permutations([True] * n_positive + [False] * n_negative)))
    weights = st.one_of(st.just(0.0), st.floats(0.1, 10))
    return (
        draw(hnp.arrays(np.float64, n_rows, elements=scores)),
        positive,
        draw(hnp.arrays(np.float64, n_rows, elements=weights)),
        {"max_fpr": draw(fractions), "min_tpr": 1.0 - draw(fractions)},
    )


def random_rows(seed, n_positive, n_negative):
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.arange(n_positive + n_negative) < n_positive)
    return rng.normal(size=len(positive)) + positive, positive, rng.uniform(0.5, 2, len(positive))


def focused_loss(scores, positive, weights, region):
    kept = make_focus(**region).of_rows(scores, positive, weights)
    return pair_statistics(scores, positive, kept, sorted_cells(scores, positive)).loss


@quick
@given(st.one_of(focused_rows(), focused_rows(st.floats(-3, 3))))
def test_weights_of_rows_are_those_of_the_definition(rows):
    scores, positive, weights, region = rows
    kept = make_focus(**region).of_rows(scores, positive, weights)
    assert_allclose(kept, oracles.focused_weights(scores, positive, weights, **region), atol=1e-12)


@quick
@given(focused_rows())
def test_shares_of_cells_are_exact_where_each_cell_holds_one_score(rows):
    scores, positive, weights, region = rows
    cells = binned_cells(scores, positive)
    moments = np.asarray(sum(score_moments(scores, positive, weights, cells)))
    statistics = statistics_of(cells, moments, make_focus(**region))
    expected = oracles.focused_weights(scores, positive, weights, **region)
    scale = 1 + oracles.loss(scores, positive, weights)
    assert_allclose(statistics.loss, oracles.loss(scores, positive, expected), atol=1e-10 * scale)
    kept = focused_weights(statistics, positive, weights)
    slopes = oracles.residual(scores, positive, expected)
    assert_allclose(residual(statistics, scores, positive, kept), slopes, atol=1e-10 * scale)
    # Rows that violate no pair share the cells at the ends.
    assert_allclose(kept[slopes != 0], expected[slopes != 0], rtol=1e-10)


def test_bins_focus_nearly_as_ranks_do():
    scores, positive, weights = random_rows(0, 400, 1600)
    focus, cells = Focus(0.05, 0.2), binned_cells(scores, positive)
    moments = np.asarray(sum(score_moments(scores, positive, weights, cells)))
    expected = focused_loss(scores, positive, weights, {"max_fpr": 0.05, "min_tpr": 0.8})
    assert_allclose(statistics_of(cells, moments, focus).loss, expected, rtol=1e-5)


def test_the_loss_is_the_largest_over_all_orders():
    """No other assignment of the shares to the rows of a class has a larger loss."""
    rng = np.random.default_rng(0)
    positive = np.arange(8) < 4
    for _ in range(5):
        scores, ones = rng.normal(size=8), np.ones(8)
        kept = oracles.focused_weights(scores, positive, ones, max_fpr=0.3, min_tpr=0.6)
        losses = [
            oracles.loss(scores, positive, np.concatenate((kept[:4][list(p)], kept[4:][list(n)])))
            for p in permutations(range(4))
            for n in permutations(range(4))
        ]
        assert_allclose(oracles.loss(scores, positive, kept), max(losses), rtol=1e-12)


@pytest.mark.parametrize("region", [{"max_fpr": 0.05}, {"min_tpr": 0.8}])
def test_the_loss_is_convex_along_chords(region):
    region = {"max_fpr": None, "min_tpr": None} | region
    rng = np.random.default_rng(1)
    scores, positive, weights = random_rows(1, 40, 160)
    for scale in (0.1, 1.0, 10.0):
        here, there = scores, scale * rng.normal(size=len(scores))
        steps = np.linspace(0, 1, 41)
        values = [focused_loss(here + t * (there - here), positive, weights, region) for t in steps]
        assert np.diff(values, 2).min() >= -1e-10 * max(values)


def test_the_residual_is_half_the_slope_of_the_loss():
    scores, positive, weights = random_rows(2, 20, 60)
    region = {"max_fpr": 0.1, "min_tpr": 0.7}
    kept = make_focus(**region).of_rows(scores, positive, weights)
    statistics = pair_statistics(scores, positive, kept, sorted_cells(scores, positive))
    moves = 1e-6 * np.eye(len(scores))
    slopes = [
        focused_loss(scores + move, positive, weights, region)
        - focused_loss(scores - move, positive, weights, region)
        for move in moves
    ]
    actual = residual(statistics, scores, positive, kept)
    assert_allclose(2 * actual, np.array(slopes) / 2e-6, rtol=1e-4, atol=1e-4)


def test_all_pairs_keep_the_weights_themselves():
    scores, positive, weights = random_rows(3, 5, 5)
    assert WHOLE.of_rows(scores, positive, weights) is weights
    assert make_focus(1.0, 0.0) == make_focus(None, None) == WHOLE
    assert WHOLE.counted(3.7, 1.1) == (3.7, 1.1)


def test_the_weight_that_counts_is_the_sum_over_many_rows():
    scores, positive, weights = random_rows(4, 3000, 5000)
    focus = Focus(0.05, 0.2)
    kept = focus.of_rows(scores, positive, weights)
    totals = weights[~positive].sum(), weights[positive].sum()
    assert_allclose(
        focus.counted(*totals), (kept[~positive].sum(), kept[positive].sum()), rtol=1e-12
    )


def test_equal_scores_share_their_weight():
    positive = np.arange(10) < 4
    kept = Focus(0.25, 1.0).of_rows(np.zeros(10), positive, np.ones(10))
    assert_array_equal(kept[positive], np.ones(4))
    assert_allclose(kept[~positive], 2 * 0.5 - 0.25)
