"""Random samples of rows that do not depend on how the rows are partitioned.

Each row index is hashed with a seed. Sorting the rows of a class by the hash gives a random order.
A sample such as "the first hundred rows of each class" is then the same on one machine and on a
cluster, and two bounds per class describe it, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skauc.compiling import compiled
from skauc.data.training import TrainingData
from skauc.support import GOLDEN_RATIO, mix_bits, spread

# Number of bits of a hash.
N_BITS = 62
# Number of bits that one pass over the rows resolves.
_DIGIT = 12

Counts = tuple[int, int]


def as_counts(numbers: np.ndarray) -> Counts:
    """Return an array of two counts as numbers of Python."""
    negative, positive = numbers.tolist()
    return negative, positive


def hash_rows(places: np.ndarray, seed: int) -> np.ndarray:
    """Return the hash of each row index, an integer of `N_BITS` bits."""
    bits = mix_bits(spread(places.astype(np.uint64) + np.uint64(seed)))
    return (bits >> np.uint64(64 - N_BITS)).astype(np.int64)


def hashes_of(data: TrainingData, seed: int) -> np.ndarray:
    """Return the hashes of all rows. They are kept for the next call with the same seed."""
    known = vars(data).get("_hashes")
    if known is None or known[0] != seed:
        known = vars(data)["_hashes"] = seed, hash_rows(data.places, seed)
    return known[1]


def forget_hashes(data) -> None:
    """Free the hashes that `hashes_of` keeps."""
    vars(data).pop("_hashes", None)


@dataclass(frozen=True)
class HashRange:
    """The rows of positive weight whose hash is at least ``low`` and less than ``high``.

    There is one pair of bounds per class, the negative class first. Call it with rows to get the
    mask of those in the range.
    """

    seed: int
    low: Counts
    high: Counts

    def __call__(self, data: TrainingData) -> np.ndarray:
        """Return a mask of the rows."""
        is_inside = np.empty(data.n_rows, dtype=bool)
        hashes = hashes_of(data, self.seed)
        _mark_range(hashes, data.positive, data.weights, self.low, self.high, is_inside)
        return is_inside


@dataclass(frozen=True)
class AnyOf:
    """The rows that at least one of two masks selects."""

    one: Callable[[TrainingData], np.ndarray]
    other: Callable[[TrainingData], np.ndarray]

    def __call__(self, data: TrainingData) -> np.ndarray:
        """Return a mask of the rows."""
        return self.one(data) | self.other(data)


class HashOrder:
    """The rows of positive weight, sorted by their hash within each class."""

    def __init__(self, data, seed: int):
        self._data, self.seed = data, seed
        self.counts: Counts = class_counts(data)

    def between(self, first: Counts, last: Counts) -> HashRange:
        """Return the rows from position ``first`` up to ``last``, excluded, of each class."""
        low, high = ((self._bound(0, ends[0]), self._bound(1, ends[1])) for ends in (first, last))
        return HashRange(self.seed, low, high)

    def _bound(self, of_class: int, n_below: int) -> int:
        """Return a number that exceeds ``n_below`` hashes of the class, digit by digit."""
        if n_below <= 0:
            return 0
        if n_below >= self.counts[of_class]:
            return 1 << N_BITS
        bound, n_bits = 0, N_BITS
        while n_bits:
            n_bits = max(n_bits - _DIGIT, 0)
            counts = self._data.add_up(_count_hashes, self.seed, of_class, bound, n_bits)
            below = np.cumsum(counts)
            digit = int(np.searchsorted(below, n_below))
            if digit == len(below):
                return 1 << N_BITS
            if below[digit] == n_below:
                return bound + ((digit + 1) << n_bits)
            n_below -= int(below[digit] - counts[digit])
            bound += digit << n_bits
        return bound


def class_counts(data) -> Counts:
    """Return the number of negative and of positive rows with a positive weight."""
    negative, positive = data.add_up(_count_classes).tolist()
    return negative, positive


def class_weights(data) -> np.ndarray:
    """Return the sum of the weights of the negative and of the positive rows."""
    return data.add_up(_weigh_classes)


def balanced_counts(counts: Counts, size: int) -> Counts:
    """Return how many rows of each class make up ``size`` rows, half of each if possible.

    The class ratio does not matter to a loss over pairs.
    """
    n_fewer = min(min(counts), size // 2)
    n_more = min(max(counts), size - n_fewer)
    return (n_fewer, n_more) if counts[0] < counts[1] else (n_more, n_fewer)


def digest_of(data) -> str:
    """Return a fingerprint of rows, labels and weights, as hexadecimal digits.

    The hash of a row contains its index, so that the order of the rows matters. Hashes are added
    up modulo 2^64, so that the partition of the rows into blocks does not.
    """
    return "".join(f"{part:016x}" for part in data.add_up(_digest).tolist())


def _digest(data: TrainingData) -> np.ndarray:
    """Return two sums of row hashes."""
    hashes = np.zeros(data.n_rows, dtype=np.uint64)
    X: Any = data.X
    if data.is_sparse:
        entries = mix_bits(_bits(X.data) + mix_bits(X.indices.astype(np.uint64)))
        totals = np.append(np.uint64(0), np.cumsum(entries, dtype=np.uint64))
        hashes += np.subtract(totals[X.indptr[1:]], totals[X.indptr[:-1]])
    else:
        for column in X.T:
            hashes = mix_bits(hashes + _bits(column) + GOLDEN_RATIO)
    hashes = mix_bits(hashes + _bits(data.weights))
    hashes = mix_bits(hashes + mix_bits((2 * data.row_numbers + data.positive).astype(np.uint64)))
    again = mix_bits(hashes + GOLDEN_RATIO)
    return np.array([hashes.sum(dtype=np.uint64), again.sum(dtype=np.uint64)])


def _bits(values: np.ndarray) -> np.ndarray:
    """Return the bits of floats in double precision."""
    return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)


def _count_classes(data: TrainingData) -> np.ndarray:
    is_used = data.weights > 0
    n_positive = np.count_nonzero(data.positive & is_used)
    return np.array([np.count_nonzero(is_used) - n_positive, n_positive])


def _weigh_classes(data: TrainingData) -> np.ndarray:
    return np.bincount(data.positive, data.weights, minlength=2)


def _count_hashes(data: TrainingData, seed: int, of_class: int, bound: int, n_bits: int):
    """Count the hashes that agree with a bound in their upper bits, by their next digit."""
    counts = np.zeros(1 << _DIGIT, dtype=np.int64)
    hashes = hashes_of(data, seed)
    _count_digits(hashes, data.positive, data.weights, bool(of_class), bound, n_bits, counts)
    return counts


@compiled
def _mark_range(hashes, positive, weights, low, high, is_inside):
    """Mark the rows of positive weight whose hash is between the bounds of their class."""
    for i in range(len(hashes)):
        least, end = (low[1], high[1]) if positive[i] else (low[0], high[0])
        is_inside[i] = least <= hashes[i] < end and weights[i] > 0.0


@compiled
def _count_digits(hashes, positive, weights, of_class, bound, n_bits, counts):
    """Count the digits above ``n_bits`` bits of the hashes of a class minus the bound."""
    for i in range(len(hashes)):
        if positive[i] == of_class and weights[i] > 0.0:
            digit = (hashes[i] - bound) >> n_bits
            if 0 <= digit < len(counts):
                counts[digit] += 1
