"""Sums over many rows: of products in float64, and by keys the same in whatever order."""

from __future__ import annotations

import torch

# Rows over which float32 products are added up in float32.
SEGMENT = 2048
# Bits of a sum of whole numbers, its sign and one more for rounding set aside.
_BITS = 61
_TINY = 1e-250


def transposed_product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return left^T right, in float64 but for the sums over short segments of float32 rows."""
    if left.dtype == torch.float64:
        return left.T @ right
    n_whole = len(left) // SEGMENT * SEGMENT
    total = (left[n_whole:].T @ right[n_whole:]).double()
    if n_whole:
        left, right = (part[:n_whole].unflatten(0, (-1, SEGMENT)) for part in (left, right))
        total += torch.bmm(left.transpose(1, 2), right).sum(0, dtype=torch.float64)
    return total


def sums_by_key(keys: torch.Tensor, values: torch.Tensor, n_keys: int) -> torch.Tensor:
    """Return the sums of float64 values with the same key.

    They are rounded to multiples of a power of two, so small that it is 4e-19 of the largest
    value times the number of rows. Sums of whole numbers do not depend on their order, which
    differs from one run of a GPU to the next.
    """
    largest = values.abs().amax().clamp(min=_TINY) * len(values)
    unit = torch.exp2(torch.floor(_BITS - torch.log2(largest)))
    sums = torch.zeros((n_keys, *values.shape[1:]), dtype=torch.int64, device=values.device)
    sums.index_add_(0, keys, (values * unit).round_().long())
    return sums.double() / unit


def sums_above(by_cell: torch.Tensor) -> torch.Tensor:
    """Turn sums by cell into sums over all higher cells: `pairs.sums_above`."""
    above = torch.zeros_like(by_cell)
    above[:-1] = by_cell[1:].flip(0).cumsum(0).flip(0)
    return above
