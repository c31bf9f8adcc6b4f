"""Newton's method for few rows, in one compiled call.

`minimise_few` follows `skauc.solvers.newton.minimise` with `cholesky_step` and `halving_search`, on
columns that are one array. On a few hundred rows, the arithmetic of an iteration takes less time
than the calls from Python that lead to it. Any difficulty ends it: the caller then goes the general
way from the same start, which handles all of them.

With x the columns, s the weights, and s L the curvature of a row, half the Hessian of the loss is

    x^T A,    A_i = s_i L_i x_i - s_i (sum of s x over the violating partners of row i).

The sums over partners are found while going through the rows in the order of their cells.
"""

from __future__ import annotations

import numpy as np

from skauc.compiling import compiled, compiled_fast
from skauc.losses.pairs import curvatures, residuals, statistics_by_rank
from skauc.solvers.newton import LEAST_PROMISE, MOST_HALVINGS, SUFFICIENT_DECREASE


@compiled
def minimise_few(
    columns, positive, weights, C_pair, merged, start, scores, tol, max_iter, shifted, curved
):
    """Minimise 1/2 |w|^2 + C_pair/2 * loss(columns w), starting from ``start`` and its scores.

    Coarse cells are ``cell >> merged``. ``shifted`` and ``curved`` are room for as many numbers as
    there are columns. Return the weights, the objective, the scores, the number
    of iterations, and whether all went well.
    """
    w, was_small = start, False
    pairs = statistics_by_rank(scores, positive, weights)
    value = _objective(w, C_pair, pairs[3])
    # The loss ignores constants. Without one, the Hessian suffers no cancellation.
    without_constant(columns, shifted)
    for n_iter in range(1, max_iter + 1):
        gradient, hessian = derivatives(
            columns, shifted, curved, scores, pairs, positive, weights, C_pair, merged, w
        )
        if not factorise_in_place(hessian):
            return w, value, scores, n_iter, False
        direction = solve_few(hessian, gradient)
        promised = -0.5 * inner(gradient, direction)
        if promised <= LEAST_PROMISE * value:
            return w, value, scores, n_iter, True
        if not np.isfinite(promised):
            return w, value, scores, n_iter, False
        line = product(columns, direction)
        length, is_found = 1.0, False
        for _ in range(MOST_HALVINGS):
            trial, moved = _moved(w, length, direction), _moved(scores, length, line)
            trial_pairs = statistics_by_rank(moved, positive, weights)
            found = _objective(trial, C_pair, trial_pairs[3])
            if not np.isfinite(found):
                return w, value, scores, n_iter, False
            is_found = found <= value - SUFFICIENT_DECREASE * length * 2 * promised
            if is_found:
                w, scores, pairs, value = trial, moved, trial_pairs, found
                break
            length *= 0.5
        is_small = promised <= tol * value
        if not is_found or (is_small and (length == 1 or was_small)):
            return w, value, scores, n_iter, True
        was_small = is_small
    return w, value, scores, max_iter, False


@compiled_fast
def derivatives(columns, shifted, curved, scores, pairs, positive, weights, C_pair, merged, w):
    """Return the gradient and the Hessian of the objective."""
    cell, above, below, _, origin = pairs
    residual = residuals(scores, origin, positive, weights, cell, above, below)
    gradient = transposed_product(columns, residual)
    for k in range(len(w)):
        gradient[k] = w[k] + C_pair * gradient[k]
    curvature = curvatures(cell, merged, above, below, positive, weights, 0, len(cell))
    curved_rows(shifted, cell, merged, curvature, positive, weights, curved)
    hessian = np.dot(shifted.T, curved)
    for k in range(len(w)):
        for j in range(len(w)):
            hessian[k, j] *= C_pair
        hessian[k, k] += 1.0
    return gradient, hessian


@compiled_fast
def curved_rows(x, cell, merged, curvature, positive, weights, curved):
    """Write A: one sweep for the positives, from the highest cell, and one for the negatives."""
    order, ends = _by_cell(cell, merged)
    _sweep(x, order, ends, curvature, positive, weights, True, curved)
    _sweep(x, order, ends, curvature, positive, weights, False, curved)


@compiled_fast
def _sweep(x, order, ends, curvature, positive, weights, side, curved):
    size = x.shape[1]
    total = np.zeros(size)
    for step in range(len(ends) - 1):
        c = len(ends) - 2 - step if side else step
        for place in range(ends[c], ends[c + 1]):
            i = order[place]
            if positive[i] == side:
                for k in range(size):
                    curved[i, k] = curvature[i] * x[i, k] - weights[i] * total[k]
        for place in range(ends[c], ends[c + 1]):
            i = order[place]
            if positive[i] != side:
                for k in range(size):
                    total[k] += weights[i] * x[i, k]


@compiled
def _by_cell(cell, merged):
    """Return the rows in the order of their coarse cells, and where the rows of each cell end."""
    last = 0
    for i in range(len(cell)):
        last = max(last, cell[i] >> merged)
    n_cells = last + 1
    ends = np.zeros(n_cells + 1, np.int64)
    for i in range(len(cell)):
        ends[(cell[i] >> merged) + 1] += 1
    for c in range(n_cells):
        ends[c + 1] += ends[c]
    order, filled = np.empty(len(cell), np.int64), ends.copy()
    for i in range(len(cell)):
        c = cell[i] >> merged
        order[filled[c]] = i
        filled[c] += 1
    return order, ends


@compiled_fast
def without_constant(columns, shifted):
    """Write the columns minus their first row."""
    for i in range(columns.shape[0]):
        for k in range(columns.shape[1]):
            shifted[i, k] = columns[i, k] - columns[0, k]


@compiled_fast
def _moved(vector, length, direction):
    out = np.empty(len(vector))
    for k in range(len(out)):
        out[k] = vector[k] + length * direction[k]
    return out


@compiled_fast
def _objective(w, C_pair, loss):
    return 0.5 * inner(w, w) + 0.5 * C_pair * loss


@compiled_fast
def product(columns, vector):
    """Return columns times a vector."""
    out = np.empty(len(columns))
    for i in range(len(columns)):
        out[i] = inner(columns[i], vector)
    return out


@compiled_fast
def transposed_product(columns, values):
    """Return columns^T times one value per row."""
    out = np.zeros(columns.shape[1])
    for i in range(len(columns)):
        for k in range(len(out)):
            out[k] += values[i] * columns[i, k]
    return out


@compiled_fast
def inner(first, second):
    """Return the inner product of two vectors."""
    total = 0.0
    for k in range(len(first)):
        total += first[k] * second[k]
    return total


@compiled_fast
def factorise_in_place(matrix):
    """Replace the lower half by its Cholesky factor; return False unless it is positive definite.

    The upper half is set to zero.
    """
    for i in range(len(matrix)):
        pivot = matrix[i, i]
        for j in range(i):
            total = 0.0
            for k in range(j):
                total += matrix[i, k] * matrix[j, k]
            matrix[i, j] = (matrix[i, j] - total) / matrix[j, j]
            matrix[j, i] = 0.0
            pivot -= matrix[i, j] * matrix[i, j]
        if not 0.0 < pivot < np.inf:
            return False
        matrix[i, i] = np.sqrt(pivot)
    return True


@compiled_fast
def solve_lower_few(factor, right):
    """Return L^-1 times a vector."""
    out = np.empty(len(right))
    solve_lower_into(factor, right, out)
    return out


@compiled_fast
def solve_lower_into(factor, right, out):
    """Write L^-1 times a vector."""
    for i in range(len(out)):
        total = 0.0
        for k in range(i):
            total += factor[i, k] * out[k]
        out[i] = (right[i] - total) / factor[i, i]


@compiled_fast
def inverse_of(factor):
    """Return L^-1."""
    size = len(factor)
    inverse = np.zeros((size, size))
    for i in range(size):
        for j in range(i):
            for k in range(j + 1):
                inverse[i, k] -= factor[i, j] * inverse[j, k]
        for k in range(i):
            inverse[i, k] /= factor[i, i]
        inverse[i, i] = 1.0 / factor[i, i]
    return inverse


@compiled_fast
def solve_few(factor, gradient):
    """Return minus (L L^T)^-1 times the gradient."""
    out = solve_upper_few(factor, solve_lower_few(factor, gradient))
    for k in range(len(out)):
        out[k] = -out[k]
    return out


@compiled_fast
def solve_upper_few(factor, right):
    """Return L^-T times a vector."""
    out = right.copy()
    for i in range(len(out) - 1, -1, -1):
        out[i] /= factor[i, i]
        for j in range(i):
            out[j] -= factor[i, j] * out[i]
    return out
