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


# -- the part of the pairs that matters ---------------------------------------------------------


def focused_weights(scores, positive, weights, max_fpr=1.0, min_tpr=0.0):
    """Each weight times its share: the mean of min(1, sqrt(full / v)) over the row's part v."""
    out = np.array(weights, dtype=float)
    for side, sign, fraction in ((~positive, -1.0, max_fpr), (positive, 1.0, 1.0 - min_tpr)):
        hardness, own = sign * scores[side], weights[side]
        before = (hardness[:, None] > hardness) @ own
        tied = (hardness[:, None] == hardness) @ own
        full = fraction * own.sum()

        def area(v, full=full):
            return np.where(v <= full, v, 2 * np.sqrt(full * v) - full)

        shares = (area(before + tied) - area(before)) / np.where(tied > 0, tied, 1.0)
        out[side] = own * shares
    return out


# -- grades in queries ------------------------------------------------------------------------
# Rows and columns of these matrices are all rows of the data: [i, j] is the pair of a preferred
# row i and another row j.


def preferred(grades, qid):
    """Which rows are preferred to which: same query, higher grade."""
    return (np.asarray(qid)[:, None] == qid) & (np.asarray(grades)[:, None] > grades)


def graded_hinges(scores, grades, qid):
    return preferred(grades, qid) * np.maximum(1.0 - np.subtract.outer(scores, scores), 0.0)


def graded_loss(scores, grades, qid, weights):
    return np.sum(np.outer(weights, weights) * graded_hinges(scores, grades, qid) ** 2)


def graded_residual(scores, grades, qid, weights):
    pulls = np.outer(weights, weights) * graded_hinges(scores, grades, qid)
    return pulls.sum(axis=0) - pulls.sum(axis=1)


def graded_hessian(scores, grades, qid, weights):
    violates = preferred(grades, qid) & (scores > (scores - 1.0)[:, None])
    links = np.outer(weights, weights) * violates
    links = links + links.T
    return np.diag(links.sum(axis=1)) - links


def pairwise_accuracy(scores, grades, qid, weights):
    pairs = np.outer(weights, weights) * preferred(grades, qid)
    order = np.sign(np.subtract.outer(scores, scores))
    return np.sum(pairs * (1 + order) / 2) / np.sum(pairs)
