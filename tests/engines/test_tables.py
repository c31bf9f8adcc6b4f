"""Tables that blocks fill and that are put together, against all rows at once."""

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score

from skauc.engines.tables import (
    MOST_CELLS,
    Ranking,
    add_tables,
    rank_sums,
    score_table,
    share_statistics,
)
from skauc.losses import pairs
from skauc.losses.cells import binned_cells, serially

SCALES = st.sampled_from([1e-6, 0.1, 1.0, 30.0, 1e4, 1e12])


def make_scores(n_rows, scale, seed):
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.arange(n_rows) < max(n_rows // 3, 1))
    scores = scale * (rng.normal(size=n_rows) + positive)
    return scores, positive, rng.integers(0, 3, n_rows).astype(float) + 0.5


def blocks_of(rows, n_blocks, seed):
    """Cut the rows at random places; a block may be of one class."""
    ends = np.sort(np.random.default_rng(seed).integers(1, len(rows[0]), n_blocks - 1))
    parts = zip(*(np.split(array, np.unique(ends)) for array in rows), strict=True)
    return [part for part in parts if len(part[0])]


def table_of_blocks(rows, n_blocks, seed, origin=0.0):
    return add_tables([score_table(*part, origin) for part in blocks_of(rows, n_blocks, seed)])


@given(st.integers(3, 300), st.integers(1, 5), SCALES, st.integers(0, 99))
def test_tables_of_blocks_add_up_to_that_of_all_rows(n_rows, n_blocks, scale, seed):
    rows = make_scores(n_rows, scale, seed)
    whole, added = score_table(*rows, 0.0), table_of_blocks(rows, n_blocks, seed)
    assert added.ranges == whole.ranges
    whole = whole.coarsened(max(added.grid.bins_per_cell, whole.grid.bins_per_cell))
    added = added.coarsened(whole.grid.bins_per_cell)
    shared = [share_statistics(table) for table in (whole, added)]
    assert shared[0].grid == shared[1].grid
    assert_allclose(
        shared[1].statistics.negatives_above,
        shared[0].statistics.negatives_above,
        rtol=1e-9,
        atol=1e-9 * max(scale**2, 1),
    )


@given(st.integers(3, 300), st.integers(1, 5), st.floats(0.01, 8), st.integers(0, 99))
def test_statistics_are_those_of_binned_cells(n_rows, n_blocks, scale, seed):
    scores, positive, weights = rows = make_scores(n_rows, scale, seed)
    cells = binned_cells(scores, positive)
    expected = pairs.pair_statistics(scores, positive, weights, cells)
    shared = share_statistics(table_of_blocks(rows, n_blocks, seed, origin=cells.origin))
    actual = shared.of_block(scores, positive, serially)
    assert_array_equal(actual.cells.cell, cells.cell)
    assert_allclose(actual.loss, expected.loss, rtol=1e-9, atol=1e-9)
    assert_allclose(
        pairs.residual(actual, scores, positive, weights),
        pairs.residual(expected, scores, positive, weights),
        rtol=1e-7,
        atol=1e-8,
    )
    assert shared.middle == cells.origin


@pytest.mark.parametrize("scale", [1e-3, 1.0, 100.0, 1e4])
def test_the_loss_is_the_sum_over_pairs_whatever_the_range(scale):
    rows = make_scores(200, scale, 0)
    loss = share_statistics(table_of_blocks(rows, 3, 0)).statistics.loss
    assert_allclose(loss, oracles.loss(*rows), rtol=1e-5)


@pytest.mark.parametrize("scale", [1e3, 1e9, 1e30])
def test_tables_stay_short(scale):
    table = score_table(*make_scores(100, scale, 0), 0.0)
    assert table.grid.n_cells <= MOST_CELLS + 2
    assert table.moments.shape == (2, table.grid.n_cells, 3)


def test_scores_that_are_not_finite_make_the_loss_infinite():
    scores, positive, weights = make_scores(50, 1.0, 0)
    scores[7] = np.nan
    shared = share_statistics(table_of_blocks((scores, positive, weights), 3, 0))
    assert shared.statistics.loss == np.inf


@given(st.integers(3, 400), st.integers(1, 4), SCALES, st.integers(0, 99))
def test_the_auc_of_places_is_the_auc(n_rows, n_blocks, scale, seed):
    scores, positive, weights = rows = make_scores(n_rows, scale, seed)
    axis = share_statistics(table_of_blocks(rows, n_blocks, seed)).ranks
    sums = sum(rank_sums(axis, *part) for part in blocks_of(rows, n_blocks, seed))
    ranking = Ranking(axis.middles(), sums)
    # Two rows in one of the 65 536 places count as tied.
    assert_allclose(
        ranking.auc(), roc_auc_score(positive, scores, sample_weight=weights), atol=2e-3
    )
    assert scores.min() <= ranking.threshold() <= scores.max()


def test_ties_stay_ties():
    scores = np.array([0.0, 0.0, 1.0, 1.0, 2.0])
    positive = np.array([False, True, True, False, True])
    axis = share_statistics(score_table(scores, positive, np.ones(5), 0.0)).ranks
    ranking = Ranking(axis.middles(), rank_sums(axis, scores, positive, np.ones(5)))
    assert_allclose(ranking.auc(), roc_auc_score(positive, scores))
