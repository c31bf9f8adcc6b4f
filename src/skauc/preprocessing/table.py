"""TablePreprocessor: turn a table of mixed columns into a matrix of well-scaled numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from skauc.exceptions import InvalidDataError
from skauc.preprocessing.frames import as_frame
from skauc.preprocessing.kinds import ColumnType, ColumnValues, check_parsed, read_column
from skauc.preprocessing.names import listed_columns
from skauc.preprocessing.new_rows import warn_of_unknown_levels
from skauc.preprocessing.optional import import_pandas
from skauc.preprocessing.overrides import check_overrides
from skauc.preprocessing.parts import (
    BooleanPart,
    DatePart,
    LevelsPart,
    MissingPart,
    NumericPart,
    StepsPart,
    TargetPart,
    WordsPart,
    build_parts,
    names_out,
)
from skauc.preprocessing.plans import UsedColumn, plan_column, spread_levels
from skauc.preprocessing.table_part import TablePart


class TablePreprocessor(TransformerMixin, BaseEstimator):
    """Turn a table of numbers, truth values, categories, dates and text into numbers for a kernel.

    The kind of each column is found when fitting. Text is read as numbers or dates if nearly all
    values agree with one form, such as ``$1,234.50``, ``12,5``, ``42.5%`` or ``31/12/2024``. The
    form is kept for prediction. The few values that do not agree with it count as missing.

    - Numbers are imputed by their median, brought to median 0 and interquartile range 1, passed
      through arcsinh, which shortens heavy tails, and standardised. Where the odds of the target
      jump from one value to the next, a second number has the log odds in up to 128 intervals,
      cross-fitted while training. This needs 200 rows of each class.
    - Categories become one number per level. If there are more than 30 levels, they become the
      mean of the target, cross-fitted while training, unless there are 1,000 rows per level and
      no more than 100 such levels in the table.
    - Dates become days and the phases of the day, the week and the year.
    - Text becomes the presence of its most frequent words.
    - Columns of numbers, truth values or dates with gaps get an indicator of missing values.

    Times of the day are categories; 08:00 and 08:00:00 are the same level. An infinite number is an
    error.

    Levels and words in fewer than 5 rows and levels not seen before count as no level. Columns
    that are empty, constant or only number the rows are dropped.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=0
        Random state of the folds of numbers that are learnt from the target.
    numeric : sequence of str, default=()
        Columns to read as numbers, whatever they look like.
    category : sequence of str, default=()
        Columns to read as categories. 7, 7.0 and "7" are the same level.
    date : sequence of str, default=()
        Columns to read as dates.
    drop : sequence of str, default=()
        Columns to leave out.

    Attributes
    ----------
    columns_ : dict of str to str
        The columns in use and their kinds: "numeric", "boolean", "category", "text", "date".
    forms_ : dict of str to str
        The forms of columns in use whose numbers or dates are written as text, such as "$1,234.5"
        or "%d/%m/%Y", and "truth values" for truth values that `numeric` makes numbers.
    dropped_ : dict of str to str
        The columns that are not used, and why.
    column_report_ : list of dict
        For each column of the table: "name", "kind", "form", "dropped" (the reason, or None),
        "n_missing", "n_unparsed" (values that did not parse and count as missing), "unparsed" (up
        to five of them) and "n_levels" (for categories and text).
    parts_ : dict of str to dict
        What was learnt, as lists and arrays.
    n_samples_seen_ : int
        Number of training rows.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns.

    Notes
    -----
    Columns are found by name, in any order. A column that is missing, new, or of another kind
    when transforming is an error. A column that was dropped may be there or not.

    Examples
    --------
    >>> import pandas as pd
    >>> from skauc.preprocessing import TablePreprocessor
    >>> table = pd.DataFrame({"paid": ["$31", "none", "$1,054", "$22"] * 5,
    ...                       "town": ["Oslo", "Bern"] * 10})
    >>> step = TablePreprocessor().fit(table)
    >>> step.columns_
    {'paid': 'numeric', 'town': 'category'}
    >>> step.column_report_[0]["form"], step.column_report_[0]["unparsed"]
    ('$1,234.5', ['none'])
    >>> step.get_feature_names_out().tolist()
    ['paid', 'missingindicator_paid', 'town_Bern', 'town_Oslo']
    """

    def __init__(self, random_state=0, *, numeric=(), category=(), date=(), drop=()):
        self.random_state = random_state
        self.numeric = numeric
        self.category = category
        self.date = date
        self.drop = drop

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Find the kinds of the columns and fit the parts.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,), default=None
            Labels, for numbers that are learnt from the target.

        Returns
        -------
        self : TablePreprocessor
            The fitted preprocessor.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: ArrayLike | None = None) -> np.ndarray:
        """Fit, and return the numbers for the training rows.

        They differ from those of ``transform`` where numbers are learnt from the target: the number
        of a row does not depend on its own label.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,), default=None
            Labels, for numbers that are learnt from the target.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features_out)
            The numbers.
        """
        frame = as_frame(X)
        wanted = check_overrides(self, list(frame.columns))
        validate_data(self, X, skip_check_array=True)
        has_target = y is not None
        columns = [
            plan_column(frame[name], wanted.get(name), has_target=has_target)
            for name in frame.columns
        ]
        used = spread_levels([column.used for column in columns if column.used is not None])
        if not used:
            raise InvalidDataError(
                "No column of the table tells rows apart; got "
                f"{listed_columns(list(frame.columns))}, n_samples = {len(frame)}. Pass a table "
                "with at least one column that varies."
            )
        self.columns_ = {column.name: column.type.kind for column in used}
        self.forms_ = {column.name: column.type.form for column in used if column.type.form}
        self.column_report_ = [column.report for column in columns]
        self.dropped_ = {
            entry["name"]: entry["dropped"]
            for entry in self.column_report_
            if entry["dropped"] is not None
        }
        parts, numbers = _fit_parts(used, y, self.random_state)
        self.parts_ = {part.name: part.state() for part in parts}
        self.n_samples_seen_ = len(frame)
        return np.hstack(numbers)

    def transform(self, X: Any) -> np.ndarray:
        """Return the numbers for a table with the same columns.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The table.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features_out)
            The numbers.
        """
        table, parts = self.read_columns(X), build_parts(self.parts_)
        warn_of_unknown_levels(parts, table)
        values = {name: read.values for name, read in table.items()}
        return np.hstack([part.transform(values) for part in parts])

    def column_values(self, X: Any) -> dict[str, np.ndarray]:
        """Return the columns in use as arrays, before they are imputed, scaled or encoded.

        These are the inputs of an exported ONNX graph.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The table.

        Returns
        -------
        columns : dict of str to ndarray of shape (n_samples,)
            Numbers, truth values as 0 and 1, and dates in seconds since 1970, each with NaN for a
            missing value; categories and text as strings, with "" for a missing value.
        """
        return {name: read.values for name, read in self.read_columns(X).items()}

    def read_columns(self, X: Any) -> dict[str, ColumnValues]:
        """Return the columns in use as arrays, and which of their cells did not parse.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The table.

        Returns
        -------
        columns : dict of str to ColumnValues
            With ``values`` and ``unparsed``.
        """
        check_is_fitted(self)
        frame = as_frame(X)
        if not hasattr(X, "columns"):
            validate_data(self, X, skip_check_array=True, reset=False)
        self._check_columns(frame)
        return {
            entry["name"]: self._read(frame[entry["name"]], entry)
            for entry in self.column_report_
            if entry["dropped"] is None
        }

    def _read(self, column, entry: Mapping[str, Any]) -> ColumnValues:
        """Return the values of a column, whose entry in the report is given."""
        found = ColumnType(self.columns_[column.name], self.forms_.get(column.name))
        read = read_column(column, found)
        share = entry["n_unparsed"] / self.n_samples_seen_
        check_parsed(column, found, read, entry["unparsed"], share)
        return read

    def inverse_transform(self, X: ArrayLike) -> Any:
        """Return a table that stands for rows of numbers, such as the centres of a model.

        Numbers and dates come back as they were. A category becomes its nearest level and a text
        its words; both are empty if there is none.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_out)
            Rows as ``transform`` returns them.

        Returns
        -------
        frame : pandas.DataFrame
            The columns in ``columns_``.
        """
        check_is_fitted(self)
        rows = check_array(X, dtype=np.float64)
        columns = _original_columns(build_parts(self.parts_), rows)
        return import_pandas().DataFrame({name: columns[name] for name in self.columns_})

    def get_feature_names_out(self, input_features: None = None) -> np.ndarray:
        """Return the names of the numbers.

        Parameters
        ----------
        input_features : None
            Ignored: the names are those of the table.

        Returns
        -------
        names : ndarray of str
            One name per column of the matrix.
        """
        check_is_fitted(self)
        return np.array(names_out(build_parts(self.parts_)), dtype=object)

    def feature_sources(self) -> list[str]:
        """Return the column that each number is computed from.

        Returns
        -------
        columns : list of str
            One name per column of the matrix.
        """
        check_is_fitted(self)
        return [
            name
            for part in build_parts(self.parts_)
            for name, width in zip(part.columns, part.widths(), strict=True)
            for _ in range(width)
        ]

    def _check_columns(self, frame) -> None:
        missing = [name for name in self.columns_ if name not in frame.columns]
        if missing:
            raise InvalidDataError(
                f"The table lacks {listed_columns(missing)}, which the model was fitted with. Add "
                "what is missing, with empty values if there are none."
            )
        new = [name for name in frame.columns if name not in {**self.columns_, **self.dropped_}]
        if new:
            raise InvalidDataError(
                f"The table has {listed_columns(new)}, which the model was fitted without. Leave "
                "out what is new, or fit a model to this table."
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _fit_parts(
    columns: list[UsedColumn], y, random_state
) -> tuple[list[TablePart], list[np.ndarray]]:
    """Fit the parts that have columns; return them, and their numbers for the training rows."""
    table = {column.name: column.values for column in columns}

    def names(*parts: str) -> list[str]:
        return [column.name for column in columns if column.plan.part in parts]

    def levels(part: str) -> list[np.ndarray]:
        return [column.plan.levels for column in columns if column.plan.part == part]

    gaps = [name for name in names("numeric", "boolean", "date") if np.isnan(table[name]).any()]
    steps = names("numeric") if y is not None else []
    fits: list[tuple[list[str], Callable]] = [
        (names("numeric"), lambda: NumericPart.fit(names("numeric"), table)),
        (names("boolean"), lambda: BooleanPart.fit(names("boolean"), table)),
        (names("date"), lambda: DatePart.fit(names("date"), table)),
        (gaps, lambda: MissingPart.fit(gaps, table)),
        (steps, lambda: StepsPart.fit(steps, table, y, random_state)),
        (names("levels"), lambda: LevelsPart.fit(names("levels"), levels("levels"), table)),
        (
            names("target"),
            lambda: TargetPart.fit(names("target"), levels("target"), table, y, random_state),
        ),
        (names("words"), lambda: WordsPart.fit(names("words"), levels("words"), table)),
    ]
    found = [fit() for used, fit in fits if used]
    fitted = [each for each in found if each is not None]
    return [part for part, _ in fitted], [numbers for _, numbers in fitted]


def _original_columns(parts: list[TablePart], rows: np.ndarray) -> Mapping[str, np.ndarray]:
    """Return the columns that rows of numbers stand for; a gap is NaN, NaT or None."""
    ends = np.cumsum([len(part.names_out()) for part in parts])
    pieces = np.split(rows, ends[:-1], axis=1)
    columns: dict[str, np.ndarray] = {}
    gaps: dict[str, np.ndarray] = {}
    for part, piece in zip(parts, pieces, strict=True):
        target = gaps if isinstance(part, MissingPart) else columns
        target.update(part.inverse(piece))
    return {name: _with_gaps(values, gaps.get(name)) for name, values in columns.items()}


def _with_gaps(values: np.ndarray, gaps: np.ndarray | None) -> np.ndarray:
    if gaps is None or not gaps.any():
        return values
    if values.dtype.kind == "M":
        return np.where(gaps, np.datetime64("NaT"), values)
    if values.dtype.kind == "b":
        return np.where(gaps, np.array(None), values)
    return np.where(gaps, np.nan, values)
