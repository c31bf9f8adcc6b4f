"""Buffers: the distribution that each policy states, over many seeds."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import chisquare, kstest
from slow_buffers import SlowBuffer, SplitMix64

from skauc.online.buffers import POLICIES, make_buffers, n_filled, offer, uniform

SEEDS = np.random.default_rng(0).integers(2**31, size=3000).tolist()
SIGNIFICANT = 1e-3


def slots_after(policy, size, n_rows, seed):
    """What the buffer of the positive class holds of the rows 0, 1, ... n_rows - 1."""
    buffers = make_buffers(size, 1, seed)
    for row in range(n_rows):
        buffers.n_seen[1] += 1
        offer(np.array([float(row)]), 1, buffers, POLICIES.index(policy))
    return buffers.rows[1, : n_filled(buffers, 1), 0].astype(int).tolist()


def p_value(outcomes, possible):
    """The chance of counts this far from equal ones."""
    counts = Counter(outcomes)
    assert set(counts) <= set(possible)
    return chisquare([counts[outcome] for outcome in possible]).pvalue


def test_a_reservoir_is_a_uniform_sample_without_replacement():
    outcomes = [tuple(sorted(slots_after("reservoir", 2, 6, seed))) for seed in SEEDS]
    assert p_value(outcomes, list(combinations(range(6), 2))) > SIGNIFICANT


@pytest.mark.parametrize("n_rows", [3, 5])
def test_rsx_slots_are_independent_uniform_samples(n_rows):
    """At the redraw itself, and after it."""
    outcomes = [tuple(slots_after("rsx", 2, n_rows, seed)) for seed in SEEDS]
    assert p_value(outcomes, list(product(range(n_rows), repeat=2))) > SIGNIFICANT


def test_long_streams_are_sampled_evenly():
    for policy in ("reservoir", "rsx"):
        outcomes = [row for seed in range(100) for row in slots_after(policy, 5, 200, seed)]
        tenths = [row // 20 for row in outcomes]
        assert p_value(tenths, range(10)) > SIGNIFICANT


def test_fifo_keeps_the_latest():
    assert sorted(slots_after("fifo", 4, 11, seed=0)) == [7, 8, 9, 10]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_buffer_with_room_keeps_everything(policy):
    assert slots_after(policy, 8, 5, seed=0) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("size", [1, 3])
def test_the_slots_are_those_of_the_definition(policy, size):
    for seed in range(20):
        slow = SlowBuffer(policy, size, SplitMix64(seed))
        for row in range(12):
            slow.offer(row, n_seen=row + 1)
        assert slots_after(policy, size, 12, seed) == slow.slots


def test_the_classes_have_separate_slots():
    buffers = make_buffers(2, 1, 0)
    for row, own in enumerate([0, 1, 0, 1, 1]):
        buffers.n_seen[own] += 1
        offer(np.array([float(row)]), own, buffers, POLICIES.index("fifo"))
    assert buffers.rows[0, :, 0].tolist() == [0, 2]
    assert buffers.rows[1, :, 0].tolist() == [4, 3]


def test_random_numbers_are_uniform_and_those_of_splitmix64():
    random = np.array([1234567], np.uint64)
    numbers = [uniform(random) for _ in range(2000)]
    assert kstest(numbers, "uniform").pvalue > SIGNIFICANT
    slow = SplitMix64(0)
    slow.state = 1234567
    assert [slow() for _ in range(2000)] == numbers
    # The first output for this seed in the authors' reference: 6457827717110365317.
    assert numbers[0] == (6457827717110365317 >> 11) / 2**53
