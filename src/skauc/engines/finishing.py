"""From sums over the rows of blocks to what was asked for: added up, then finished."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skauc.engines.base import CandidateSlopes, KernelMoments
from skauc.losses import pairs

Sums = tuple[np.ndarray, ...]


def add_up(parts: Iterator[Sums]) -> Sums:
    """Add the arrays of all parts up, place by place and in order."""
    totals = next(parts)
    for part in parts:
        for total, array in zip(totals, part, strict=True):
            total += array
    return totals


def finish_hessian(squares, sums, *, sums_above=pairs.sums_above):
    """Return half the Hessian: the squares less the cross terms by cells.

    Like `finish_candidates` it takes arrays of any kind, with a function for sums of that kind.
    """
    cross = sums[1].T @ sums_above(sums[0])
    return squares - cross - cross.T


def finish_candidates(
    sums, basis_sums, slopes, squares, cross, *, sums_above=pairs.sums_above
) -> CandidateSlopes:
    """Take the pairs that do not violate, by cells, off the squares and cross terms."""
    above, basis_above = sums_above(sums[0]), sums_above(basis_sums[0])
    squares = squares - 2 * (sums[1] * above).sum(0)
    cross = cross - basis_sums[1].T @ above - basis_above.T @ sums[1]
    return CandidateSlopes(slopes, squares.clip(0.0), cross)


def finish_moments(first, total, second, origin, factor, coef) -> KernelMoments:
    """Take sums over Phi to sums over K = Phi L^T."""
    first, total = factor @ first, factor @ total
    return KernelMoments(origin, first * coef[:, None], total * coef, second)
