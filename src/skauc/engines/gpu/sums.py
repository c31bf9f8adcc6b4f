"""Sums over many rows: products in float64, and sums by key that do not depend on the order."""

from __future__ import annotations

import torch

# Bits of a sum of integers, without its sign and one more for rounding.
_BITS = 61
_TINY = 1e-250


def transposed_product(left: torch.Tensor, right: torch.Tensor, segment: int) -> torch.Tensor:
    """Return left^T right. Segments of float32 rows are summed in float32, the rest in float64."""
    if left.dtype == torch.float64:
        return left.T @ right
    n_whole = len(left) // segment * segment
    total = (left[n_whole:].T @ right[n_whole:]).double()
    if n_whole:
        left, right = (part[:n_whole].unflatten(0, (-1, segment)) for part in (left, right))
        total += torch.bmm(left.transpose(1, 2), right).sum(0, dtype=torch.float64)
    return total


def sums_by_key(keys: torch.Tensor, values: torch.Tensor, n_keys: int) -> torch.Tensor:
    """Return the sums of float64 values with the same key.

    Values are rounded to multiples of a power of two of about 4e-19 times the largest value times
    the number of rows. Sums of integers do not depend on their order, which differs between runs of
    a GPU.
    """
    largest = values.abs().amax().clamp(min=_TINY) * len(values)
    unit = torch.exp2(torch.floor(_BITS - torch.log2(largest)))
    sums = torch.zeros((n_keys, *values.shape[1:]), dtype=torch.int64, device=values.device)
    sums.index_add_(0, keys, (values * unit).round_().long())
    return sums.double() / unit
