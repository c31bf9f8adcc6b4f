"""Forward selection on few rows, in compiled calls.

`select_from_few` follows `skauc.sparse.forward`. Of the Hessian of the loss over the candidates, it
computes only what the choice needs: the diagonal, and the rows of those that are chosen.
"""

from __future__ import annotations

import numpy as np

from skauc.compiling import compiled_fast
from skauc.engines import FewRows
from skauc.row_products import inner, times
from skauc.solvers.few_rows import (
    column_products,
    factorise_in_place,
    inverse_of,
    pair_factors,
    pair_roots,
    row_products,
    solve_few,
    solve_lower_few,
    solve_lower_into,
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
    rests = rows.room("rests", len(candidates))
    np.matmul(coordinates.T, columns, out=rests)
    gram = candidates.gram() - coordinates.T @ coordinates
    factors = rows.factors("factors", size)
    own_factors = rows.factors("own factors", len(candidates))
    hessian, mixed, gradient, slopes = _derivatives(
        columns,
        values,
        point.state.residual,
        point.state.statistics.cells.cell,
        rows.merged,
        rows.positive,
        rows.weights,
        C_pair,
        point.weights,
        rests,
        factors,
        own_factors,
    )
    chosen, products, is_fine = _choose(
        own_factors,
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
    values,
    residual,
    cell,
    merged,
    positive,
    weights,
    C_pair,
    w,
    rests,
    factors,
    own_factors,
):
    """Return the Hessian over the basis, that of candidates by basis, and both gradients.

    ``rests`` are the parts of ``values`` in the span of the basis, and become what is left of them.
    The factors of the Hessian of the loss are written for the basis and for the candidates.
    """
    _subtract(values, rests)
    gradient, slopes = column_products(columns, residual), column_products(rests, residual)
    order, root, inverse, added = pair_roots(cell, merged, positive, weights)
    pair_factors(columns, order, root, inverse, added, factors)
    pair_factors(rests, order, root, inverse, added, own_factors)
    hessian = row_products(factors, len(w))
    mixed = times(own_factors, factors.T, np.empty((len(own_factors), len(factors))))
    for k in range(len(w)):
        gradient[k] = w[k] + C_pair * gradient[k]
        for j in range(len(w)):
            hessian[k, j] *= C_pair
        hessian[k, k] += 1.0
    for q in range(len(slopes)):
        slopes[q] *= C_pair
        for k in range(len(w)):
            mixed[q, k] *= C_pair
    return hessian, mixed[: len(slopes), : len(w)].copy(), gradient, slopes


@compiled_fast
def _subtract(values, rests):
    """Replace the rests by the transposed values minus the rests, in blocks that fit the cache."""
    n_rows, n_all = values.shape
    for first in range(0, n_rows, 8):
        for q in range(n_all):
            for i in range(first, min(first + 8, n_rows)):
                rests[q, i] = values[i, q] - rests[q, i]


@compiled_fast
def _choose(factors, hessian, mixed, gradient, slopes, gram, smallest, least, C_pair, n_most):
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
    T, D, g = np.empty(n_all), np.empty(n_all), np.empty(n_all)
    for q in range(n_all):
        solve_lower_into(factor, mixed[q], crossed[q])
        D[q] = gram[q, q]
        T[q] = D[q] + C_pair * inner(factors[q], factors[q]) - inner(crossed[q], crossed[q])
        g[q] = slopes[q] - inner(crossed[q], reduced)
        if not (np.isfinite(T[q]) and np.isfinite(g[q])):
            return chosen, products, False
    T_rows, D_rows = np.empty((n_most, n_all)), np.empty((n_most, n_all))
    is_free = np.ones(n_all, np.bool_)
    for place in range(n_most):
        best = best_candidate(T, g, D, smallest, least, is_free)
        if best < 0:
            return chosen[:place], products[:place], True
        chosen[place] = best
        is_free[best] = False
        pivot, rest, slope = max(T[best], D[best]), D[best], g[best]
        T_row, D_row = T_rows[place], D_rows[place]
        for q in range(n_all):
            products[place, q] = C_pair * inner(factors[best], factors[q])
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
    inverse = inverse_of(factor)
    own = times(inverse, own, np.empty(own.shape))
    block = times(inverse, times(inverse, block, factor.copy()).T.copy(), block)
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
            slope[size + i] += inverse[i, k] * slopes[chosen[k]]
    if not factorise_in_place(extended):
        return factor, slope, 0.0, False
    step = solve_few(extended, slope)
    return factor, step, inner(slope, step), True
