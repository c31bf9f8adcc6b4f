"""OPAUC: the square loss, which needs class means and covariances but no buffer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skauc.compiling import compiled_fast as compiled
from skauc.online.base import LinearOnlineClassifier
from skauc.online.sketch import sketch_product, sketch_row
from skauc.online.statistics import (
    add_outer,
    add_to_mean,
    average_in,
    difference,
    dot,
    pair_gradient,
    product,
)
from skauc.validation import check_integer, check_positive


class OPAUC(LinearOnlineClassifier):
    """Linear online classifier that maximises AUC from class means and covariances.

    With the square loss, the mean c and the covariance G of the other class are enough to compare a
    row x with label y (+1 or -1) with all its rows so far::

        g = lam w - y (x - c) + (x - c) (x - c)'w + G w
        w -= min(eta, 1 / (lam + |x - c|^2 + tr G)) g

    The paper's step is eta. The upper bound of the step is an addition. It is the longest step that
    cannot overshoot in any direction, so the weights stay bounded for any scale of the features.

    Parameters
    ----------
    rank : int or None, default=None
        None keeps the full covariances, in O(n_features^2). A number keeps frequent-directions
        sketches of that rank, in O(rank * n_features). See the notes.
    eta : float, default=0.01
        Step size. Try powers of two from 2^-12 to 2^4.
    lam : float, default=1e-4
        Weight of the regulariser lam/2 |w|^2.
    average : bool, default=True
        Whether to predict with the mean of all iterates instead of the last iterate. For the square
        loss and a constant step, the mean converges faster (Bach and Moulines 2013).
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

    Notes
    -----
    *Low rank.* The scatter S of a class (its covariance times its T rows) is A'A for the matrix A
    of centred rows. A sketch B of at most 2 * rank rows adds them one by one, without random
    numbers. For every k <= rank, where A_k is the best approximation of rank k,

        0 <= S - B'B <= |A - A_k|_F^2 / (rank + 1 - k)

    in the sense of quadratic forms (Ghashami, Liberty, Phillips and Woodruff 2016). With
    rank = n_features the sketch is exact. The paper uses random projections, which are unbiased
    but not exact at any rank.

    There are no sample weights: a row of weight 2 would not equal two rows, because the first of
    them changes the state that the second one meets.

    References
    ----------
    W. Gao, R. Jin, S. Zhu, Z.-H. Zhou. One-Pass AUC Optimization. ICML 2013.

    M. Ghashami, E. Liberty, J. M. Phillips, D. P. Woodruff. Frequent Directions: Simple and
    Deterministic Matrix Sketching. SIAM Journal on Computing, 2016.

    F. Bach, E. Moulines. Non-strongly-convex smooth stochastic approximation with convergence rate
    O(1/n). NeurIPS 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from skauc import OPAUC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> OPAUC().partial_fit(X[:400], y[:400], classes=[0, 1]).score(X[400:], y[400:]) > 0.98
    True
    >>> OPAUC(rank=5).partial_fit(X[:400], y[:400], classes=[0, 1]).score(X[400:], y[400:]) > 0.98
    True
    """

    def __init__(
        self,
        rank=None,
        *,
        eta=0.01,
        lam=1e-4,
        average=True,
        n_epochs=5,
        shuffle=True,
        random_state=None,
    ):
        self.rank = rank
        self.eta = eta
        self.lam = lam
        self.average = average
        self.n_epochs = n_epochs
        self.shuffle = shuffle
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.rank is not None:
            check_integer("rank", self.rank, 1, "None keeps the full covariances.")
        check_positive("eta", self.eta, "It is the step size.")
        check_positive("lam", self.lam, "Larger values keep the weights smaller.")

    def _start(self, n_features: int, random_state) -> FullState | SketchState:
        moments = {
            "n_seen": np.zeros(2, np.int64),
            "means": np.zeros((2, n_features)),
            "traces": np.zeros(2),
            "weights": np.zeros(n_features),
            "average": np.zeros(n_features),
        }
        if self.rank is None:
            return FullState(**moments, scatter=np.zeros((2, n_features, n_features)))
        n_rows = 2 * min(self.rank, n_features)
        return SketchState(
            **moments, sketch=np.zeros((2, n_rows, n_features)), n_rows=np.zeros(2, np.int64)
        )

    def _learn(self, X, own, state) -> None:
        learn = full_pass if isinstance(state, FullState) else sketched_pass
        learn(X, own, state, float(self.eta), float(self.lam))


class FullState(NamedTuple):
    """Count, mean, scatter and its trace of each class, and the weights."""

    n_seen: np.ndarray
    means: np.ndarray
    traces: np.ndarray
    weights: np.ndarray
    average: np.ndarray
    scatter: np.ndarray


class SketchState(NamedTuple):
    """The same with a sketch of each scatter and its number of rows in use."""

    n_seen: np.ndarray
    means: np.ndarray
    traces: np.ndarray
    weights: np.ndarray
    average: np.ndarray
    sketch: np.ndarray
    n_rows: np.ndarray


@compiled
def full_pass(X, own, state, eta, lam):
    """Update the state with full covariances."""
    for t in range(len(X)):
        x, k = X[t], own[t]
        innovation = add_to_mean(x, k, state.n_seen, state.means)
        state.traces[k] += dot(innovation, innovation)
        add_outer(state.scatter[k], innovation)
        _descend(x, k, state, product(state.scatter[1 - k], state.weights), eta, lam)


@compiled
def sketched_pass(X, own, state, eta, lam):
    """Update the state with sketches of the covariances."""
    for t in range(len(X)):
        x, k = X[t], own[t]
        innovation = add_to_mean(x, k, state.n_seen, state.means)
        state.traces[k] += dot(innovation, innovation)
        sketch_row(state.sketch, state.n_rows, k, innovation)
        opposite = state.sketch[1 - k, : state.n_rows[1 - k]]
        _descend(x, k, state, sketch_product(opposite, state.weights), eta, lam)


@compiled
def _descend(x, own, state, scatter_product, eta, lam):
    """Take a step if the other class has been seen, and update the average."""
    weights, n_opposite = state.weights, state.n_seen[1 - own]
    if n_opposite > 0:
        deviation = difference(x, state.means[1 - own])
        gradient = pair_gradient(deviation, own, weights, scatter_product, n_opposite, lam)
        curvature = lam + dot(deviation, deviation) + state.traces[1 - own] / n_opposite
        step = min(eta, 1.0 / curvature)
        for i in range(len(weights)):
            weights[i] -= step * gradient[i]
    average_in(state.average, weights, state.n_seen)
