"""Partial areas against their definition and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from properties import quick
from scored_rows import (
    scored_rows,
    slow_partial_auc,
)
from sklearn.metrics import roc_auc_score

from skauc.exceptions import InvalidParameterError
from skauc.metrics import auc, partial_auc


@pytest.mark.parametrize("max_fpr", [0.001, 0.05, 0.3, 0.5, 1.0])
def test_partial_auc_equals_scikit_learn(noisy, max_fpr):
    y, scores, weights = noisy
    assert_allclose(
        partial_auc(y, scores, max_fpr=max_fpr),
        roc_auc_score(y, scores, max_fpr=max_fpr),
        rtol=1e-12,
    )
    assert_allclose(
        partial_auc(y, scores, max_fpr=max_fpr, sample_weight=weights),
        roc_auc_score(y, scores, max_fpr=max_fpr, sample_weight=weights),
        rtol=1e-12,
    )


@quick
@given(scored_rows(), st.floats(0.01, 1))
def test_partial_auc_equals_scikit_learn_with_ties(rows, max_fpr):
    y, scores, weights = rows
    expected = roc_auc_score(y, scores, max_fpr=max_fpr, sample_weight=weights)
    assert_allclose(
        partial_auc(y, scores, max_fpr=max_fpr, sample_weight=weights), expected, atol=1e-10
    )


@pytest.mark.parametrize("max_fpr", [0.2, 1.0])
@pytest.mark.parametrize("min_tpr", [0.0, 0.2, 0.65])
def test_partial_area_is_its_integral(noisy, max_fpr, min_tpr):
    y, scores, weights = noisy
    assert_allclose(
        partial_auc(
            y, scores, max_fpr=max_fpr, min_tpr=min_tpr, sample_weight=weights, standardize=False
        ),
        slow_partial_auc(y, scores, weights, max_fpr, min_tpr),
        atol=1e-6,
    )


def test_weights_of_very_different_size():
    """A curve that rises over the weight of one tiny row is steeper than the largest number."""
    y, scores, weights = [0, 1, 0, 1], [0.5, 0.5, 0.1, 0.9], [1e-310, 1.0, 1.0, 1.0]
    for min_tpr, expected in ((0.0, 0.5), (0.75, 0.125)):
        area = partial_auc(
            y, scores, max_fpr=0.5, min_tpr=min_tpr, sample_weight=weights, standardize=False
        )
        assert_allclose(area, expected)


@quick
@given(scored_rows(), st.floats(0, 0.99))
def test_min_tpr_is_max_fpr_of_the_mirrored_problem(rows, min_tpr):
    """Swapping the classes and turning the scores round mirrors the ROC curve."""
    y, scores, weights = rows
    assert_allclose(
        partial_auc(y, scores, min_tpr=min_tpr, sample_weight=weights),
        partial_auc(1 - y, -scores, max_fpr=1 - min_tpr, sample_weight=weights),
        atol=1e-10,
    )


@quick
@given(scored_rows())
def test_partial_auc_without_limits_is_the_auc(rows):
    y, scores, weights = rows
    for limits in ({}, {"max_fpr": 1}, {"min_tpr": 0}, {"max_fpr": 1.0, "standardize": False}):
        assert_allclose(
            partial_auc(y, scores, sample_weight=weights, **limits),
            auc(y, scores, sample_weight=weights),
            atol=1e-13,
        )


@pytest.mark.parametrize(
    "limits", [{"max_fpr": 0.2}, {"min_tpr": 0.7}, {"max_fpr": 0.6, "min_tpr": 0.5}]
)
def test_standardised_area_is_one_if_perfect_and_one_half_on_the_diagonal(limits):
    y = np.array([0, 1, 0, 1])
    assert_allclose(partial_auc(y, y, **limits), 1)
    assert_allclose(partial_auc(y, np.zeros(4), **limits), 0.5)


def test_curve_that_misses_the_region_has_no_area():
    y, scores = [1, 1, 0, 0], [1, 2, 3, 4]
    limits = {"max_fpr": 0.2, "min_tpr": 0.5}
    assert partial_auc(y, scores, standardize=False, **limits) == 0
    assert partial_auc(y, scores, **limits) == 0.5


@pytest.mark.parametrize("value", [0, -0.1, 1.1, np.nan, "0.1", True])
def test_max_fpr_must_be_a_rate(value):
    message = rf"`max_fpr` must be a number in \(0, 1\]; got {value!r}. Use the largest false"
    with pytest.raises(InvalidParameterError, match=message):
        partial_auc([0, 1], [1, 2], max_fpr=value)


@pytest.mark.parametrize("value", [1, -0.1, 1.1, np.nan, "0.1", True])
def test_min_tpr_must_be_a_rate(value):
    message = rf"`min_tpr` must be a number in \[0, 1\); got {value!r}. Use the smallest true"
    with pytest.raises(InvalidParameterError, match=message):
        partial_auc([0, 1], [1, 2], min_tpr=value)
