"""The records of a csv file with the lines that they stand in, to name these in messages."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

# Characters of a value: the csv module refuses more than 131,072 of them otherwise.
_LONGEST_VALUE = 1 << 30


def numbered_records(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str], int]]:
    """Yield the line where each record begins, its values, and the line where it ends."""
    limit = csv.field_size_limit(_LONGEST_VALUE)
    try:
        reader, begins = csv.reader(lines, delimiter=delimiter), 1
        for record in reader:
            yield begins, record, reader.line_num
            begins = reader.line_num + 1
    finally:
        csv.field_size_limit(limit)
