"""Running means and covariances of the two classes, and the gradient of the square loss.

The gradient of the square loss 1/2 (1 - y w.(x - x'))^2 over all pairs of the row x and the rows x'
of the other class so far depends only on the mean c and the covariance G of the other class::

    g = lam w - y (x - c) + (x - c) (x - c)'w + G w
"""

from __future__ import annotations

import math

import numpy as np

from skauc.compiling import compiled_fast as compiled


@compiled
def add_to_mean(x, own, n_seen, means):
    """Add a row to the mean of its class; return the vector a for which a a' updates the scatter.

    The scatter is the sum of (x - c)(x - c)' over the rows of a class, which is T times its
    covariance. a = sqrt((T - 1) / T) (x - c), where c is the mean before the T-th row. This form
    does not cancel.
    """
    n_seen[own] += 1
    scale = math.sqrt((n_seen[own] - 1) / n_seen[own])
    innovation = np.empty(len(x))
    for i in range(len(x)):
        deviation = x[i] - means[own, i]
        means[own, i] += deviation / n_seen[own]
        innovation[i] = scale * deviation
    return innovation


@compiled
def dot(a, b):
    """Return a.b."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@compiled
def add_outer(scatter, vector):
    """Add a a' to the scatter."""
    for i in range(len(vector)):
        for j in range(len(vector)):
            scatter[i, j] += vector[i] * vector[j]


@compiled
def product(matrix, vector):
    """Return M v."""
    result = np.empty(len(matrix))
    for i in range(len(matrix)):
        result[i] = dot(matrix[i], vector)
    return result


@compiled
def pair_gradient(deviation, own, weights, scatter_product, n_opposite, lam):
    """Return g from x - c, S w and T of the other class, whose covariance G is S / T."""
    slope = dot(deviation, weights) - (2.0 * own - 1.0)
    gradient = np.empty(len(weights))
    for i in range(len(weights)):
        gradient[i] = lam * weights[i] + slope * deviation[i] + scatter_product[i] / n_opposite
    return gradient


@compiled
def difference(a, b):
    """Return a - b."""
    result = np.empty(len(a))
    for i in range(len(a)):
        result[i] = a[i] - b[i]
    return result


@compiled
def average_in(average, weights, n_seen):
    """Add the newest iterate to the mean of all iterates."""
    n_rows = n_seen[0] + n_seen[1]
    for i in range(len(weights)):
        average[i] += (weights[i] - average[i]) / n_rows
