"""Split a table into features, labels and weights."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skauc.app.tables.labels import find_label
from skauc.exceptions import InvalidDataError, InvalidParameterError, warn_user
from skauc.preprocessing.kinds import find_type, read_column
from skauc.preprocessing.names import check_column_name, listed, row_number
from skauc.validation import shortened


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """Features, labels and weights of a table.

    Attributes
    ----------
    X : pandas.DataFrame
        The features.
    y : ndarray of shape (n_samples,), bool
        Which rows are positive.
    weights : ndarray of shape (n_samples,) or None
        The weights of the rows, if there are any.
    labels : tuple
        The values of the target that stand for False and for True.
    times : ndarray of shape (n_samples,) or None
        When each row was recorded, as a number, if the table is split by time.
    groups : ndarray of shape (n_samples,) or None
        The group of each row, as a number, if the table is split by groups.
    """

    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    labels: tuple
    times: np.ndarray | None = None
    groups: np.ndarray | None = None

    @property
    def n_fewest(self) -> int:
        """The number of rows of the smaller class."""
        return int(min(np.count_nonzero(self.y), np.count_nonzero(~self.y)))

    @property
    def weightless(self) -> list:
        """The labels of which every row has the weight 0."""
        if self.weights is None:
            return []
        rows = zip(self.labels, (~self.y, self.y), strict=True)
        return [label for label, is_labelled in rows if not self.weights[is_labelled].any()]


def split_target(
    frame,
    target: str,
    *,
    positive=None,
    drop: Sequence[str] = (),
    weights: str | None = None,
    time: str | None = None,
    group: str | None = None,
    advice: str = "Choose another target, or turn it into a yes-or-no column.",
) -> LabelledTable:
    """Split a table into features, labels and weights.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str
        Name of the column to predict, which has two distinct values. Rows in which it is missing
        are left out, with a warning.
    positive : object, default=None
        The value that should rank high. By default it is the larger value in sorted order, as in
        scikit-learn: 1 of 0 and 1, "yes" of "no" and "yes". Text as it stands in a file is
        accepted for numbers, truth values and dates: "1" or "01" for 1, "TRUE" for True.
    drop : sequence of str, default=()
        Columns that are not features.
    weights : str, default=None
        Name of the column with the weights of the rows.
    time : str, default=None
        Name of the column, of dates or numbers, by which the rows are ordered. It stays a feature.
    group : str, default=None
        Name of the column with the groups of rows that belong together. It is no feature. A row
        without a value is a group of its own.
    advice : str
        What to do if the target does not have two values.

    Returns
    -------
    table : LabelledTable
        With ``X``, ``y``, ``weights``, ``labels``, ``times`` and ``groups``.

    See Also
    --------
    is_positive_ambiguous : Tell whether the default for ``positive`` is likely to be wrong.

    Examples
    --------
    >>> import pandas as pd
    >>> from skauc.app.tables import split_target
    >>> frame = pd.DataFrame({"age": [31, 54, 22], "bought": ["no", "yes", "no"]})
    >>> table = split_target(frame, "bought")
    >>> table.y.tolist(), table.labels
    ([False, True, False], ('no', 'yes'))
    """
    not_features = [target, *drop, *(name for name in (weights, group) if name is not None)]
    for name in not_features + ([] if time is None else [time]):
        check_column_name(name, list(frame.columns))
    roles = {"target": target, "weights": weights, "time": time, "group": group}
    for role, column in roles.items():
        if column is not None:
            _check_no_lists(frame[column], role)
    n_rows = len(frame)
    frame = _with_known_target(frame, target, advice)
    _check_two_labels(frame[target], n_rows - len(frame), advice)
    negative, positive = _labels(frame[target], positive)
    X = frame.drop(columns=list(dict.fromkeys(not_features)))
    if X.shape[1] == 0:
        raise InvalidDataError(
            f"The table has no features besides {listed(not_features)}. "
            f"{'Drop fewer columns' if drop else 'Pass a table with at least one more column'}."
        )
    y = (frame[target] == positive).to_numpy(dtype=bool)
    table = LabelledTable(
        X,
        y,
        None if weights is None else _check_weights(frame[weights]),
        (negative, positive),
        None if time is None else _times(frame[time]),
        None if group is None else _groups(frame[group]),
    )
    for label in table.weightless:
        raise InvalidDataError(
            f"The weights {weights!r} are 0 in every row of label {label!r}. Give at least one row "
            "of each label a positive weight."
        )
    return table


def is_positive_ambiguous(column) -> bool:
    """Tell whether the larger label in sorted order is likely not the one that should rank high.

    That is so if the labels are text and the first in sorted order is rarer: of "fraud" and
    "legit", "legit" is larger, and "fraud" is probably meant.

    Parameters
    ----------
    column : pandas.Series
        The target.

    Returns
    -------
    is_ambiguous : bool
        False as well if there are not exactly two labels.

    Examples
    --------
    >>> import pandas as pd
    >>> from skauc.app.tables import is_positive_ambiguous
    >>> is_positive_ambiguous(pd.Series(["fraud", "legit", "legit"]))
    True
    >>> is_positive_ambiguous(pd.Series(["no", "yes", "no"]))
    False
    """
    counts = _label_counts(column)
    if len(counts) != 2 or not all(isinstance(label, str) for label in counts):
        return False
    smaller, larger = sorted(counts)
    return counts[smaller] < counts[larger]


def _check_no_lists(column, role: str) -> None:
    """Raise an error if a column holds lists or records, as it may in a parquet file."""
    known = column.dropna()
    if len(known) == 0 or isinstance(known.iloc[0], Hashable):
        return
    first = known.iloc[0]
    values = "records" if isinstance(first, dict) else "lists"
    first = first.tolist() if isinstance(first, np.ndarray) else first
    raise InvalidDataError(
        f"The {role} column {column.name!r} holds {values}, such as {shortened(first)}. Choose a "
        "column with one value per row."
    )


def _with_known_target(frame, target: str, advice: str):
    """Return the rows in which the target is not missing, and warn about the others."""
    missing = frame[target].isna().to_numpy()
    if missing.all():
        raise InvalidDataError(
            f"The target {target!r} is missing in all {len(frame):,} rows. {advice}"
        )
    if not missing.any():
        return frame
    warn_user(
        f"The target {target!r} is missing in {np.count_nonzero(missing):,} of {len(frame):,} "
        f"rows, first in row {int(np.argmax(missing)) + 1}, counted from 1. These rows are left "
        "out.",
    )
    known = frame[~missing]
    labels = known[target]
    if labels.dtype.kind == "f" and (labels % 1 == 0).all():  # a gap turns 0 and 1 into floats
        known = known.assign(**{target: labels.astype(np.int64)})
    return known


def _label_counts(column) -> dict:
    """Return the labels that occur, the most frequent first, and how often they do."""
    counts = column.value_counts()
    counts = counts[counts > 0]
    return dict(zip(counts.index.tolist(), counts.tolist(), strict=True))


def _check_two_labels(column, n_missing: int, advice: str) -> None:
    """Raise an error that ends with the advice unless the target has two values."""
    labels = list(_label_counts(column))
    if len(labels) == 2:
        return
    values = "one value" if len(labels) == 1 else f"{len(labels)} values"
    n_rows = len(column) + n_missing
    gaps = f", and is missing in {n_missing:,} of {n_rows:,} rows" if n_missing else ""
    raise InvalidDataError(
        f"The target {column.name!r} must have two values; it has {values}: {listed(labels)}"
        f"{gaps}. {advice}"
    )


def _labels(column, positive) -> tuple:
    """Return the negative and the positive value of the target."""
    labels = list(_label_counts(column))
    if positive is None:
        return _sorted_labels(labels)
    found = find_label(labels, positive)
    if found is None:
        raise InvalidParameterError(
            f"`positive` must be a value of the target {column.name!r}, {labels[0]!r} or "
            f"{labels[1]!r}; got {positive!r}."
        )
    return labels[1 - labels.index(found)], found


def _sorted_labels(labels: list) -> tuple:
    """Return two labels in sorted order; labels of different types are compared as text."""
    try:
        smaller, larger = sorted(labels)
    except TypeError:
        smaller, larger = sorted(labels, key=str)
    return smaller, larger


def _times(column) -> np.ndarray:
    """Return times as numbers that grow with time."""
    found = find_type(column)
    if found is None or found.kind not in ("date", "numeric"):
        kind = "only missing values" if found is None else f"values like {column.iloc[0]!r}"
        raise InvalidDataError(
            f"The time {column.name!r} must be a column of dates or numbers; it has {kind}. "
            "Choose another column."
        )
    read = read_column(column, found)
    if read.missing.any():
        place = int(np.argmax(read.missing))
        is_gap = bool(column.isna().iloc[place])
        wrong = "is missing" if is_gap else "cannot be read"
        value = "" if is_gap else f": {column.iloc[place]!r}"
        raise InvalidDataError(
            f"The time {column.name!r} {wrong} in row {row_number(column, place) + 1}, counted "
            f"from 1{value}. Remove such rows, or choose another column."
        )
    return read.values


def _groups(column) -> np.ndarray:
    """Return a number per group; rows without a value are groups of their own."""
    codes, names = column.factorize()
    alone = codes < 0
    return np.where(alone, len(names) + np.cumsum(alone), codes)


def _check_weights(column) -> np.ndarray:
    try:
        weights = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise InvalidDataError(
            f"The weights {column.name!r} must be numbers; got values like {column.iloc[0]!r}. "
            "Choose a column of numbers."
        ) from error
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        place = int(np.argmax(wrong))
        raise InvalidDataError(
            f"The weights {column.name!r} must be finite and at least 0; got {weights[place]} in "
            f"row {row_number(column, place) + 1}, counted from 1. Use the weight 0 for rows that "
            "should not count."
        )
    return weights
