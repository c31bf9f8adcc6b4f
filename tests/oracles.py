"""The O(p * n) definitions, in plain NumPy: every pair is visited.

Rows of the pair matrices are positives and columns negatives, in the order of the data.
"""

import numpy as np


def violating(scores, positive):
    """Which pairs violate, f_j > f_i - 1, compared as one rounded f_i - 1."""
    return scores[~positive] > (scores[positive] - 1.0)[:, None]


def pair_weights(positive, weights):
    return np.outer(weights[positive], weights[~positive])


def hinges(scores, positive):
    return np.maximum(1.0 - np.subtract.outer(scores[positive], scores[~positive]), 0.0)


def loss(scores, positive, weights):
    """The weighted sum of squared hinges."""
    return np.sum(pair_weights(positive, weights) * hinges(scores, positive) ** 2)


def residual(scores, positive, weights):
    """Half the derivative of the loss with respect to the scores."""
    pulls = pair_weights(positive, weights) * hinges(scores, positive)
    out = np.empty(len(scores))
    out[positive] = -pulls.sum(axis=1)
    out[~positive] = pulls.sum(axis=0)
    return out


def hessian(violates, positive, weights):
    """Half the second derivative: the graph Laplacian of the violating pairs."""
    links = np.zeros((len(positive), len(positive)))
    links[np.ix_(positive, ~positive)] = pair_weights(positive, weights) * violates
    links += links.T
    return np.diag(links.sum(axis=1)) - links


def objective(weights, columns, C_pair, positive, sample_weights):
    """E(w) and its gradient, for f = columns @ w."""
    scores = columns @ weights
    value = 0.5 * weights @ weights + 0.5 * C_pair * loss(scores, positive, sample_weights)
    return value, weights + C_pair * columns.T @ residual(scores, positive, sample_weights)


def minimum(columns, C_pair, positive, sample_weights):
    """The w of the least E(w) and its value, by Newton's method over all pairs."""
    problem = columns, C_pair, positive, sample_weights
    weights = np.zeros(columns.shape[1])
    value, gradient = objective(weights, *problem)
    while True:
        violates = violating(columns @ weights, positive)
        curvature = columns.T @ hessian(violates, positive, sample_weights) @ columns
        direction = np.linalg.solve(np.eye(len(weights)) + C_pair * curvature, -gradient)
        lengths = 0.5 ** np.arange(30)
        trials = (weights + length * direction for length in lengths)
        lower = next((w for w in trials if objective(w, *problem)[0] < value), None)
        if lower is None:
            return weights, value
        weights = lower
        value, gradient = objective(weights, *problem)
