"""Sorting by uniform buckets, in linear time for numbers that are spread evenly."""

from __future__ import annotations

import numpy as np

from skauc.compiling import compiled

# Most numbers in a bucket that are sorted by insertion.
_MOST_INSERTED = 64


@compiled
def sort_by_buckets(values, lowest, highest):
    """Return a stable ascending order, the sorted values, the ends of the buckets, and their scale.

    There are as many buckets as values. `bucket_of` tells the bucket of a value.
    """
    n = len(values)
    width = highest - lowest
    scale = n / width if width > 0 else 0.0
    ends = np.zeros(n + 1, np.int32)
    for i in range(n):
        ends[bucket_of(values[i], lowest, scale, n) + 1] += 1
    fullest = 0
    for bucket in range(n):
        fullest = max(fullest, ends[bucket + 1])
        ends[bucket + 1] += ends[bucket]
    order, ascending, filled = np.empty(n, np.int32), np.empty(n), ends.copy()
    for i in range(n):
        bucket = bucket_of(values[i], lowest, scale, n)
        order[filled[bucket]], ascending[filled[bucket]] = i, values[i]
        filled[bucket] += 1
    if fullest > _MOST_INSERTED:
        _merge_sort(ascending, order)
    else:
        for bucket in range(n):
            _insertion_sort(ascending, order, ends[bucket], ends[bucket + 1])
    return order, ascending, ends, scale


@compiled
def bucket_of(value, lowest, scale, n_buckets):
    """Return the bucket of a value. Buckets are in the order of the values."""
    # Rounding keeps the order of values, so buckets are in order too.
    place = (value - lowest) * scale
    if not place > 0:
        return 0
    return int(min(place, n_buckets - 1.0))


@compiled
def _merge_sort(values, order):
    """Sort by value; equal values keep their order. NumPy's sort takes seconds to compile."""
    n, width = len(values), 1
    from_values, from_order = values.copy(), order.copy()
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = min(start + width, n), min(start + 2 * width, n)
            left, right = start, middle
            for place in range(start, stop):
                if left < middle and (right >= stop or from_values[left] <= from_values[right]):
                    source = left
                    left += 1
                else:
                    source = right
                    right += 1
                values[place], order[place] = from_values[source], from_order[source]
        for place in range(n):
            from_values[place], from_order[place] = values[place], order[place]
        width *= 2


@compiled
def _insertion_sort(values, order, start, stop):
    """Sort a range by value; equal values keep their order."""
    for i in range(start + 1, stop):
        value, row, place = values[i], order[i], i
        while place > start and values[place - 1] > value:
            values[place], order[place] = values[place - 1], order[place - 1]
            place -= 1
        values[place], order[place] = value, row
