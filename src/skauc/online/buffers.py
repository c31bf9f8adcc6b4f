"""Buffers of a fixed size that stand for all the rows of a class seen so far.

A row is *offered* to the buffer of its class. While there is room it is appended; after that a
policy decides, with t the number of rows of the class so far and b the size of the buffer:

- ``"reservoir"``: with probability b / t the row takes a random slot, otherwise it is turned
  away. The slots are a uniform sample without replacement of the rows offered.
- ``"fifo"``: the row takes the slot of the oldest one.
- ``"rsx"``: every slot takes the row with probability 1 / t, independently. At the first offer
  to a full buffer the slots that do not are redrawn from the old ones, with replacement. The slots
  are then independent uniform samples of the rows offered (Kar et al. 2013).

The decision is an array ``sources``: what each slot is to hold afterwards, an old slot or `NEW`.
So a learner can carry along whatever belongs to a slot, such as a coefficient. The statements on
uniformity hold where every row is offered, so that t counts the offers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from skauc.compiling import compiled_fast as compiled
from skauc.support import GOLDEN_RATIO, mix_bits

POLICIES = ("reservoir", "fifo", "rsx")

NEW = -1
_FIFO = POLICIES.index("fifo")
_RSX = POLICIES.index("rsx")


class Buffers(NamedTuple):
    """One buffer a class; arrays are changed in place.

    Attributes
    ----------
    rows : ndarray of shape (2, size, n_features)
        The slots of each class; those not yet filled hold zeros and count for nothing.
    n_seen, n_offered : ndarray of shape (2,)
        Rows of each class so far, and how many of them were offered.
    sources : ndarray of shape (size,)
        The latest decision.
    random : ndarray of shape (1,), uint64
        State of the random numbers.
    """

    rows: np.ndarray
    n_seen: np.ndarray
    n_offered: np.ndarray
    sources: np.ndarray
    random: np.ndarray


def make_buffers(size: int, n_features: int, random_state) -> Buffers:
    """Return two empty buffers; ``random_state`` is as in scikit-learn."""
    seed = check_random_state(random_state).randint(2**32, dtype=np.uint64)
    return Buffers(
        rows=np.zeros((2, size, n_features)),
        n_seen=np.zeros(2, np.int64),
        n_offered=np.zeros(2, np.int64),
        sources=np.arange(size),
        random=np.array([seed], np.uint64),
    )


_mix_bits = compiled(mix_bits)


@compiled
def uniform(random):
    """Draw a number from [0, 1) by SplitMix64 (Steele, Lea and Flood 2014)."""
    random[0] += GOLDEN_RATIO
    return (_mix_bits(random[0]) >> np.uint64(11)) * 2.0**-53


@compiled
def n_filled(buffers, own):
    """Count the slots of a class that hold a row."""
    return min(buffers.n_offered[own], buffers.rows.shape[1])


@compiled
def opposite_weight(C, buffers, own):
    """C_t = C max(1, seen / buffered): what one buffered row of the other class stands for."""
    return C * max(1.0, buffers.n_seen[1 - own] / max(1, n_filled(buffers, 1 - own)))


@compiled
def decide(buffers, own, policy):
    """Count an offer and write into ``sources`` what each slot of the class is to hold."""
    sources, n_seen, size = buffers.sources, buffers.n_seen[own], buffers.rows.shape[1]
    place = buffers.n_offered[own]
    buffers.n_offered[own] += 1
    for slot in range(size):
        sources[slot] = slot
    if place < size:
        sources[place] = NEW
    elif policy == _FIFO:
        sources[place % size] = NEW
    elif policy == _RSX:
        _decide_with_replacement(sources, n_seen, place == size, buffers.random)
    else:
        slot = int(uniform(buffers.random) * n_seen)
        if slot < size:
            sources[slot] = NEW


@compiled
def _decide_with_replacement(sources, n_seen, is_first, random):
    for slot in range(len(sources)):
        if uniform(random) * n_seen < 1.0:
            sources[slot] = NEW
        elif is_first:
            sources[slot] = int(uniform(random) * len(sources))


@compiled
def put(slots, sources, new):
    """Carry a decision out on the rows that belong to the slots; ``new`` belongs to the new row."""
    moves = False
    for slot in range(len(sources)):
        moves |= sources[slot] != NEW and sources[slot] != slot
    old = slots.copy() if moves else slots
    for slot in range(len(sources)):
        source = sources[slot]
        for j in range(len(new)):
            if source == NEW:
                slots[slot, j] = new[j]
            elif source != slot:
                slots[slot, j] = old[source, j]


@compiled
def offer(x, own, buffers, policy):
    """Offer a row, already counted in ``n_seen``, to the buffer of its class."""
    decide(buffers, own, policy)
    put(buffers.rows[own], buffers.sources, x)
