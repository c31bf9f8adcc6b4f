"""Checks of parameters and arrays. Every error says what was wrong, the value, and the remedy."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from datetime import date
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight, validate_data

from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.support import quiet_overflow

FLOAT_DTYPES = (np.float64, np.float32)
# Blocks of up to this many numbers are checked without scikit-learn. In larger blocks the time
# that this saves does not matter.
_MOST_CLEAN = 10_000
# The largest value of an integer parameter. Compiled code and scikit-learn take no larger one.
LARGEST_INTEGER = 2**31 - 1
# Characters of a value that an error message shows in full.
_LONGEST = 60


# -- parameters -------------------------------------------------------------------------------


def check_integer(name: str, value, minimum: int, advice: str) -> int:
    """Return ``value`` as an int of at least ``minimum`` that fits into 32 bits, or raise."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < minimum:
        raise InvalidParameterError(
            f"`{name}` must be an integer of at least {minimum}; got {value!r}. {advice}"
        )
    _check_size(name, value, advice)
    return int(value)


def _check_size(name: str, value, advice: str) -> None:
    if abs(value) > LARGEST_INTEGER:
        raise InvalidParameterError(
            f"`{name}` must be at most {LARGEST_INTEGER} in magnitude; got {shortened(value)}. "
            f"{advice}"
        )


def check_positive(name: str, value, advice: str) -> float:
    """Return ``value`` as a float, or raise an error if it is not finite and greater than 0."""
    if not is_finite(value) or float(value) <= 0:
        raise InvalidParameterError(
            f"`{name}` must be a finite number greater than 0; got {shortened(value)}. {advice}"
        )
    return float(value)


def check_fraction(name: str, value, advice: str) -> float:
    """Return ``value`` as a float, or raise an error if it is not strictly between 0 and 1."""
    if not is_number(value) or not 0 < value < 1:
        raise InvalidParameterError(
            f"`{name}` must be a number between 0 and 1, both excluded; got {shortened(value)}. "
            f"{advice}"
        )
    return float(value)


def check_boolean(name: str, value) -> bool:
    """Return ``value`` as a bool, or raise an error if it is not one."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidParameterError(f"`{name}` must be True or False; got {value!r}.")
    return bool(value)


def check_refine(value) -> None:
    """Raise an error unless ``value`` is "auto", a bool or a number of steps."""
    if isinstance(value, bool | np.bool_) or (isinstance(value, str) and value == "auto"):
        return
    if not isinstance(value, Integral) or value < 1:
        raise InvalidParameterError(
            f"`refine` must be 'auto', True, False or a number of steps of at least 1; got "
            f"{value!r}. 10 steps are a good choice."
        )
    _check_size("refine", value, "10 is a good choice.")


def check_boolean_or_auto(name: str, value) -> None:
    """Raise an error unless ``value`` is "auto", True or False."""
    if not (isinstance(value, str) and value == "auto"):
        check_boolean(name, value)


def check_n_jobs(value) -> None:
    """Raise an error unless ``value`` is None or an integer other than 0."""
    if value is None:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value == 0:
        raise InvalidParameterError(
            f"`n_jobs` must be None or an integer other than 0; got {value!r}. "
            "Use -1 for all cores."
        )
    _check_size("n_jobs", value, "Use -1 for all cores.")


def check_verbose(value) -> None:
    """Raise an error unless ``value`` is a bool or an integer."""
    if not isinstance(value, Integral | np.bool_):
        raise InvalidParameterError(
            f"`verbose` must be an integer or a bool; got {value!r}. Use 0 to print nothing."
        )


def check_choice(name: str, value, choices: Iterable[str]) -> str:
    """Return ``value``, or raise an error that lists the choices."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(repr(choice) for choice in choices)
        raise InvalidParameterError(f"`{name}` must be one of {words}; got {value!r}.")
    return value


def is_sequence(value) -> bool:
    """Tell whether the value is a sequence, which may be ragged, and not a string."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return not isinstance(value, str | bytes) and hasattr(value, "__len__")


def is_number(value) -> bool:
    """Tell whether the value is a real number and not a bool."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_finite(value) -> bool:
    """Tell whether the value is a number that a float can hold, and not NaN or infinite."""
    try:
        return is_number(value) and math.isfinite(value)
    except OverflowError:  # an integer such as 10**400
        return False


def shortened(value) -> str:
    """Return the value as Python code, without the middle of a long number."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write integers of more than 4,300 digits
        return "an integer of thousands of digits"
    return text if len(text) <= _LONGEST else f"{text[:10]}... ({len(text)} characters)"


# -- rows -------------------------------------------------------------------------------------


def is_tensor(values) -> bool:
    """Tell whether the value is a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def on_host(values):
    """Return a torch tensor, on any device, as a NumPy array; return anything else unchanged."""
    if not is_tensor(values):
        return values
    values = values.detach().cpu()
    # NumPy has no bfloat16.
    return (values.float() if "bfloat16" in str(values.dtype) else values).numpy()


def check_features(estimator, X, y="no_validation", *, reset: bool = True):
    """Validate X, and y if given, by scikit-learn's rules; return finite rows as `tidy` does.

    scikit-learn's messages about missing values and text recommend other classifiers. The ones
    raised here say where the value is and how to prepare the table.
    """
    X = on_host(X)
    try:
        with quiet_overflow():  # scikit-learn adds the labels up
            checked = validate_data(
                estimator,
                X,
                y,
                reset=reset,
                accept_sparse="csr",
                dtype=list(FLOAT_DTYPES),
                ensure_all_finite=False,
            )
    except (TypeError, ValueError) as error:
        _explain_unreadable(estimator, X, error)
        raise
    if isinstance(y, str):  # scikit-learn's "no_validation"
        return _check_finite(estimator, tidy(checked))
    rows, labels = checked
    return _check_finite(estimator, tidy(rows)), native(labels)


def check_rows(estimator, X) -> np.ndarray | sparse.csr_array:
    """Validate rows to predict: the same columns with the same names, and finite numbers."""
    return X if _is_clean(estimator, X) else check_features(estimator, X, reset=False)


def _is_clean(estimator, X) -> bool:
    """Tell whether validation would return these rows unchanged.

    This takes a tenth of the time of scikit-learn's validation, which dominates the time to
    score a single row.
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
    """Return rows in native byte order; sparse rows without duplicates and with 32-bit indices."""
    if not sparse.issparse(X):
        return native(X)
    if X.has_canonical_format and X.indices.dtype == np.int32 and X.dtype.isnative:
        return X
    X = X.copy()
    X.sum_duplicates()
    X.data = native(X.data)
    if X.nnz < np.iinfo(np.int32).max and X.shape[1] < np.iinfo(np.int32).max:
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def native(values: np.ndarray) -> np.ndarray:
    """Return an array in the byte order of this machine, the only one that numba compiles for."""
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def _explain_unreadable(estimator, X, error: Exception) -> None:
    """Raise an error that names the first cell of X with text, a date or `pandas.NA`, if any."""
    is_about_cells = isinstance(error, TypeError) or "could not convert" in str(error)
    found = _first_unreadable(X) if is_about_cells else None
    if found is None:
        return
    row, column, value = found
    if type(value).__name__ == "NAType":
        raise _missing_value(estimator, f"row {row}, column {column!r}") from error
    raise InvalidDataError(
        f"{type(estimator).__name__} needs numbers; got {value!r} in row {row}, column {column!r} "
        "of `X`. Put skauc.TablePreprocessor before it in a pipeline: it turns text, categories "
        "and dates into numbers."
    ) from error


def _first_unreadable(X) -> tuple | None:
    """Return the row, the column and the value of the first cell that is not a number."""
    columns: Iterable[tuple[Any, np.ndarray]]
    if hasattr(X, "columns"):
        columns = [(name, np.asarray(X[name], dtype=object)) for name in X.columns]
    elif sparse.issparse(X) or np.ndim(cells := np.asarray(X, dtype=object)) != 2:
        return None
    else:
        columns = list(enumerate(cells.T))
    for name, cells in columns:
        for row, cell in enumerate(cells):
            if isinstance(cell, date | np.datetime64) or type(cell).__name__ == "NAType":
                return row, name, cell
            if isinstance(cell, str) and not _reads_as_number(cell):
                return row, name, str(cell)
    return None


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_finite(estimator, X):
    """Return the rows, or raise an error that says where a value is missing or infinite."""
    values = X.data if sparse.issparse(X) else X
    try:
        with quiet_overflow():  # scikit-learn adds the values up first
            assert_all_finite(values)
    except ValueError:
        place = int(np.argmin(np.isfinite(values.ravel())))
        value = values.ravel()[place]
    else:
        return X
    if sparse.issparse(X):
        row, column = int(np.searchsorted(X.indptr, place, "right")) - 1, int(X.indices[place])
    else:
        row, column = divmod(place, X.shape[1])
    names = getattr(estimator, "feature_names_in_", None)
    where = f"row {row}, column {column if names is None else repr(names[column])}"
    if np.isnan(value):
        raise _missing_value(estimator, where)
    raise InvalidDataError(
        f"Input X contains infinity in {where}. Correct the value or leave the row out."
    )


def _missing_value(estimator, where: str) -> InvalidDataError:
    return InvalidDataError(
        f"Input X contains NaN in {where}. {type(estimator).__name__} does not accept missing "
        "values. Fill them in with sklearn.impute.SimpleImputer, or use skauc.TablePreprocessor, "
        "which does so."
    )


# -- labels and weights -----------------------------------------------------------------------


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
    """Return one weight per row, none of them negative."""
    if sample_weight is not None and not np.asarray(sample_weight).any():
        raise InvalidDataError(
            "`sample_weight` is zero in every row. Give the rows that count a positive weight."
        )
    with quiet_overflow():
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        total = float(weights.sum())
    check_no_negative_weight(weights)
    check_pair_weight(total, total)
    return weights


def check_pair_weight(one: float, other: float) -> None:
    """Raise an error if the product of two sums of weights overflows or underflows."""
    product = one * other  # of Python floats, which do not warn
    if not math.isfinite(product) or product < np.finfo(np.float64).tiny:
        raise _unusable_weights(min(one, other))


def _unusable_weights(total: float) -> InvalidDataError:
    return InvalidDataError(
        f"`sample_weight` sums up to {total:.3g}, which is too large or too small to compute with. "
        "Divide the weights by their mean."
    )


def check_class_weights(weights: np.ndarray, labels, codes: np.ndarray) -> None:
    """Raise an error unless each class has a row of positive weight, and no weight is negative."""
    check_no_negative_weight(weights)
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


# -- columns that metrics take ----------------------------------------------------------------


def check_scored(y_true, y_score, sample_weight, pos_label):
    """Validate the arguments of a metric; return scores, which rows are positive, and weights.

    Rows of zero weight are left out.
    """
    labels, codes = _check_labels(check_column("y_true", y_true, "Pass one label per row."))
    scores = check_numbers(
        "y_score",
        y_score,
        len(codes),
        "Pass one score per row, such as `decision_function(X)` or `predict_proba(X)[:, 1]`.",
    )
    if sample_weight is None:
        weights = np.ones(len(codes))
    else:
        weights = check_numbers(
            "sample_weight", sample_weight, len(codes), "Pass one weight per row."
        )
    check_class_weights(weights, labels, codes)
    with quiet_overflow():
        total = float(weights.sum())
    if not math.isfinite(total):
        raise _unusable_weights(total)
    positive = codes == _positive_code(labels, pos_label)
    counted = weights > 0
    return scores[counted], positive[counted], weights[counted]


def check_column(name: str, values, advice: str) -> np.ndarray:
    """Return values as an array of one dimension."""
    column = np.asarray(on_host(values))
    if column.ndim == 2 and column.shape[1] == 1:
        return column.ravel()
    if column.ndim != 1:
        raise InvalidDataError(
            f"`{name}` must have one dimension; got an array of shape {column.shape}. {advice}"
        )
    return column


def check_numbers(name: str, values, n_rows: int, advice: str) -> np.ndarray:
    """Return values as an array of ``n_rows`` finite numbers."""
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


def _check_labels(y_true) -> tuple[list, np.ndarray]:
    """Return the two labels in sorted order, and the index of each row's label."""
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


def _positive_code(labels: list, pos_label) -> int:
    if pos_label is None:
        return 1
    if pos_label not in labels:
        raise InvalidParameterError(
            f"`pos_label` must be one of the labels {labels[0]!r} and {labels[1]!r}; "
            f"got {pos_label!r}. Use the label of the class that should score high."
        )
    return labels.index(pos_label)
