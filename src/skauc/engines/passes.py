"""Loops over the rows of a block that matrix products cannot make: fused, and without the GIL.

Columns may be float32; sums are float64. Rows are given as a range, or as numbers in ``rows``.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def augment(rows, origin, roots, out):
    """Write [x, |x|^2, 1] with x = roots * (row - origin): `skauc.kernels.augment` in one pass."""
    n_features = rows.shape[1]
    for i in range(rows.shape[0]):
        square = out.dtype.type(0)
        for j in range(n_features):
            out[i, j] = (rows[i, j] - origin[j]) * roots[j]
        # In a loop of its own its order does not depend on how the rows lie in memory.
        for j in range(n_features):
            square += out[i, j] * out[i, j]
        out[i, n_features] = square
        out[i, n_features + 1] = 1


@njit(cache=True, nogil=True)
def take(X, rows, out):
    """Copy some rows."""
    for r in range(len(rows)):
        for j in range(X.shape[1]):
            out[r, j] = X[rows[r], j]


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def multiply(columns, weights, start, stop, out):
    """Write Phi w of a range of rows."""
    for i in range(start, stop):
        total = 0.0
        for k in range(len(weights)):
            total += columns[i, k] * weights[k]
        out[i] = total


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def add_transposed(columns, values, start, stop, out):
    """Add Phi^T values of a range of rows; rows of value zero are not read."""
    for i in range(start, stop):
        value = values[i]
        if value != 0.0:
            for k in range(len(out)):
                out[k] += value * columns[i, k]


@njit(cache=True, nogil=True)
def curvatures(partners, cell, positive, weights, start, stop):
    """Return the weights of a range of rows times those of their partners, by class and cell."""
    out = np.empty(stop - start)
    for i in range(start, stop):
        out[i - start] = weights[i] * partners[1 if positive[i] else 0, cell[i]]
    return out


@njit(cache=True, nogil=True)
def pack(columns, rows, shift, factors, positive, weights, cell, sums, packed):
    """Add rows of columns, less a shift, to their cells; store them times a factor each."""
    for r in range(len(rows)):
        i = rows[r]
        target = sums[1 if positive[i] else 0, cell[i]]
        weight, factor = weights[i], factors[r]
        for k in range(len(shift)):
            value = columns[i, k] - shift[k]
            target[k] += weight * value
            packed[r, k] = factor * value


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def pack_slopes(columns, first, rows, residual, weights, packed, total, slopes):
    """Store and add up columns times their row's residual; write the residual times Phi w."""
    for r in range(len(rows)):
        i = rows[r]
        score, slope = 0.0, residual[i]
        # In a loop of its own: beside stores, compiled with leave to reorder, this sum of the same
        # numbers was seen to differ in its last bit from one call to another.
        for k in range(len(weights)):
            score += columns[i, first + k] * weights[k]
        for k in range(len(weights)):
            value = slope * columns[i, first + k]
            total[k] += value
            packed[r, k] = value
        slopes[r] = slope * score


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def pack_rows(X, rows, origin, slopes, packed, second):
    """Store rows measured from an origin; add up their squares, times their row's slope."""
    for r in range(len(rows)):
        for j in range(len(origin)):
            value = X[rows[r], j] - origin[j]
            second[j] += slopes[r] * value * value
            packed[r, j] = value


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def add_candidates(
    block, rows, positive, weights, cell, residual, curvature, sums, slopes, squares
):
    """Add one block of candidate columns to the three sums that their gains are made of.

    ``curvature`` is that of the block's rows alone.
    """
    for r in range(len(rows)):
        i = rows[r]
        target = sums[1 if positive[i] else 0, cell[i]]
        weight, slope, curve = weights[i], residual[i], curvature[r]
        for k in range(block.shape[1]):
            value = np.float64(block[r, k])
            target[k] += weight * value
            slopes[k] += slope * value
            squares[k] += curve * value * value


@njit(cache=True, nogil=True)
def steepness(residual, positive, weights):
    """Return, by class, the sum of the residuals without their signs, and the rows that count."""
    totals, counts = np.zeros(2), np.zeros(2)
    for i in range(len(residual)):
        side = 1 if positive[i] else 0
        if weights[i] > 0:
            totals[side] += abs(residual[i])
            counts[side] += 1
    return totals, counts
