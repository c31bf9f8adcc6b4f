"""Synthetic data for tests and benchmarks: seeded, imbalanced, of any size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skauc.validation import check_fraction, check_integer, check_positive

_BLOCK_ROWS = 65_536


def make_islands(
    n_samples: int = 1000,
    n_features: int = 2,
    *,
    positive_fraction: float = 0.1,
    n_islands: int = 4,
    width: float = 0.5,
    random_state: int = 0,
    dtype=np.float64,
):
    """Generate positives in a few small blobs within a wide cloud of negatives.

    A linear score cannot rank them; one kernel centre per island can.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_features : int, default=2
        Number of features.
    positive_fraction : float, default=0.1
        Fraction of positive rows, rounded up to an integer number of rows.
    n_islands : int, default=4
        Number of blobs of positives.
    width : float, default=0.5
        Standard deviation of a blob; the negatives have 2.
    random_state : int, default=0
        Random seed.
    dtype : data-type, default=numpy.float64
        Type of the rows.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Rows, in random order.
    y : ndarray of shape (n_samples,), bool
        Labels, True for positive rows.

    Examples
    --------
    >>> from reproduction.synthetic import make_islands
    >>> X, y = make_islands(500, positive_fraction=0.02)
    >>> X.shape, int(y.sum())
    ((500, 2), 10)
    """
    _check_shape(n_samples, n_features, positive_fraction)
    check_integer("n_islands", n_islands, 1, "4 make a problem that is not linear.")
    check_positive("width", width, "It is the standard deviation of an island.")
    random = np.random.default_rng(random_state)
    centres = 2.0 * random.standard_normal((n_islands, n_features))
    y = _labels(n_samples, positive_fraction, random)
    X = np.empty((n_samples, n_features), dtype)
    for block, positive in _blocks(X, y):
        rows = random.standard_normal(block.shape)
        near = centres[random.integers(n_islands, size=len(block))] + width * rows
        block[:] = np.where(positive[:, None], near, 2.0 * rows)
    return X, y


def make_waves(
    n_samples: int = 1000,
    n_features: int = 10,
    *,
    positive_fraction: float = 0.1,
    noise: float = 0.3,
    random_state: int = 0,
    dtype=np.float64,
):
    """Generate normal rows labelled by a noisy threshold of a wavy score.

    score = sin(2 x.a) + (x.b)^2 / 2 + x.c / 2 + noise, for unit vectors a, b and c.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_features : int, default=10
        Number of features.
    positive_fraction : float, default=0.1
        Fraction of positive rows, those with the highest scores.
    noise : float, default=0.3
        Standard deviation of the noise added to the score.
    random_state : int, default=0
        Random seed.
    dtype : data-type, default=numpy.float64
        Type of the rows.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Rows.
    y : ndarray of shape (n_samples,), bool
        Labels, True for positive rows.

    Examples
    --------
    >>> from reproduction.synthetic import make_waves
    >>> X, y = make_waves(500, positive_fraction=0.2)
    >>> X.shape, int(y.sum())
    ((500, 10), 100)
    """
    _check_shape(n_samples, n_features, positive_fraction)
    check_positive("noise", noise, "0.3 makes a problem that is not too easy.")
    random = np.random.default_rng(random_state)
    directions = random.standard_normal((n_features, 3))
    directions /= np.linalg.norm(directions, axis=0)
    X = np.empty((n_samples, n_features), dtype)
    scores = np.empty(n_samples)
    for block, own in _blocks(X, scores):
        block[:] = random.standard_normal(block.shape)
        wave, bowl, slope = (block @ directions).T
        own[:] = np.sin(2 * wave) + bowl**2 / 2 + slope / 2
    scores += noise * random.standard_normal(n_samples)
    y = np.zeros(n_samples, dtype=bool)
    y[np.argsort(-scores, kind="stable")[: _n_positive(n_samples, positive_fraction)]] = True
    return X, y


def _blocks(X: np.ndarray, column: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield blocks of rows with their part of a column, as views."""
    for start in range(0, len(X), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        yield X[block], column[block]


def _check_shape(n_samples, n_features, positive_fraction) -> None:
    check_integer("n_samples", n_samples, 2, "Ask for a row of each class at least.")
    check_integer("n_features", n_features, 1, "Ask for a feature at least.")
    check_fraction("positive_fraction", positive_fraction, "0.1 makes one row in ten positive.")


def _n_positive(n_samples: int, positive_fraction: float) -> int:
    return min(int(np.ceil(n_samples * positive_fraction)), n_samples - 1)


def _labels(n_samples: int, positive_fraction: float, random) -> np.ndarray:
    y = np.arange(n_samples) < _n_positive(n_samples, positive_fraction)
    return random.permutation(y)
