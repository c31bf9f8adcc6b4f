"""Sums over graded pairs, against the definitions that visit every pair."""

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from properties import quarters, quick
from sklearn.metrics import roc_auc_score

from skauc.losses import pairs
from skauc.losses.cells import sorted_cells
from skauc.losses.graded_pairs import PairLoss, Preferences, pairwise_accuracy
from skauc.rank_svm.queries import make_queries

SCORES = st.one_of(quarters, st.floats(-3, 3, allow_subnormal=False))


@st.composite
def rankings(draw, most_grades=5):
    """Scores, grades, queries and weights with at least one pair."""
    n = draw(st.integers(2, 24))
    column = lambda values: np.array(draw(st.lists(values, min_size=n, max_size=n)))  # noqa: E731
    qid = np.sort(column(st.integers(0, 3)))
    grades = column(st.integers(0, most_grades - 1))
    grades[0], grades[1], qid[:2] = 0, 1, 0
    weights = column(st.sampled_from([0.5, 1.0, 2.0, 3.0]))
    return column(SCORES), grades, np.sort(qid), weights


def prepare(scores, grades, qid, weights):
    """The preferences, and the columns of the rows that have a partner."""
    queries = make_queries(grades, weights, qid)
    kept = queries.indices
    preferences = Preferences(queries.bounds, queries.grades, queries.weights)
    return preferences, (scores[kept], grades[kept], qid[kept], weights[kept])


@quick
@given(rankings())
def test_loss_and_residual_are_their_definitions(ranking):
    preferences, columns = prepare(*ranking)
    found = PairLoss.at(preferences, columns[0])
    assert_allclose(found.loss, oracles.graded_loss(*columns), rtol=1e-12, atol=1e-11)
    assert_allclose(found.residual, oracles.graded_residual(*columns), rtol=1e-12, atol=1e-11)


@quick
@given(rankings(), st.integers(0, 1000))
def test_hessian_products_are_their_definition(ranking, seed):
    preferences, columns = prepare(*ranking)
    direction = np.random.default_rng(seed).normal(size=len(columns[0]))
    product = PairLoss.at(preferences, columns[0]).hessian_product(direction)
    expected = oracles.graded_hessian(*columns) @ direction
    assert_allclose(product, expected, rtol=1e-12, atol=1e-10)


@quick
@given(rankings())
def test_rows_in_no_violating_pair_have_a_residual_of_exactly_zero(ranking):
    preferences, columns = prepare(*ranking)
    partners = np.diag(oracles.graded_hessian(*columns))
    assert_array_equal(PairLoss.at(preferences, columns[0]).residual[partners == 0], 0.0)


@quick
@given(rankings())
def test_pair_weight_is_the_sum_over_all_pairs(ranking):
    preferences, (_, grades, qid, weights) = prepare(*ranking)
    expected = np.sum(np.outer(weights, weights) * oracles.preferred(grades, qid))
    assert_allclose(preferences.pair_weight, expected, rtol=1e-12)


@quick
@given(rankings())
def test_pairwise_accuracy_is_its_definition(ranking):
    preferences, columns = prepare(*ranking)
    expected = oracles.pairwise_accuracy(*columns)
    assert_allclose(pairwise_accuracy(preferences, columns[0]), expected, atol=1e-12)


@quick
@given(rankings(most_grades=2))
def test_two_grades_in_one_query_are_the_two_classes_of_pairs(ranking):
    scores, grades, _, weights = ranking
    preferences, _ = prepare(scores, grades, np.zeros(len(scores), int), weights)
    found, positive = PairLoss.at(preferences, scores), grades == 1
    cells = sorted_cells(scores, positive)
    statistics = pairs.pair_statistics(scores, positive, weights, cells)
    expected = pairs.residual(statistics, scores, positive, weights)
    assert_allclose(found.loss, statistics.loss, rtol=1e-10, atol=1e-10)
    assert_allclose(found.residual, expected, rtol=1e-10, atol=1e-10)
    expected = roc_auc_score(positive, scores, sample_weight=weights)
    assert_allclose(pairwise_accuracy(preferences, scores), expected, atol=1e-12)


@pytest.fixture
def ranking():
    rng = np.random.default_rng(0)
    n = 4000
    qid = np.sort(rng.integers(0, 300, n))
    return 2 * rng.normal(size=n), rng.integers(0, 40, n), qid, rng.uniform(0.5, 2, n)


def test_many_queries_and_grades(ranking):
    preferences, columns = prepare(*ranking)
    found = PairLoss.at(preferences, columns[0])
    assert_allclose(found.loss, oracles.graded_loss(*columns), rtol=1e-12)
    assert_allclose(found.residual, oracles.graded_residual(*columns), rtol=1e-10, atol=1e-9)


def test_a_constant_added_to_the_scores_of_a_query_changes_nothing(ranking):
    preferences, (scores, _, qid, _) = prepare(*ranking)
    before = PairLoss.at(preferences, scores)
    after = PairLoss.at(preferences, scores + np.where(qid % 2, 1000.0, 0.0))
    assert_allclose(after.loss, before.loss, rtol=1e-10)
    assert_allclose(after.residual, before.residual, rtol=1e-7, atol=1e-9)


def test_the_residual_is_half_the_slope_of_the_loss(ranking):
    preferences, (scores, *_) = prepare(*ranking)
    direction = np.random.default_rng(1).normal(size=len(scores))
    step = 1e-6
    ahead, behind = (PairLoss.at(preferences, scores + s * direction) for s in (step, -step))
    slope = 2 * PairLoss.at(preferences, scores).residual @ direction
    assert_allclose((ahead.loss - behind.loss) / (2 * step), slope, rtol=1e-5)
