"""Shapley values of products, by Gauss-Legendre quadrature.

For one centre, one row with factors a_g and one background row with factors b_g, the Shapley value
of column g in the game v(S) = prod over g in S of a_g * prod over g not in S of b_g is

    phi_g = (a_g - b_g) * integral over t in [0, 1] of prod over i != g of f_i(t) dt,
    f_g(t) = t a_g + (1 - t) b_g.

The integrand is a polynomial of degree n - 1 in t for n columns, so ceil(n / 2) nodes are exact.
Fewer nodes are often exact to rounding, because the product is smooth. The values must add up to
prod a - prod b, which shows whether the nodes suffice: the number of nodes doubles until they do.

Two passes over the columns compute the values. The first computes P(t) = prod f_g(t) at each node t
with weight w, the second the sums of w P(t) / f_g(t). The nodes 1/2 + r and 1/2 - r are a pair.
With m = (a_g + b_g) / 2, s = a_g - b_g and W = w P, the sum over a pair is one fraction,

    ((W(+r) + W(-r)) m - r (W(+r) - W(-r)) s) / (m^2 - r^2 s^2),

and the fractions of four pairs are added with a single division. Nothing cancels: all factors are
positive, and at least 2e-18 unless the product is negligible.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from skauc.compiling import compiled_fast

# Pairs of nodes that the second pass handles at once; the code is written out for this number.
PAIRS = 4
# Accepted error of the sum, relative to the largest possible value.
_TOLERANCE = 1e-13
# Products below this bound, relative to the largest coefficient, are left out.
NEGLIGIBLE = 1e-16


@cache
def rules(n_columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return quadrature rules that end with an exact one for n columns.

    Rule k has the groups ``ends[k]`` to ``ends[k + 1]`` of pairs of nodes, given by their
    ``distances`` from 1/2 and their ``weights``.
    """
    sizes = [PAIRS]
    while 4 * sizes[-1] < n_columns:
        sizes.append(2 * sizes[-1])
    parts = [np.polynomial.legendre.leggauss(2 * size) for size in sizes]
    distances = np.concatenate([nodes[len(nodes) // 2 :] / 2 for nodes, _ in parts])
    weights = np.concatenate([weights[len(weights) // 2 :] / 2 for _, weights in parts])
    ends = np.append(0, np.cumsum(sizes)) // PAIRS
    return ends, distances.reshape(-1, PAIRS), weights.reshape(-1, PAIRS)


@compiled_fast
def add_shapley_values(
    rows: np.ndarray,
    background: np.ndarray,
    shares: np.ndarray,
    coef: np.ndarray,
    ends: np.ndarray,
    distances: np.ndarray,
    weights: np.ndarray,
    out: np.ndarray,
) -> None:
    """Add the Shapley values of some rows to ``out``, one line per row and one value per column.

    ``rows`` has the factors of the rows (rows by centres by columns) and ``background`` those of
    the background rows, whose shares of the weight are in ``shares``.
    """
    n_rows, n_centres, n_columns = rows.shape
    largest = 0.0
    for m in range(n_centres):
        largest = max(largest, abs(coef[m]))
    middles, steps = np.empty(n_columns), np.empty(n_columns)
    values, sums = np.empty(n_columns), np.empty(2 * PAIRS)
    for m in range(n_centres):
        for z in range(len(background)):
            b = background[z, m]
            for row in range(n_rows):
                a = rows[row, m]
                product_a, product_b, bound = _prepare(a, b, middles, steps)
                if abs(coef[m]) * bound <= NEGLIGIBLE * largest:
                    continue
                for rule in range(len(ends) - 1):
                    for g in range(n_columns):
                        values[g] = 0.0
                    for group in range(ends[rule], ends[rule + 1]):
                        _weigh(middles, steps, distances[group], weights[group], sums)
                        _add_group(middles, steps, distances[group], sums, values)
                    total = 0.0
                    for g in range(n_columns):
                        total += values[g]
                    if abs(total - (product_a - product_b)) <= _TOLERANCE * bound:
                        break
                factor = coef[m] * shares[z]
                for g in range(n_columns):
                    out[row, g] += factor * values[g]


@compiled_fast
def _prepare(
    a: np.ndarray, b: np.ndarray, middles: np.ndarray, steps: np.ndarray
) -> tuple[float, float, float]:
    """Set the factors at t = 1/2 and their steps; return prod a, prod b and prod max(a, b)."""
    product_a, product_b, bound = 1.0, 1.0, 1.0
    for g in range(len(a)):
        middles[g] = 0.5 * (a[g] + b[g])
        steps[g] = a[g] - b[g]
        product_a *= a[g]
        product_b *= b[g]
        bound *= middles[g] + 0.5 * abs(steps[g])
    return product_a, product_b, bound


@compiled_fast
def _weigh(
    middles: np.ndarray,
    steps: np.ndarray,
    distances: np.ndarray,
    weights: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Set the numbers W(+r) + W(-r) and r (W(+r) - W(-r)) of each pair of nodes."""
    for pair in range(PAIRS):
        r = distances[pair]
        above, below = weights[pair], weights[pair]
        for g in range(len(middles)):
            shift = r * steps[g]
            above *= middles[g] + shift
            below *= middles[g] - shift
        sums[2 * pair] = above + below
        sums[2 * pair + 1] = r * (above - below)


@compiled_fast
def _add_group(
    middles: np.ndarray,
    steps: np.ndarray,
    distances: np.ndarray,
    sums: np.ndarray,
    values: np.ndarray,
) -> None:
    """Add the part of four pairs of nodes to the values of the columns."""
    r0, r1, r2, r3 = (distances[0], distances[1], distances[2], distances[3])
    even0, even1, even2, even3 = sums[0], sums[2], sums[4], sums[6]
    odd0, odd1, odd2, odd3 = sums[1], sums[3], sums[5], sums[7]
    r0, r1, r2, r3 = r0 * r0, r1 * r1, r2 * r2, r3 * r3
    for g in range(len(middles)):
        m, s = middles[g], steps[g]
        mm, ss = m * m, s * s
        d0, d1, d2, d3 = mm - r0 * ss, mm - r1 * ss, mm - r2 * ss, mm - r3 * ss
        n0, n1, n2, n3 = (
            even0 * m - odd0 * s,
            even1 * m - odd1 * s,
            even2 * m - odd2 * s,
            even3 * m - odd3 * s,
        )
        d01, d23 = d0 * d1, d2 * d3
        numerator = (n0 * d1 + n1 * d0) * d23 + (n2 * d3 + n3 * d2) * d01
        values[g] += s * numerator / (d01 * d23)
