"""Precision and recall of the first rows."""

import numpy as np
import pytest

from skauc.metrics import precision_at_k, recall_at_k

Y = np.array([1, 0, 1, 1, 0, 0, 0, 0])


def test_untied_rows_are_counted():
    scores = -np.arange(8.0)
    assert [precision_at_k(Y, scores, k) for k in (1, 2, 4, 8)] == [1, 0.5, 0.75, 0.375]
    assert [recall_at_k(Y, scores, k) for k in (1, 0.25, 4, 8)] == [1 / 3, 1 / 3, 1, 1]
    assert precision_at_k(Y, scores, 2, sample_weight=2 * np.ones(8)) == 1


def test_ties_count_as_the_mean_over_their_orders():
    scores = np.array([3, 2, 2, 2, 2, 1, 1, 1])
    assert precision_at_k(Y, scores, 3) == pytest.approx((1 + 2 * 0.5) / 3)


@pytest.mark.parametrize("k", [0, 9, -1, 1.5e9, "2", True, np.nan])
def test_other_numbers_are_refused(k):
    with pytest.raises(ValueError, match="`k` must be a number of rows from 1 to 8"):
        recall_at_k(Y, -np.arange(8.0), k)
