"""Checks of the labels y and of sample weights."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight

from skauc.exceptions import InvalidDataError
from skauc.support import is_missing, quiet_overflow


def check_number_of_classes(classes: np.ndarray, y, advice: str = "") -> None:
    """Raise an error unless there are two classes."""
    if len(classes) == 1:
        raise InvalidDataError(
            f"AUC compares two classes, and `y` has one class only: {classes.tolist()[0]!r}. "
            "Pass rows of both classes."
        )
    if len(classes) > 2:
        raise InvalidDataError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y)}: `y` has {len(classes)} classes. Wrap the estimator in "
            f"sklearn.multiclass.OneVsRestClassifier to rank each class against the rest.{advice}"
        )


def plain_labels(y):
    """Return a column of labels as an array of their own type, also if they are kept as objects.

    Raise an error if an object is a missing label, or if text is among other objects. What is no
    column is returned as it is.
    """
    column = np.asarray(y)
    if column.ndim != 1:
        return y
    if column.dtype != object:
        return column
    labels = column.tolist()
    if all(issubclass(kind, str) for kind in set(map(type, labels))):
        return column
    is_text = [isinstance(label, str) for label in labels]
    for row, label in enumerate(labels):
        if not is_text[row] and is_missing(label):
            raise InvalidDataError(
                f"`y` has no label in row {row}; got {label!r}. Leave rows without a label out."
            )
    if any(is_text):
        one, other = labels[is_text.index(True)], labels[is_text.index(False)]
        raise InvalidDataError(
            f"`y` has labels of several types, such as {one!r} and {other!r}. "
            "Use labels of one type."
        )
    are_numbers = all(isinstance(label, Real | np.bool_) for label in labels)
    return np.array(labels) if are_numbers else column


def check_groups(groups, n_rows: int) -> np.ndarray | None:
    """Return the group of each row, objects as numbers, or None if there are no groups."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    if groups.shape != (n_rows,):
        raise InvalidDataError(
            f"`groups` must have one value per row, shape ({n_rows},); got shape {groups.shape}."
        )
    if len(set(groups.tolist())) < 2:
        raise InvalidDataError(
            "`groups` must have at least two different groups, one to train on and one to test "
            f"on; got only {groups[0]!r}. Leave it out to split the rows at random."
        )
    if groups.dtype != object:
        return groups
    numbers: dict = {}  # objects of several types cannot be sorted
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups.tolist()])


def check_weights(sample_weight, X) -> np.ndarray:
    """Return one weight per row, none of them negative."""
    if sample_weight is not None and not np.asarray(sample_weight).any():
        raise InvalidDataError(
            "`sample_weight` is zero in every row. Give the rows that count a positive weight."
        )
    with quiet_overflow():
        # A copy: compiled functions add up arrays of another layout in another order.
        weights = np.array(_check_sample_weight(sample_weight, X, dtype=np.float64))
        total = float(weights.sum())
    check_no_negative_weight(weights)
    check_pair_weight(total, total)
    return weights


def check_pair_weight(one: float, other: float) -> None:
    """Raise an error if the product of two sums of weights overflows or underflows."""
    product = one * other  # of Python floats, which do not warn
    if not math.isfinite(product) or product < np.finfo(np.float64).tiny:
        raise unusable_weights(min(one, other))


def unusable_weights(total: float) -> InvalidDataError:
    """Return the error for weights whose sum overflows or underflows."""
    return InvalidDataError(
        f"`sample_weight` sums up to {total:.3g}, which is too large or too small to compute with. "
        "Divide the weights by their mean."
    )


def check_class_weights(weights: np.ndarray, labels, codes: np.ndarray) -> None:
    """Raise an error unless each class has a row of positive weight, and no weight is negative."""
    check_no_negative_weight(weights)
    check_each_class_counts(weights, labels, codes)


def check_each_class_counts(weights: np.ndarray, labels, codes: np.ndarray) -> None:
    """Raise an error unless each class has a positive weight."""
    for code, label in enumerate(np.asarray(labels).tolist()):
        if not weights[codes == code].any():
            raise InvalidDataError(
                f"`sample_weight` is 0 in every row of class {label!r}. "
                "Give at least one row of each class a positive weight."
            )


def check_no_negative_weight(weights: np.ndarray) -> None:
    """Raise an error that names the row of the lowest weight if that is negative."""
    if weights.min() < 0:
        row = int(np.argmin(weights))
        raise InvalidDataError(
            f"`sample_weight` must not be negative; got {weights[row]} in row {row}. "
            "Leave a row out by giving it weight 0."
        )


def unique_labels(name: str, column) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct labels in sorted order, and the index of each row's label."""
    try:
        labels, codes = np.unique(column, return_inverse=True)
        missing = bool((labels != labels).any())  # only NaN differs from itself
    except TypeError:
        missing = True
    if missing:
        raise InvalidDataError(
            f"`{name}` has missing labels, or labels that cannot be sorted together. "
            "Leave rows without a label out, and use labels of one type."
        )
    return labels, codes
