"""Refinement on few rows: E(shape) and its gradient in two compiled calls.

They follow `skauc.sparse.refinement` for round centres that share their scales. The first call,
`exponents`, gives those of the kernel. NumPy takes the exponentials. The second call, `evaluate`,
factorises the Gram matrix, optimises the coefficients (`skauc.solvers.few_rows`) and finds the
gradient.
"""

from __future__ import annotations

import numpy as np

from skauc.compiling import compiled_fast
from skauc.kernels import FLOAT64_REACH
from skauc.losses.pairs import residuals, statistics_by_rank
from skauc.solvers.few_rows import (
    factorise_in_place,
    inner,
    inverse_of,
    minimise_few,
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
    widest = np.argmax(gammas)
    origin = np.zeros(n_features)
    for k in range(n_centres):
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
        out[i, n_features] = inner(out[i, :n_features], out[i, :n_features])
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
def evaluate(
    values,
    gammas,
    ridge,
    linear_columns,
    positive,
    weights,
    merged,
    C_pair,
    linear,
    coef,
    tol,
    max_iter,
    powers,
    metric,
    centres,
    columns,
    packed,
    shifted,
    curved,
):
    """Return E, the weights, coefficients, factor, derivatives, and whether all went well.

    ``values`` are the kernel at the rows and then at the centres, ``ridge`` is added to the Gram
    matrix. ``linear`` and ``coef`` are the solution to start from. ``centres`` are relative to the
    origin of ``powers``. The derivatives are those by the centres and by the logarithm of the
    metric. The last four arguments are room for one number per row and column.
    """
    n_rows, n_centres, n_linear = len(positive), len(gammas), len(linear)
    by_centre, by_metric = np.empty(metric.shape), np.empty(metric.shape)
    gram = _gram(values[n_rows:], gammas)
    factor = gram.copy()
    for k in range(n_centres):
        factor[k, k] += ridge
    if not factorise_in_place(factor):
        return 0.0, coef, coef, factor, by_centre, by_metric, False
    np.dot(values[:n_rows], inverse_of(factor).T, packed)
    for i in range(n_rows):
        for k in range(n_linear):
            columns[i, k] = linear_columns[i, k]
        for k in range(n_centres):
            columns[i, n_linear + k] = packed[i, k]
    start = np.empty(n_linear + n_centres)
    start[:n_linear] = linear
    for k in range(n_centres):
        start[n_linear + k] = inner(factor[k:, k], coef[k:])
    scores = product(columns, start)
    w, value, scores, _, is_fine = minimise_few(
        columns, positive, weights, C_pair, merged, start, scores, tol, max_iter, shifted, curved
    )
    found = solve_upper_few(factor, w[n_linear:])
    first, second, total = _moments(packed, scores, positive, weights, powers, factor, found)
    is_ridge = np.zeros(n_centres, np.bool_)
    chain_rule(first, total, second, metric, centres, is_ridge, C_pair, by_centre, by_metric)
    _add_norm_derivatives(metric, centres, found, gram, by_centre, by_metric)
    return value, w, found, factor, by_centre, by_metric, is_fine


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
