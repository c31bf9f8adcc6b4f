"""Columns and scores of an RBF basis in one compiled call for many rows.

A block of rows takes a product for the exponents, the exponentials, and products with coefficients.
As calls of NumPy they would take Python's lock several times per block, which threads wait for. The
arguments ``origin``, ``roots`` and ``right`` are those of `skauc.kernels.CentredRBF`. Rows are
taken ``n_block`` at a time, so that their numbers stay in the cache; ``room`` is for them.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from skauc.compiling import compiled, compiled_fast
from skauc.row_products import times
from skauc.scratch import augment

# The compiler may contract products and sums, but not reorder them: rounding to an integer would be
# optimised away.
_compiled_in_order = partial(compiled, fastmath={"contract"}, error_model="numpy")

# Added to a number x of moderate size, this leaves the nearest integer to x in the lowest bits.
_ROUNDING = 1.5 * 2.0**52
_LOG2_E = 1.4426950408889634
# The logarithm of 2 as a number with zeros in its last bits, and the rest of it.
_LN2, _LN2_REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Exponentials of less are zero, of more infinite.
_LEAST, _MOST = -708.0, 709.0
_BIAS, _MANTISSA_BITS = np.int64(1023), np.int64(52)


@_compiled_in_order
def exponentiate(values):
    """Replace the values of a matrix by their exponentials, exact to about two roundings.

    exp(x) = 2^k exp(r) with an integer k and |r| <= log(2) / 2, where the series of exp(r) needs
    few terms. Each loop becomes vector instructions.
    """
    size = values.shape[1]
    powers = np.empty(size)
    bits = powers.view(np.int64)
    for i in range(len(values)):
        row = values[i]
        for k in range(size):
            x = row[k]
            # NaN stays NaN.
            inside = _LEAST if x < _LEAST else x
            inside = _MOST if inside > _MOST else inside
            rounded = inside * _LOG2_E + _ROUNDING
            whole = rounded - _ROUNDING
            r = inside - whole * _LN2 - whole * _LN2_REST
            total = 1.0 / 479001600.0
            total = total * r + 1.0 / 39916800.0
            total = total * r + 1.0 / 3628800.0
            total = total * r + 1.0 / 362880.0
            total = total * r + 1.0 / 40320.0
            total = total * r + 1.0 / 5040.0
            total = total * r + 1.0 / 720.0
            total = total * r + 1.0 / 120.0
            total = total * r + 1.0 / 24.0
            total = total * r + 1.0 / 6.0
            total = total * r + 0.5
            total = total * r + 1.0
            total = total * r + 1.0
            total = 0.0 if x < _LEAST else total
            row[k] = np.inf if x > _MOST else total
            powers[k] = rounded
        for k in range(size):
            bits[k] = (bits[k] << _MANTISSA_BITS) + (_BIAS << _MANTISSA_BITS)
        for k in range(size):
            row[k] *= powers[k]


@compiled_fast
def write_columns(
    X, start, stop, n_block, origin, roots, right, columns, n_before, projection, transform, room
):
    """Write (K - Phi P) T to the columns after the first ``n_before``, for a range of rows.

    K are the kernel values, and Phi the first columns. The projection P may be empty.
    """
    n_new, n_projected = right.shape[1], len(projection)
    width = len(right)
    end = n_block * width
    left = room[:end].reshape(n_block, width)
    values = room[end : end + n_block * n_new].reshape(n_block, n_new)
    end += n_block * n_new
    other = room[end : end + n_block * n_new].reshape(n_block, n_new)
    end += n_block * n_new
    before = room[end : end + n_block * n_projected].reshape(n_block, n_projected)
    for first in range(start, stop, n_block):
        n_rows = min(n_block, stop - first)
        own, out = values[:n_rows], other[:n_rows]
        augment(X[first : first + n_rows], origin, roots, left[:n_rows])
        times(left[:n_rows], right, own)
        exponentiate(own)
        if n_projected:
            for i in range(n_rows):
                for k in range(n_projected):
                    before[i, k] = columns[first + i, k]
            times(before[:n_rows], projection, out)
            for i in range(n_rows):
                for k in range(n_new):
                    own[i, k] -= out[i, k]
        times(own, transform, out)
        for i in range(n_rows):
            for k in range(n_new):
                columns[first + i, n_before + k] = out[i, k]


@compiled_fast
def write_scores(X, start, stop, n_block, origin, roots, right, coef, linear, intercept, room, out):
    """Write the scores K coef + X linear + intercept of a range of rows.

    There are no linear coefficients, or one per feature.
    """
    width, n_centres = right.shape
    left = room[: n_block * width].reshape(n_block, width)
    values = room[n_block * width : n_block * (width + n_centres)].reshape(n_block, n_centres)
    for first in range(start, stop, n_block):
        n_rows = min(n_block, stop - first)
        augment(X[first : first + n_rows], origin, roots, left[:n_rows])
        times(left[:n_rows], right, values[:n_rows])
        exponentiate(values[:n_rows])
        for i in range(n_rows):
            total = intercept
            for k in range(n_centres):
                total += coef[k] * values[i, k]
            for j in range(len(linear)):
                total += linear[j] * X[first + i, j]
            out[first + i] = total
