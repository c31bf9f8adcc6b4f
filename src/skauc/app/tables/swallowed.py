"""Rows that a quote without an end has swallowed: they are text in a cell of another row."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import islice

from skauc.app.tables.records import numbered_records
from skauc.app.tables.sources import Source
from skauc.exceptions import warn_user

# With two columns, text of several lines with a comma in each is usual.
_LEAST_LINES = {2: 3}


def warn_if_rows_are_swallowed(source: Source, delimiter: str, names: Sequence[str], table) -> None:
    """Warn about the first cell with whole lines that have as many values as there are names."""
    import pyarrow as pa
    from pyarrow import compute

    for name, field in zip(names, table.schema, strict=True):
        if not pa.types.is_string(field.type):
            continue
        column = table.column(field.name)
        cells = column.filter(compute.match_substring(column, "\n"))
        for cell in cells.to_pylist():
            if _n_rows_in(cell, delimiter, len(names)):
                _warn(source, delimiter, len(names), name)
                return


def _n_rows_in(cell: str, delimiter: str, width: int) -> int:
    """Return how many whole lines of a cell look like rows of the table."""
    whole = cell.split("\n")[1:-1]
    n_rows = sum(line.count(delimiter) == width - 1 for line in whole)
    return n_rows if width > 1 and n_rows >= _LEAST_LINES.get(width, 1) else 0


def _warn(source: Source, delimiter: str, width: int, name: str) -> None:
    """Find the lines of the file, and name them in a warning."""
    with source.open() as file, io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        found = (
            (begins, ends, max(_n_rows_in(cell, delimiter, width) for cell in record))
            for begins, record, ends in islice(numbered_records(text, delimiter), 1, None)
            if record
        )
        begins, ends, n_rows = next((each for each in found if each[2]), (None, None, 0))
    if begins is None:  # pyarrow has read the quotes in another way
        return
    one = n_rows == 1
    rows = "a line that looks like a row" if one else f"{n_rows:,} lines that look like rows"
    warn_user(
        f"The row in line {begins} of {source.name} has a value of {name!r} in quotes that are "
        f"closed in line {ends}. It holds {rows}. If it should not, close the quotes earlier."
    )
