"""Buffers of a fixed size that represent all rows of a class so far.

A row is *offered* to the buffer of its class. While there is room, it is appended. After that a
policy decides. Let t be the number of rows of the class so far and b the size of the buffer.

- ``"reservoir"``: with probability b / t the row replaces a random slot; otherwise it is not
  admitted. The slots are a uniform sample without replacement of the offered rows.
- ``"fifo"``: the row replaces the oldest slot.
- ``"rsx"``: the row replaces each slot with probability 1 / t, independently. At the first offer to
  a full buffer, the other slots are redrawn from the old ones with replacement. The slots are then
  independent uniform samples of the offered rows (Kar et al. 2013).

The decision is an array ``sources``. It says what each slot holds afterwards: the content of an old
slot, or the new row (`NEW`). With it, a learner moves data that belong to a slot, such as a
coefficient. The samples are uniform if every row is offered, so that t counts the offers.
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
    """One buffer per class. The arrays are changed in place.

    Attributes
    ----------
    rows : ndarray of shape (2, size, n_features)
        The slots of each class. Slots that are not filled hold zeros.
    n_seen, n_offered : ndarray of shape (2,)
        Number of rows of each class so far, and how many of them were offered.
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
    """Return the number of filled slots of a class."""
    return min(buffers.n_offered[own], buffers.rows.shape[1])


@compiled
def opposite_weight(C, buffers, own):
    """Return C_t = C max(1, seen / buffered), counted in the other class."""
    return C * max(1.0, buffers.n_seen[1 - own] / max(1, n_filled(buffers, 1 - own)))


@compiled
def decide(buffers, own, policy):
    """Count an offer and write to ``sources`` what each slot of the class will hold."""
    sources, n_seen, size = buffers.sources, buffers.n_seen[own], buffers.rows.shape[1]
    n_before = buffers.n_offered[own]
    buffers.n_offered[own] += 1
    for slot in range(size):
        sources[slot] = slot
    if n_before < size:
        sources[n_before] = NEW
    elif policy == _FIFO:
        sources[n_before % size] = NEW
    elif policy == _RSX:
        _decide_with_replacement(sources, n_seen, n_before == size, buffers.random)
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
def fill_slots(slots, sources, new):
    """Apply a decision to rows that belong to slots. ``new`` belongs to the new row."""
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
    """Offer a row to the buffer of its class. It must be counted in ``n_seen`` before."""
    decide(buffers, own, policy)
    fill_slots(buffers.rows[own], buffers.sources, x)
