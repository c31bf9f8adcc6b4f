"""The positive label, where the table does not make it clear."""

from __future__ import annotations

import shlex

from skauc.app.tables import is_positive_ambiguous
from skauc.exceptions import InvalidParameterError

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


def check_positive_is_clear(column) -> None:
    """Raise an error if the label that sorts last may not be the positive one.

    Parameters
    ----------
    column : pandas.Series
        The target.
    """
    labels = column.dropna().unique().tolist()
    if len(labels) != 2 or not all(isinstance(label, str) for label in labels):
        return
    first, second = sorted(labels)
    words = (first.strip().lower(), second.strip().lower())
    is_reversed = words[::-1] in CLEAR_LABELS
    if words in CLEAR_LABELS or not (is_reversed or is_positive_ambiguous(column)):
        return
    counts = column.value_counts()
    raise InvalidParameterError(
        f"The target {column.name!r} has the labels {first!r} ({counts[first]:,} rows) and "
        f"{second!r} ({counts[second]:,} rows), and it is not clear which of them should rank "
        f"high. Pass --positive {shlex.quote(first)} or --positive {shlex.quote(second)}."
    )
