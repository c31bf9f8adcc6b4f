"""Refinement on few rows: E(shape) and its gradient in two compiled calls.

They follow `skauc.sparse.refinement` for round centres that share their scales. `exponents` gives
those of the kernel, and NumPy takes the exponentials. `solve_shape` factorises the Gram matrix,
makes the columns orthonormal, optimises the coefficients, and finds the gradient.
"""

from __future__ import annotations

import numpy as np

from skauc.compiling import compiled_fast
from skauc.kernels import FLOAT64_REACH
from skauc.losses.pairs import residuals, statistics_by_rank
from skauc.solvers.few_rows import (
    factorise_in_place,
    inverse_of,
    minimise_few,
    solve_upper_few,
    times,
    weigh_columns,
)


@compiled_fast
def exponents(columns, centres, metric, gammas, left, out, gram):
    """Write -gamma |s * (x - z)|^2, by centre, for all rows x, and to ``gram`` for all centres x.

    ``columns`` are those of the features. Return False if differences are needed to tell a centre
    from its neighbours. See `skauc.kernels.CentredRBF`, whose formula it uses. ``left`` is room
    for the first factor.
    """
    n_centres, n_features = centres.shape
    widest, origin = 0, np.zeros(n_features)
    for k in range(n_centres):
        widest = k if gammas[k] > gammas[widest] else widest
        for j in range(n_features):
            origin[j] += centres[k, j] / n_centres
    own = np.empty((n_features + 2, n_centres))
    _augment(columns, origin, metric[widest], left)
    _augment(centres.T, origin, metric[widest], own)
    right, is_near = np.empty((n_centres, n_features + 2)), True
    for k in range(n_centres):
        ratio = gammas[k] / gammas[widest]
        for j in range(n_features):
            right[k, j] = 2 * ratio * own[j, k]
        right[k, n_features] = -ratio
        right[k, n_features + 1] = -ratio * own[n_features, k]
        is_near = is_near and own[n_features, k] <= FLOAT64_REACH
    times(right, left, out)
    times(right, own, gram)
    return is_near


@compiled_fast
def _augment(columns, origin, scales, out):
    """Write x, |x|^2 and 1 below each other, with x = scales * (row - origin)."""
    n_features, n_rows = columns.shape
    for i in range(n_rows):
        out[n_features, i] = 0.0
        out[n_features + 1, i] = 1.0
    for j in range(n_features):
        for i in range(n_rows):
            out[j, i] = (columns[j, i] - origin[j]) * scales[j]
        for i in range(n_rows):
            out[n_features, i] += out[j, i] * out[j, i]


@compiled_fast
def powers_of(X, origin):
    """Return [x, x^2, 1] for each row, relative to an origin."""
    n_rows, n_features = X.shape
    powers = np.empty((n_rows, 2 * n_features + 1))
    for i in range(n_rows):
        for j in range(n_features):
            powers[i, j] = X[i, j] - origin[j]
        for j in range(n_features):
            powers[i, n_features + j] = powers[i, j] * powers[i, j]
        powers[i, 2 * n_features] = 1.0
    return powers


@compiled_fast
def solve_shape(
    values,
    gram,
    gammas,
    gram_ridge,
    linear,
    coef,
    columns,
    positive,
    row_weights,
    C_pair,
    merged,
    tol,
    max_iter,
    factors,
    powers,
    metric,
    centres,
):
    """Optimise the coefficients of a shape, starting from ``linear`` and ``coef``.

    See `_place` for the first arguments, and `skauc.solvers.few_rows.minimise_few` for those from
    ``columns`` to ``factors``. ``centres`` are relative to the origin of ``powers``. Return the
    objective, the factor of the Gram matrix, both kinds of coefficients, the derivatives by the
    centres and by the log of the metric, and whether all went well.
    """
    n_linear = len(linear)
    by_centre, by_metric = np.empty(metric.shape), np.empty(metric.shape)
    factor, start, scores, is_fine = _place(values, gram, gammas, gram_ridge, linear, coef, columns)
    if not is_fine:
        return 0.0, factor, linear, coef, by_centre, by_metric, False
    weights, value, scores, _, is_fine = minimise_few(
        columns,
        positive,
        row_weights,
        C_pair,
        merged,
        start,
        scores,
        tol,
        max_iter,
        factors,
    )
    if not is_fine:
        return value, factor, linear, coef, by_centre, by_metric, False
    cell, above, below, _, origin = statistics_by_rank(scores, positive, row_weights)
    slopes = residuals(scores, origin, positive, row_weights, cell, above, below)
    new_linear, new_coef = weights[:n_linear], solve_upper_few(factor, weights[n_linear:])
    first, second, total = _moments(columns[n_linear:], slopes, powers, factor, new_coef)
    is_ridge = np.zeros(len(new_coef), np.bool_)
    chain_rule(first, total, second, metric, centres, is_ridge, C_pair, by_centre, by_metric)
    add_shared_norm_derivatives(metric, centres, new_coef, gram, by_centre, by_metric)
    return value, factor, new_linear, new_coef, by_centre, by_metric, True


@compiled_fast
def _place(values, gram, gammas, ridge, linear, coef, columns):
    """Write the orthonormal columns; return the factor of the Gram matrix, weights and scores.

    ``values`` are those of the kernel by centre and row, ``gram`` those at the centres, of which
    those of different widths are set to zero. ``ridge`` is added to the diagonal of the matrix. The
    weights are those of ``linear`` and ``coef``. The columns of the centres are written after those
    of the linear term, which are there. The last result is False if the matrix has no factor.
    """
    n_centres, n_linear = len(gammas), len(linear)
    start, own, half = np.empty(len(columns)), columns[n_linear:], n_centres // 2
    for i in range(n_centres):
        for k in range(n_centres):
            if gammas[i] != gammas[k]:
                gram[i, k] = 0.0
    factor = gram.copy()
    for k in range(n_centres):
        factor[k, k] += ridge
    if not factorise_in_place(factor):
        return factor, start, start, False
    # The inverse is triangular: its upper half needs half of the values.
    inverse = inverse_of(factor)
    if half:
        times(inverse[:half, :half].copy(), values[:half], own[:half])
    times(inverse[half:], values, own[half:])
    for k in range(n_linear):
        start[k] = linear[k]
    for k in range(n_centres):
        total = 0.0
        for i in range(k, n_centres):
            total += factor[i, k] * coef[i]
        start[n_linear + k] = total
    return factor, start, weigh_columns(columns, start), True


@compiled_fast
def _moments(columns, residual, powers, factor, coef):
    """Return the sums of `skauc.engines.passes.moments`: first, second and total.

    The columns are multiplied by the residuals in place.
    """
    n_centres, n_features = len(coef), (powers.shape[1] - 1) // 2
    for k in range(n_centres):
        for i in range(len(residual)):
            columns[k, i] *= residual[i]
    left = np.empty(factor.shape)
    for i in range(n_centres):
        for k in range(n_centres):
            left[i, k] = coef[i] * factor[i, k]
    shape = n_centres, powers.shape[1]
    sums = times(left, times(columns, powers, np.empty(shape)), np.empty(shape))
    return sums[:, :n_features], sums[:, n_features:-1], sums[:, -1]


@compiled_fast
def add_shared_norm_derivatives(metric, centres, coef, gram, by_centre, by_metric):
    """Add the derivatives of 1/2 sum_ik coef_i coef_k gram_ik by centres and log metric.

    Rows of the metric are equal, or the centres are orthogonal. See
    `skauc.shaped_rbf.add_norm_derivatives` for rows that differ.
    """
    products = np.empty(gram.shape)
    for i in range(len(coef)):
        for k in range(len(coef)):
            products[i, k] = coef[i] * coef[k] * gram[i, k]
        products[i, i] = 0.0
    n_features = metric.shape[1]
    powers = powers_of(centres, np.zeros(n_features))
    sums = times(products, powers, np.empty(powers.shape))
    for k in range(len(coef)):
        total = sums[k, 2 * n_features]
        for j in range(n_features):
            moved = sums[k, j] - total * centres[k, j]
            spread = sums[k, n_features + j] - centres[k, j] * (sums[k, j] + moved)
            by_centre[k, j] += 2 * metric[k, j] ** 2 * moved
            by_metric[k, j] -= metric[k, j] ** 2 * spread


@compiled_fast
def chain_rule(first, total, second, metric, centres, is_ridge, C_pair, by_centre, by_metric):
    """Turn moments into derivatives; ``centres`` are relative to the origin of the moments.

    The moments of ridges have a factor u.
    """
    for k in range(len(total)):
        for j in range(metric.shape[1]):
            moved = first[k, j] - total[k] * centres[k, j]
            by_centre[k, j] = 2 * C_pair * metric[k, j] ** 2 * moved
            if is_ridge[k]:
                by_metric[k, j] = -2 * C_pair * moved
            else:
                spread = second[k, j] - centres[k, j] * (first[k, j] + moved)
                by_metric[k, j] = -2 * C_pair * metric[k, j] ** 2 * spread
