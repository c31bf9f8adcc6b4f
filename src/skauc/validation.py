"""The one door in: parameters and (X, y, sample_weight) come out clean or not at all."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight, validate_data

from skauc.exceptions import InvalidDataError, InvalidParameterError


def is_tensor(values) -> bool:
    """Tell whether this is a tensor of torch's, without importing torch for it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def on_host(values):
    """Return a tensor of torch's, wherever it is, as a NumPy array; anything else as it is."""
    if not is_tensor(values):
        return values
    values = values.detach().cpu()
    # NumPy has no such numbers.
    return (values.float() if "bfloat16" in str(values.dtype) else values).numpy()


FLOAT_DTYPES = (np.float64, np.float32)
# Numbers in a block of rows that is looked at without scikit-learn: beyond it that costs nothing.
_MOST_CLEAN = 10_000


def check_whole_number(name: str, value, minimum: int, advice: str) -> int:
    """Return ``value`` as an int, or say why it is not a whole number of at least ``minimum``."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < minimum:
        raise InvalidParameterError(
            f"`{name}` must be a whole number of at least {minimum}; got {value!r}. {advice}"
        )
    return int(value)


def check_positive(name: str, value, advice: str) -> float:
    """Return ``value`` as a float, or say why it is not a finite number above zero."""
    if not is_number(value) or not math.isfinite(value) or value <= 0:
        raise InvalidParameterError(
            f"`{name}` must be a finite number greater than 0; got {value!r}. {advice}"
        )
    return float(value)


def check_fraction(name: str, value, advice: str) -> float:
    """Return ``value`` as a float, or say why it is not strictly between 0 and 1."""
    if not is_number(value) or not 0 < value < 1:
        raise InvalidParameterError(
            f"`{name}` must be a number between 0 and 1, both excluded; got {value!r}. {advice}"
        )
    return float(value)


def check_boolean(name: str, value) -> bool:
    """Return ``value``, or say that it must be True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidParameterError(
            f"`{name}` must be True or False; got {value!r}. Use one of the two."
        )
    return bool(value)


def check_refine(value) -> None:
    """Raise an error unless ``value`` is a bool or a number of steps."""
    if isinstance(value, bool | np.bool_):
        return
    if not isinstance(value, Integral) or value < 1:
        raise InvalidParameterError(
            f"`refine` must be True, False or a number of steps of at least 1; got {value!r}. Use "
            "True to have rows held out decide, or for instance 10."
        )


def check_n_jobs(value) -> None:
    """Raise an error unless ``value`` is None or a whole number other than 0."""
    if value is None:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value == 0:
        raise InvalidParameterError(
            f"`n_jobs` must be None or a whole number other than 0; got {value!r}. "
            "Use -1 for all cores."
        )


def check_choice(name: str, value, choices: Iterable[str]) -> str:
    """Return ``value``, or list the words that ``name`` can be."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(repr(choice) for choice in choices)
        raise InvalidParameterError(
            f"`{name}` must be one of {words}; got {value!r}. Use one of these words."
        )
    return value


def is_sequence(value) -> bool:
    """Tell whether the value is a sequence of values, which may be ragged, and not a word."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return not isinstance(value, str | bytes) and hasattr(value, "__len__")


def is_number(value) -> bool:
    """Tell whether the value is a real number and not a truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_graded(estimator, X, y, sample_weight=None):
    """Validate rows with grades; return them, the grades there are, each row's, and the weights.

    Two labels can be of any kind, more must be numbers, for their order to mean something.
    """
    X, y = validate_data(estimator, X, y, accept_sparse="csr", dtype=list(FLOAT_DTYPES))
    classes, codes = _check_grades("y", y)
    weights = check_weights(sample_weight, X)
    _check_no_negative_weight(weights)
    return tidy(X), classes, codes, weights


def check_scored_grades(y_true, n_rows: int, sample_weight=None) -> tuple[np.ndarray, np.ndarray]:
    """Validate grades to score against; return the rank of each row's, and the weights."""
    column = check_column("y", y_true, "Pass one grade a row.")
    if len(column) != n_rows:
        raise InvalidDataError(
            f"`y` must be as long as `X`; got {len(column)} and {n_rows}. Pass one grade a row."
        )
    _, codes = _check_grades("y", column)
    if sample_weight is None:
        return codes, np.ones(n_rows)
    weights = _check_numbers("sample_weight", sample_weight, n_rows, "Pass one weight a row.")
    _check_no_negative_weight(weights)
    return codes, weights


def _check_grades(name: str, grades) -> tuple[np.ndarray, np.ndarray]:
    labels, codes = unique_labels(name, grades)
    if len(labels) > 2 and labels.dtype.kind not in "biuf":
        raise InvalidDataError(
            f"Grades must be numbers; `{name}` has {len(labels)} different values of type "
            f"{labels.dtype}. Code them as numbers, the most relevant highest."
        )
    return labels, codes


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


def check_weights(sample_weight, X) -> np.ndarray:
    """Return one weight per row."""
    if sample_weight is not None and not np.asarray(sample_weight).any():
        raise InvalidDataError(
            "`sample_weight` is zero in every row. Give the rows that count a positive weight."
        )
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        squared = weights.sum() ** 2
    if not np.isfinite(squared) or squared == 0:
        raise InvalidDataError(
            f"`sample_weight` sums up to {weights.sum()}, too much or too little to compute with. "
            "Divide the weights by their mean."
        )
    return weights


def check_rows(estimator, X) -> np.ndarray | sparse.csr_array:
    """Validate rows to predict: same columns, same names, finite numbers."""
    if _is_clean(estimator, X):
        return X
    X = on_host(X)
    return tidy(
        validate_data(estimator, X, accept_sparse="csr", dtype=list(FLOAT_DTYPES), reset=False)
    )


def _is_clean(estimator, X) -> bool:
    """Tell whether validation would return these rows as they are.

    It costs a tenth of scikit-learn's validation, most of the time that one row takes.
    """
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in FLOAT_DTYPES
        and 1 <= X.size <= _MOST_CLEAN
        and X.shape[1] == getattr(estimator, "n_features_in_", None)
        and not hasattr(estimator, "feature_names_in_")
        and bool(np.isfinite(X).all())
    )


def tidy(X):
    """Return sparse rows without duplicate entries and with 32-bit indices; dense ones as is."""
    if not sparse.issparse(X) or (X.has_canonical_format and X.indices.dtype == np.int32):
        return X
    X = X.copy()
    X.sum_duplicates()
    if X.nnz < np.iinfo(np.int32).max and X.shape[1] < np.iinfo(np.int32).max:
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def check_scored(y_true, y_score, sample_weight, pos_label):
    """Validate what was passed to a metric; return scores, which are positive, and weights.

    Rows of zero weight are left out.
    """
    labels, codes = _check_labels(check_column("y_true", y_true, "Pass one label a row."))
    scores = _check_numbers(
        "y_score",
        y_score,
        len(codes),
        "Pass one score a row, such as `decision_function(X)` or `predict_proba(X)[:, 1]`.",
    )
    if sample_weight is None:
        weights = np.ones(len(codes))
    else:
        weights = _check_numbers(
            "sample_weight", sample_weight, len(codes), "Pass one weight a row."
        )
    check_class_weights(weights, labels, codes)
    positive = codes == _positive_code(labels, pos_label)
    counted = weights > 0
    return scores[counted], positive[counted], weights[counted]


def check_column(name, values, advice) -> np.ndarray:
    """Return values as an array of one dimension."""
    column = np.asarray(on_host(values))
    if column.ndim == 2 and column.shape[1] == 1:
        return column.ravel()
    if column.ndim != 1:
        raise InvalidDataError(
            f"`{name}` must have one dimension; got an array of shape {column.shape}. {advice}"
        )
    return column


def _check_numbers(name, values, n_rows, advice) -> np.ndarray:
    column = check_column(name, values, advice)
    if len(column) != n_rows:
        raise InvalidDataError(
            f"`{name}` must be as long as `y_true`; got {len(column)} and {n_rows}. {advice}"
        )
    try:
        numbers = column.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidDataError(
            f"`{name}` must hold numbers; got values of type {column.dtype}. {advice}"
        ) from error
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.argmin(finite))
        raise InvalidDataError(
            f"`{name}` must be finite; got {numbers[row]} in row {row}. Leave such rows out."
        )
    return numbers


def check_class_weights(weights: np.ndarray, labels, codes: np.ndarray) -> None:
    """Raise an error unless weights are at least 0 and each class has one above it."""
    _check_no_negative_weight(weights)
    for code, label in enumerate(np.asarray(labels).tolist()):
        if not weights[codes == code].any():
            raise InvalidDataError(
                f"`sample_weight` is 0 in every row of class {label!r}. "
                "Give at least one row of each class a positive weight."
            )


def _check_no_negative_weight(weights: np.ndarray) -> None:
    if weights.min() < 0:
        row = int(np.argmin(weights))
        raise InvalidDataError(
            f"`sample_weight` must not be negative; got {weights[row]} in row {row}. "
            "Leave a row out by giving it weight 0."
        )


def _check_labels(y_true) -> tuple[list, np.ndarray]:
    """Return the two labels in sorted order and, for each row, which of them it has."""
    labels, codes = unique_labels("y_true", y_true)
    if len(labels) < 2:
        raise InvalidDataError(
            f"`y_true` must have two classes; got {labels.tolist()}. Pass rows of both classes."
        )
    if len(labels) > 2:
        raise InvalidDataError(
            f"`y_true` must have two classes; got {len(labels)}. "
            "Rank one class against the rest by passing `y_true == label`."
        )
    return labels.tolist(), codes


def unique_labels(name: str, column) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels in sorted order and which of them each row has, or say why not."""
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


def _positive_code(labels, pos_label) -> int:
    if pos_label is None:
        return 1
    if pos_label not in labels:
        raise InvalidParameterError(
            f"`pos_label` must be one of the labels {labels[0]!r} and {labels[1]!r}; "
            f"got {pos_label!r}. Use the label of the class that should score high."
        )
    return labels.index(pos_label)
