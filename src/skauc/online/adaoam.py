"""AdaOAM: the gradient of OPAUC with a separate step size per feature."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from skauc.compiling import compiled_fast as compiled
from skauc.online.base import LinearOnlineClassifier
from skauc.online.statistics import (
    add_outer,
    add_to_mean,
    average_in,
    difference,
    dot,
    pair_gradient,
    product,
)
from skauc.validation import check_positive


class AdaOAM(LinearOnlineClassifier):
    """Linear online classifier that maximises AUC with adaptive step sizes.

    The gradient is that of `OPAUC`. For a row x with label y (+1 or -1), where c and G are the mean
    and the covariance of the other class so far::

        g = lam w - y (x - c) + (x - c) (x - c)'w + G w
        H = delta + sqrt(sum of g^2 so far), for each feature
        w = the projection of w - eta g / H on |w| <= 1 / sqrt(lam)

    Features that rarely vary keep a long step. Features that often vary soon have a short one.

    Parameters
    ----------
    eta : float, default=0.1
        Step size. Try powers of two from 2^-10 to 2^10.
    lam : float, default=1e-4
        Weight of the regulariser lam/2 |w|^2. The paper tries 2^-10 to 2^2.
    delta : float, default=0.5
        Damps the first steps.
    average : bool, default=True
        Whether to predict with the mean of all iterates, which tolerates a large eta. The paper
        uses the last iterate.
    n_epochs : int, default=5
        Number of passes of `fit` over the rows.
    shuffle : bool, default=True
        Whether `fit` shuffles the rows before each pass.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the rows.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, the positive one last.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        Minus the threshold, which is the midpoint between the mean scores of the two classes so
        far. It does not affect the ranking.
    n_samples_seen_ : int
        Number of rows seen so far, including repetitions.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features. Defined only if X has names that are all strings.

    See Also
    --------
    SAdaOAM : The same with an l1 penalty, for weights that are exactly zero.

    Notes
    -----
    A row takes O(n_features^2) time. The memory is 16 * n_features^2 bytes. There are no sample
    weights: a row of weight 2 would not equal two rows, because the first of them changes the state
    that the second one meets.

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
        check_positive("eta", self.eta, "It is the step size.")
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
    """Count, mean and scatter of each class, the sum of squared gradients, and the weights."""

    n_seen: np.ndarray
    means: np.ndarray
    scatter: np.ndarray
    squares: np.ndarray
    weights: np.ndarray
    average: np.ndarray


@compiled
def adaoam_pass(X, own, state, eta, lam, delta):
    """Update the state, row by row."""
    for t in range(len(X)):
        gradient = observe(X[t], own[t], state, lam)
        steps = adaptive_steps(gradient, state.squares, eta, delta)
        for i in range(len(gradient)):
            state.weights[i] -= steps[i] * gradient[i]
        project(state.weights, lam)
        average_in(state.average, state.weights, state.n_seen)


@compiled
def observe(x, own, state, lam):
    """Add the row to its class and return its gradient: zero until the other class is seen."""
    add_outer(state.scatter[own], add_to_mean(x, own, state.n_seen, state.means))
    n_opposite = state.n_seen[1 - own]
    if n_opposite == 0:
        return np.zeros(len(x))
    deviation = difference(x, state.means[1 - own])
    scatter_product = product(state.scatter[1 - own], state.weights)
    return pair_gradient(deviation, own, state.weights, scatter_product, n_opposite, lam)


@compiled
def adaptive_steps(gradient, squares, eta, delta):
    """Add the squared gradient to the sum and return eta / H."""
    steps = np.empty(len(gradient))
    for i in range(len(gradient)):
        squares[i] += gradient[i] * gradient[i]
        steps[i] = eta / (delta + math.sqrt(squares[i]))
    return steps


@compiled
def project(weights, lam):
    """Project the weights on the ball of radius 1 / sqrt(lam)."""
    excess = math.sqrt(lam * dot(weights, weights))
    if excess > 1.0:
        for i in range(len(weights)):
            weights[i] /= excess
