"""Queries: which rows can be compared, and what is wrong with a `qid`."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skauc.exceptions import InvalidDataError
from skauc.rank_svm.queries import check_qid, grades_by_query, make_queries


def test_grades_count_from_zero_in_each_query():
    bounds, grades = grades_by_query(np.array([0, 0, 0, 4, 4, 9]), np.array([7, 2, 7, 5, 9, 3]))
    assert_array_equal(bounds, [0, 3, 5, 6])
    assert_array_equal(grades, [1, 0, 1, 0, 1, 0])


def test_queries_of_one_grade_and_rows_without_weight_are_left_out():
    qid = [0, 0, 1, 1, 2, 2, 2, 5]
    codes = np.array([0, 1, 3, 3, 2, 0, 1, 1])
    weights = np.array([1, 2, 1, 1, 3, 0, 1, 1.0])
    queries = make_queries(codes, weights, qid)
    assert_array_equal(queries.indices, [0, 1, 4, 6])
    assert_array_equal(queries.bounds, [0, 2, 4])
    assert_array_equal(queries.grades, [0, 1, 1, 0])
    assert_array_equal(queries.weights, [1, 2, 3, 1])
    assert (queries.n_skipped, queries.n_all) == (2, 4)


def test_a_query_whose_second_grade_has_no_weight_is_left_out():
    queries = make_queries(np.array([0, 1, 0, 1]), np.array([1, 0, 1, 1.0]), [0, 0, 1, 1])
    assert_array_equal(queries.indices, [2, 3])


def test_without_qid_all_rows_are_one_query():
    queries = make_queries(np.array([0, 2, 1]), np.ones(3))
    assert_array_equal(queries.bounds, [0, 3])
    assert_array_equal(queries.grades, [0, 2, 1])


def test_no_pairs_at_all():
    with pytest.raises(
        InvalidDataError, match=r"None of the 2 queries has rows of different grades"
    ):
        make_queries(np.array([0, 0, 1, 1]), np.ones(4), [0, 0, 1, 1])


@pytest.mark.parametrize("qid", [[0, 0, 2], (0.0, 0.0, 2.0), np.array([0, 0, 2], np.uint8)])
def test_whole_numbers_of_any_type_are_queries(qid):
    assert_array_equal(check_qid(qid, 3), [0, 0, 2])


@pytest.mark.parametrize(
    ("qid", "message"),
    [
        ([0, 2, 1], r"`qid` must be sorted; got 1 in row 2, after 2\. Sort the rows first: order"),
        ([-1, 0, 0], r"`qid` must not be negative; got -1 in row 0\. Number the queries from 0"),
        ([0, 1], r"`qid` must have one number per row, shape \(3,\); got shape \(2,\)\. Pass the"),
        ([[0], [0], [1]], r"shape \(3,\); got shape \(3, 1\)"),
        ([0.5, 1, 2], r"`qid` must hold integers; got values of type float64\. Number the"),
        ([0, 1, np.nan], r"`qid` must hold integers; got values of type float64"),
        (["a", "a", "b"], r"`qid` must hold integers; got values of type <U1"),
        ([True, True, False], r"`qid` must hold integers; got values of type bool"),
    ],
)
def test_what_cannot_be_a_qid(qid, message):
    with pytest.raises(InvalidDataError, match=message):
        check_qid(qid, 3)
