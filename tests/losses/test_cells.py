"""Cells of scores: ranks, bins, and how they are merged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from properties import any_magnitude, quarters, quick

from skauc.losses.cells import Cells, binned_cells, sorted_cells


def test_tables_stay_small_however_far_the_scores_spread():
    scores, positive = np.array([-1e5, 0.0, 0.5, 1e5]), np.array([True, True, False, False])
    assert binned_cells(scores, positive).n_cells < 2**20


def test_bins_beyond_32_bits_give_way_to_ranks():
    scores, positive = np.array([-1e7, 3.0, 2.5, 1e7]), np.array([True, True, False, False])
    binned, ranked = binned_cells(scores, positive), sorted_cells(scores, positive)
    assert_array_equal(binned.cell, ranked.cell)
    assert binned.n_cells == ranked.n_cells


def test_coarsening_few_cells_changes_nothing():
    cells = Cells(np.array([0, 7], np.int32), 8, 0.0)
    assert cells.coarsen(8) is cells


def assert_ranks(positives, negatives):
    """Positives are ranked by margin in a stable order; negatives count the margins below."""
    scores = np.concatenate((positives, negatives))
    positive = np.arange(len(scores)) < len(positives)
    margins = positives - 1.0
    ranks = np.empty(len(positives), int)
    ranks[np.argsort(margins, kind="stable")] = np.arange(len(positives))
    cells = sorted_cells(scores, positive)
    expected = np.concatenate((ranks, np.searchsorted(np.sort(margins), negatives)))
    assert_array_equal(cells.cell, expected)
    assert cells.n_cells == len(positives) + 1


@quick
@given(
    hnp.arrays(np.float64, st.integers(1, 40), elements=st.one_of(quarters, any_magnitude)),
    hnp.arrays(np.float64, st.integers(0, 40), elements=st.one_of(quarters, any_magnitude)),
)
def test_sorted_cells_are_ranks_of_margins(positives, negatives):
    margins = positives - 1.0
    assert_ranks(positives, np.concatenate((negatives, margins, np.nextafter(margins, np.inf))))


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1.0, 1e300, 1.7e308])
def test_sorted_cells_at_the_ends_of_the_floats(scale):
    positives = np.array([-1.0, 0.0, -0.5, 1.0, 0.0]) * scale
    assert_ranks(positives, np.array([-1.0, -0.7, -0.0, 0.5, 1.0]) * scale)


def test_sorted_cells_of_crowded_scores():
    """One outlier puts all other scores into one bucket."""
    rng = np.random.default_rng(0)
    assert_ranks(np.append(rng.normal(size=300), 1e9), rng.normal(size=300))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_numbers_have_cells(value):
    """The loss then is not a number, which is an error elsewhere."""
    scores = np.array([0.3, value, 0.1, 2.0, value, -1.0])
    cells = sorted_cells(scores, np.arange(6) % 2 == 0)
    assert np.all((cells.cell >= 0) & (cells.cell < cells.n_cells))
