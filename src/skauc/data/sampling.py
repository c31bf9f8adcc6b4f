"""Rows drawn by lot, wherever they are.

A row's lot is a random number that depends on a seed and on the row's place alone, and the rows of
a class are in the order of their lots. A draw such as "the first hundred of each class" is then
the same however the rows are divided between machines, and two numbers a class describe it,
whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skauc.data.training import TrainingData
from skauc.support import mix_bits, spread

N_BITS = 62
# Bits of a lot that one pass over the rows looks at.
_DIGIT = 12

Counts = tuple[int, int]


def draw_lots(places: np.ndarray, seed: int) -> np.ndarray:
    """Return the lots of rows in these places (the mixer of splitmix64)."""
    lots = mix_bits(spread(places.astype(np.uint64) + np.uint64(seed)))
    return (lots >> np.uint64(64 - N_BITS)).astype(np.int64)


@dataclass(frozen=True)
class Drawn:
    """The rows that count and whose lots are from ``low`` to below ``high``, by class.

    Called with some rows it tells which of them are drawn. The negative class comes first.
    """

    seed: int
    low: Counts
    high: Counts

    def __call__(self, data: TrainingData) -> np.ndarray:
        """Return a mask of the rows."""
        lots = draw_lots(data.places, self.seed)
        of_class = data.positive.view(np.int8)
        is_drawn = lots >= np.array(self.low)[of_class]
        is_drawn &= lots < np.array(self.high)[of_class]
        is_drawn &= data.weights > 0
        return is_drawn


@dataclass(frozen=True)
class Either:
    """The rows that are in one or the other draw."""

    one: Callable[[TrainingData], np.ndarray]
    other: Callable[[TrainingData], np.ndarray]

    def __call__(self, data: TrainingData) -> np.ndarray:
        """Return a mask of the rows."""
        return self.one(data) | self.other(data)


class Lottery:
    """The order of the rows that count, by class: negative and positive."""

    def __init__(self, data, seed: int):
        self._data, self.seed = data, seed
        self.counts: Counts = class_counts(data)

    def between(self, first: Counts, last: Counts) -> Drawn:
        """Return the rows from place ``first`` to before place ``last`` of each class."""
        return Drawn(self.seed, *(tuple(map(self._bound, (0, 1), ends)) for ends in (first, last)))

    def _bound(self, of_class: int, n_below: int) -> int:
        """Return a number with that many lots of the class below it, digit by digit."""
        bound, n_bits = 0, N_BITS
        while n_bits:
            n_bits = max(n_bits - _DIGIT, 0)
            counts = self._data.add_up(_count_lots, self.seed, of_class, bound, n_bits)
            below = np.cumsum(counts)
            digit = int(np.searchsorted(below, n_below))
            if digit == len(below):
                return 1 << N_BITS
            if below[digit] == n_below:
                return bound + ((digit + 1) << n_bits) if n_below else bound
            n_below -= int(below[digit] - counts[digit])
            bound += digit << n_bits
        return bound


def class_counts(data) -> Counts:
    """Return how many negative and how many positive rows count."""
    negative, positive = data.add_up(_count_classes).tolist()
    return negative, positive


def _count_classes(data: TrainingData) -> np.ndarray:
    return np.bincount(data.positive[data.weights > 0], minlength=2)


def _count_lots(data: TrainingData, seed: int, of_class: int, bound: int, n_bits: int):
    """Count lots that agree with a bound in their upper bits, by the next digit."""
    rows = np.flatnonzero((data.positive == bool(of_class)) & (data.weights > 0))
    digits = (draw_lots(data.places[rows], seed) - bound) >> n_bits
    return np.bincount(digits[(digits >= 0) & (digits < 1 << _DIGIT)], minlength=1 << _DIGIT)
