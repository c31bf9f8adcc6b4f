"""Checks of the rows X: numbers only, finite, with the columns of the fit."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from datetime import date
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import validate_data

from skauc.exceptions import InvalidDataError
from skauc.support import quiet_overflow

FLOAT_DTYPES = (np.float64, np.float32)
# Blocks of up to this many numbers are checked without scikit-learn. In larger blocks the time
# that this saves does not matter.
_MOST_CLEAN = 10_000


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
