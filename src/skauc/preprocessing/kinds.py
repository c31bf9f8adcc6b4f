"""What a column of a table holds, and how it becomes an array of numbers or of strings."""

from __future__ import annotations

import numpy as np

from skauc.exceptions import InvalidDataError
from skauc.preprocessing.pandas import import_pandas

# Text of more distinct values than this, most of them in a single row, is no category.
MOST_LEVELS_OF_FEW_ROWS = 40
_ISO_DATE = r"\d{4}-\d{1,2}-\d{1,2}"
_SECOND = np.timedelta64(1, "s")


def kind_of(column) -> str | None:
    """Return the kind of a column, one of the keys of `KINDS`; None where it has no value."""
    pd = import_pandas()
    types = pd.api.types
    values = column.dropna()
    if len(values) == 0:
        return None
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "category"
    if types.is_bool_dtype(column.dtype):
        return "boolean"
    if types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype):
        return "numeric"
    if types.is_datetime64_any_dtype(column.dtype):
        return "date"
    return _kind_of_objects(column.name, values)


def _kind_of_objects(name, values) -> str:
    inferred = import_pandas().api.types.infer_dtype(values, skipna=True)
    if inferred == "boolean":
        return "boolean"
    if inferred in ("integer", "floating", "mixed-integer-float", "decimal"):
        return "numeric"
    if inferred in ("datetime", "datetime64", "date"):
        return "date"
    if inferred in ("string", "mixed-integer"):
        return _kind_of_text(values.astype(str))
    raise InvalidDataError(
        f"Column {name!r} holds values of a kind that cannot be used ({inferred}), such as "
        f"{values.iloc[0]!r}. Turn them into numbers, text or dates, or leave the column out."
    )


def _kind_of_text(values) -> str:
    if values.str.match(_ISO_DATE).all() and _parse_dates(values).notna().all():
        return "date"
    n_levels = values.nunique()
    has_few_rows = 2 * n_levels > len(values)
    return "text" if n_levels > MOST_LEVELS_OF_FEW_ROWS and has_few_rows else "category"


def _numbers(column) -> np.ndarray:
    """Return numbers in float64, missing ones as NaN."""
    pd = import_pandas()
    if pd.api.types.is_numeric_dtype(column.dtype):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        numbers = pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan)
        _check_converted(column, np.isnan(numbers), "numeric")
    infinite = np.isinf(numbers)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise InvalidDataError(
            f"Column {column.name!r} holds {numbers[row]} in row {row}. Leave the value out: a "
            "gap is filled."
        )
    return numbers


def _truths(column) -> np.ndarray:
    """Return 0, 1 and NaN."""
    known = column.isin([False, True])
    _check_converted(column, ~known.to_numpy(), "boolean")
    truths = np.full(len(column), np.nan)
    truths[known.to_numpy()] = column[known].astype(bool)
    return truths


def _strings(column) -> np.ndarray:
    """Return strings; a missing one is empty."""
    pd = import_pandas()
    if pd.api.types.is_numeric_dtype(column.dtype):
        _check_converted(column, np.ones(len(column), dtype=bool), "category")
    missing = column.isna().to_numpy()
    strings = column.astype(object).to_numpy(copy=True)
    strings[missing] = ""
    if pd.api.types.infer_dtype(strings) not in ("string", "empty"):
        strings[:] = [str(value) for value in strings]
    return strings


def _seconds(column) -> np.ndarray:
    """Return seconds since 1970-01-01 in UTC, missing ones as NaN."""
    pd = import_pandas()
    if pd.api.types.is_numeric_dtype(column.dtype):
        _check_converted(column, np.ones(len(column), dtype=bool), "date")
        return np.full(len(column), np.nan)
    dates = _parse_dates(column)
    _check_converted(column, dates.isna().to_numpy(), "date")
    dates = dates.dt.tz_localize(None).to_numpy(dtype="datetime64[us]")
    return (dates - np.datetime64(0, "us")) / _SECOND


def _parse_dates(column):
    pd = import_pandas()
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return pd.to_datetime(column, utc=True)
    return pd.to_datetime(column.astype(object), format="ISO8601", errors="coerce", utc=True)


def _check_converted(column, unknown: np.ndarray, kind: str) -> None:
    """Raise an error where a value that is there could not be taken as one of that kind."""
    wrong = unknown & column.notna().to_numpy()
    if not wrong.any():
        return
    row = int(np.argmax(wrong))
    raise InvalidDataError(
        f"Column {column.name!r} held {_WORDS[kind]} when the model was fitted; got "
        f"{column.iloc[row]!r} in row {row}. Mend the column, or fit a model to such a table."
    )


_WORDS = {
    "numeric": "numbers",
    "boolean": "truth values",
    "category": "text",
    "text": "text",
    "date": "dates",
}

# How a column of each kind becomes an array.
KINDS = {
    "numeric": _numbers,
    "boolean": _truths,
    "category": _strings,
    "text": _strings,
    "date": _seconds,
}
