"""Folds of cross-validation: rows by their numbers, or by lot where no client could list them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skauc.data.sampling import Drawn, Either, Lottery
from skauc.data.training import TrainingData
from skauc.engines.base import Chosen
from skauc.sparse.fitting import balanced_counts, balanced_sample

# Rows of a fold on a cluster that decide how good a refined model is.
SCORED_ROWS = 200_000


@dataclass(frozen=True, eq=False)
class RowFold:
    """The numbers of the rows to train on, and of those to test on."""

    train: np.ndarray
    test: np.ndarray

    def split(self, data: TrainingData) -> tuple[TrainingData, Chosen]:
        """Return the rows of both parts, and which of them are to be held out."""
        n_train = len(self.train)
        rows = data.part(np.concatenate((self.train, self.test)))
        return rows, lambda part: np.arange(part.n_rows) >= n_train

    def training(self, data: TrainingData) -> TrainingData:
        """Return the rows to train on, numbered anew: a fit to them does as one to them alone."""
        return replace(data.part(self.train), numbering=None)

    def tested(self, data: TrainingData) -> TrainingData:
        """Return the rows to test on."""
        return data.part(self.test)

    def few(
        self, data: TrainingData, n_train: int, n_test: int, random_state
    ) -> tuple[TrainingData, RowFold]:
        """Return a part of the fold's rows, as even between the classes as may be."""
        train, test = (
            balanced_sample(data.positive, rows, size, random_state)
            for rows, size in ((self.train, n_train), (self.test, n_test))
        )
        return data, RowFold(train, test)

    def training_counts(self, data: TrainingData) -> tuple[int, int]:
        """Return how many negative and positive rows there are to train on."""
        counting = self.train[data.weights[self.train] > 0]
        negative, positive = np.bincount(data.positive[counting], minlength=2).tolist()
        return negative, positive


@dataclass(frozen=True, eq=False)
class LotFold:
    """The rows to test on are those in some places of each class's order by lot."""

    lottery: Lottery
    first: tuple[int, int]
    last: tuple[int, int]

    @property
    def _held_out(self) -> Drawn:
        return self.lottery.between(self.first, self.last)

    def split(self, data):
        """Return the rows of both parts, and which of them are to be held out."""
        return data, self._held_out

    def training(self, data):
        """Return the rows to train on: the others count nothing."""
        return data.without(self._held_out)

    def tested(self, data) -> TrainingData:
        """Return rows to test on, some of them where there are many."""
        return data.take(self._some_tested(SCORED_ROWS))

    def few(self, data, n_train: int, n_test: int, random_state) -> tuple[TrainingData, RowFold]:
        """Return a part of the fold's rows, as even between the classes as may be, here."""
        counts = balanced_counts(self.training_counts(data), n_train)
        ends = np.add(self.last, counts)
        # After the rows to test on, and from the beginning where they end.
        over = np.maximum(ends - self.lottery.counts, 0)
        train = Either(
            self.lottery.between(self.last, _as_counts(ends - over)),
            self.lottery.between((0, 0), _as_counts(over)),
        )
        test = self._some_tested(n_test)
        rows = data.take(Either(train, test))
        return rows, RowFold(np.flatnonzero(train(rows)), np.flatnonzero(test(rows)))

    def _some_tested(self, size: int) -> Drawn:
        counts = balanced_counts(_as_counts(np.subtract(self.last, self.first)), size)
        return self.lottery.between(self.first, _as_counts(np.add(self.first, counts)))

    def training_counts(self, data) -> tuple[int, int]:
        """Return how many negative and positive rows there are to train on."""
        return _as_counts(np.subtract(self.lottery.counts, np.subtract(self.last, self.first)))


def lot_folds(data, n_splits: int, seed: int) -> list[LotFold]:
    """Return folds of which each row is tested in one, alike in their shares of the classes."""
    lottery = Lottery(data, seed)
    ends = [
        _as_counts(np.array(lottery.counts) * number // n_splits) for number in range(n_splits + 1)
    ]
    return [LotFold(lottery, ends[i], ends[i + 1]) for i in range(n_splits)]


def _as_counts(numbers: np.ndarray) -> tuple[int, int]:
    negative, positive = numbers.tolist()
    return negative, positive
