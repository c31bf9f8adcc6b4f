"""OAM: online AUC maximisation with a buffer per class."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skauc.compiling import compiled_fast as compiled
from skauc.online.base import LinearOnlineClassifier
from skauc.online.buffers import POLICIES, Buffers, make_buffers, n_filled, offer, opposite_weight
from skauc.online.statistics import add_to_mean, average_in
from skauc.validation import check_choice, check_integer, check_positive


class OAM(LinearOnlineClassifier):
    """Linear online classifier that maximises AUC with a buffer per class.

    A row x with label y (+1 or -1) is offered to the buffer of its class and compared with every
    row x' in the buffer of the other class. With z = y (x - x') and C_t = C max(1, rows seen of the
    other class / rows of it in the buffer), the update is one of::

        sequential: for each x' in turn   w += min(C_t / 2, max(0, 1 - w.z) / |z|^2) z
        gradient:   all x' at once        w += C_t / 2 * sum of z over the x' with w.z < 1

    Parameters
    ----------
    update : {"sequential", "gradient"}, default="sequential"
        Passive-aggressive steps, or one gradient step.
    C : float, default=0.001
        Limit of a step. Try powers of two from 2^-14 to 2^10.
    buffer_size : int, default=100
        Number of slots in the buffer of each class.
    buffer : {"reservoir", "fifo", "rsx"}, default="reservoir"
        Which rows a full buffer keeps: a uniform sample of the past, the latest rows, or a uniform
        sample with replacement. See `skauc.online.buffers`.
    average : bool, default=True
        Whether to predict with the mean of all iterates instead of the last iterate, whose steps
        do not get shorter.
    n_epochs : int, default=5
        Number of passes of `fit` over the rows.
    shuffle : bool, default=True
        Whether `fit` shuffles the rows before each pass.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the rows and of the buffers.

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
    A row takes O(buffer_size * n_features) time. The memory is 16 * buffer_size * n_features bytes.
    Scale the features first. There are no sample weights: a row of weight 2 would not equal two
    rows, because the first of them changes the state that the second one meets.

    References
    ----------
    P. Zhao, S. C. H. Hoi, R. Jin, T. Yang. Online AUC Maximization. ICML 2011.

    P. Kar, B. K. Sriperumbudur, P. Jain, H. C. Karnick. On the Generalization Ability of Online
    Learning Algorithms for Pairwise Loss Functions. ICML 2013. (The buffer "rsx", and averaging.)

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from skauc import OAM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = OAM(random_state=0)
    >>> for start in range(0, 400, 100):  # the first 400 rows, as they come
    ...     chunk = slice(start, start + 100)
    ...     model = model.partial_fit(X[chunk], y[chunk], classes=[0, 1])
    >>> model.score(X[400:], y[400:]) > 0.98
    True
    """

    def __init__(
        self,
        update="sequential",
        *,
        C=0.001,
        buffer_size=100,
        buffer="reservoir",
        average=True,
        n_epochs=5,
        shuffle=True,
        random_state=None,
    ):
        self.update = update
        self.C = C
        self.buffer_size = buffer_size
        self.buffer = buffer
        self.average = average
        self.n_epochs = n_epochs
        self.shuffle = shuffle
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("update", self.update, _PASSES)
        check_positive("C", self.C, "Larger values make larger steps.")
        check_integer("buffer_size", self.buffer_size, 1, "100 is a good choice.")
        check_choice("buffer", self.buffer, POLICIES)

    def _start(self, n_features: int, random_state) -> OAMState:
        return OAMState(
            buffers=make_buffers(self.buffer_size, n_features, random_state),
            means=np.zeros((2, n_features)),
            weights=np.zeros(n_features),
            average=np.zeros(n_features),
        )

    def _learn(self, X, own, state) -> None:
        _PASSES[self.update](X, own, state, float(self.C), POLICIES.index(self.buffer))


class OAMState(NamedTuple):
    """The state of OAM."""

    buffers: Buffers
    means: np.ndarray
    weights: np.ndarray
    average: np.ndarray

    @property
    def n_seen(self) -> np.ndarray:
        """Number of rows seen of each class."""
        return self.buffers.n_seen


@compiled
def sequential_pass(X, own, state, C, policy):
    """Take one passive-aggressive step per buffered row of the other class."""
    for t in range(len(X)):
        x, k = X[t], own[t]
        opponents = _meet(x, k, state, policy)
        y, half = 2.0 * k - 1.0, opposite_weight(C, state.buffers, k) / 2.0
        for o in range(len(opponents)):
            opponent = opponents[o]
            margin = square = 0.0
            for i in range(len(x)):
                z = y * (x[i] - opponent[i])
                margin += state.weights[i] * z
                square += z * z
            if margin < 1.0 and square > 0.0:
                size = y * min(half, (1.0 - margin) / square)
                for i in range(len(x)):
                    state.weights[i] += size * (x[i] - opponent[i])
        average_in(state.average, state.weights, state.buffers.n_seen)


@compiled
def gradient_pass(X, own, state, C, policy):
    """Take one step against all buffered rows that the weights before it rank too close."""
    direction = np.empty(X.shape[1])
    for t in range(len(X)):
        x, k = X[t], own[t]
        opponents = _meet(x, k, state, policy)
        y, half = 2.0 * k - 1.0, opposite_weight(C, state.buffers, k) / 2.0
        for i in range(len(x)):
            direction[i] = 0.0
        for o in range(len(opponents)):
            opponent = opponents[o]
            margin = 0.0
            for i in range(len(x)):
                margin += state.weights[i] * (x[i] - opponent[i])
            if y * margin < 1.0:
                for i in range(len(x)):
                    direction[i] += x[i] - opponent[i]
        for i in range(len(x)):
            state.weights[i] += y * half * direction[i]
        average_in(state.average, state.weights, state.buffers.n_seen)


@compiled
def _meet(x, own, state, policy):
    """Count the row, offer it to its buffer, and return the buffered rows of the other class."""
    add_to_mean(x, own, state.buffers.n_seen, state.means)
    offer(x, own, state.buffers, policy)
    return state.buffers.rows[1 - own, : n_filled(state.buffers, 1 - own)]


_PASSES = {"sequential": sequential_pass, "gradient": gradient_pass}
