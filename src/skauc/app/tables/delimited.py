"""Tables of delimited text: csv and tsv, through pyarrow.

pyarrow is strict about ragged lines, where pandas fills short ones in silence, and infers the
types of columns from the block it has read: with the whole file as one block, from all rows.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from skauc.app.tables.sources import Source
from skauc.exceptions import InvalidDataError

# What stands for no value, besides what pyarrow takes for it.
_MISSING = ["", "#N/A", "#NA", "-NaN", "-nan", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a"]
_MISSING += ["nan", "null", "?"]
_LARGEST_BLOCK = 1 << 30
_STREAM_BLOCK = 1 << 24
_WRONG_NUMBER = re.compile(r"In CSV column #(\d+): .*conversion error to double: .*value '(.*)'")
_DELIMITERS = {"csv": ",;\t|", "tsv": "\t"}


@dataclass(frozen=True)
class _Header:
    """What stands between names, and the names; one without is called by its place."""

    delimiter: str
    written: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        return [name or f"column {place}" for place, name in enumerate(self.written, 1)]

    def conversion(self, types: dict[str, str]):
        """Return how values become those of the given types."""
        from pyarrow import csv as arrow_csv

        known = zip(self.written, self.names, strict=True)
        return arrow_csv.ConvertOptions(
            column_types={written: types[name] for written, name in known if name in types},
            null_values=_MISSING,
            strings_can_be_null=True,
        )

    def options(self, block: int, types: dict[str, str]) -> dict:
        """Return pyarrow's options to read such a file."""
        from pyarrow import csv as arrow_csv

        return {
            "read_options": arrow_csv.ReadOptions(block_size=block),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=True
            ),
            "convert_options": self.conversion(types),
        }


def read_delimited(source: Source, text_columns: set[str]):
    """Return the whole table."""
    header = _read_header(source)
    with source.open() as file:
        content = file.read()
    block = min(len(content) + 1, _LARGEST_BLOCK)
    options = header.options(block, dict.fromkeys(text_columns, "string"))
    table = _guarded(source, lambda: _read(io.BytesIO(content), options))
    return table.rename_columns(header.names)


def iterate_delimited(source: Source, text_columns: set[str], numeric: set[str]) -> Iterator:
    """Yield batches; the types are those of the first block, with whole numbers as floats."""
    header = _read_header(source)
    types = _guarded(source, lambda: _first_types(source, header))
    types |= dict.fromkeys(text_columns, "string") | dict.fromkeys(numeric, "double")
    options = header.options(_STREAM_BLOCK, types)
    with source.open() as file:
        batches = _guarded(source, lambda: _open(file, options))
        while (batch := _guarded(source, lambda: next(batches, None))) is not None:
            yield batch.rename_columns(header.names)


def _read(file, options: dict):
    from pyarrow import csv as arrow_csv

    table = arrow_csv.read_csv(file, **options)
    _check_types(table.schema)
    return table


def _open(file, options: dict):
    from pyarrow import csv as arrow_csv

    reader = arrow_csv.open_csv(file, **options)
    _check_types(reader.schema)
    return iter(reader)


def _first_types(source: Source, header: _Header) -> dict[str, str]:
    from pyarrow import csv as arrow_csv

    with source.open() as file:
        schema = arrow_csv.open_csv(file, **header.options(_STREAM_BLOCK, {})).schema
    words = {"int64": "double", "null": "string"}
    return {
        name: words.get(str(field.type), str(field.type))
        for name, field in zip(header.names, schema, strict=True)
    }


def _check_types(schema) -> None:
    """Raise an error for bytes, which is how pyarrow takes text that is not UTF-8."""
    if any(str(field.type) == "binary" for field in schema):
        raise ValueError("invalid UTF8 data")


def _read_header(source: Source) -> _Header:
    """Return the names of the columns, or say what is wrong with them."""
    try:
        with source.open() as file:
            lines = (line.decode("utf-8-sig") for line in file if line.strip())
            first = next(lines, "")
            delimiter = max(_DELIMITERS[source.format], key=first.count)
            # A name may go on in the next line.
            names = next(csv.reader(chain([first], lines), delimiter=delimiter))
    except UnicodeDecodeError as error:
        raise _not_utf8(source, 1) from error
    except csv.Error as error:
        raise InvalidDataError(f"The header of {source.name} cannot be read: {error}.") from error
    if not first:
        raise InvalidDataError(f"{source.name} is empty. Pass a table with a header and rows.")
    found = _Header(delimiter, tuple(names))
    for name, written in zip(found.names, found.written, strict=True):
        if found.names.count(name) > 1 or found.written.count(written) > 1:
            called = f"called {name!r}" if written else "without a name"
            raise InvalidDataError(
                f"{source.name} has more than one column {called}. Give each its own name."
            )
    return found


def _guarded(source: Source, action):
    """Do it, and turn what pyarrow says into an error that names the line."""
    from pyarrow import ArrowInvalid

    try:
        return action()
    except (ArrowInvalid, UnicodeDecodeError, ValueError) as error:
        raise _explained(source, error) from error


def _explained(source: Source, error: Exception) -> InvalidDataError:
    if isinstance(error, InvalidDataError):
        return error
    header = _read_header(source)
    wrong = _WRONG_NUMBER.search(str(error))
    if wrong is not None:
        name, value = header.names[int(wrong[1])], wrong[2]
        return InvalidDataError(
            f"Column {name!r} held numbers when the model was fitted; got {value!r} in "
            f"{source.name}. Mend the column, or fit a model to such a table."
        )
    with source.open() as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return _not_utf8(source, number)
    with source.open() as file, io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        ragged = _ragged_line(text, header.delimiter)
    if "Empty CSV" in str(error):  # a header that no end of line follows
        return no_rows(source)
    if ragged is not None:
        number, found, expected = ragged
        return InvalidDataError(
            f"Line {number} of {source.name} has {found} values where the header has {expected} "
            "names. Mend the line, or quote values that hold the delimiter."
        )
    return InvalidDataError(
        f"{source.name} cannot be read as {source.format}: {str(error).strip()}. Mend the file."
    )


def no_rows(source: Source) -> InvalidDataError:
    """Return the error for a table of a header alone."""
    return InvalidDataError(
        f"{source.name} has a header and no rows. Pass a table with at least one row."
    )


def _ragged_line(text, delimiter: str) -> tuple[int, int, int] | None:
    """Return the number of the first line of another width, its width and the header's."""
    reader = csv.reader(text, delimiter=delimiter)
    expected = None
    try:
        for row in reader:
            if not row:
                continue
            expected = expected or len(row)
            if len(row) != expected:
                return reader.line_num, len(row), expected
    except csv.Error:
        return None
    return None


def _not_utf8(source: Source, number: int) -> InvalidDataError:
    return InvalidDataError(
        f"Line {number} of {source.name} is not UTF-8 text. Save the file as UTF-8, for instance "
        "with: iconv -f latin1 -t utf-8"
    )
