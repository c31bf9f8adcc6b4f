"""Samples by hash: of the right size, independent of the partition, and random."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skauc.data.sampling import N_BITS, AnyOf, HashOrder, HashRange, hash_rows
from skauc.data.training import TrainingData

CLASSES = np.array([0, 1])


def make_data(n_rows, seed=0, first=(0, 0)):
    rng = np.random.default_rng(seed)
    positive = rng.random(n_rows) < 0.3
    weights = rng.integers(0, 3, n_rows).astype(float)
    return TrainingData(np.zeros((n_rows, 1)), positive, weights, CLASSES, first)


def counts_of(mask, data):
    counted = mask & (data.weights > 0)
    assert (mask == counted).all()
    return np.bincount(data.positive[counted], minlength=2).tolist()


@given(st.integers(1, 3000), st.integers(0, 2**31 - 2), st.data())
def test_a_draw_has_as_many_rows_of_each_class_as_asked_for(n_rows, seed, draw):
    data = make_data(n_rows, seed)
    order = HashOrder(data, seed)
    first = [draw.draw(st.integers(0, count)) for count in order.counts]
    last = [
        draw.draw(st.integers(low, high)) for low, high in zip(first, order.counts, strict=True)
    ]
    mask = order.between(tuple(first), tuple(last))(data)
    assert counts_of(mask, data) == np.subtract(last, first).tolist()


def test_draws_that_follow_each_other_share_no_row_and_leave_none_out():
    data = make_data(2000)
    order = HashOrder(data, 5)
    one, other = order.between((0, 0), (50, 9)), order.between((50, 9), order.counts)
    assert not (one(data) & other(data)).any()
    assert (AnyOf(one, other)(data) == (data.weights > 0)).all()


class Divided:
    """The same rows in several places."""

    def __init__(self, parts):
        self.parts = parts

    def add_up(self, sums, *arguments):
        return sum(sums(part, *arguments) for part in self.parts)


@pytest.mark.parametrize("n_parts", [2, 7])
def test_a_draw_does_not_depend_on_how_rows_are_divided(n_parts):
    data = make_data(3000)
    ends = np.linspace(0, 3000, n_parts + 1).astype(int)
    parts = [
        TrainingData(
            data.X[a:b],
            data.positive[a:b],
            data.weights[a:b],
            CLASSES,
            (a, np.count_nonzero(data.weights[:a])),
        )
        for a, b in pairwise(ends.tolist())
    ]
    whole = HashOrder(data, 3).between((0, 0), (100, 40))
    divided = HashOrder(Divided(parts), 3).between((0, 0), (100, 40))
    assert whole == divided
    assert np.concatenate([whole(part) for part in parts]).tolist() == whole(data).tolist()


def test_a_row_of_a_part_keeps_its_number():
    data = make_data(500)
    drawn = HashOrder(data, 1).between((0, 0), (60, 20))
    rows = np.arange(100, 400, 7)
    assert (drawn(data.part(rows)) == drawn(data)[rows]).all()
    assert data.part(rows).part(np.array([2, 0])).row_numbers.tolist() == [114, 100]


def test_rows_of_zero_weight_have_no_say():
    data = make_data(500)
    counting = np.flatnonzero(data.weights)
    fewer = TrainingData(data.X[counting], data.positive[counting], data.weights[counting], CLASSES)
    drawn, alone = (HashOrder(rows, 1).between((5, 2), (60, 20)) for rows in (data, fewer))
    assert (drawn(data)[counting] == alone(fewer)).all()


def test_hashes_are_uniform_and_differ_between_seeds():
    numbers = np.arange(100_000)
    hashes = hash_rows(numbers, 0)
    assert hashes.min() >= 0
    assert hashes.max() < 1 << N_BITS
    counts = np.bincount(hashes >> (N_BITS - 4))
    assert np.abs(counts / 6250 - 1).max() < 0.06
    assert np.abs(np.corrcoef(hashes[:-1], hashes[1:])[0, 1]) < 0.01
    other = hash_rows(numbers, 1)
    assert np.intersect1d(hashes, other).size < numbers.size
    assert np.abs(np.corrcoef(hashes, other)[0, 1]) < 0.01


def test_a_draw_is_a_few_numbers():
    assert HashRange(0, (1, 2), (3, 4)) == HashRange(0, (1, 2), (3, 4))
