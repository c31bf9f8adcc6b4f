"""Tables of delimited text: csv and tsv, through pyarrow.

pyarrow is strict about ragged lines, where pandas fills short ones in silence, and infers the
types of columns from the block it has read: with the whole file as one block, from all rows.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from skauc.datasets._sources import Source
from skauc.exceptions import InvalidDataError

# What stands for no value, besides what pyarrow takes for it.
_MISSING = ["", "#N/A", "#NA", "-NaN", "-nan", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a"]
_MISSING += ["nan", "null", "?"]
_LARGEST_BLOCK = 1 << 30
_STREAM_BLOCK = 1 << 24
_DELIMITERS = {"csv": ",;\t|", "tsv": "\t"}


def read_delimited(source: Source, text_columns: set[str]):
    """Return the whole table."""
    with source.open() as file:
        content = file.read()
    block = min(len(content) + 1, _LARGEST_BLOCK)
    options = _options(source, block)
    types = dict.fromkeys(text_columns, "string")
    return _guarded(source, lambda: _read(io.BytesIO(content), options, types))


def iterate_delimited(source: Source, text_columns: set[str], numeric: set[str]) -> Iterator:
    """Yield batches; the types are those of the first block, with whole numbers as floats."""
    options = _options(source, _STREAM_BLOCK)
    types = _guarded(source, lambda: _first_types(source, options))
    types |= dict.fromkeys(text_columns, "string") | dict.fromkeys(numeric, "double")
    with source.open() as file:
        batches = _guarded(source, lambda: _open(file, options, types))
        while (batch := _guarded(source, lambda: next(batches, None))) is not None:
            yield batch


def _read(file, options: dict, types: dict[str, str]):
    from pyarrow import csv as arrow_csv

    table = arrow_csv.read_csv(file, **options, convert_options=_conversion(types))
    _check_types(table.schema)
    return table


def _open(file, options: dict, types: dict[str, str]):
    from pyarrow import csv as arrow_csv

    reader = arrow_csv.open_csv(file, **options, convert_options=_conversion(types))
    _check_types(reader.schema)
    return iter(reader)


def _first_types(source: Source, options: dict) -> dict[str, str]:
    from pyarrow import csv as arrow_csv

    with source.open() as file:
        schema = arrow_csv.open_csv(file, **options, convert_options=_conversion({})).schema
    words = {"int64": "double", "null": "string"}
    return {field.name: words.get(str(field.type), str(field.type)) for field in schema}


def _options(source: Source, block: int) -> dict:
    from pyarrow import csv as arrow_csv

    delimiter = _check_header(source)
    return {
        "read_options": arrow_csv.ReadOptions(block_size=block),
        "parse_options": arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
    }


def _conversion(types: dict[str, str]):
    from pyarrow import csv as arrow_csv

    return arrow_csv.ConvertOptions(
        column_types=types, null_values=_MISSING, strings_can_be_null=True
    )


def _check_types(schema) -> None:
    """Raise an error for bytes, which is how pyarrow takes text that is not UTF-8."""
    if any(str(field.type) == "binary" for field in schema):
        raise ValueError("invalid UTF8 data")


def _check_header(source: Source) -> str:
    """Return the delimiter, or say what is wrong with the names of the columns."""
    with source.open() as file:
        line = next((line for line in file if line.strip()), b"")
    if not line:
        raise InvalidDataError(f"{source.name} is empty. Pass a table with a header and rows.")
    try:
        header = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(source, 1) from error
    delimiter = max(_DELIMITERS[source.format], key=header.count)
    names = next(csv.reader([header], delimiter=delimiter))
    for name in names:
        if names.count(name) > 1:
            raise InvalidDataError(
                f"{source.name} has more than one column called {name!r}. Give each its own name."
            )
    return delimiter


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
    delimiter = _check_header(source)
    with source.open() as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return _not_utf8(source, number)
    with source.open() as file, io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        ragged = _ragged_line(text, delimiter)
    if ragged is not None:
        number, found, expected = ragged
        return InvalidDataError(
            f"Line {number} of {source.name} has {found} values where the header has {expected} "
            "names. Mend the line, or quote values that hold the delimiter."
        )
    return InvalidDataError(
        f"{source.name} cannot be read as {source.format}: {str(error).strip()}. Mend the file."
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
