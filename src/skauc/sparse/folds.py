"""Folds of cross-validation: row indices in memory, ranges of row hashes on a cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skauc.data.sampling import AnyOf, Counts, HashOrder, HashRange, balanced_counts
from skauc.data.training import TrainingData
from skauc.engines.base import Chosen
from skauc.sparse.sampling import balanced_sample

# Number of test rows of a fold on a cluster that score a refined model.
SCORED_ROWS = 200_000


@dataclass(frozen=True, eq=False)
class RowFold:
    """Indices of the training rows and of the test rows."""

    train: np.ndarray
    test: np.ndarray

    def split(self, data: TrainingData) -> tuple[TrainingData, Chosen]:
        """Return the rows of both parts, and the mask of the test rows."""
        n_train = len(self.train)
        rows = data.part(np.concatenate((self.train, self.test)))
        return rows, lambda part: np.arange(part.n_rows) >= n_train

    def training(self, data: TrainingData) -> TrainingData:
        """Return the training rows, numbered from 0."""
        return replace(data.part(self.train), numbering=None)

    def tested(self, data: TrainingData) -> TrainingData:
        """Return the test rows."""
        return data.part(self.test)

    def few(
        self, data: TrainingData, n_train: int, n_test: int, random_state
    ) -> tuple[TrainingData, RowFold]:
        """Return a sample of the fold, as balanced as possible."""
        train, test = (
            balanced_sample(data.positive, rows, size, random_state)
            for rows, size in ((self.train, n_train), (self.test, n_test))
        )
        return data, RowFold(train, test)

    def training_counts(self, data: TrainingData) -> Counts:
        """Return the number of negative and of positive training rows."""
        counted = self.train[data.weights[self.train] > 0]
        negative, positive = np.bincount(data.positive[counted], minlength=2).tolist()
        return negative, positive


@dataclass(frozen=True, eq=False)
class HashFold:
    """The test rows are those from position ``first`` to ``last`` of each class, by hash."""

    order: HashOrder
    first: Counts
    last: Counts

    @property
    def _held_out(self) -> HashRange:
        return self.order.between(self.first, self.last)

    def split(self, data):
        """Return the rows of both parts, and the mask of the test rows."""
        return data, self._held_out

    def training(self, data):
        """Return all rows, with a weight of zero for the test rows."""
        return data.without(self._held_out)

    def tested(self, data) -> TrainingData:
        """Return the test rows, up to `SCORED_ROWS` of them."""
        return data.take(self._some_tested(SCORED_ROWS))

    def few(self, data, n_train: int, n_test: int, random_state) -> tuple[TrainingData, RowFold]:
        """Return a sample of the fold in memory, as balanced as possible."""
        counts = balanced_counts(self.training_counts(data), n_train)
        ends = np.add(self.last, counts)
        # Training rows follow the test rows in the order of hashes and wrap around at its end.
        over = np.maximum(ends - self.order.counts, 0)
        train = AnyOf(
            self.order.between(self.last, _as_counts(ends - over)),
            self.order.between((0, 0), _as_counts(over)),
        )
        test = self._some_tested(n_test)
        rows = data.take(AnyOf(train, test))
        return rows, RowFold(np.flatnonzero(train(rows)), np.flatnonzero(test(rows)))

    def _some_tested(self, size: int) -> HashRange:
        counts = balanced_counts(_as_counts(np.subtract(self.last, self.first)), size)
        return self.order.between(self.first, _as_counts(np.add(self.first, counts)))

    def training_counts(self, data) -> Counts:
        """Return the number of negative and of positive training rows."""
        return _as_counts(np.subtract(self.order.counts, np.subtract(self.last, self.first)))


Fold = RowFold | HashFold


def hash_folds(data, n_splits: int, seed: int) -> list[HashFold]:
    """Return stratified folds by hash; each row is tested in one of them."""
    order = HashOrder(data, seed)
    ends = [
        _as_counts(np.array(order.counts) * number // n_splits) for number in range(n_splits + 1)
    ]
    return [HashFold(order, ends[i], ends[i + 1]) for i in range(n_splits)]


def _as_counts(numbers: np.ndarray) -> Counts:
    negative, positive = numbers.tolist()
    return negative, positive
