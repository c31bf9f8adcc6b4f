"""Columns as they stand in a file, beside the same columns as values."""

from __future__ import annotations

from typing import Any, NamedTuple


class Piece(NamedTuple):
    """Some rows of a table.

    Attributes
    ----------
    table : pyarrow.Table
        The rows.
    text : pyarrow.Table
        The verbatim columns of the same rows, as strings without missing values.
    """

    table: Any
    text: Any


def as_text(table, names):
    """Return columns of a table of typed values as strings; a missing value is empty."""
    import pyarrow as pa
    from pyarrow import compute

    def written(column):
        try:
            strings = compute.cast(column, pa.string())
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            values = column.to_pylist()
            words = [None if value is None else str(value) for value in values]
            strings = pa.array(words, pa.string())
        return compute.fill_null(strings, "")

    return pa.table({name: written(table.column(name)) for name in names})


def parsed_or_text(column, kind: str):
    """Return a column of text as values of a type of pyarrow's, or as text if a value is not."""
    import pyarrow as pa
    from pyarrow import compute

    if kind == "string":
        return column
    trimmed = compute.utf8_trim_whitespace(column)
    try:
        return compute.cast(trimmed, kind)
    except pa.ArrowInvalid:
        return column
