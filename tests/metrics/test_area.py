"""The AUC and the best threshold against their definitions and scikit-learn."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from properties import quick
from scored_rows import (
    repeated,
    scored_rows,
    slow_auc,
    whole_weights,
)
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.metrics import auc, auc_interval, partial_auc
from skauc.metrics.area import best_threshold, weighted_auc


@quick
@given(scored_rows())
def test_auc_is_its_definition(rows):
    y, scores, weights = rows
    assert_allclose(auc(y, scores, sample_weight=weights), slow_auc(*rows), rtol=1e-12)
    assert_allclose(auc(y, scores), slow_auc(y, scores, np.ones(len(y))), rtol=1e-12)


def test_auc_equals_scikit_learn(noisy):
    y, scores, weights = noisy
    assert_allclose(auc(y, scores), roc_auc_score(y, scores), rtol=1e-13)
    assert_allclose(
        auc(y, scores, sample_weight=weights),
        roc_auc_score(y, scores, sample_weight=weights),
        rtol=1e-13,
    )


@quick
@given(scored_rows(whole_weights))
def test_whole_weights_are_repetitions(rows):
    y, scores, weights = rows
    assume(weights[y == 1].any() and weights[y == 0].any())
    y_repeated, scores_repeated = repeated(*rows)
    assert auc(y, scores, sample_weight=weights) == auc(y_repeated, scores_repeated)
    assert_allclose(
        partial_auc(y, scores, sample_weight=weights, max_fpr=0.3, min_tpr=0.2),
        partial_auc(y_repeated, scores_repeated, max_fpr=0.3, min_tpr=0.2),
        rtol=1e-12,
    )
    assert best_threshold(scores, y == 1, weights) == best_threshold(
        scores_repeated, y_repeated == 1, np.ones(len(y_repeated))
    )


@quick
@given(scored_rows())
def test_auc_is_exact_at_the_ends_whatever_the_weights(rows):
    y, _, weights = rows
    assert auc(y, y, sample_weight=weights) == 1
    assert auc(y, -y, sample_weight=weights) == 0
    assert auc(y, np.zeros(len(y)), sample_weight=weights) == 0.5


def test_auc_depends_on_the_order_alone(noisy):
    y, scores, weights = noisy
    expected = auc(y, scores, sample_weight=weights)
    order = np.random.default_rng(1).permutation(len(y))
    assert auc(y, 3 * scores + 1e6, sample_weight=weights) == expected
    assert_allclose(
        auc(y[order], scores[order], sample_weight=weights[order]), expected, rtol=1e-13
    )
    assert_allclose(auc(y, -scores, sample_weight=weights), 1 - expected, rtol=1e-13)
    assert_allclose(auc(y, scores, sample_weight=1e-9 * weights), expected, rtol=1e-13)


def test_auc_is_weighted_auc_on_clean_arrays(noisy):
    y, scores, weights = noisy
    assert auc(y, scores, sample_weight=weights) == weighted_auc(scores, y == 1, weights)


@pytest.mark.parametrize(
    "labels", [(0, 1), (-1, 1), (1, 2), (False, True), ("benign", "malignant"), (0.0, 0.5)]
)
def test_the_larger_label_is_positive_unless_named(labels):
    codes = [0, 0, 1, 1, 0]
    y = np.array(labels)[codes]
    scores = [0.1, 0.4, 0.35, 0.8, 0.2]
    expected = auc(codes, scores)
    assert auc(y, scores) == expected
    assert auc(y, scores, pos_label=labels[1]) == expected
    assert_allclose(auc(y, scores, pos_label=labels[0]), 1 - expected)


def test_lists_columns_and_data_frames_are_accepted():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"y": ["a", "b", "b"], "score": [1, 2, 0], "weight": [1, 2, 3]})
    expected = auc(["a", "b", "b"], [1, 2, 0], sample_weight=[1, 2, 3])
    assert auc(frame["y"], frame["score"], sample_weight=frame["weight"]) == expected
    assert auc(frame[["y"]], frame[["score"]], sample_weight=frame["weight"]) == expected


def test_numbers_are_plain_floats(noisy):
    y, scores, _ = noisy
    interval = auc_interval(y, scores)
    numbers = [auc(y, scores), partial_auc(y, scores, max_fpr=0.1), *vars(interval).values()]
    assert {type(number) for number in numbers} == {float}


@quick
@given(scored_rows())
def test_threshold_is_the_best_of_all_midpoints(rows):
    y, scores, weights = rows
    assume(len(np.unique(scores)) > 1)
    distinct = np.unique(scores)

    def balanced_accuracy(threshold):
        return balanced_accuracy_score(y, scores > threshold, sample_weight=weights)

    midpoints = (distinct[1:] + distinct[:-1]) / 2
    chosen = best_threshold(scores, y == 1, weights)
    assert chosen in midpoints
    assert_allclose(balanced_accuracy(chosen), max(map(balanced_accuracy, midpoints)), atol=1e-11)


@quick
@given(scored_rows(st.sampled_from([0.1, 0.2, 0.3, 1 / 3, 0.7])), st.randoms(use_true_random=False))
def test_threshold_does_not_depend_on_the_order_of_rows(rows, random):
    y, scores, weights = rows
    order = np.array(random.sample(range(len(y)), len(y)))
    expected = best_threshold(scores, y == 1, weights)
    assert best_threshold(scores[order], y[order] == 1, weights[order]) == expected


@pytest.mark.parametrize(
    ("y", "scores", "expected"),
    [
        ([0, 0, 1, 1], [1, 2, 5, 6], 3.5),
        ([0, 1, 0, 1, 0, 1], [1, 2, 3, 4, 5, 6], 3.5),  # after 1, 3 and 5: the middle of them
        ([0, 1, 1], [2, 2, 2], 2),
        ([0, 1], [1, np.nextafter(1, 2)], 1),  # no float between them
        ([0, 1], [1e308, 1.5e308], 1.25e308),  # whose sum overflows
    ],
)
def test_threshold_of_small_examples(y, scores, expected):
    threshold = best_threshold(np.array(scores, float), np.array(y) == 1, np.ones(len(y)))
    assert_allclose(threshold, expected, rtol=1e-15)


@pytest.mark.parametrize("metric", [auc, auc_interval, partial_auc])
@pytest.mark.parametrize(
    ("y_true", "y_score", "sample_weight", "message"),
    [
        ([1, 1], [1, 2], None, r"`y_true` must have two classes; got \[1\]. Pass rows of both"),
        ([], [], None, r"`y_true` must have two classes; got \[\]. Pass rows of both classes."),
        ([0, 1, 2], [1, 2, 3], None, "`y_true` must have two classes; got 3. Rank one class"),
        ([0, 1, np.nan], [1, 2, 3], None, "`y_true` has missing labels, or labels that cannot"),
        ([0, "a", None], [1, 2, 3], None, "`y_true` has missing labels, or labels that cannot"),
        ([0, 1], [1, np.nan], None, "`y_score` must be finite; got nan in row 1. Leave such rows"),
        ([0, 1], [np.inf, 1], None, "`y_score` must be finite; got inf in row 0. Leave such rows"),
        ([0, 1], ["a", "b"], None, "`y_score` must hold numbers; got values of type <U1. Pass one"),
        ([0, 1], [[0, 1], [1, 0]], None, r"`y_score` must have one dimension; .*shape \(2, 2\)"),
        ([[0, 1], [1, 0]], [0, 1], None, r"`y_true` must have one dimension; .*shape \(2, 2\)"),
        (
            [0, 1],
            [1, 2, 3],
            None,
            "`y_score` must be as long as `y_true`; got 3 and 2. Pass one score",
        ),
        ([0, 1], [1, 2], [1], "`sample_weight` must be as long as `y_true`; got 1 and 2. Pass"),
        ([0, 1], [1, 2], [1, -2], "`sample_weight` must not be negative; got -2.0 in row 1"),
        ([0, 1], [1, 2], [1, np.nan], "`sample_weight` must be finite; got nan in row 1. Leave"),
        ([0, 1], [1, 2], [1e308, 1e308], "`sample_weight` sums up to inf, which is too large"),
        ([0, 1], [1, 2], [0, 0], "`sample_weight` is 0 in every row of class 0. Give at least one"),
        ([0, 1], [1, 2], [1, 0], "`sample_weight` is 0 in every row of class 1. Give at least one"),
    ],
)
def test_bad_rows_are_named(metric, y_true, y_score, sample_weight, message):
    y_true = np.array(y_true, dtype=object) if None in y_true else y_true
    with pytest.raises(InvalidDataError, match=message):
        metric(y_true, y_score, sample_weight=sample_weight)


@pytest.mark.parametrize("metric", [auc, auc_interval, partial_auc])
@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes")])
def test_pos_label_must_be_a_label(metric, labels):
    message = rf"`pos_label` must be one of the labels {labels[0]!r} and {labels[1]!r}; got 2. Use"
    with pytest.raises(InvalidParameterError, match=message):
        metric(labels, [1, 2], pos_label=2)
