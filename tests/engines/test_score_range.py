"""The score range pass on every engine, against NumPy."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from toys import KERNEL, grow, make_toy, those

from skauc.engines.passes.score_range import FindScoreRange

WEIGHTS = np.array([0.9, -1.1, 0.4])


@pytest.mark.parametrize("n_rows", [120, 70_000])  # one task of the CPU, and two
def test_ranges_are_those_of_the_rows_in_the_loss(engine_case, n_rows):
    toy = make_toy(n_rows)
    weights = np.where(np.arange(n_rows) % 5 == 0, 0.0, toy.weights)
    engine = engine_case.build(replace(toy, weights=weights), capacity=3)
    grow(engine, toy.X, KERNEL, [3, 17, 40])
    held_out = np.arange(n_rows) % 7 == 1
    engine.hold_out(those(held_out))
    state = engine.at(WEIGHTS)
    scores, counts = engine_case.scores(state), (weights > 0) & ~held_out
    found = engine.ask(FindScoreRange(), state)
    classes = [scores[counts & side] for side in (~toy.positive, toy.positive)]
    assert_array_equal(found.lowest, [part.min() for part in classes])
    assert_array_equal(found.highest, [part.max() for part in classes])


def test_a_class_without_rows_has_an_empty_range(engine_case):
    toy = make_toy()
    engine = engine_case.build(toy, capacity=1)
    state = engine.at(np.empty(0))
    engine.hold_out(those(toy.positive))
    found = engine.ask(FindScoreRange(), state)
    assert_array_equal(found.lowest, [0.0, np.inf])
    assert_array_equal(found.highest, [0.0, -np.inf])
