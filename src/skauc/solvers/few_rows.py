"""Newton's method for few rows, in one compiled call.

`minimise_few` follows `skauc.solvers.newton.minimise` with `cholesky_step` and `halving_search`.
The columns of the data are the rows of one array. On a few hundred rows, the arithmetic of an
iteration takes less time than the calls from Python that lead to it. Any difficulty ends it: the
caller then goes the general way from the same start, which handles all of them.

With x the rows of the columns and s their weights, half the Hessian of the loss is a sum over the
violating pairs,

    sum s_i s_j (x_i - x_j) (x_i - x_j)^T = Y Y^T.

Y has one column per row of the data. Go through the cells, from the highest: a positive i has as
partners the negatives that came before it, of the weight N and the mean m. Its pairs contribute
s_i N (x_i - m) (x_i - m)^T and s_i times the scatter of these negatives around m. By the rule of
Welford, a negative j adds s_j N / (N + s_j) (x_j - m) (x_j - m)^T to the scatter, which counts for
all positives that come after it. So each row gives one column x - m times a root.
"""

from __future__ import annotations

import numpy as np

from skauc.compiling import compiled, compiled_fast
from skauc.losses.pairs import residuals, statistics_by_rank
from skauc.row_products import add_row_products, inner, mirror
from skauc.solvers.newton import LEAST_PROMISE, MOST_HALVINGS, SUFFICIENT_DECREASE


@compiled
def minimise_few(columns, positive, weights, C_pair, merged, start, scores, tol, max_iter, factors):
    """Minimise 1/2 |w|^2 + C_pair/2 * loss(columns w), starting from ``start`` and its scores.

    Coarse cells are ``cell >> merged``. ``factors`` is room for Y, see `pair_factors`. Return the
    weights, the objective, the scores, the number of iterations, and whether all went well.
    """
    w, was_small = start, False
    pairs = statistics_by_rank(scores, positive, weights)
    value = _objective(w, C_pair, pairs[3])
    for n_iter in range(1, max_iter + 1):
        gradient, hessian = derivatives(
            columns, factors, scores, pairs, positive, weights, C_pair, merged, w
        )
        if not factorise_in_place(hessian):
            return w, value, scores, n_iter, False
        direction = solve_few(hessian, gradient)
        promised = -0.5 * inner(gradient, direction)
        if promised <= LEAST_PROMISE * value:
            return w, value, scores, n_iter, True
        if not np.isfinite(promised):
            return w, value, scores, n_iter, False
        line = weigh_columns(columns, direction)
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
def derivatives(columns, factors, scores, pairs, positive, weights, C_pair, merged, w):
    """Return the gradient and the Hessian of the objective."""
    cell, above, below, _, origin = pairs
    residual = residuals(scores, origin, positive, weights, cell, above, below)
    gradient = column_products(columns, residual)
    pair_factors(columns, *pair_roots(cell, merged, positive, weights), factors)
    hessian = row_products(factors, len(w))
    for k in range(len(w)):
        gradient[k] = w[k] + C_pair * gradient[k]
        for j in range(len(w)):
            hessian[k, j] *= C_pair
        hessian[k, k] += 1.0
    return gradient, hessian


@compiled
def pair_roots(cell, merged, positive, weights):
    """Return the rows in the order of Y, and for each the root, 1 / N, and what it adds to N."""
    order, ends = _by_cell(cell, merged)
    n_rows, after, before, place = len(order), 0.0, 0.0, 0
    rows = np.empty(n_rows, np.int64)
    root, inverse, added = np.zeros(n_rows), np.zeros(n_rows), np.zeros(n_rows)
    for i in range(n_rows):
        after += weights[i] if positive[i] else 0.0
    for c in range(len(ends) - 2, -1, -1):
        for of_class in (True, False):
            for i in order[ends[c] : ends[c + 1]]:
                if positive[i] != of_class:
                    continue
                rows[place] = i
                if before > 0.0:
                    inverse[place] = 1.0 / before
                if of_class:
                    root[place] = np.sqrt(weights[i] * before)
                    after -= weights[i]
                else:
                    total = before + weights[i]
                    if before > 0.0:
                        root[place] = np.sqrt(max(after, 0.0) * weights[i] * (before / total))
                    added[place], before = weights[i], total
                place += 1
    return rows, root, inverse, added


@compiled_fast
def pair_factors(columns, rows, root, inverse, added, out):
    """Write Y, with a row per column of the data, four at a time, and zeros after their ends.

    The loss ignores constants. They are subtracted, so that the Hessian suffers no cancellation.
    """
    n_rows, last = len(rows), len(columns) - 1
    for k in range(0, len(columns), 4):
        x0, x1 = columns[k], columns[min(k + 1, last)]
        x2, x3 = columns[min(k + 2, last)], columns[min(k + 3, last)]
        y0, y1, y2, y3 = out[k], out[k + 1], out[k + 2], out[k + 3]
        total0 = total1 = total2 = total3 = 0.0
        for place in range(n_rows):
            i, by, share, more = rows[place], root[place], inverse[place], added[place]
            v0, v1, v2, v3 = x0[i] - x0[0], x1[i] - x1[0], x2[i] - x2[0], x3[i] - x3[0]
            y0[place] = by * (v0 - share * total0)
            y1[place] = by * (v1 - share * total1)
            y2[place] = by * (v2 - share * total2)
            y3[place] = by * (v3 - share * total3)
            total0 += more * v0
            total1 += more * v1
            total2 += more * v2
            total3 += more * v3
        out[k : k + 4, n_rows:] = 0.0


@compiled_fast
def row_products(rows, size):
    """Return the inner products of the first ``size`` rows."""
    out = np.zeros((size, size))
    add_row_products(rows, out)
    mirror(out)
    return out


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
def _moved(vector, length, direction):
    out = np.empty(len(vector))
    for k in range(len(out)):
        out[k] = vector[k] + length * direction[k]
    return out


@compiled_fast
def _objective(w, C_pair, loss):
    return 0.5 * inner(w, w) + 0.5 * C_pair * loss


@compiled_fast
def weigh_columns(columns, weights):
    """Return the sum of the columns, each times its weight."""
    out = np.zeros(columns.shape[1])
    for k in range(len(columns)):
        for i in range(len(out)):
            out[i] += weights[k] * columns[k, i]
    return out


@compiled_fast
def column_products(columns, values):
    """Return the inner product of each column with one value per row."""
    out = np.empty(len(columns))
    for k in range(len(columns)):
        out[k] = inner(columns[k], values)
    return out


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
    inverse = np.zeros(factor.shape)
    for i in range(len(factor)):
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
