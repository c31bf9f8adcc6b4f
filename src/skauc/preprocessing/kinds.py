"""The kind of each column of a table, and its values as an array of numbers or strings."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from skauc.exceptions import InvalidDataError
from skauc.preprocessing.date_forms import ISO, best_date_form, find_date_form, parse_dates
from skauc.preprocessing.names import row_number
from skauc.preprocessing.number_forms import (
    PLAIN,
    best_number_form,
    find_number_form,
    is_missing_word,
    parse_numbers,
)
from skauc.preprocessing.optional import import_pandas
from skauc.preprocessing.spelling import (
    CODES,
    WRITTEN_CODES,
    looks_like_a_code,
    spell_code,
    spell_time,
    spell_written,
)

# The form of a column that the user has chosen as numeric, and that held truth values.
TRUTHS = "truth values"
KINDS = ("numeric", "boolean", "category", "text", "date")
# Text with more distinct values than this is a category only if its values recur.
MOST_LEVELS_OF_FEW_ROWS = 40
# Objects of larger integers may be codes, whose last digits a float would lose.
_LONGEST_INTEGER = 2**63
# Events that are less likely than this by chance are no chance.
UNLIKELY = 0.001
_SECOND = np.timedelta64(1, "s")
_WORDS = {
    "numeric": "numbers",
    "boolean": "truth values",
    "category": "text",
    "text": "text",
    "date": "dates",
}


@dataclass(frozen=True)
class ColumnType:
    """The kind of a column and, if its values are written as text, their form."""

    kind: str
    form: str | None = None


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """A column as an array.

    Attributes
    ----------
    values : ndarray of shape (n_samples,)
        float64 with NaN for missing values, or strings with "" for missing values.
    unparsed : ndarray of shape (n_samples,), bool
        The cells that hold text which is no number or date. They count as missing.
    """

    values: np.ndarray
    unparsed: np.ndarray

    @property
    def missing(self) -> np.ndarray:
        """Which values are missing."""
        is_text = self.values.dtype == object
        return self.values == "" if is_text else np.isnan(self.values)


def find_type(column) -> ColumnType | None:
    """Return the kind and the form of a column; None if all values are missing."""
    pd = import_pandas()
    types = pd.api.types
    values = column.dropna()
    if len(values) == 0:
        return None
    if isinstance(column.dtype, pd.CategoricalDtype):
        return ColumnType("category", None if _holds_text(column) else CODES)
    if types.is_bool_dtype(column.dtype):
        return ColumnType("boolean")
    if _is_numeric(column):
        return ColumnType("numeric")
    if types.is_datetime64_any_dtype(column.dtype):
        return ColumnType("date")
    return _type_of_objects(column.name, values)


def _is_numeric(column) -> bool:
    types = import_pandas().api.types
    dtype = column.dtype
    is_number = types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype)
    return is_number or types.is_timedelta64_dtype(dtype)


def _type_of_objects(name, values) -> ColumnType | None:
    inferred = import_pandas().api.types.infer_dtype(values, skipna=True)
    if inferred == "boolean":
        return ColumnType("boolean")
    if inferred in ("integer", "decimal") and values.abs().max() >= _LONGEST_INTEGER:
        return _type_of_text(values)
    if inferred in ("integer", "floating", "mixed-integer-float", "decimal"):
        return ColumnType("numeric")
    if inferred in ("datetime", "datetime64", "date"):
        return ColumnType("date")
    if inferred in ("string", "mixed-integer", "time") or _are_numbers_and_text(values):
        return _type_of_text(values)
    raise InvalidDataError(
        f"Column {name!r} holds values of a kind that cannot be used ({inferred}), such as "
        f"{values.iloc[0]!r}. Convert them to numbers, text or dates, or drop the column."
    )


def _are_numbers_and_text(values) -> bool:
    return all(issubclass(each, str | Real | Decimal) for each in set(map(type, values)))


def _type_of_text(values) -> ColumnType | None:
    counts = _texts(values).value_counts()
    counts = counts[counts.index != ""]
    if len(counts) == 0:
        return None
    if (form := find_number_form(counts)) is not None:
        return ColumnType("numeric", form)
    if (form := find_date_form(counts)) is not None:
        return ColumnType("date", form)
    n_levels, n_rows = len(counts), counts.sum()
    is_text = n_levels > MOST_LEVELS_OF_FEW_ROWS and 2 * n_levels > n_rows
    return ColumnType("text" if is_text else "category")


def type_as(column, kind: str) -> ColumnType | None:
    """Return the type of a column that the user has given the kind; None if it is empty."""
    found = find_type(column)
    if found is None:
        return None
    if kind == "category":
        return ColumnType("category", _form_of_codes(column))
    if found.kind == kind:
        return found
    is_text = _holds_text(column)
    if kind == "numeric" and found.kind == "boolean":
        return ColumnType("numeric", TRUTHS)
    if kind == "numeric" and is_text:
        counts = _texts(column.dropna()).value_counts()
        number, parsed = best_number_form(counts.index.to_series(), counts.to_numpy(np.float64))
        if parsed.any():
            return ColumnType("numeric", number)
    if kind == "date" and (is_text or found.kind == "numeric"):
        form = best_date_form(_texts(_as_codes(column.dropna())).value_counts())
        if form is not None:
            return ColumnType("date", form)
    raise InvalidDataError(
        f"`{kind}` names the column {column.name!r}, whose values cannot be read as "
        f"{_WORDS[kind]}, such as {column.dropna().iloc[0]!r}. Remove it from `{kind}`."
    )


def _form_of_codes(column) -> str | None:
    if not _holds_text(column):
        return CODES
    texts = _texts(column.dropna()).drop_duplicates()
    return WRITTEN_CODES if any(map(looks_like_a_code, texts)) else None


def _holds_text(column) -> bool:
    """Tell whether at least some values are text."""
    pd = import_pandas()
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _holds_text(column.cat.categories.to_series())
    words = ("string", "mixed-integer", "mixed")
    return pd.api.types.infer_dtype(column, skipna=True) in words


def read_column(column, column_type: ColumnType) -> ColumnValues:
    """Return the values of a column of the given type."""
    return _READ[column_type.kind](column, column_type.form)


def _read_numbers(column, form: str | None) -> ColumnValues:
    pd = import_pandas()
    if form == TRUTHS:
        column, form = _without_words(column, {"true": 1.0, "false": 0.0}), None
    elif pd.api.types.infer_dtype(column, skipna=True) == "boolean":
        _check_converted(column, np.ones(len(column), dtype=bool), "numeric")
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        numbers = column.dt.total_seconds().to_numpy(np.float64)
    elif pd.api.types.is_numeric_dtype(column.dtype):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    elif _holds_text(column):
        read = _parsed(column, form or PLAIN, parse_numbers)
        _check_finite(column, read.values)
        return read
    else:
        numbers = pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan)
        _check_converted(column, np.isnan(numbers), "numeric")
    _check_finite(column, numbers)
    return _all_parsed(numbers)


def _without_words(column, words: dict):
    """Return a column with values for some words in any case, and other cells as they are."""
    return column.map(lambda value: words.get(str(value).strip().lower(), value))


def _check_finite(column, numbers: np.ndarray) -> None:
    infinite = np.isinf(numbers)
    if infinite.any():
        place = int(np.argmax(infinite))
        raise InvalidDataError(
            f"Column {column.name!r} holds {numbers[place]} in row {row_number(column, place)}, "
            "counted from 0. Replace it by a missing value, which is imputed."
        )


def _read_dates(column, form: str | None) -> ColumnValues:
    """Return seconds since 1970-01-01 in UTC."""
    pd = import_pandas()
    is_digits = form is not None and set(form) <= set("%Ymd")
    if pd.api.types.is_numeric_dtype(column.dtype) and is_digits:
        column = _as_codes(column)
    if pd.api.types.is_numeric_dtype(column.dtype):
        _check_converted(column, np.ones(len(column), dtype=bool), "date")
        return _all_parsed(np.full(len(column), np.nan))
    if _holds_text(column):
        return _parsed(column, form or ISO, _parse_seconds)
    dates = column
    if not pd.api.types.is_datetime64_any_dtype(column.dtype):
        dates = pd.to_datetime(column.astype(object), format="ISO8601", errors="coerce", utc=True)
        _check_converted(column, dates.isna().to_numpy(), "date")
    return _all_parsed(_seconds(pd.to_datetime(dates, utc=True)))


def _parse_seconds(texts, form: str) -> np.ndarray:
    return _seconds(parse_dates(texts, form))


def _seconds(dates) -> np.ndarray:
    dates = dates.dt.tz_localize(None).to_numpy(dtype="datetime64[us]")
    return (dates - np.datetime64(0, "us")) / _SECOND


def _read_truths(column, form: str | None) -> ColumnValues:
    """Return 0, 1 and NaN."""
    if _holds_text(column):
        column = _without_words(column, {"true": True, "false": False})
    known = column.isin([False, True]).to_numpy()
    _check_converted(column, ~known, "boolean")
    truths = np.full(len(column), np.nan)
    truths[known] = column[known].astype(bool)
    return _all_parsed(truths)


def _read_strings(column, form: str | None) -> ColumnValues:
    """Return strings; a missing one is empty."""
    if form is None and import_pandas().api.types.is_numeric_dtype(column.dtype):
        _check_converted(column, np.ones(len(column), dtype=bool), "category")
    return _all_parsed(_spelled(column, _SPELL[form]))


def _spelled(column, spell: Callable[[Any], str]) -> np.ndarray:
    """Spell the distinct values of a column; a missing one is empty."""
    codes, values = import_pandas().factorize(column)
    return np.array([*map(spell, np.asarray(values)), ""], dtype=object)[codes]


def _as_codes(column):
    """Return numbers as a Series of text, with integers in one spelling."""
    return import_pandas().Series(_spelled(column, spell_code), column.index, name=column.name)


def _texts(values):
    """Return a Series of stripped strings."""
    return values.astype(str).str.strip()


def _parsed(column, form: str, parse: Callable[[Any, str], np.ndarray]) -> ColumnValues:
    """Parse the distinct texts of a column in a form; what does not parse is missing."""
    pd = import_pandas()
    missing = column.isna().to_numpy()
    codes, texts = pd.factorize(_texts(column[~missing]))
    texts = pd.Series(texts)
    parsed = parse(texts, form)
    values = np.full(len(column), np.nan)
    unparsed = np.zeros(len(column), dtype=bool)
    values[~missing] = parsed[codes]
    failed = np.isnan(parsed) & (texts != "").to_numpy(dtype=bool)
    unparsed[~missing] = failed[codes]
    return ColumnValues(values, unparsed)


def check_parsed(
    column, column_type: ColumnType, read: ColumnValues, words: Collection[str], share: float
) -> None:
    """Raise an error if there is text and none of it parses, unless the training explains it.

    Words for a missing value explain it, and so do ``words``, which did not parse in training. A
    few rows may have other text if a ``share`` of the training rows had text that did not parse.
    """
    if not read.unparsed.any() or not read.missing.all():
        return
    texts = _texts(column)
    known = is_missing_word(texts) | texts.isin([word.strip() for word in words]).to_numpy()
    strange = read.unparsed & ~known
    if strange.any() and share ** np.count_nonzero(strange) < UNLIKELY:
        form = column_type.form or {"numeric": PLAIN, "date": ISO}[column_type.kind]
        _check_converted(column, strange, column_type.kind, f" in the form {form}")


def _all_parsed(values: np.ndarray) -> ColumnValues:
    return ColumnValues(values, np.zeros(len(values), dtype=bool))


def _check_converted(column, unknown: np.ndarray, kind: str, form: str = "") -> None:
    """Raise an error if a value that is not missing could not be converted.

    ``form`` says how the values were written, if they were text.
    """
    wrong = unknown & column.notna().to_numpy()
    if not wrong.any():
        return
    place = int(np.argmax(wrong))
    value = column.iloc[place]
    raise InvalidDataError(
        f"Column {column.name!r} held {_WORDS[kind]}{form} when the model was fitted; got "
        f"{value.item() if isinstance(value, np.generic) else value!r} in row "
        f"{row_number(column, place)}, counted from 0. Correct the column, or fit a model to this "
        "table."
    )


_SPELL: dict[str | None, Callable[[Any], str]] = {
    None: lambda value: spell_time(str(value)),
    CODES: spell_code,
    WRITTEN_CODES: spell_written,
}
_READ = {
    "numeric": _read_numbers,
    "boolean": _read_truths,
    "category": _read_strings,
    "text": _read_strings,
    "date": _read_dates,
}
