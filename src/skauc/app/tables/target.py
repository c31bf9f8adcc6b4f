"""Take a table apart: features, which rows are positive, and weights."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from skauc.exceptions import InvalidDataError, InvalidParameterError

_MOST_LISTED = 10
# Pairs of labels, the negative one first, whose meaning is clear however frequent they are.
CLEAR_LABELS = {
    ("0", "1"),
    ("f", "t"),
    ("false", "true"),
    ("n", "y"),
    ("neg", "pos"),
    ("negative", "positive"),
    ("no", "yes"),
    ("off", "on"),
}


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """Features, labels and weights of a table.

    Attributes
    ----------
    X : pandas.DataFrame
        The columns to learn from.
    y : ndarray of shape (n_samples,), bool
        Which rows are positive.
    weights : ndarray of shape (n_samples,) or None
        Their weights, where there are some.
    labels : tuple
        The values of the target that stand for False and for True.
    """

    X: object
    y: np.ndarray
    weights: np.ndarray | None
    labels: tuple


def split_target(
    frame, target: str, *, positive=None, drop: Sequence[str] = (), weights: str | None = None
) -> LabelledTable:
    """Split a table into features, labels and weights.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str
        Name of the column to predict, of two different values. Rows in which it is missing are
        left out, with a warning.
    positive : object, default=None
        The positive label, or its text: "1" for 1. None takes the label that sorts last, as
        scikit-learn does. It is an error if this is likely to be wrong: if the labels are text
        and the one that sorts first is rarer.
    drop : sequence of str, default=()
        Columns that are not to be learnt from.
    weights : str, default=None
        Name of the column that holds the weights of the rows.

    Returns
    -------
    table : LabelledTable
        With ``X``, ``y``, ``weights`` and ``labels``.

    Examples
    --------
    >>> import pandas as pd
    >>> from skauc.app.tables import split_target
    >>> frame = pd.DataFrame({"age": [31, 54, 22], "bought": ["no", "yes", "no"]})
    >>> table = split_target(frame, "bought")
    >>> table.y.tolist(), table.labels
    ([False, True, False], ('no', 'yes'))
    """
    asked_for = [target, *drop, *([] if weights is None else [weights])]
    for name in asked_for:
        _check_name(name, list(frame.columns))
    frame = _with_known_target(frame, target)
    negative, positive = _labels(frame[target], positive)
    X = frame.drop(columns=list(dict.fromkeys(asked_for)))
    if X.shape[1] == 0:
        raise InvalidDataError(
            f"The table has no column to learn from besides {', '.join(map(repr, asked_for))}. "
            "Pass a table with features."
        )
    y = (frame[target] == positive).to_numpy(dtype=bool)
    row_weights = None if weights is None else _check_weights(frame[weights])
    return LabelledTable(X, y, row_weights, (negative, positive))


def _check_name(name, names: list) -> None:
    if name in names:
        return
    by_lower = {str(known).lower(): known for known in names}
    near = get_close_matches(str(name).lower(), by_lower, n=1, cutoff=0.5)
    advice = (
        f"Did you mean {by_lower[near[0]]!r}?" if near else f"The columns are {_listed(names)}."
    )
    raise InvalidParameterError(f"The table has no column {name!r}. {advice}")


def _with_known_target(frame, target: str):
    """Return the rows in which the target is not missing; a warning tells of the others."""
    missing = frame[target].isna().to_numpy()
    if missing.all():
        raise InvalidDataError(
            f"The target {target!r} is missing in all {len(frame)} rows. Choose another target."
        )
    if not missing.any():
        return frame
    warnings.warn(
        f"The target {target!r} is missing in {np.count_nonzero(missing):,} of {len(frame):,} "
        f"rows, the first of them row {int(np.argmax(missing))}: these rows are left out.",
        stacklevel=3,
    )
    known = frame[~missing]
    labels = known[target]
    if labels.dtype.kind == "f" and (labels % 1 == 0).all():  # of 0 and 1, gaps make 0.0 and 1.0
        known = known.assign(**{target: labels.astype(np.int64)})
    return known


def _labels(column, positive) -> tuple:
    """Return the negative and the positive value of the target."""
    counts = column.value_counts()
    counts = counts[counts > 0]
    labels = counts.index.tolist()
    if len(labels) != 2:
        values = "one value" if len(labels) == 1 else f"{len(labels)} values"
        raise InvalidDataError(
            f"The target {column.name!r} must have two values; it has {values}: {_listed(labels)}. "
            "Choose another target, or make it a question of yes and no."
        )
    if positive is None:
        return _sorted_labels(column.name, labels, counts)
    for negative, label in (labels, labels[::-1]):
        if label == positive or str(label) == str(positive):
            return negative, label
    raise InvalidParameterError(
        f"`positive` must be a value of the target {column.name!r}, {_listed(labels)}; got "
        f"{positive!r}. Use one of the two."
    )


def _sorted_labels(name, labels: list, counts) -> tuple:
    """Return the labels in scikit-learn's order, unless this order is likely to be wrong."""
    first, second = sorted(labels, key=lambda label: (isinstance(label, str), label))
    if not isinstance(second, str):
        return first, second
    plain = tuple(str(label).strip().lower() for label in (first, second))
    is_unlikely = counts[first] < counts[second] and plain not in CLEAR_LABELS
    if is_unlikely or plain[::-1] in CLEAR_LABELS:
        raise InvalidParameterError(
            f"The target {name!r} has the labels {first!r} ({counts[first]:,} rows) and "
            f"{second!r} ({counts[second]:,} rows), and it is not clear which of them is to rank "
            f"high. Pass --positive {shlex.quote(str(first))} or --positive "
            f"{shlex.quote(second)} (`positive=` in Python)."
        )
    return first, second


def _check_weights(column) -> np.ndarray:
    try:
        weights = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise InvalidDataError(
            f"The weights {column.name!r} must be numbers; got values like {column.iloc[0]!r}. "
            "Name a column of numbers."
        ) from error
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidDataError(
            f"The weights {column.name!r} must be finite and at least 0; got {weights[row]} in "
            f"row {row}. Give a row that is not to count the weight 0."
        )
    return weights


def _listed(values: list) -> str:
    words = ", ".join(repr(value) for value in values[:_MOST_LISTED])
    more = len(values) - _MOST_LISTED
    return f"{words} and {more} more" if more > 0 else words
