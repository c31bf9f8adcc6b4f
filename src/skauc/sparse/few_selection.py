"""Forward selection on few rows, in compiled calls.

`select_from_few` follows `skauc.sparse.forward`. It keeps the rests of all candidates, one column
each. It multiplies by the Hessian of the loss only what the choice needs: the columns of the basis,
the diagonal of the candidates, and the candidates that are chosen.
"""

from __future__ import annotations

import numpy as np

from skauc.compiling import compiled_fast
from skauc.engines import FewRows
from skauc.solvers.few_rows import (
    add_up_rows,
    curved_rows,
    factorise_in_place,
    inner,
    solve_few,
    solve_lower_few,
    solve_lower_into,
    times,
    transposed_inverse_of,
    transposed_times,
    without_constant,
)
from skauc.solvers.newton import Point
from skauc.sparse.forward import NEGLIGIBLE_GAIN, Selected, best_candidate
from skauc.sparse.gains import Candidates
from skauc.sparse.objective import Objective


def select_from_few(
    objective: Objective, point: Point, candidates: Candidates, rows: FewRows, n_most: int
) -> Selected | None:
    """Return up to ``n_most`` candidates; None if there is none, or any difficulty."""
    size, C_pair = len(point.weights), objective.C_pair
    columns, coordinates = rows.columns_of(size), candidates.projection.coordinates
    values = candidates.kernel.columns(candidates.centres, np.float64, rows.scratch)(rows.X)
    raw, rests, curved = (rows.room(name, len(candidates)) for name in ("raw", "rests", "curved"))
    np.subtract(values, np.matmul(columns, coordinates, out=raw), out=raw)
    gram = candidates.gram() - coordinates.T @ coordinates
    state = point.state
    curvature, cell = state.curvature(0, len(rows.positive)), state.statistics.cells.cell
    of_rows = state.residual, curvature, cell, rows.positive, rows.weights, rows.merged
    room = rows.room("shifted", size), rows.room("curved basis", size), rests, curved
    hessian, mixed, gradient, slopes = _derivatives(
        columns, raw, *of_rows, C_pair, point.weights, *room
    )
    chosen, products, is_fine = _choose(
        rests,
        curved,
        hessian,
        mixed,
        gradient,
        slopes,
        gram,
        candidates.projection.smallest,
        NEGLIGIBLE_GAIN * point.value,
        C_pair,
        n_most,
    )
    if not is_fine or len(chosen) == 0:
        return None
    factor, step, slope, is_fine = _addition(
        hessian, mixed, gradient, slopes, gram, products, chosen
    )
    return Selected(chosen, factor, step, slope) if is_fine else None


@compiled_fast
def _derivatives(
    columns,
    raw,
    residual,
    curvature,
    cell,
    positive,
    weights,
    merged,
    C_pair,
    w,
    x,
    curved_x,
    rests,
    curved,
):
    """Return the Hessian over the basis, that of candidates by basis, and both gradients.

    The columns of the basis and of the candidates, ``raw``, are written without a constant to ``x``
    and ``rests``, and times the Hessian of the loss by the scores to the arrays named curved.
    """
    gradient, slopes = add_up_rows(columns, residual), add_up_rows(raw, residual)
    # The loss ignores constants. Without them, the Hessian suffers no cancellation.
    without_constant(columns, x)
    without_constant(raw, rests)
    curved_rows(x, cell, merged, curvature, positive, weights, curved_x)
    curved_rows(rests, cell, merged, curvature, positive, weights, curved)
    hessian = transposed_times(x, curved_x, np.empty((len(w), len(w))))
    mixed = transposed_times(rests, curved_x, np.empty((len(slopes), len(w))))
    for k in range(len(w)):
        gradient[k] = w[k] + C_pair * gradient[k]
        for j in range(len(w)):
            hessian[k, j] *= C_pair
        hessian[k, k] += 1.0
    for q in range(len(slopes)):
        slopes[q] *= C_pair
        for k in range(len(w)):
            mixed[q, k] *= C_pair
    return hessian, mixed, gradient, slopes


@compiled_fast
def _choose(rests, curved, hessian, mixed, gradient, slopes, gram, smallest, least, C_pair, n_most):
    """Return the chosen candidates, their rows of the Hessian of the loss, and whether all is well.

    See `skauc.sparse.forward.select_forward`.
    """
    n_all, factor = len(slopes), hessian.copy()
    n_most = min(n_most, n_all)
    chosen, products = np.empty(n_most, np.int64), np.empty((n_most, n_all))
    if not factorise_in_place(factor):
        return chosen, products, False
    # Eliminate the basis.
    crossed, reduced = np.empty(mixed.shape), solve_lower_few(factor, gradient)
    column = np.empty(len(curved))
    T, D, g = _column_products(rests, curved), np.empty(n_all), np.empty(n_all)
    for q in range(n_all):
        solve_lower_into(factor, mixed[q], crossed[q])
        D[q] = gram[q, q]
        T[q] = D[q] + C_pair * T[q] - inner(crossed[q], crossed[q])
        g[q] = slopes[q] - inner(crossed[q], reduced)
        if not (np.isfinite(T[q]) and np.isfinite(g[q])):
            return chosen, products, False
    T_rows, D_rows, is_free = np.empty((n_most, n_all)), np.empty((n_most, n_all)), np.ones(n_all)
    for place in range(n_most):
        best = best_candidate(T, g, D, smallest, least, is_free)
        if best < 0:
            return chosen[:place], products[:place], True
        chosen[place] = best
        is_free[best] = 0.0
        pivot, rest, slope = max(T[best], D[best]), D[best], g[best]
        for i in range(len(column)):
            column[i] = curved[i, best]
        product = add_up_rows(rests, column)
        T_row, D_row = T_rows[place], D_rows[place]
        for q in range(n_all):
            products[place, q] = C_pair * product[q]
            D_row[q] = gram[best, q]
            T_row[q] = D_row[q] + products[place, q] - inner(crossed[best], crossed[q])
        for r in range(place):
            for q in range(n_all):
                T_row[q] -= T_rows[r, best] * T_rows[r, q]
            for q in range(n_all):
                D_row[q] -= D_rows[r, best] * D_rows[r, q]
        for q in range(n_all):
            g[q] -= T_row[q] / pivot * slope
            T_row[q] /= np.sqrt(pivot)
            T[q] -= T_row[q] * T_row[q]
            D_row[q] /= np.sqrt(rest)
            D[q] -= D_row[q] * D_row[q]
    return chosen, products, True


@compiled_fast
def _column_products(first, second):
    """Return the inner product of each column of one matrix with that of another."""
    out = np.zeros(first.shape[1])
    for i in range(len(first)):
        for q in range(len(out)):
            out[q] += first[i, q] * second[i, q]
    return out


@compiled_fast
def _addition(hessian, mixed, gradient, slopes, gram, products, chosen):
    """Return the factor of the rests of the chosen, the Newton step with them, and its slope.

    The step is in the coordinates of the extended orthonormal basis. The last result tells whether
    all went well.
    """
    size, n_new = len(gradient), len(chosen)
    n_all = size + n_new
    factor, extended, slope = np.empty((n_new, n_new)), np.zeros((n_all, n_all)), np.empty(n_all)
    block, own = np.empty((n_new, n_new)), np.empty((n_new, size))
    for i in range(n_new):
        for k in range(size):
            own[i, k] = mixed[chosen[i], k]
        for k in range(n_new):
            factor[i, k], block[i, k] = gram[chosen[i], chosen[k]], products[i, chosen[k]]
    if not factorise_in_place(factor):
        return factor, slope, 0.0, False
    # The inverse is upper triangular.
    inverse = transposed_inverse_of(factor)
    own = transposed_times(inverse, own, np.empty(own.shape))
    block = transposed_times(inverse, times(block, inverse, np.empty(block.shape)), block.copy())
    for i in range(size):
        slope[i] = gradient[i]
        for k in range(i + 1):
            extended[i, k] = hessian[i, k]
    for i in range(n_new):
        for k in range(size):
            extended[size + i, k] = own[i, k]
        for k in range(i + 1):
            extended[size + i, size + k] = block[i, k]
        extended[size + i, size + i] += 1.0
        slope[size + i] = 0.0
        for k in range(i + 1):
            slope[size + i] += inverse[k, i] * slopes[chosen[k]]
    if not factorise_in_place(extended):
        return factor, slope, 0.0, False
    step = solve_few(extended, slope)
    return factor, step, inner(slope, step), True
