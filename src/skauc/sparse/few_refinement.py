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
from skauc.shaped_rbf import add_norm_derivatives
from skauc.solvers.few_rows import factorise_in_place, inner, minimise_few, product


@compiled_fast
def exponents(X, centres, metric, gammas):
    """Return -gamma |s * (x - z)|^2 for all rows x, and then for all centres x.

    The second result is False if differences are needed to tell a centre from its neighbours. See
    `skauc.kernels.CentredRBF`, whose formula it uses.
    """
    (n_rows, n_features), n_centres = X.shape, len(centres)
    widest = np.argmax(gammas)
    origin = np.zeros(n_features)
    for k in range(n_centres):
        for j in range(n_features):
            origin[j] += centres[k, j] / n_centres
    left = np.empty((n_rows + n_centres, n_features + 2))
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
    return np.dot(left, right), is_near


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
):
    """Return E, the weights, coefficients, factor, derivatives, and whether all went well.

    ``values`` are the kernel at the rows and then at the centres, ``ridge`` is added to the Gram
    matrix. ``linear`` and ``coef`` are the solution to start from. ``centres`` are relative to the
    origin of ``powers``. The derivatives are those by the centres and by the logarithm of the
    metric.
    """
    n_rows, n_centres, n_linear = len(positive), len(gammas), len(linear)
    by_centre, by_metric = np.empty(metric.shape), np.empty(metric.shape)
    gram = _gram(values[n_rows:], gammas)
    factor = gram.copy()
    for k in range(n_centres):
        factor[k, k] += ridge
    if not factorise_in_place(factor):
        return 0.0, coef, coef, factor, by_centre, by_metric, False
    columns = np.empty((n_rows, n_linear + n_centres))
    columns[:, :n_linear] = linear_columns
    columns[:, n_linear:] = np.dot(values[:n_rows], inverse_of(factor).T)
    start = np.empty(n_linear + n_centres)
    start[:n_linear] = linear
    for k in range(n_centres):
        start[n_linear + k] = inner(factor[k:, k], coef[k:])
    scores = product(columns, start)
    w, value, scores, _, is_fine = minimise_few(
        columns, positive, weights, C_pair, merged, start, scores, tol, max_iter
    )
    found = _solve_upper(factor, w[n_linear:])
    first, second, total = _moments(columns, scores, positive, weights, powers, factor, found)
    is_ridge = np.zeros(n_centres, np.bool_)
    chain_rule(first, total, second, metric, centres, is_ridge, C_pair, by_centre, by_metric)
    add_norm_derivatives(metric, centres, found, gram, by_centre, by_metric)
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
def inverse_of(factor):
    """Return the inverse of a lower triangular matrix."""
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
def _solve_upper(factor, right):
    """Return L^-T right."""
    out = right.copy()
    for i in range(len(out) - 1, -1, -1):
        out[i] /= factor[i, i]
        for j in range(i):
            out[j] -= factor[i, j] * out[i]
    return out


@compiled_fast
def _moments(columns, scores, positive, weights, powers, factor, coef):
    """Return the sums of `skauc.engines.passes.moments`: first, second and total."""
    cell, above, below, _, origin = statistics_by_rank(scores, positive, weights)
    slopes = residuals(scores, origin, positive, weights, cell, above, below)
    n_centres, n_features = len(coef), (powers.shape[1] - 1) // 2
    n_linear = columns.shape[1] - n_centres
    packed = np.empty((len(slopes), n_centres))
    for i in range(len(slopes)):
        for k in range(n_centres):
            packed[i, k] = slopes[i] * columns[i, n_linear + k]
    left = np.empty(factor.shape)
    for i in range(n_centres):
        for k in range(n_centres):
            left[i, k] = coef[i] * factor[i, k]
    sums = np.dot(left, np.dot(packed.T, powers))
    return sums[:, :n_features], sums[:, n_features:-1], sums[:, -1]


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
