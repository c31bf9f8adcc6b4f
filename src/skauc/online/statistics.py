"""Running means and covariances of the two classes, and the square loss they make tractable.

Over all pairs of the row x and the rows of the other class so far, the gradient of the square loss
1/2 (1 - y w.(x - x'))^2 needs no more of the other class than its mean c and its covariance G::

    g = lam w - y (x - c) + (x - c) (x - c)'w + G w
"""

from __future__ import annotations

import math

import numpy as np

from skauc.online._jit import compiled


@compiled
def count(x, own, n_seen, means):
    """Count a row in, and return the vector a such that a a' is added to the scatter.

    The scatter is the sum of (x - c)(x - c)' over the rows of a class, T times its covariance.
    With c the mean before the T-th row, a = sqrt((T - 1) / T) (x - c), which does not cancel.
    """
    n_seen[own] += 1
    deviation = x - means[own]
    means[own] += deviation / n_seen[own]
    return deviation * math.sqrt((n_seen[own] - 1) / n_seen[own])


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
        total = 0.0
        for j in range(len(vector)):
            total += matrix[i, j] * vector[j]
        result[i] = total
    return result


@compiled
def pair_gradient(deviation, own, weights, covariance_product, lam):
    """Return g, from x - c and G w of the other class."""
    y = 2.0 * own - 1.0
    slope = -y
    for i in range(len(weights)):
        slope += deviation[i] * weights[i]
    gradient = np.empty(len(weights))
    for i in range(len(weights)):
        gradient[i] = lam * weights[i] + slope * deviation[i] + covariance_product[i]
    return gradient


@compiled
def average_in(average, weights, n_rows):
    """Make the mean of n_rows iterates out of that of n_rows - 1 and the newest one."""
    for i in range(len(weights)):
        average[i] += (weights[i] - average[i]) / n_rows
