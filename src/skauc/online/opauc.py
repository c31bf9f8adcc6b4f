"""OPAUC: one pass over the rows with the square loss, which needs no buffer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skauc.compiling import compiled_fast as compiled
from skauc.online.base import LinearOnlineClassifier
from skauc.online.sketch import sketch_product, sketch_row
from skauc.online.statistics import (
    add_outer,
    average_in,
    count,
    difference,
    dot,
    pair_gradient,
    product,
)
from skauc.validation import check_positive, check_whole_number


class OPAUC(LinearOnlineClassifier):
    """Linear classifier that learns AUC row by row from class means and covariances.

    With the square loss, a row x of label y (+1 or -1) can be compared with all rows of the other
    class so far through their mean c and covariance G alone::

        g = lam w - y (x - c) + (x - c) (x - c)'w + G w
        w -= min(eta, 1 / (lam + |x - c|^2 + tr G)) g

    The paper's step is eta. Its bound, which is ours, is the longest step that cannot overshoot
    whatever the direction: the weights never blow up, whatever the scale of the features.

    Parameters
    ----------
    rank : int or None, default=None
        None keeps the covariances in full, in O(n_features^2). A number keeps them as
        frequent-directions sketches of that rank, in O(rank * n_features): see the notes.
    eta : float, default=0.01
        The step. Try powers of two from 2^-12 to 2^4.
    lam : float, default=1e-4
        Weight of the regulariser lam/2 |w|^2.
    average : bool, default=True
        Predict with the mean of all iterates, which for the square loss and a constant step is the
        faster estimate of the two (Bach and Moulines 2013), instead of the last one.
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

    Notes
    -----
    *Low rank.* The scatter S of a class (its covariance times its T rows) is a sum A'A over
    centred rows. A sketch B of at most 2 * rank rows takes them in one by one, without random
    numbers, and for every k <= rank, with A_k the best approximation of rank k,

        0 <= S - B'B <= |A - A_k|_F^2 / (rank + 1 - k)

    in the sense of quadratic forms (Ghashami, Liberty, Phillips and Woodruff 2016). With
    rank = n_features it is exact. The paper projects at random instead, which is unbiased but not
    exact at any rank.

    There are no sample weights: a row of weight 2 is not the same as two rows, for the first
    changes what the second meets.

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
            check_whole_number("rank", self.rank, 1, "None keeps the covariances in full.")
        check_positive("eta", self.eta, "It is the step.")
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
    """Everything that OPAUC remembers: per class count, mean, scatter and its trace; weights."""

    n_seen: np.ndarray
    means: np.ndarray
    traces: np.ndarray
    weights: np.ndarray
    average: np.ndarray
    scatter: np.ndarray


class SketchState(NamedTuple):
    """The same with a sketch of each scatter, and the number of its rows in use."""

    n_seen: np.ndarray
    means: np.ndarray
    traces: np.ndarray
    weights: np.ndarray
    average: np.ndarray
    sketch: np.ndarray
    n_rows: np.ndarray


@compiled
def full_pass(X, own, state, eta, lam):
    """Learn the rows with the covariances in full."""
    for t in range(len(X)):
        x, k = X[t], own[t]
        innovation = count(x, k, state.n_seen, state.means)
        state.traces[k] += dot(innovation, innovation)
        add_outer(state.scatter[k], innovation)
        _descend(x, k, state, product(state.scatter[1 - k], state.weights), eta, lam)


@compiled
def sketched_pass(X, own, state, eta, lam):
    """Learn the rows with sketches of the covariances."""
    for t in range(len(X)):
        x, k = X[t], own[t]
        innovation = count(x, k, state.n_seen, state.means)
        state.traces[k] += dot(innovation, innovation)
        sketch_row(state.sketch, state.n_rows, k, innovation)
        opposite = state.sketch[1 - k, : state.n_rows[1 - k]]
        _descend(x, k, state, sketch_product(opposite, state.weights), eta, lam)


@compiled
def _descend(x, own, state, scatter_product, eta, lam):
    """Take the step, once the other class has been seen, and average."""
    weights, n_opposite = state.weights, state.n_seen[1 - own]
    if n_opposite > 0:
        deviation = difference(x, state.means[1 - own])
        gradient = pair_gradient(deviation, own, weights, scatter_product, n_opposite, lam)
        curvature = lam + dot(deviation, deviation) + state.traces[1 - own] / n_opposite
        step = min(eta, 1.0 / curvature)
        for i in range(len(weights)):
            weights[i] -= step * gradient[i]
    average_in(state.average, weights, state.n_seen)
