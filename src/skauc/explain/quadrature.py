"""Shapley values of products, by Gauss-Legendre quadrature.

For one centre, one row with factors a_g and one background row with factors b_g, the Shapley value
of column g in the game v(S) = prod over g in S of a_g * prod over g not in S of b_g is

    phi_g = (a_g - b_g) * integral over t in [0, 1] of prod over i != g of (t a_i + (1 - t) b_i) dt.

The integrand is a polynomial of degree n - 1 in t if n columns differ, so ceil(n / 2) nodes are
exact. Fewer nodes are often exact to rounding, because the product is smooth. The values must add
up to prod a - prod b, which shows whether the nodes suffice: the number of nodes doubles until they
do.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from skauc.compiling import compiled_fast

# Nodes are handled in groups of this size, one register of numbers in compiled code.
WIDTH = 8
# Accepted error of the sum, relative to the largest possible value.
TOLERANCE = 1e-13
# Products below this bound, relative to the largest coefficient, are left out.
NEGLIGIBLE = 1e-16


@cache
def rules(n_columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return quadrature rules that end with an exact one for n columns.

    Rule k has the groups ``ends[k]`` to ``ends[k + 1]`` of nodes and weights.
    """
    sizes = [WIDTH]
    while 2 * sizes[-1] < n_columns:
        sizes.append(2 * sizes[-1])
    parts = [np.polynomial.legendre.leggauss(size) for size in sizes]
    nodes = np.concatenate([(nodes + 1) / 2 for nodes, _ in parts]).reshape(-1, WIDTH)
    weights = np.concatenate([weights / 2 for _, weights in parts]).reshape(-1, WIDTH)
    return np.append(0, np.cumsum(sizes)) // WIDTH, nodes, weights


@compiled_fast
def add_shapley_values(
    row: np.ndarray,
    background: np.ndarray,
    shares: np.ndarray,
    coef: np.ndarray,
    ends: np.ndarray,
    nodes: np.ndarray,
    weights: np.ndarray,
    out: np.ndarray,
) -> None:
    """Add the Shapley values of one row to ``out``, one value per column.

    ``row`` has the factors of the row (centres by columns) and ``background`` those of the
    background rows, whose shares of the weight are in ``shares``.
    """
    n_background, n_centres, n_columns = background.shape
    least = NEGLIGIBLE * np.abs(coef).max() if n_centres else 0.0
    differing = np.empty(n_columns, np.int64)
    lows, steps, values = np.empty(n_columns), np.empty(n_columns), np.empty(n_columns)
    prefix, suffix = np.empty((n_columns + 1, WIDTH)), np.empty(WIDTH)
    for z in range(n_background):
        for m in range(n_centres):
            a, b = row[m], background[z, m]
            constant, bound, n = coef[m], 1.0, 0
            product_a, product_b = 1.0, 1.0
            for g in range(n_columns):
                if a[g] == b[g]:
                    constant *= a[g]
                else:
                    bound *= max(a[g], b[g])
                    product_a *= a[g]
                    product_b *= b[g]
                    lows[n], steps[n], differing[n] = b[g], a[g] - b[g], g
                    n += 1
            if n == 0 or abs(constant) * bound <= least:
                continue
            for rule in range(len(ends) - 1):
                values[:n] = 0.0
                for group in range(ends[rule], ends[rule + 1]):
                    _add_group(n, lows, steps, nodes[group], weights[group], prefix, suffix, values)
                error = abs(values[:n].sum() - (product_a - product_b))
                if error <= TOLERANCE * bound:
                    break
            constant *= shares[z]
            for r in range(n):
                out[differing[r]] += constant * values[r]


@compiled_fast
def _add_group(
    n: int,
    lows: np.ndarray,
    steps: np.ndarray,
    nodes: np.ndarray,
    weights: np.ndarray,
    prefix: np.ndarray,
    suffix: np.ndarray,
    values: np.ndarray,
) -> None:
    """Add the part of one group of nodes to the values of the n columns that differ."""
    for q in range(WIDTH):
        prefix[0, q] = 1.0
        suffix[q] = weights[q]
    for r in range(n):
        low, step = lows[r], steps[r]
        for q in range(WIDTH):
            prefix[r + 1, q] = prefix[r, q] * (low + nodes[q] * step)
    for r in range(n - 1, -1, -1):
        low, step = lows[r], steps[r]
        integral = 0.0
        for q in range(WIDTH):
            integral += prefix[r, q] * suffix[q]
        for q in range(WIDTH):
            suffix[q] *= low + nodes[q] * step
        values[r] += step * integral
