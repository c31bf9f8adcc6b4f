"""AdaOAM: OPAUC's gradient with a step of its own for every feature."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from skauc.compiling import compiled_fast as compiled
from skauc.online.base import LinearOnlineClassifier
from skauc.online.statistics import (
    add_outer,
    average_in,
    count,
    difference,
    dot,
    pair_gradient,
    product,
)
from skauc.validation import check_positive


class AdaOAM(LinearOnlineClassifier):
    """Linear classifier that learns AUC row by row, with adaptive steps.

    The gradient is that of `OPAUC`: with c and G the mean and the covariance of the other class so
    far, for a row x of label y (+1 or -1)::

        g = lam w - y (x - c) + (x - c) (x - c)'w + G w
        H = delta + sqrt(sum of g^2 so far), feature by feature
        w = the nearest point to w - eta g / H with |w| <= 1 / sqrt(lam)

    Features that rarely vary keep a long step, frequent ones soon have a short one.

    Parameters
    ----------
    eta : float, default=0.1
        The step. Try powers of two from 2^-10 to 2^10.
    lam : float, default=1e-4
        Weight of the regulariser lam/2 |w|^2; 2^-10 to 2^2 were the paper's choices.
    delta : float, default=0.5
        Keeps the first steps short.
    average : bool, default=True
        Predict with the mean of all iterates, which forgives an eta that is too large, instead of
        the last one, as in the paper.
    n_epochs : int, default=5
        Passes of `fit` over the rows.
    shuffle : bool, default=True
        Whether `fit` draws a new order of the rows for each pass.
    random_state : int, RandomState instance or None, default=None
        Draws the orders.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, the positive one last.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        Minus the threshold, which is midway between the mean scores of the two classes seen so
        far. It has no part in the ranking.
    n_samples_seen_ : int
        Rows learnt so far, repetitions included.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had names that are all strings.

    See Also
    --------
    SAdaOAM : The same with weights that are exactly zero.

    Notes
    -----
    A row costs O(n_features^2) time; memory is 16 * n_features^2 bytes. There are no sample
    weights: a row of weight 2 is not the same as two rows, for the first changes what the second
    meets.

    References
    ----------
    Y. Ding, P. Zhao, S. C. H. Hoi, Y.-S. Ong. An Adaptive Gradient Method for Online AUC
    Maximization. AAAI 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from skauc import AdaOAM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> AdaOAM().partial_fit(X[:400], y[:400], classes=[0, 1]).score(X[400:], y[400:]) > 0.98
    True
    """

    def __init__(
        self,
        *,
        eta=0.1,
        lam=1e-4,
        delta=0.5,
        average=True,
        n_epochs=5,
        shuffle=True,
        random_state=None,
    ):
        self.eta = eta
        self.lam = lam
        self.delta = delta
        self.average = average
        self.n_epochs = n_epochs
        self.shuffle = shuffle
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive("eta", self.eta, "It is the step.")
        check_positive("lam", self.lam, "Larger values keep the weights smaller.")
        check_positive("delta", self.delta, "0.5 is a good choice.")

    def _start(self, n_features: int, random_state) -> AdaptiveState:
        return AdaptiveState(
            n_seen=np.zeros(2, np.int64),
            means=np.zeros((2, n_features)),
            scatter=np.zeros((2, n_features, n_features)),
            squares=np.zeros(n_features),
            weights=np.zeros(n_features),
            average=np.zeros(n_features),
        )

    def _learn(self, X, own, state) -> None:
        adaoam_pass(X, own, state, float(self.eta), float(self.lam), float(self.delta))


class AdaptiveState(NamedTuple):
    """Per class count, mean and scatter; the sum of squared gradients; weights."""

    n_seen: np.ndarray
    means: np.ndarray
    scatter: np.ndarray
    squares: np.ndarray
    weights: np.ndarray
    average: np.ndarray


@compiled
def adaoam_pass(X, own, state, eta, lam, delta):
    """Learn the rows."""
    for t in range(len(X)):
        gradient = observe(X[t], own[t], state, lam)
        steps = adaptive_steps(gradient, state.squares, eta, delta)
        for i in range(len(gradient)):
            state.weights[i] -= steps[i] * gradient[i]
        project(state.weights, lam)
        average_in(state.average, state.weights, state.n_seen)


@compiled
def observe(x, own, state, lam):
    """Count the row in and return its gradient, zero before the other class has been seen."""
    add_outer(state.scatter[own], count(x, own, state.n_seen, state.means))
    n_opposite = state.n_seen[1 - own]
    if n_opposite == 0:
        return np.zeros(len(x))
    deviation = difference(x, state.means[1 - own])
    scatter_product = product(state.scatter[1 - own], state.weights)
    return pair_gradient(deviation, own, state.weights, scatter_product, n_opposite, lam)


@compiled
def adaptive_steps(gradient, squares, eta, delta):
    """Add the gradient's squares to those before it and return eta / H."""
    steps = np.empty(len(gradient))
    for i in range(len(gradient)):
        squares[i] += gradient[i] * gradient[i]
        steps[i] = eta / (delta + math.sqrt(squares[i]))
    return steps


@compiled
def project(weights, lam):
    """Bring the weights back into the ball of radius 1 / sqrt(lam)."""
    excess = math.sqrt(lam * dot(weights, weights))
    if excess > 1.0:
        for i in range(len(weights)):
            weights[i] /= excess
