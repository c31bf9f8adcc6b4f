"""What the online learners share: the way in, the epochs, the threshold and the scores."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from skauc.base import CallbackMixin, RankingClassifier, unchanged_on_error, with_callbacks
from skauc.data.training import TrainingData, check_chunk, check_training
from skauc.exceptions import InvalidDataError
from skauc.model import Model
from skauc.validation import check_boolean, check_whole_number

# Numbers in a block of rows, a megabyte in float64.
_BLOCK = 1 << 17


class OnlineClassifier(CallbackMixin, RankingClassifier):
    """Learns from one row after the other.

    A learner says how its state starts, how a block of rows changes it, and which fitted
    attributes follow from it. The state is a named tuple of arrays that holds everything,
    the random numbers included: learning in pieces is learning in one pass.
    """

    @with_callbacks
    def fit(self, X, y):
        """Learn afresh, in several passes over the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows. They are learnt in float64, sparse ones in dense blocks.
        y : array-like of shape (n_samples,)
            Labels, two different ones of any kind.

        Returns
        -------
        self : estimator
            The fitted learner.
        """
        self._check_parameters()
        with unchanged_on_error(self):
            data = check_training(self, X, y)
            self.classes_ = data.classes
            random_state = check_random_state(self.random_state)
            state = self._start(data.X.shape[1], random_state)
            reporter = self._start_reporting(self.n_epochs, X, y, None)
            rows = np.arange(len(data.positive))
            for _ in range(self.n_epochs):
                order = random_state.permutation(rows) if self.shuffle else rows
                self._learn_rows(state, data, order)
                if reporter.task("epoch", partial(self._checked_attributes, copy.deepcopy(state))):
                    break
            self._finish(state)
            reporter.end(partial(self._checked_attributes, state))
        return self

    def partial_fit(self, X, y, classes=None):
        """Learn from more rows, once, in the order in which they come.

        What counts is the sequence of rows, not how it is cut into calls.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The next rows.
        y : array-like of shape (n_samples,)
            Their labels; either class may be missing.
        classes : array-like of shape (2,), default=None
            Both labels. The first call needs them, later ones may leave them out.

        Returns
        -------
        self : estimator
            The learner, a few rows wiser.
        """
        self._check_parameters()
        with unchanged_on_error(self):
            is_first = not hasattr(self, "_state")
            data = check_chunk(self, X, y, classes)
            self.classes_ = data.classes
            if is_first:
                state = self._start(data.X.shape[1], check_random_state(self.random_state))
            else:
                state = copy.deepcopy(self._state)
            self._learn_rows(state, data, np.arange(len(data.positive)))
            self._finish(state)
        return self

    def _learn_rows(self, state, data: TrainingData, order: np.ndarray) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            for X, own in _blocks(data, order):
                self._learn(X, own, state)

    def _finish(self, state) -> None:
        vars(self).update(self._checked_attributes(state))
        self._state = state

    def _checked_attributes(self, state) -> dict:
        """Return the fitted attributes, or say that they are no numbers any more."""
        with np.errstate(over="ignore", invalid="ignore"):
            attributes = self._attributes(state)
        if not all(np.isfinite(value).all() for value in attributes.values()):
            raise InvalidDataError(
                f"The coefficients of {type(self).__name__} overflowed. Scale the features, for "
                "instance with sklearn.preprocessing.StandardScaler, or make smaller steps."
            )
        return attributes

    def _check_parameters(self) -> None:
        """Raise an error for a parameter that the learner cannot have."""
        check_whole_number("n_epochs", self.n_epochs, 1, "It is the number of passes of `fit`.")
        check_boolean("shuffle", self.shuffle)

    @abstractmethod
    def _start(self, n_features: int, random_state):
        """Return the state before the first row."""

    @abstractmethod
    def _learn(self, X: np.ndarray, own: np.ndarray, state) -> None:
        """Change the state, in place, row by row; ``own`` is 1 for positive rows and 0 else."""

    @abstractmethod
    def _attributes(self, state) -> dict:
        """Return the fitted attributes."""


class LinearOnlineClassifier(OnlineClassifier):
    """An online learner of f(x) = w.x, whose state has n_seen, means, weights and average."""

    @property
    def _model(self) -> Model:
        return Model.linear(self.coef_[0], self.intercept_[0])

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_boolean("average", self.average)

    def _attributes(self, state) -> dict:
        """Return the weights, and the threshold midway between the mean scores of the classes."""
        weights = (state.average if self.average else state.weights).copy()
        middle = state.means.mean(axis=0)
        return {
            "coef_": weights[None, :],
            "intercept_": -weights[None, :] @ middle,
            "n_samples_seen_": int(state.n_seen.sum()),
        }


def _blocks(data: TrainingData, order: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the rows in that order, in dense float64 blocks, with the codes of their classes."""
    n_rows = max(_BLOCK // data.X.shape[1], 64)
    for start in range(0, len(order), n_rows):
        rows = order[start : start + n_rows]
        block = data.X[rows]
        block = block.toarray() if sparse.issparse(block) else block
        yield np.ascontiguousarray(block, np.float64), data.positive[rows].astype(np.int64)
