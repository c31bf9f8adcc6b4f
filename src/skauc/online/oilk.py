"""OILK: a kernel expansion over two buffers. The refinements of KOIL are parameters."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from skauc.compiling import compiled_fast as compiled
from skauc.kernels import RBF
from skauc.model import Model
from skauc.online.base import OnlineClassifier
from skauc.online.buffers import (
    NEW,
    POLICIES,
    Buffers,
    decide,
    fill_slots,
    make_buffers,
    n_filled,
    opposite_weight,
)
from skauc.online.statistics import dot
from skauc.validation import (
    check_boolean,
    check_choice,
    check_fraction,
    check_integer,
    check_positive,
)


class OILK(OnlineClassifier):
    """Kernel online classifier that maximises AUC with a limited number of centres.

    f(x) = sum_i alpha_i exp(-gamma |x - x_i|^2) over the rows x_i in two buffers, one per class.
    For a row x with label y (+1 or -1), let V be the buffered rows x_i of the other class that
    violate y (f(x) - f(x_i)) > 1, and C_t = C max(1, rows seen of the other class / rows of it in
    the buffer). Then::

        alpha_i *= 1 - eta               for all i
        alpha_i -= eta C_t y             for i in V
        alpha    = eta C_t y |V|         for x itself, which is offered to the buffer of its class

    A row without violations is not offered. A row that meets an empty buffer has alpha = eta C y.

    Parameters
    ----------
    buffer : {"reservoir", "fifo", "rsx"}, default="reservoir"
        Which rows a full buffer keeps: a uniform sample of the past, the latest rows, or a uniform
        sample with replacement. See `skauc.online.buffers`.
    buffer_size : int, default=100
        Number of slots in the buffer of each class.
    C : float, default=1.0
        Weight of a pair. Try 0.1 to 100. The papers try 2^4 to 2^16.
    gamma : "auto" or float, default="auto"
        "auto" is 1 / n_features. The papers' sigma is gamma = 1 / (2 sigma^2).
    eta : float, default=0.001
        Step size, between 0 and 1. The papers use 0.01.
    n_violators : int or None, default=None
        Use only this many rows of V, those nearest to x (10 in KOIL). None uses all.
    compensate : bool, default=True
        Whether the coefficient of a row that leaves its buffer, or is not admitted, is added to
        that of the nearest row in the buffer (the "++" of KOIL). With False it is lost, as in OILK,
        which harms long streams.
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
    basis_vectors_ : ndarray of shape (n_basis, n_features)
        The rows in the buffers, negative rows first.
    dual_coef_ : ndarray of shape (n_basis,)
        Their coefficients alpha.
    intercept_ : float
        Minus the threshold, which is the midpoint between the mean scores of the two buffers. It
        does not affect the ranking.
    gamma_ : float
        The gamma of the kernel as a number.
    n_samples_seen_ : int
        Number of rows seen so far, including repetitions.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features. Defined only if X has names that are all strings.

    Notes
    -----
    A row takes O(buffer_size * (n_features + buffer_size)) time. The memory is
    32 * buffer_size * (n_features + buffer_size) bytes. Scale the features first; the papers scale
    them to [0, 1]. With buffer="rsx", the copies of a row share its coefficient equally, so that
    drawing copies does not change f. There are no sample weights: a row of weight 2 would not equal
    two rows, because the first of them changes the state that the second one meets.

    References
    ----------
    H. Yang, J. Hu, M. R. Lyu, I. King. Online Imbalanced Learning with Kernels. NeurIPS Workshop on
    Big Learning, 2013.

    J. Hu, H. Yang, I. King, M. R. Lyu, A. M.-C. So. Kernelized Online Imbalanced Learning with
    Fixed Budgets. AAAI 2015.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from skauc import OILK
    >>> X, y = make_circles(600, noise=0.1, factor=0.5, random_state=0)
    >>> model = OILK(gamma=2.0, random_state=0).partial_fit(X[:400], y[:400], classes=[0, 1])
    >>> model.score(X[400:], y[400:]) > 0.98
    True
    >>> len(model.dual_coef_) <= 200
    True
    """

    def __init__(
        self,
        buffer="reservoir",
        *,
        buffer_size=100,
        C=1.0,
        gamma="auto",
        eta=0.001,
        n_violators=None,
        compensate=True,
        n_epochs=5,
        shuffle=True,
        random_state=None,
    ):
        self.buffer = buffer
        self.buffer_size = buffer_size
        self.C = C
        self.gamma = gamma
        self.eta = eta
        self.n_violators = n_violators
        self.compensate = compensate
        self.n_epochs = n_epochs
        self.shuffle = shuffle
        self.random_state = random_state

    @property
    def _model(self) -> Model:
        coef = self.dual_coef_
        unknown = np.full(len(coef), -1)
        return Model(RBF(self.gamma_), self.basis_vectors_, unknown, coef, None, self.intercept_, 0)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("buffer", self.buffer, POLICIES)
        check_integer("buffer_size", self.buffer_size, 1, "100 is a good choice.")
        check_positive("C", self.C, "Larger values make larger steps.")
        if isinstance(self.gamma, str):
            check_choice("gamma", self.gamma, ("auto",))
        else:
            check_positive("gamma", self.gamma, "Larger values make narrower kernels.")
        check_fraction("eta", self.eta, "0.001 is a good choice.")
        if self.n_violators is not None:
            check_integer("n_violators", self.n_violators, 1, "None keeps all.")
        check_boolean("compensate", self.compensate)

    def _start(self, n_features: int, random_state) -> OILKState:
        n_slots = 2 * self.buffer_size
        return OILKState(
            buffers=make_buffers(self.buffer_size, n_features, random_state),
            coef=np.zeros(n_slots),
            gram=np.zeros((n_slots, n_slots)),
            gamma=np.array([1.0 / n_features if self.gamma == "auto" else self.gamma]),
        )

    def _learn(self, X, own, state) -> None:
        most = len(state.coef) if self.n_violators is None else self.n_violators
        policy = POLICIES.index(self.buffer)
        oilk_pass(X, own, state, float(self.C), float(self.eta), most, policy, self.compensate)

    def _attributes(self, state) -> dict:
        size = state.buffers.rows.shape[1]
        filled = np.arange(size) < state.buffers.n_offered[:, None]
        scores = (state.gram @ state.coef).reshape(2, size)
        means = [scores[k, filled[k]].mean() for k in range(2) if filled[k].any()]
        return {
            "basis_vectors_": state.buffers.rows[filled],
            "dual_coef_": state.coef.reshape(2, size)[filled],
            "intercept_": -float(np.mean(means)),
            "gamma_": float(state.gamma[0]),
            "n_samples_seen_": int(state.buffers.n_seen.sum()),
        }


class OILKState(NamedTuple):
    """The state of OILK. In ``coef``, the slots of class k start at k * buffer_size."""

    buffers: Buffers
    coef: np.ndarray
    gram: np.ndarray
    gamma: np.ndarray


@compiled
def oilk_pass(X, own, state, C, eta, n_violators, policy, compensate):
    """Update the state, row by row."""
    buffers = state.buffers
    for t in range(len(X)):
        x, k = X[t], own[t]
        buffers.n_seen[k] += 1
        similarities = _similarities(x, state)
        violators = _nearest(_violators(similarities, k, state), similarities, n_violators)
        pull = eta * opposite_weight(C, buffers, k) * (2.0 * k - 1.0)
        alpha = pull * len(violators) if n_filled(buffers, 1 - k) else pull
        for i in range(len(state.coef)):
            state.coef[i] *= 1.0 - eta
        for v in range(len(violators)):
            state.coef[violators[v]] -= pull
        if alpha != 0.0:
            _store(x, k, alpha, similarities, state, policy, compensate)


@compiled
def _similarities(x, state):
    """Return the kernel of x with each slot, or 0 for an empty slot."""
    size = state.buffers.rows.shape[1]
    values = np.zeros(2 * size)
    for k in range(2):
        for slot in range(n_filled(state.buffers, k)):
            square = 0.0
            for j in range(len(x)):
                difference = x[j] - state.buffers.rows[k, slot, j]
                square += difference * difference
            values[k * size + slot] = math.exp(-state.gamma[0] * square)
    return values


@compiled
def _violators(similarities, own, state):
    """Return the slots of the other class that violate the margin with x."""
    y, score = 2.0 * own - 1.0, dot(similarities, state.coef)
    start = (1 - own) * state.buffers.rows.shape[1]
    found = np.empty(n_filled(state.buffers, 1 - own), np.int64)
    n_found = 0
    for i in range(start, start + len(found)):
        if 1.0 - y * (score - dot(state.gram[i], state.coef)) > 0.0:
            found[n_found] = i
            n_found += 1
    return found[:n_found]


@compiled
def _nearest(slots, similarities, n_nearest):
    """Keep the slots that are nearest to x. Of equals, keep the first."""
    if len(slots) <= n_nearest:
        return slots
    for rank in range(n_nearest):
        best = rank
        for i in range(rank + 1, len(slots)):
            if similarities[slots[i]] > similarities[slots[best]]:
                best = i
        nearest = slots[best]
        for i in range(best, rank, -1):
            slots[i] = slots[i - 1]
        slots[rank] = nearest
    return slots[:n_nearest]


@compiled
def _store(x, own, alpha, similarities, state, policy, compensate):
    """Offer x, with its coefficient, to the buffer of its class."""
    buffers, size = state.buffers, state.buffers.rows.shape[1]
    decide(buffers, own, policy)
    _share_out(alpha, own, similarities, state, compensate)
    fill_slots(buffers.rows[own], buffers.sources, x)
    fill_slots(state.gram[own * size : (own + 1) * size], buffers.sources, similarities)
    _mirror(own, similarities, state)


@compiled
def _share_out(alpha, own, similarities, state, compensate):
    """Give each slot the coefficient of its new content, shared equally among copies.

    The last entry of ``held`` and ``n_copies`` belongs to the new row, because NEW = -1.
    """
    sources = state.buffers.sources
    size = len(sources)
    start = own * size
    held, n_copies = np.zeros(size + 1), np.zeros(size + 1)
    for slot in range(size):
        held[slot] = state.coef[start + slot]
        n_copies[sources[slot]] += 1.0
    held[NEW] = alpha
    if compensate:
        for lost in range(size + 1):
            if n_copies[lost] == 0.0:
                near = similarities if lost == size else state.gram[start + lost]
                held[_heir(near, similarities, lost, start, n_copies)] += held[lost]
    for slot in range(size):
        state.coef[start + slot] = held[sources[slot]] / n_copies[sources[slot]]


@compiled
def _heir(near, similarities, lost, start, n_copies):
    """Return the row that stays and is nearest to the row that is lost."""
    best, heir, new = -1.0, 0, len(n_copies) - 1
    for other in range(len(n_copies)):
        value = similarities[start + lost] if other == new else near[start + other]
        if n_copies[other] > 0.0 and value > best:
            best, heir = value, other
    return heir


@compiled
def _mirror(own, similarities, state):
    """Copy the rows of the kernel matrix of changed slots to its columns."""
    gram, sources = state.gram, state.buffers.sources
    size = len(sources)
    start = own * size
    old = np.empty(size)
    for slot in range(size):
        if sources[slot] == slot:
            continue
        row, source = gram[start + slot], sources[slot]
        for other in range(size):
            old[other] = row[start + other]
        with_new = 1.0 if source == NEW else similarities[start + source]
        for other in range(size):
            row[start + other] = with_new if sources[other] == NEW else old[sources[other]]
    for slot in range(size):
        if sources[slot] != slot:
            for other in range(len(gram)):
                gram[other, start + slot] = gram[start + slot, other]
