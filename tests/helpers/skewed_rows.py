"""Rows for the tests of scalings."""

import numpy as np

from skauc.data.training import TrainingData


def skewed(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    tails = np.exp(3 * rng.normal(size=(n_rows, 2)))
    return np.column_stack((tails, rng.integers(0, 3, n_rows), rng.random(n_rows) < 0.1))


def training(X, y, weights=None):
    return TrainingData(X, y, np.ones(len(X)) if weights is None else weights, np.array([0, 1]))
