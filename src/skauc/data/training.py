"""Training rows with labels and weights, checked once when they come in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.support import cached_property
from skauc.validation import (
    FLOAT_DTYPES,
    check_class_weights,
    check_column,
    check_number_of_classes,
    check_weights,
    on_host,
    tidy,
)


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Rows, and how much each counts."""

    X: np.ndarray | sparse.csr_array
    weights: np.ndarray

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return self.X.shape[1]

    def add_up(self, sums: Callable, *arguments):
        """Return ``sums(rows, *arguments)``, added up over the places where rows are."""
        return sums(self, *arguments)


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Rows, which of them are positive, and how much each counts.

    A row has a number, and a place among the rows that count. They begin with those in ``first``;
    in a part that was taken from a whole, ``numbering`` holds those that rows have in the whole.
    ``device`` is where an engine is to take them, by the name that torch has for it; None: nowhere.
    """

    X: np.ndarray | sparse.csr_array
    positive: np.ndarray
    weights: np.ndarray
    classes: np.ndarray
    first: tuple[int, int] = (0, 0)
    numbering: np.ndarray | None = None
    device: str | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return self.X.shape[1]

    @property
    def is_sparse(self) -> bool:
        """Whether rows are kept without their zeros."""
        return sparse.issparse(self.X)

    @property
    def row_numbers(self) -> np.ndarray:
        """The number of each row."""
        return self.numbers[0]

    @property
    def places(self) -> np.ndarray:
        """The place of each row that counts among those that do."""
        return self.numbers[1]

    @cached_property
    def numbers(self) -> np.ndarray:
        """Numbers above places."""
        if self.numbering is not None:
            return self.numbering
        places = np.cumsum(self.weights > 0) - 1
        return np.stack((np.arange(self.n_rows), places)) + np.array(self.first)[:, None]

    def part(self, rows: np.ndarray) -> TrainingData:
        """Return the given rows alone."""
        return replace(
            self,
            X=self.X[rows],
            positive=self.positive[rows],
            weights=self.weights[rows],
            numbering=self.numbers[:, rows],
        )

    def add_up(self, sums: Callable, *arguments):
        """Return ``sums(rows, *arguments)``, added up over the places where rows are."""
        return sums(self, *arguments)

    def take(self, chosen: Callable[[TrainingData], np.ndarray]) -> TrainingData:
        """Return the rows for which ``chosen`` returns True, here and for no device."""
        return replace(self.part(np.flatnonzero(chosen(self))), device=None)

    def transformed(self, transform: Callable) -> TrainingData:
        """Return the same rows with other features."""
        return replace(self, X=transform(self.X))


def check_training(estimator, X, y, sample_weight=None, *, advice="") -> TrainingData:
    """Validate what was passed to ``fit`` and code the second class as positive.

    Floats stay in the precision they came in; nothing is copied. ``advice`` says what else the
    estimator can do with more than two classes.
    """
    X, y, sample_weight = on_host(X), on_host(y), on_host(sample_weight)
    X, y = validate_data(
        estimator, X, y, accept_sparse="csr", dtype=list(FLOAT_DTYPES), ensure_min_samples=1
    )
    X = tidy(X)
    check_classification_targets(y)
    weights = check_weights(sample_weight, X)
    classes, codes = np.unique(y, return_inverse=True)
    check_number_of_classes(classes, y, advice)
    check_class_weights(weights, classes, codes)
    return TrainingData(X, codes == 1, weights, classes)


def check_chunk(estimator, X, y, classes) -> TrainingData:
    """Validate one chunk of a stream, in which either class may be missing.

    The first chunk settles the columns and their names, and ``classes`` the labels, for good.
    """
    known = getattr(estimator, "classes_", None)
    classes = _check_stream_classes(classes, known)
    X, y = validate_data(
        estimator,
        X,
        y,
        accept_sparse="csr",
        dtype=list(FLOAT_DTYPES),
        ensure_min_samples=1,
        reset=known is None,
    )
    check_classification_targets(y)
    strangers = np.setdiff1d(y, classes)
    if len(strangers):
        raise InvalidDataError(
            f"`y` has the label {strangers.tolist()[0]!r}, which is not one of the classes "
            f"{classes.tolist()}. Leave such rows out, or start afresh with `fit`."
        )
    return TrainingData(tidy(X), y == classes[1], np.ones(len(y)), classes)


def _check_stream_classes(classes, known: np.ndarray | None) -> np.ndarray:
    """Return the two labels in sorted order, or say why they cannot be."""
    if classes is None:
        if known is None:
            raise InvalidParameterError(
                "`classes` must be given in the first call of partial_fit; got None. "
                "Pass both labels, for instance classes=[0, 1]."
            )
        return known
    labels = np.unique(check_column("classes", classes, "Pass both labels."))
    if len(labels) != 2:
        raise InvalidParameterError(
            f"Only binary classification is supported: `classes` must hold two different labels; "
            f"got {np.asarray(classes).tolist()}. Pass both labels, for instance classes=[0, 1]."
        )
    if known is not None and not np.array_equal(labels, known):
        raise InvalidParameterError(
            f"`classes` must stay {known.tolist()}, as in the first call; got {labels.tolist()}. "
            "Leave it out, or start afresh with `fit`."
        )
    return labels
