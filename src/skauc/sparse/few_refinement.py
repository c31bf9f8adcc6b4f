"""Refinement on few rows: E(shape) and its gradient in a few compiled calls.

They follow `skauc.sparse.refinement` for round centres that share their scales. `exponents` gives
those of the kernel, and NumPy takes the exponentials. `place` factorises the Gram matrix and makes
the columns orthonormal. `skauc.solvers.few_rows.minimise_few` optimises the coefficients, and
`shape_derivatives` finds the gradient.
"""

from __future__ import annotations

import numpy as np

from skauc.compiling import compiled_fast
from skauc.kernels import FLOAT64_REACH
from skauc.losses.pairs import residuals, statistics_by_rank
from skauc.solvers.few_rows import (
    factorise_in_place,
    inverse_of,
    product,
    solve_upper_few,
)


@compiled_fast
def exponents(X, centres, metric, gammas, left, out):
    """Write -gamma |s * (x - z)|^2 for all rows x, and then for all centres x.

    Return False if differences are needed to tell a centre from its neighbours. See
    `skauc.kernels.CentredRBF`, whose formula it uses. ``left`` is room for the first factor.
    """
    (n_rows, n_features), n_centres = X.shape, len(centres)
    widest, origin = 0, np.zeros(n_features)
    for k in range(n_centres):
        widest = k if gammas[k] > gammas[widest] else widest
        for j in range(n_features):
            origin[j] += centres[k, j] / n_centres
    _augment(X, origin, metric[widest], left[:n_rows])
    _augment(centres, origin, metric[widest], left[n_rows:])
    right, is_near = np.empty((n_features + 2, n_centres)), True
    for k in range(n_centres):
        z, ratio = left[n_rows + k], gammas[k] / gammas[widest]
        for j in range(n_features):
            right[j, k] = 2 * ratio * z[j]
        right[n_features, k] = -ratio
        right[n_features + 1, k] = -ratio * z[n_features]
        is_near = is_near and z[n_features] <= FLOAT64_REACH
    np.dot(left, right, out)
    return is_near


@compiled_fast
def _augment(rows, origin, scales, out):
    """Write [x, |x|^2, 1] with x = scales * (row - origin)."""
    n_features = len(origin)
    for i in range(len(rows)):
        for j in range(n_features):
            out[i, j] = (rows[i, j] - origin[j]) * scales[j]
        square = 0.0
        for j in range(n_features):
            square += out[i, j] * out[i, j]
        out[i, n_features] = square
        out[i, n_features + 1] = 1.0


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
def place(values, gammas, ridge, linear_columns, linear, coef, kernel_columns, columns):
    """Write the orthonormal columns; return the Gram matrix, its factor, weights and scores.

    ``values`` are the kernel at the rows and then at the centres. ``ridge`` is added to the
    diagonal of the Gram matrix. The weights are those of ``linear`` and ``coef``. The columns of
    the centres are written to ``kernel_columns``, and after those of the linear term to
    ``columns``. The last result is False if the Gram matrix has no factor.
    """
    n_centres, n_linear = len(gammas), len(linear)
    n_rows, start = len(columns), np.empty(n_linear + n_centres)
    gram = _gram(values[n_rows:], gammas)
    factor = gram.copy()
    for k in range(n_centres):
        factor[k, k] += ridge
    if not factorise_in_place(factor):
        return gram, factor, start, start, False
    np.dot(values[:n_rows], inverse_of(factor).T, kernel_columns)
    for i in range(n_rows):
        for k in range(n_linear):
            columns[i, k] = linear_columns[i, k]
        for k in range(n_centres):
            columns[i, n_linear + k] = kernel_columns[i, k]
    for k in range(n_linear):
        start[k] = linear[k]
    for k in range(n_centres):
        total = 0.0
        for i in range(k, n_centres):
            total += factor[i, k] * coef[i]
        start[n_linear + k] = total
    return gram, factor, start, product(columns, start), True


@compiled_fast
def shape_derivatives(
    weights, scores, positive, row_weights, C_pair, powers, gram, factor, columns, metric, centres
):
    """Return the coefficients, and the derivatives by the centres and by the log of the metric.

    ``weights`` are those of the columns of the centres, which are overwritten. ``centres`` are
    relative to the origin of ``powers``.
    """
    coef = solve_upper_few(factor, weights)
    by_centre, by_metric = np.empty(metric.shape), np.empty(metric.shape)
    first, second, total = _moments(columns, scores, positive, row_weights, powers, factor, coef)
    is_ridge = np.zeros(len(coef), np.bool_)
    chain_rule(first, total, second, metric, centres, is_ridge, C_pair, by_centre, by_metric)
    _add_norm_derivatives(metric, centres, coef, gram, by_centre, by_metric)
    return coef, by_centre, by_metric


@compiled_fast
def _gram(values, gammas):
    """Return the Gram matrix: centres of different widths are orthogonal."""
    gram = values.copy()
    for i in range(len(gammas)):
        for k in range(len(gammas)):
            if gammas[i] != gammas[k]:
                gram[i, k] = 0.0
    return gram


@compiled_fast
def _moments(columns, scores, positive, weights, powers, factor, coef):
    """Return the sums of `skauc.engines.passes.moments`: first, second and total.

    The columns are multiplied by the residuals in place.
    """
    cell, above, below, _, origin = statistics_by_rank(scores, positive, weights)
    slopes = residuals(scores, origin, positive, weights, cell, above, below)
    n_centres, n_features = len(coef), (powers.shape[1] - 1) // 2
    for i in range(len(slopes)):
        for k in range(n_centres):
            columns[i, k] *= slopes[i]
    left = np.empty(factor.shape)
    for i in range(n_centres):
        for k in range(n_centres):
            left[i, k] = coef[i] * factor[i, k]
    sums = np.dot(left, np.dot(columns.T, powers))
    return sums[:, :n_features], sums[:, n_features:-1], sums[:, -1]


@compiled_fast
def _add_norm_derivatives(metric, centres, coef, gram, by_centre, by_metric):
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
    sums = np.dot(products, powers_of(centres, np.zeros(n_features)))
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
