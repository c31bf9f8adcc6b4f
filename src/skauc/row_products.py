"""Products of matrices, for loops that are compiled.

Inner products of rows with each other are computed by loops: a product of BLAS would compute both
halves of the symmetric result.
"""

from __future__ import annotations

import numpy as np

from skauc.compiling import compiled_fast


@compiled_fast
def add_row_products(rows, out):
    """Add the inner products of the rows to the lower half of ``out``, in squares of four by four.

    The number of rows is that of ``out``, rounded up to a multiple of four.
    """
    size, width, zero = len(out), rows.shape[1], rows.dtype.type(0)
    for i in range(0, size, 4):
        first = rows[i : i + 4]
        for j in range(0, i + 4, 4):
            second = rows[j : j + 4]
            c00 = c01 = c02 = c03 = c10 = c11 = c12 = c13 = zero
            c20 = c21 = c22 = c23 = c30 = c31 = c32 = c33 = zero
            for r in range(width):
                a0, a1, a2, a3 = first[0, r], first[1, r], first[2, r], first[3, r]
                b0, b1, b2, b3 = second[0, r], second[1, r], second[2, r], second[3, r]
                c00 += a0 * b0
                c01 += a0 * b1
                c02 += a0 * b2
                c03 += a0 * b3
                c10 += a1 * b0
                c11 += a1 * b1
                c12 += a1 * b2
                c13 += a1 * b3
                c20 += a2 * b0
                c21 += a2 * b1
                c22 += a2 * b2
                c23 += a2 * b3
                c30 += a3 * b0
                c31 += a3 * b1
                c32 += a3 * b2
                c33 += a3 * b3
            square = (
                (c00, c01, c02, c03),
                (c10, c11, c12, c13),
                (c20, c21, c22, c23),
                (c30, c31, c32, c33),
            )
            for p in range(min(4, size - i)):
                for q in range(min(4, i + p - j + 1)):
                    out[i + p, j + q] += square[p][q]


@compiled_fast
def mirror(out):
    """Copy the lower half of a matrix to its upper half."""
    for i in range(len(out)):
        for j in range(i):
            out[j, i] = out[i, j]


@compiled_fast
def inner(first, second):
    """Return the inner product of two vectors."""
    total = 0.0
    for k in range(len(first)):
        total += first[k] * second[k]
    return total


# Every place that calls np.dot takes long to compile, so there is only this one.
@compiled_fast
def times(left, right, out):
    """Write the product of two matrices, and return it."""
    np.dot(left, right, out)
    return out
