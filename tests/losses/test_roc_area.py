"""The sort-based oracle against every labelling of the pairs, and against the pairs themselves."""

from itertools import product

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose
from properties import quick

from skauc.losses.roc_area import ROCArea

grid = st.integers(-8, 8).map(lambda k: k / 4)
continuous = st.floats(-3, 3)


@st.composite
def scored_rows(draw, most=9, scores=continuous, weights=None):
    n_positive, n_negative = draw(st.integers(1, most)), draw(st.integers(1, most))
    n_rows = n_positive + n_negative
    positive = np.array(draw(st.permutations([True] * n_positive + [False] * n_negative)))
    weights = st.floats(0.1, 10) if weights is None else weights
    return (
        draw(hnp.arrays(np.float64, n_rows, elements=scores)),
        positive,
        draw(hnp.arrays(np.float64, n_rows, elements=weights)),
    )


def mean_hinge(scores, positive, weights):
    pairs = oracles.pair_weights(positive, weights)
    return np.sum(pairs * oracles.hinges(scores, positive)) / pairs.sum()


def plane_of(c, positive, weights):
    """The plane of a labelling c of the pairs: offset, and the coefficients of the scores."""
    pairs = c * oracles.pair_weights(positive, weights)
    pairs /= oracles.pair_weights(positive, weights).sum()
    coef = np.empty(len(positive))
    coef[positive] = pairs.sum(axis=1)
    coef[~positive] = -pairs.sum(axis=0)
    return pairs.sum(), coef


@quick
@given(scored_rows(), st.booleans())
def test_the_plane_is_that_of_the_violating_pairs(rows, on_grid):
    scores, positive, weights = rows
    if on_grid:
        scores = np.round(scores * 4) / 4
    cut = ROCArea(positive, weights)(scores)
    offset, coef = plane_of(oracles.violating(scores, positive), positive, weights)
    assert_allclose(cut.offset, offset, rtol=1e-10)
    assert_allclose(cut.coef, coef, atol=1e-10)
    assert_allclose(cut.risk, mean_hinge(scores, positive, weights), rtol=1e-10, atol=1e-12)


@quick
@given(scored_rows(most=3, scores=grid))
def test_no_labelling_of_the_pairs_is_violated_more(rows):
    scores, positive, weights = rows
    shape = positive.sum(), (~positive).sum()
    values = []
    for bits in product((0.0, 1.0), repeat=shape[0] * shape[1]):
        offset, coef = plane_of(np.reshape(bits, shape), positive, weights)
        values.append(offset - coef @ scores)
    cut = ROCArea(positive, weights)(scores)
    assert_allclose(cut.risk, max(values), atol=1e-10)
    assert_allclose(cut.offset - cut.coef @ scores, max(values), atol=1e-10)


@quick
@given(scored_rows(), scored_rows(), st.randoms())
def test_the_plane_is_a_tangent(rows, others, random):
    """It touches the mean hinge where it was taken and is nowhere above it."""
    scores, positive, weights = rows
    elsewhere = np.resize(others[0], len(scores))
    cut = ROCArea(positive, weights)(scores)
    there = mean_hinge(elsewhere, positive, weights)
    assert cut.offset - cut.coef @ elsewhere <= there + 1e-10
    assert_allclose(cut.offset - cut.coef @ scores, cut.risk, atol=1e-10)


@quick
@given(scored_rows(weights=st.integers(1, 3).map(float)))
def test_weights_are_repetitions(rows):
    scores, positive, weights = rows
    repeats = weights.astype(int)
    cut = ROCArea(positive, weights)(scores)
    repeated = ROCArea(np.repeat(positive, repeats), np.ones(repeats.sum()))(
        np.repeat(scores, repeats)
    )
    assert_allclose(cut.risk, repeated.risk, atol=1e-12)
    assert_allclose(cut.offset, repeated.offset, atol=1e-12)
    assert_allclose(np.repeat(cut.coef / weights, repeats), repeated.coef, atol=1e-12)


@quick
@given(scored_rows(), st.floats(-1e6, 1e6), st.floats(1e-100, 1e100))
def test_a_shift_of_the_scores_and_the_unit_of_the_weights_do_not_matter(rows, shift, unit):
    scores, positive, weights = rows
    cut = ROCArea(positive, weights)(scores)
    other = ROCArea(positive, unit * weights)(scores + shift)
    assert_allclose(other.risk, cut.risk, atol=1e-8)


def test_equal_scores_violate_every_pair():
    positive = np.arange(10) < 3
    cut = ROCArea(positive, np.ones(10))(np.zeros(10))
    assert cut.risk == pytest.approx(1.0)
    assert_allclose(cut.coef, np.where(positive, 1 / 3, -1 / 7))


def test_separated_scores_violate_none():
    positive = np.arange(10) < 3
    cut = ROCArea(positive, np.ones(10))(np.where(positive, 1.0, -1.0))
    assert cut.risk == cut.offset == 0.0
    assert not cut.coef.any()
