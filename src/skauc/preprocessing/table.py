"""TablePreprocessor: a table of mixed columns becomes a matrix of well-scaled numbers."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, RobustScaler, StandardScaler, TargetEncoder
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from skauc.exceptions import InvalidDataError
from skauc.preprocessing.inverse import original_columns
from skauc.preprocessing.kinds import KINDS, kind_of
from skauc.preprocessing.pandas import import_pandas
from skauc.preprocessing.steps import ArcSinh, DateFeatures

# A level or a word in fewer rows than this says nothing that lasts.
FEWEST_ROWS = 5
# Levels that become a column each; a column with more of them is encoded by the target.
MOST_ONE_HOT = 30
# Levels, the most frequent ones, that a target encoding keeps.
MOST_LEVELS = 1000
MOST_WORDS = 50
# Fewer rows than these may rise by chance, or by design.
FEWEST_NUMBERED = 50
ROWS_FOR_WORDS = 100_000


class TablePreprocessor(TransformerMixin, BaseEstimator):
    """Turn a table of numbers, truth values, categories, dates and text into numbers for a kernel.

    The kind of each column is found when fitting. Numbers are imputed by their median, brought to
    median 0 and interquartile range 1, passed through arcsinh, which tames heavy tails, and
    standardised. Categories become one column a level, or, where there are more than 30, the mean
    of the target (cross-fitted while training). Dates become days and phases of the day, the week
    and the year. Text becomes the presence of its most frequent words. A column of 0 and 1 is
    added for each column of numbers, truth values or dates with gaps. Levels and words in fewer
    than 5 rows and levels not seen before count as no level. Columns that are empty, constant, or
    only number the rows are dropped. The parts are scikit-learn's.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=0
        Draws the folds of the target encoding.

    Attributes
    ----------
    columns_ : dict of str to str
        The columns in use and their kinds: "numeric", "boolean", "category", "text", "date".
    dropped_ : dict of str to str
        The columns that are not used, and why.
    transformer_ : ColumnTransformer
        What makes the numbers, from numbers and strings.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names.

    Notes
    -----
    Columns are found by name, in any order. A column that is missing, new, or of another kind
    when transforming is an error; one that was dropped may be there or not.

    Examples
    --------
    >>> import pandas as pd
    >>> from skauc.preprocessing import TablePreprocessor
    >>> table = pd.DataFrame({"age": [31, None, 54, 22] * 5, "town": ["Oslo", "Bern"] * 10})
    >>> step = TablePreprocessor().fit(table)
    >>> step.columns_
    {'age': 'numeric', 'town': 'category'}
    >>> step.get_feature_names_out().tolist()
    ['age', 'missingindicator_age', 'town_Bern', 'town_Oslo']
    """

    def __init__(self, random_state=0):
        self.random_state = random_state

    def fit(self, X, y=None):
        """Find the kinds of the columns and fit the steps for each.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,), default=None
            Labels, for the encoding of columns with many categories.

        Returns
        -------
        self : TablePreprocessor
            The fitted step.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X, y=None):
        """Fit, and return the numbers for the training rows.

        They differ from those of ``transform`` where categories are encoded by the target: a row
        must not see its own label.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,), default=None
            Labels, for the encoding of columns with many categories.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features_out)
            The numbers.
        """
        frame = _as_frame(X)
        validate_data(self, X, skip_check_array=True)
        kinds = {name: kind_of(frame[name]) for name in frame.columns}
        cleaned = _cleaned(frame, {name: kind for name, kind in kinds.items() if kind})
        plans = {name: _plan(cleaned[name], kinds[name], y is not None) for name in cleaned.columns}
        used = {name: plan for name, plan in plans.items() if not isinstance(plan, str)}
        if not used:
            raise InvalidDataError(
                f"No column of the table tells rows apart; got {_listed(list(frame.columns))}, "
                f"n_samples = {len(frame)}. Pass a table with at least one column that varies."
            )
        empty = dict.fromkeys((name for name, kind in kinds.items() if kind is None), "is empty")
        reasons = {name: plan for name, plan in plans.items() if isinstance(plan, str)} | empty
        self.dropped_ = {name: reasons[name] for name in frame.columns if name in reasons}
        self.columns_ = {name: kinds[name] for name in used}
        self.transformer_ = _column_transformer(cleaned, used, self.random_state)
        return self.transformer_.fit_transform(cleaned[list(used)], y)

    def transform(self, X):
        """Return the numbers for a table of the same columns.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            The table.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features_out)
            The numbers.
        """
        check_is_fitted(self)
        frame = _as_frame(X)
        if not hasattr(X, "columns"):
            validate_data(self, X, skip_check_array=True, reset=False)
        self._check_columns(frame)
        return self.transformer_.transform(_cleaned(frame, self.columns_))

    def inverse_transform(self, X):
        """Return a table that stands for such numbers, such as the centres of a model.

        Numbers and dates come back as they were, but for the phases of dates, which the days
        tell. A category is its nearest level and a text its words, both empty where there is none.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_out)
            Rows as ``transform`` returns them, or such as these.

        Returns
        -------
        frame : pandas.DataFrame
            The columns in ``columns_``.
        """
        check_is_fitted(self)
        rows = check_array(X, dtype=np.float64)
        columns = original_columns(self.transformer_, rows)
        return import_pandas().DataFrame({name: columns[name] for name in self.columns_})

    def get_feature_names_out(self, input_features=None):
        """Return the names of the numbers.

        Parameters
        ----------
        input_features : None
            Not used: the names are those of the table.

        Returns
        -------
        names : ndarray of str
            One name a column of the matrix.
        """
        check_is_fitted(self)
        return self.transformer_.get_feature_names_out()

    def _check_columns(self, frame) -> None:
        missing = [name for name in self.columns_ if name not in frame.columns]
        if missing:
            raise InvalidDataError(
                f"The table lacks {_listed(missing)}, which the model was fitted with. Add what is "
                "missing, empty if need be."
            )
        new = [name for name in frame.columns if name not in {**self.columns_, **self.dropped_}]
        if new:
            raise InvalidDataError(
                f"The table has {_listed(new)}, which the model was fitted without. Leave out "
                "what is new, or fit a model to such a table."
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


@dataclass(frozen=True)
class _Plan:
    """The step that a column goes to, and the levels or words that it keeps there."""

    step: str
    levels: tuple[str, ...] = ()


def _plan(column, kind: str, has_target: bool) -> _Plan | str:
    """Return what to do with a cleaned column, or the reason why it is left out."""
    if column.nunique(dropna=False) == 1:
        return "has one value only"
    if kind == "text":
        words = _frequent_words(column)
        return _Plan("words", words) if words else "is text in which no word recurs"
    if kind == "numeric" and _numbers_the_rows(column.to_numpy()):
        return "only numbers the rows"
    if kind != "category":
        return _Plan(kind)
    counts = column.value_counts()
    levels = counts.index[counts >= FEWEST_ROWS]
    if len(levels) == 0:
        return f"has no level in {FEWEST_ROWS} rows"
    if len(levels) <= MOST_ONE_HOT or not has_target:
        return _Plan("levels", tuple(sorted(levels[:MOST_ONE_HOT])))
    return _Plan("target", tuple(sorted(levels[:MOST_LEVELS])))


def _numbers_the_rows(values: np.ndarray) -> bool:
    """Tell whether these are row numbers, with those of other rows taken out.

    Programs write them into a first column of tables. They rank rows in the order of the table,
    which may be that of the target, and say nothing of rows to come.
    """
    if len(values) < FEWEST_NUMBERED or values[-1] - values[0] >= 2 * len(values):
        return False
    return bool(np.all(values % 1 == 0) and np.all(np.diff(values) > 0))


def _frequent_words(column) -> tuple[str, ...]:
    sample = column.iloc[:: max(1, len(column) // ROWS_FOR_WORDS)]
    fewest = max(FEWEST_ROWS, len(sample) // 100)
    counter = CountVectorizer(binary=True, max_features=MOST_WORDS, min_df=fewest)
    try:
        return tuple(sorted(counter.fit(sample).vocabulary_))
    except ValueError:  # no word is left
        return ()


def _column_transformer(cleaned, plans: dict[str, _Plan], random_state) -> ColumnTransformer:
    def names(*steps: str) -> list[str]:
        return [name for name, plan in plans.items() if plan.step in steps]

    def levels(step: str) -> list[np.ndarray]:
        return [np.array(plans[name].levels, dtype=object) for name in names(step)]

    with_gaps = [name for name in names("numeric", "boolean", "date") if cleaned[name].isna().any()]
    one_hot = OneHotEncoder(
        categories=levels("levels"), handle_unknown="ignore", sparse_output=False
    )
    by_target = _target_encoder(levels("target"), random_state)
    steps = [
        ("numeric", make_pipeline(SimpleImputer(strategy="median"), *_scaling()), names("numeric")),
        ("boolean", SimpleImputer(strategy="most_frequent"), names("boolean")),
        (
            "date",
            make_pipeline(SimpleImputer(strategy="median"), DateFeatures(), *_scaling()),
            names("date"),
        ),
        ("missing", MissingIndicator(features="all"), with_gaps),
        ("levels", one_hot, names("levels")),
        ("target", make_pipeline(by_target, *_scaling()), names("target")),
    ]
    steps += [
        (f"words of {name}", CountVectorizer(binary=True, vocabulary=plans[name].levels), name)
        for name in names("words")
    ]
    steps = [step for step in steps if len(step[2])]
    return ColumnTransformer(steps, sparse_threshold=0, verbose_feature_names_out=False)


def _target_encoder(levels: list[np.ndarray], random_state) -> TargetEncoder:
    """Return one whose folds are drawn with the random state, in any version of scikit-learn."""
    if "deprecated" in repr(signature(TargetEncoder).parameters["random_state"].default):
        folds = StratifiedKFold(5, shuffle=True, random_state=random_state)
        return TargetEncoder(categories=levels, target_type="binary", cv=folds)
    return TargetEncoder(categories=levels, target_type="binary", random_state=random_state)


def _scaling() -> tuple:
    """Return the steps that suit a kernel: centred, tails tamed, unit variance."""
    return RobustScaler(), ArcSinh(), StandardScaler()


def _as_frame(X):
    """Return a table as a pandas frame with one column a name."""
    pd = import_pandas()
    if isinstance(X, pd.DataFrame):
        frame = X
    elif hasattr(X, "to_pandas"):
        frame = X.to_pandas()
    else:
        array = check_array(X, dtype=None, ensure_all_finite=False)
        frame = pd.DataFrame(array, columns=[f"x{i}" for i in range(array.shape[1])])
    if len(frame) == 0:
        raise InvalidDataError(
            f"Found array with 0 sample(s) (shape={frame.shape}) while a minimum of 1 is required: "
            "the table has no rows. Pass at least one."
        )
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise InvalidDataError(
            f"The table has more than one column called {repeated[0]!r}. Give each its own name."
        )
    return frame


def _cleaned(frame, kinds: dict[str, str]):
    """Return the columns as numbers and strings."""
    columns = {name: KINDS[kind](frame[name]) for name, kind in kinds.items()}
    return import_pandas().DataFrame(columns, index=frame.index)


def _listed(names: list) -> str:
    """Return up to five names, and how many more there are."""
    words = ", ".join(repr(name) for name in names[:5])
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"the column{'s' if len(names) > 1 else ''} {words}{more}"
