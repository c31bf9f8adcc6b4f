"""Training rows with labels and weights, validated once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from skauc.compiling import compiled
from skauc.exceptions import (
    InvalidDataError,
    InvalidParameterError,
    PositiveLabelWarning,
    warn_user,
)
from skauc.support import cached_property, quiet_overflow
from skauc.validation import (
    check_class_weights,
    check_column,
    check_features,
    check_number_of_classes,
    check_pair_weight,
    check_weights,
    on_host,
    plain_labels,
)

# A negative class with a smaller share of the rows than this is probably the one to find.
RARE_SHARE = 1 / 3


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Rows and their weights."""

    X: np.ndarray | sparse.csr_array
    weights: np.ndarray

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return self.X.shape[1]

    def add_up(self, sums: Callable, *arguments):
        """Return ``sums(rows, *arguments)``, added up over all blocks of rows."""
        return sums(self, *arguments)


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Rows, which of them are positive, and their weights.

    Each row has an index among all rows (its number) and an index among the rows of positive weight
    (its place). They start at the values in ``first``. A part of a larger data set keeps the
    numbers and places of the larger one in ``numbering``. ``device`` is the torch device of the
    GPU engine, and None for the CPU engine.
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
        """Whether the rows are a sparse array."""
        return sparse.issparse(self.X)

    @property
    def row_numbers(self) -> np.ndarray:
        """The index of each row among all rows."""
        return self.numbers[0]

    @property
    def places(self) -> np.ndarray:
        """The index of each row among the rows of positive weight."""
        return self.numbers[1]

    @cached_property
    def numbers(self) -> np.ndarray:
        """Row numbers in the first row, places in the second."""
        if self.numbering is not None:
            return self.numbering
        return _number(self.weights, *self.first)

    def part(self, rows: np.ndarray) -> TrainingData:
        """Return the given rows only."""
        return replace(
            self,
            X=self.X[rows],
            positive=self.positive[rows],
            weights=self.weights[rows],
            numbering=self.numbers[:, rows],
        )

    def add_up(self, sums: Callable, *arguments):
        """Return ``sums(rows, *arguments)``, added up over all blocks of rows."""
        return sums(self, *arguments)

    def take(self, chosen: Callable[[TrainingData], np.ndarray]) -> TrainingData:
        """Return the rows for which ``chosen`` returns True, for the CPU engine."""
        is_chosen = chosen(self)
        rows = self if is_chosen.all() else self.part(np.flatnonzero(is_chosen))
        return replace(rows, device=None)

    def counted(self) -> TrainingData:
        """Return the rows of positive weight. No other row may matter, however far it is."""
        is_counted = self.weights > 0
        return self if is_counted.all() else self.part(np.flatnonzero(is_counted))

    def transformed(self, transform: Callable) -> TrainingData:
        """Return the same rows with other features."""
        return replace(self, X=transform(self.X))


@compiled
def _number(weights, number, place):
    """Return row numbers and places, counted from ``number`` and ``place``."""
    out = np.empty((2, len(weights)), np.int64)
    for i in range(len(weights)):
        if weights[i] > 0.0:
            place += 1
        out[0, i], out[1, i] = number + i, place - 1
    return out


def check_training(estimator, X, y, sample_weight=None, *, advice="") -> TrainingData:
    """Validate the arguments of ``fit``. The label that sorts last is the positive class.

    float32 and float64 rows keep their precision and are not copied. ``advice`` is added to the
    error for more than two classes.
    """
    X, y = check_features(estimator, X, plain_labels(on_host(y)))
    classes = _classes_of(y)
    weights = check_weights(on_host(sample_weight), X)
    check_number_of_classes(classes, y, advice)
    positive = y == classes[1]
    check_class_weights(weights, classes, positive)
    check_pair_weight(float(weights[~positive].sum()), float(weights[positive].sum()))
    n_positive = np.count_nonzero(positive)
    warn_of_rare_negatives(classes, np.array([len(y) - n_positive, n_positive]))
    return TrainingData(X, positive, weights, classes)


def _classes_of(y: np.ndarray) -> np.ndarray:
    """Return the distinct labels in sorted order.

    Two booleans or integers are found without sorting all rows, twice in scikit-learn's check.
    """
    if y.dtype.kind in "biu":
        ends = np.array([y.min(), y.max()])
        if np.all((y == ends[0]) | (y == ends[1])):
            return np.unique(ends)
    with quiet_overflow():
        check_classification_targets(y)
    return np.unique(y)


def warn_of_rare_negatives(classes: np.ndarray, counts: np.ndarray) -> None:
    """Warn if the labels are text and the one that sorts first, the negative class, is rare.

    Numbers and booleans have an order that people mean: 1 and True are positive. The order of
    words is an accident of spelling, and the rarer one is nearly always the one to find.
    """
    negative, positive = classes.tolist()
    if isinstance(negative, str) and counts[0] < RARE_SHARE * counts.sum():
        warn_user(
            f"{positive!r} is the positive class, which ranks high, because it sorts after "
            f"{negative!r}. But {negative!r} is much rarer: {counts[0]} of {counts.sum()} rows. "
            f"Pass y == {negative!r} as labels to rank {negative!r} high.",
            PositiveLabelWarning,
        )


def check_chunk(estimator, X, y, classes) -> TrainingData:
    """Validate one chunk of a stream, in which either class may be missing.

    The first chunk fixes the columns and their names, and ``classes`` fixes the labels.
    """
    known = getattr(estimator, "classes_", None)
    classes = _check_stream_classes(classes, known)
    X, y = check_features(estimator, X, plain_labels(on_host(y)), reset=known is None)
    with quiet_overflow():
        check_classification_targets(y)
    strangers = np.setdiff1d(y, classes)
    if len(strangers):
        raise InvalidDataError(
            f"`y` has the label {strangers.tolist()[0]!r}, which is not one of the classes "
            f"{classes.tolist()}. Leave such rows out, or start again with `fit`."
        )
    return TrainingData(X, y == classes[1], np.ones(len(y)), classes)


def _check_stream_classes(classes, known: np.ndarray | None) -> np.ndarray:
    """Return the two labels in sorted order, or raise an error."""
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
            "Leave it out, or start again with `fit`."
        )
    return labels
