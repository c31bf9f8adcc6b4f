"""AUC, its interval and partial areas against their definitions and scikit-learn."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose
from sklearn.metrics import balanced_accuracy_score, roc_auc_score, roc_curve

from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.metrics import auc, auc_interval, partial_auc
from skauc.metrics.area import best_threshold, weighted_auc

settings.register_profile("skauc-metrics", deadline=None, max_examples=60)
quick = settings.get_profile("skauc-metrics")


def slow_placements(y, scores, weights):
    """Placements by comparing all p * n pairs: of the positives, then of the negatives."""
    difference = scores[y == 1][:, None] - scores[y == 0][None, :]
    wins = (difference > 0) + 0.5 * (difference == 0)
    positive_weights, negative_weights = weights[y == 1], weights[y == 0]
    return (
        wins @ negative_weights / negative_weights.sum(),
        positive_weights @ wins / positive_weights.sum(),
    )


def slow_auc(y, scores, weights):
    return np.average(slow_placements(y, scores, weights)[0], weights=weights[y == 1])


def slow_partial_auc(y, scores, weights, max_fpr, min_tpr):
    """The area by summing a million thin rectangles."""
    fpr, tpr, _ = roc_curve(y, scores, sample_weight=weights)
    edges = np.linspace(0, max_fpr, 1_000_001)
    middles = (edges[1:] + edges[:-1]) / 2
    return max_fpr * np.mean(np.maximum(np.interp(middles, fpr, tpr) - min_tpr, 0))


any_weights = st.floats(0.01, 100)
whole_weights = st.integers(0, 4).map(float)


@st.composite
def scored_rows(draw, weights=any_weights):
    """Two to thirty rows with many ties, both classes present."""
    n_rows = draw(st.integers(2, 30))
    y = draw(hnp.arrays(np.int64, n_rows, elements=st.integers(0, 1)))
    assume(0 < y.sum() < n_rows)
    scores = draw(hnp.arrays(np.float64, n_rows, elements=st.integers(-4, 4).map(float)))
    return y, scores, draw(hnp.arrays(np.float64, n_rows, elements=weights))


def repeated(y, scores, weights):
    times = weights.astype(int)
    return np.repeat(y, times), np.repeat(scores, times)


@pytest.fixture
def noisy():
    """300 rows, one in five positive, a hundred distinct scores."""
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.2).astype(int)
    scores = np.round(rng.normal(size=300) + y, 2)
    return y, scores, rng.exponential(size=300)


# The AUC


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


# The interval


@quick
@given(scored_rows())
def test_standard_error_is_that_of_the_structural_components(rows):
    y, scores, _ = rows
    assume(1 < y.sum() < len(y) - 1)
    positives, negatives = slow_placements(y, scores, np.ones(len(y)))
    variance = positives.var(ddof=1) / len(positives) + negatives.var(ddof=1) / len(negatives)
    interval = auc_interval(y, scores)
    assert_allclose(interval.standard_error**2, variance, rtol=1e-10, atol=1e-15)
    assert interval.auc == auc(y, scores)


def test_weighted_standard_error_is_the_linearised_one(noisy):
    y, scores, weights = noisy
    estimate = slow_auc(*noisy)
    variance = 0
    for code, placements in zip((1, 0), slow_placements(*noisy), strict=True):
        side = weights[y == code]
        squares = (side * (placements - estimate)) ** 2
        variance += squares.sum() / side.sum() ** 2 * len(side) / (len(side) - 1)
    for scale in (1, 1000):
        interval = auc_interval(y, scores, sample_weight=scale * weights)
        assert_allclose(interval.standard_error, np.sqrt(variance), rtol=1e-10)
        assert_allclose(interval.auc, estimate)


def test_weighted_standard_error_is_the_spread_of_samples():
    rng = np.random.default_rng(2)
    estimates, standard_errors = [], []
    for _ in range(300):
        y = np.repeat([1, 0], [60, 240])
        scores = rng.normal(size=300) + y
        # Weights that go with the scores, as sampling weights do.
        interval = auc_interval(y, scores, sample_weight=rng.exponential(1 + (scores > 1)))
        estimates.append(interval.auc)
        standard_errors.append(interval.standard_error)
    assert_allclose(np.mean(standard_errors), np.std(estimates), rtol=0.12)


@quick
@given(scored_rows(), st.floats(0.5, 0.999))
def test_limits_enclose_the_estimate_and_stay_in_range(rows, confidence_level):
    y, scores, weights = rows
    narrow = auc_interval(y, scores, sample_weight=weights, confidence_level=confidence_level / 2)
    wide = auc_interval(y, scores, sample_weight=weights, confidence_level=confidence_level)
    limits = [0, wide.low, narrow.low, narrow.auc, narrow.high, wide.high, 1]
    assert (np.diff(limits) >= -1e-12).all()
    assert wide.low < wide.high


@quick
@given(scored_rows())
def test_turning_the_scores_round_mirrors_the_interval(rows):
    y, scores, weights = rows
    up = auc_interval(y, scores, sample_weight=weights)
    down = auc_interval(y, -scores, sample_weight=weights)
    assert_allclose([down.low, down.high], [1 - up.high, 1 - up.low], atol=1e-9)


@pytest.mark.parametrize(("true_auc", "shift"), [(0.5, 0), (0.7602, 1), (0.9214, 2)])
def test_interval_covers_the_truth(true_auc, shift):
    rng = np.random.default_rng(3)
    y = np.repeat([1, 0], [25, 75])
    covered = 0
    for _ in range(1000):
        interval = auc_interval(y, rng.normal(size=100) + shift * y, confidence_level=0.9)
        covered += interval.low <= true_auc <= interval.high
    assert 870 <= covered <= 935


def test_perfect_ranking_has_the_limit_of_clopper_and_pearson():
    y, scores = np.repeat([0, 1], [40, 10]), np.arange(50)
    up, down = auc_interval(y, scores), auc_interval(y, -scores)
    assert (up.auc, up.high, up.standard_error) == (1, 1, 0)
    assert_allclose(up.low, 0.025**0.1)
    assert (down.auc, down.low, down.standard_error) == (0, 0, 0)
    assert_allclose(down.high, 1 - 0.025**0.1)


def test_limit_of_a_perfect_ranking_is_conservative():
    """Whatever the AUC, samples that rank perfectly by luck and exclude it are rare."""
    rng = np.random.default_rng(4)
    y = np.repeat([1, 0], [4, 8])
    excluded = 0
    for _ in range(1000):
        interval = auc_interval(y, rng.normal(size=12) + 0.2 * y)  # AUC 0.556
        excluded += interval.auc == 1 and interval.low > 0.556
    assert excluded <= 25


def test_perfect_ranking_with_weights_counts_effective_rows():
    y, scores = np.repeat([0, 1], [40, 10]), np.arange(50)
    weights = np.where(y == 1, 7.0, 1.0)
    assert_allclose(auc_interval(y, scores, sample_weight=weights).low, 0.025**0.1)
    weights[-9:] = 1e-6  # in effect one positive
    assert_allclose(auc_interval(y, scores, sample_weight=weights).low, 0.025, rtol=1e-4)


def test_all_scores_equal_leaves_room_on_both_sides():
    interval = auc_interval([0] * 30 + [1] * 5, np.zeros(35))
    assert (interval.auc, interval.standard_error) == (0.5, 0)
    assert_allclose([interval.low, interval.high], [0.025**0.2 / 2, 1 - 0.025**0.2 / 2])


def test_one_positive_takes_the_largest_variance():
    y, scores = [1, 0, 0, 0, 0], [3, 1, 2, 4, 5]
    interval = auc_interval(y, scores)
    assert_allclose(interval.standard_error**2, 0.25 + (1 / 3) / 4)
    assert 0 < interval.low < 0.1
    assert 0.9 < interval.high < 1


# Partial areas


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


# The threshold


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


# Errors


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


@pytest.mark.parametrize("value", [0, -0.1, 1.1, np.nan, "0.1", True])
def test_max_fpr_must_be_a_rate(value):
    message = rf"`max_fpr` must be a number in \(0, 1\]; got {value!r}. Set it to the largest false"
    with pytest.raises(InvalidParameterError, match=message):
        partial_auc([0, 1], [1, 2], max_fpr=value)


@pytest.mark.parametrize("value", [1, -0.1, 1.1, np.nan, "0.1", True])
def test_min_tpr_must_be_a_rate(value):
    message = rf"`min_tpr` must be a number in \[0, 1\); got {value!r}. Set it to the smallest true"
    with pytest.raises(InvalidParameterError, match=message):
        partial_auc([0, 1], [1, 2], min_tpr=value)


@pytest.mark.parametrize("value", [0, 1, 95, None])
def test_confidence_level_must_be_a_fraction(value):
    message = f"`confidence_level` must be .*; got {value!r}. Use 0.95 for a 95 % interval."
    with pytest.raises(InvalidParameterError, match=message):
        auc_interval([0, 1], [1, 2], confidence_level=value)
