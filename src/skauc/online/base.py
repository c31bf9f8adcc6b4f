"""What the online learners share: validation, epochs, thresholds and scores."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from skauc.base import CallbackMixin, RankingClassifier, fitting, with_callbacks
from skauc.data.training import TrainingData, check_chunk, check_training
from skauc.engines import current_policy
from skauc.exceptions import InvalidDataError
from skauc.kernels import densified
from skauc.model import Model
from skauc.support import quiet_overflow, row_slices, rows_per_block
from skauc.validation import check_boolean, check_integer


class OnlineClassifier(CallbackMixin, RankingClassifier):
    """Learns from one row after the other.

    A learner defines the initial state, how a block of rows updates it, and the fitted attributes
    that follow from it. The state is a named tuple of arrays. It holds everything, including the
    state of the random numbers, so that the result does not depend on how rows are cut into calls.
    """

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Start again, and learn in several passes over the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows. They are converted to float64, and sparse rows to dense blocks.
        y : array-like of shape (n_samples,)
            Labels of two classes. The label that sorts last is the positive class.

        Returns
        -------
        self : estimator
            The fitted learner.
        """
        self._check_parameters()
        with fitting(self):
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

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn from more rows, in one pass and in the given order.

        The result depends on the sequence of rows and not on how it is cut into calls.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The next rows.
        y : array-like of shape (n_samples,)
            Their labels. Either class may be missing.
        classes : array-like of shape (2,), default=None
            Both labels. Required in the first call only.

        Returns
        -------
        self : estimator
            The fitted learner.
        """
        self._check_parameters()
        with fitting(self):
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
        with quiet_overflow():
            for X, own in _blocks(data, order):
                try:
                    self._learn(X, own, state)
                except np.linalg.LinAlgError as error:  # a sketch with infinite entries
                    raise self._overflow() from error

    def _finish(self, state) -> None:
        self.__dict__.update(self._checked_attributes(state))
        self._state = state

    def _checked_attributes(self, state) -> dict:
        """Return the fitted attributes, or raise an error if they or the state overflowed.

        An overflow can be in the state only: an infinite covariance makes every later step NaN, and
        a soft threshold turns that into a weight of zero.
        """
        with quiet_overflow():
            attributes = self._attributes(state)
        numbers = (*attributes.values(), *_arrays(state))
        if not all(np.isfinite(value).all() for value in numbers):
            raise self._overflow()
        return attributes

    def _overflow(self) -> InvalidDataError:
        return InvalidDataError(
            f"The coefficients of {type(self).__name__} overflowed. Scale the features, for "
            "instance with sklearn.preprocessing.StandardScaler, or use smaller steps."
        )

    def _check_parameters(self) -> None:
        """Raise an error for an invalid parameter."""
        check_integer("n_epochs", self.n_epochs, 1, "It is the number of passes of `fit`.")
        check_boolean("shuffle", self.shuffle)

    @abstractmethod
    def _start(self, n_features: int, random_state):
        """Return the state before the first row."""

    @abstractmethod
    def _learn(self, X: np.ndarray, own: np.ndarray, state) -> None:
        """Update the state in place, row by row; ``own`` is 1 for positive rows and 0 otherwise."""

    @abstractmethod
    def _attributes(self, state) -> dict:
        """Return the fitted attributes."""


class LinearOnlineClassifier(OnlineClassifier):
    """An online learner of f(x) = w.x. Its state has n_seen, means, weights and average."""

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


def _arrays(state) -> Iterator[np.ndarray]:
    """Yield the arrays of a state, which is a tuple of arrays and tuples."""
    for part in state:
        if isinstance(part, tuple):
            yield from _arrays(part)
        else:
            yield part


def _blocks(data: TrainingData, order: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the rows in the given order, in dense float64 blocks, with the codes of classes."""
    n_rows = rows_per_block(data.X.shape[1], current_policy().float64_block)
    for part in row_slices(len(order), n_rows):
        rows = order[part]
        block = densified(data.X[rows])
        yield np.ascontiguousarray(block, np.float64), data.positive[rows].astype(np.int64)
