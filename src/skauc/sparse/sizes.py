"""Sizes of a growing basis: where all coefficients are optimised, and where it is refined."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import count

from skauc.validation import check_choice

# Smallest basis that is refined before it grows further.
FIRST_REFINED = 8

SCHEDULES: dict[str, Callable[[], Iterator[int]]] = {
    "doubling": lambda: (2**j for j in count(2)),
    # The schedule of the paper, floor(2^(j/4)), in integer arithmetic.
    "geometric": lambda: (math.isqrt(math.isqrt(2**j)) for j in count()),
    "always": lambda: count(1),
}


def retraining_sizes(retrain: str, n_basis: int) -> frozenset[int]:
    """Return the sizes at which all coefficients are optimised; they include ``n_basis``."""
    check_choice("retrain", retrain, SCHEDULES)
    sizes = {n_basis}
    for size in SCHEDULES[retrain]():
        if size > n_basis:
            break
        sizes.add(size)
    return frozenset(sizes)


def refined_sizes(n_basis: int) -> list[int]:
    """Return the sizes at which the basis is refined: n_basis, its half and so on, from 8 on."""
    sizes = [n_basis]
    while sizes[0] >= 2 * FIRST_REFINED:
        sizes.insert(0, -(-sizes[0] // 2))
    return sizes
