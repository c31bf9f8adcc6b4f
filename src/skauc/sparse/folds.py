"""Folds of cross-validation: row indices in memory, ranges of row hashes on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedGroupKFold, check_cv

from skauc.data.sampling import (
    AnyOf,
    Counts,
    HashOrder,
    HashRange,
    as_counts,
    balanced_counts,
    class_counts,
)
from skauc.data.training import TrainingData
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.sparse.sampling import balanced_sample
from skauc.validation import check_integer

# Number of test rows of a fold on a cluster that score a refined model.
SCORED_ROWS = 200_000


@dataclass(frozen=True, eq=False)
class RowFold:
    """Indices of the training rows and of the test rows.

    ``known_axes`` holds the principal axes of the training rows, which all settings share.
    """

    train: np.ndarray
    test: np.ndarray
    known_axes: dict = field(default_factory=dict, repr=False)

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
        negative, positive = np.bincount(data.positive[self.train], minlength=2).tolist()
        return negative, positive


@dataclass(frozen=True, eq=False)
class HashFold:
    """The test rows are those from position ``first`` to ``last`` of each class, by hash."""

    order: HashOrder
    first: Counts
    last: Counts
    known_axes: dict = field(default_factory=dict, repr=False)

    @property
    def _held_out(self) -> HashRange:
        return self.order.between(self.first, self.last)

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
            self.order.between(self.last, as_counts(ends - over)),
            self.order.between((0, 0), as_counts(over)),
        )
        test = self._some_tested(n_test)
        rows = data.take(AnyOf(train, test))
        return rows, RowFold(np.flatnonzero(train(rows)), np.flatnonzero(test(rows)))

    def _some_tested(self, size: int) -> HashRange:
        counts = balanced_counts(as_counts(np.subtract(self.last, self.first)), size)
        return self.order.between(self.first, as_counts(np.add(self.first, counts)))

    def training_counts(self, data) -> Counts:
        """Return the number of negative and of positive training rows."""
        return as_counts(np.subtract(self.order.counts, np.subtract(self.last, self.first)))


Fold = RowFold | HashFold


def tests_per_row(folds: Sequence[Fold]) -> float:
    """Return how often rows are tested, on average over those that are tested at all."""
    tested = [fold.test for fold in folds if isinstance(fold, RowFold)]
    if not tested:  # folds by hash are disjoint
        return 1.0
    rows = np.concatenate(tested)
    return len(rows) / len(np.unique(rows))


def hash_folds(data, n_splits: int, seed: int) -> list[HashFold]:
    """Return stratified folds by hash; each row is tested in one of them."""
    order = HashOrder(data, seed)
    ends = [
        as_counts(np.array(order.counts) * number // n_splits) for number in range(n_splits + 1)
    ]
    return [HashFold(order, ends[i], ends[i + 1]) for i in range(n_splits)]


def make_folds(
    data: TrainingData, cv: Any, groups: np.ndarray | None, n_most: int, n_repeats: int, seed: int
) -> Sequence[Fold]:
    """Return the folds of the parameter ``cv``.

    None is ``n_most`` folds, or as many as the rarer class allows, repeated if there are no groups.
    Only a splitter that was passed sees rows of weight 0. Folds hold indices of `data.counted()`.
    """
    is_number = cv is None or isinstance(cv, int | np.integer)
    if not isinstance(data, TrainingData):
        if not is_number or groups is not None:
            raise InvalidParameterError(
                "`cv` must be None or an integer, and `groups` None, if the rows are on a cluster; "
                f"got cv={cv!r}. Use for instance cv=5."
            )
        return hash_folds(data, _n_splits(cv, n_most, class_counts(data)), seed)
    if not is_number:
        splitter = check_cv(cv, data.positive, classifier=True)
        return _listed_folds(splitter, data, groups, np.arange(data.n_rows))
    counted = np.flatnonzero(data.weights > 0)
    if groups is not None:
        n_splits = _n_splits(cv, min(n_most, len(np.unique(groups[counted]))), class_counts(data))
        splitter = StratifiedGroupKFold(n_splits, shuffle=True, random_state=seed)
        return _listed_folds(splitter, data, groups, counted)
    splitter = RepeatedStratifiedKFold(
        n_splits=_n_splits(cv, n_most, class_counts(data)),
        n_repeats=n_repeats if cv is None else 1,
        random_state=seed,
    )
    return _listed_folds(splitter, data, None, counted)


def _n_splits(cv: int | None, n_most: int, counts: Sequence[int]) -> int:
    """Return the number of folds; raise an error if a class has fewer rows."""
    n_splits = max(min(n_most, *counts), 2) if cv is None else cv
    check_integer("cv", n_splits, 2, "5 folds are usual.")
    if min(counts) < n_splits:
        raise InvalidDataError(
            f"cv={n_splits} needs {n_splits} rows of each class; the smaller class has "
            f"{min(counts)}. Lower `cv` or get more rows."
        )
    return n_splits


def _listed_folds(
    cv, data: TrainingData, groups: np.ndarray | None, numbers: np.ndarray
) -> list[RowFold]:
    """Return the folds of a splitter for the rows with the given numbers.

    Raise an error if a fold lacks a class or splits a group.
    """
    labels, grouped = data.positive[numbers], None if groups is None else groups[numbers]
    folds = cv.split(numbers[:, None], labels, grouped)
    folds = [
        RowFold(*(rows[data.weights[rows] > 0] for rows in _chosen(number, numbers, parts)))
        for number, parts in enumerate(folds)
    ]
    if not folds:
        raise InvalidParameterError("`cv` must give at least one fold; got none. 5 is usual.")
    for number, fold in enumerate(folds):
        for part, rows in (("training", fold.train), ("test", fold.test)):
            if len(np.unique(data.positive[rows])) < 2:
                raise InvalidDataError(
                    f"The {part} part of fold {number} of `cv` lacks one of the classes. "
                    "Use stratified folds, or fewer of them."
                )
        if groups is not None:
            _check_groups_are_whole(number, fold, groups)
    return [RowFold(data.places[fold.train], data.places[fold.test]) for fold in folds]


def _chosen(number: int, numbers: np.ndarray, parts: Sequence[Any]) -> list[np.ndarray]:
    """Return the rows of both parts of a fold; raise an error if there are no such rows."""
    try:
        return [numbers[np.asarray(rows)] for rows in parts]
    except IndexError as error:
        raise InvalidParameterError(
            f"`cv` must give row numbers from 0 to {len(numbers) - 1}; got, in fold {number}: "
            f"{error}. Make the folds from the {len(numbers)} rows that are passed to `fit`."
        ) from error


def _check_groups_are_whole(number: int, fold: RowFold, groups: np.ndarray) -> None:
    _, in_train, in_test = np.intersect1d(
        groups[fold.train], groups[fold.test], return_indices=True
    )
    if len(in_train):
        train, test = fold.train[in_train[0]], fold.test[in_test[0]]
        raise InvalidParameterError(
            "`cv` must keep the rows of a group together if `groups` are passed; rows "
            f"{train} and {test} are of one group, but row {train} is in the training part of fold "
            f"{number} and row {test} in the test part. Use cv=5 or GroupKFold, or leave out "
            "`groups`."
        )
