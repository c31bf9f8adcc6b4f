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
from skauc.row_products import times
from skauc.solvers.few_rows import (
    factorise_in_place,
    inverse_of,
    minimise_few,
    row_products,
    solve_upper_few,
    weigh_columns,
)


@compiled_fast
def exponents(features, centres, metric, gammas, room, out, gram):
    """Write -gamma |s * (x - z)|^2, by centre, for all rows x, and to ``gram`` for all centres x.

    ``features`` has a row per feature. Rows and centres are relative to the same point near the
    centres. ``room`` holds two arrays as large as the centres, with a multiple of four rows. Return
    False if differences are needed to tell a centre from its neighbours. See
    `skauc.kernels.CentredRBF`.
    """
    n_centres, n_features = centres.shape
    n_rows, narrowest, is_near = features.shape[1], np.max(gammas), True
    left, scaled, scales = room[0, :n_centres], room[1], metric[0] / np.sqrt(gammas[0])
    scaled[n_centres:] = 0.0
    for k in range(n_centres):
        for j in range(n_features):
            scaled[k, j] = scales[j] * centres[k, j]
            left[k, j] = 2 * gammas[k] * scales[j] * scaled[k, j]
    times(left, features, out)
    products, squares = row_products(scaled, n_centres), np.zeros(n_rows)
    for j in range(n_features):
        for i in range(n_rows):
            squares[i] += scales[j] * scales[j] * features[j, i] * features[j, i]
    for k in range(n_centres):
        own = products[k, k]
        is_near = is_near and own * narrowest <= FLOAT64_REACH
        for i in range(n_rows):
            out[k, i] -= gammas[k] * (squares[i] + own)
        for i in range(n_centres):
            gram[k, i] = gammas[k] * (2 * products[k, i] - products[i, i] - own)
    return is_near


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
    rows,
    features,
    metric,
    centres,
    room,
):
    """Optimise the coefficients of a shape, starting from ``linear`` and ``coef``.

    See `_place` for the first arguments, and `skauc.solvers.few_rows.minimise_few` for those from
    ``columns`` to ``factors``. ``features`` are the ``rows``, transposed; ``room`` holds two arrays
    as large as the centres. Return the objective, the factor of the Gram matrix, both kinds of
    coefficients, the derivatives by the centres and by the logarithms of the shared scales, and
    whether all went well.
    """
    n_linear = len(linear)
    by_centre, by_scale = np.zeros(metric.shape), np.zeros(metric.shape[1])
    factor, start, scores, is_fine = _place(values, gram, gammas, gram_ridge, linear, coef, columns)
    if not is_fine:
        return 0.0, factor, linear, coef, by_centre, by_scale, False
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
        return value, factor, linear, coef, by_centre, by_scale, False
    cell, above, below, _, origin = statistics_by_rank(scores, positive, row_weights)
    slopes = residuals(scores, origin, positive, row_weights, cell, above, below)
    new_linear, new_coef = weights[:n_linear], solve_upper_few(factor, weights[n_linear:])
    _add_loss_derivatives(
        columns[n_linear:],
        slopes,
        factor,
        new_coef,
        gammas,
        C_pair,
        rows,
        features,
        metric,
        centres,
        room,
        by_centre,
        by_scale,
    )
    add_shared_norm_derivatives(metric, centres, new_coef, gram, by_centre, by_scale)
    return value, factor, new_linear, new_coef, by_centre, by_scale, True


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
def _add_loss_derivatives(
    columns,
    slopes,
    factor,
    coef,
    gammas,
    C_pair,
    rows,
    features,
    metric,
    centres,
    room,
    by_centre,
    by_scale,
):
    """Add the derivatives of the loss by centres and log scales.

    They are those of `chain_rule`, from the moments of `skauc.engines.passes.moments`. Of the
    second moments, only the sum over the centres is needed, so they are no matrix product. The
    columns are multiplied by the slopes in place.
    """
    n_centres, n_features = centres.shape
    left, total, by_width = np.empty(factor.shape), np.zeros(n_centres), np.zeros(n_centres)
    for k in range(n_centres):
        for i in range(len(slopes)):
            columns[k, i] *= slopes[i]
    for i in range(n_centres):
        for k in range(n_centres):
            left[i, k] = coef[i] * factor[i, k]
            by_width[k] += gammas[i] * left[i, k]
    first = times(left, times(columns, rows, room[0, :n_centres]), room[1, :n_centres])
    for k in range(n_centres):
        column = 0.0
        for i in range(len(slopes)):
            column += columns[k, i]
        for i in range(n_centres):
            total[i] += left[i, k] * column
    # Sums over the centres, times gamma, of the factor of x^2 in the second moments.
    of_rows = weigh_columns(columns, by_width)
    for k in range(n_centres):
        for j in range(n_features):
            moved = first[k, j] - total[k] * centres[k, j]
            by_centre[k, j] += 2 * C_pair * metric[k, j] ** 2 * moved
            spread = centres[k, j] * (first[k, j] + moved)
            by_scale[j] += 2 * C_pair * metric[k, j] ** 2 * spread
    for j in range(n_features):
        second = 0.0
        for i in range(len(of_rows)):
            second += of_rows[i] * features[j, i] * features[j, i]
        by_scale[j] -= 2 * C_pair * metric[0, j] ** 2 / gammas[0] * second


@compiled_fast
def add_shared_norm_derivatives(metric, centres, coef, gram, by_centre, by_scale):
    """Add the derivatives of 1/2 sum_ik coef_i coef_k gram_ik by centres and shared log scales.

    Rows of the metric are equal, or the centres are orthogonal. See
    `skauc.shaped_rbf.add_norm_derivatives` for rows that differ.
    """
    n_centres, n_features = centres.shape
    products, total = np.empty(gram.shape), np.zeros(n_centres)
    for i in range(n_centres):
        for k in range(n_centres):
            products[i, k] = coef[i] * coef[k] * gram[i, k] if i != k else 0.0
            total[i] += products[i, k]
    sums = times(products, centres, np.empty(centres.shape))
    for k in range(n_centres):
        for j in range(n_features):
            square, z = metric[k, j] ** 2, centres[k, j]
            by_centre[k, j] += 2 * square * (sums[k, j] - total[k] * z)
            by_scale[j] -= 2 * square * z * (total[k] * z - sums[k, j])


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
