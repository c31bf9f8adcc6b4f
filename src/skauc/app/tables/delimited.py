"""Tables of delimited text, csv and tsv, read by pyarrow.

pyarrow refuses ragged lines, where pandas fills short lines in silence. It infers the types of
columns from the first block that it reads: if the whole file is one block, from all rows.
"""

from __future__ import annotations

import csv
import io
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, dropwhile, islice

from skauc.app.tables.codes import may_be_hexadecimal, with_codes_as_text
from skauc.app.tables.records import numbered_records
from skauc.app.tables.sources import Source
from skauc.app.tables.swallowed import warn_if_rows_are_swallowed
from skauc.app.tables.verbatim import Piece, parsed_or_text
from skauc.exceptions import InvalidDataError
from skauc.preprocessing.names import check_column_name

# Text that stands for a missing value.
_MISSING = ["", "#N/A", "#NA", "-NaN", "-nan", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a"]
_MISSING += ["nan", "null", "?"]
_LARGEST_BLOCK = 1 << 30
_STREAM_BLOCK = 1 << 24
_WRONG_TYPE = re.compile(r"In CSV column #(\d+): .*conversion error to (\S+): .*value '(.*)'")
# A quoted name at the beginning of a line or after a delimiter.
_QUOTED = re.compile(r'(^|[,;\t|])"(?:[^"]|"")*"', re.MULTILINE)
# The names of a header may have line breaks. The delimiter is found in so many lines.
_MOST_HEADER_LINES = 100
_DELIMITERS = {"csv": ",;\t|", "tsv": "\t"}


@dataclass(frozen=True)
class _Header:
    """The delimiter and the names as they are written; a missing name is "column 3", say."""

    delimiter: str
    written: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        return [name or f"column {place}" for place, name in enumerate(self.written, 1)]

    def options(self, block: int, types: Mapping[str, str]) -> dict:
        """Return pyarrow's options to read such a file with columns of the given types."""
        from pyarrow import csv as arrow_csv

        known = zip(self.written, self.names, strict=True)
        return {
            "read_options": arrow_csv.ReadOptions(block_size=block),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=True
            ),
            "convert_options": arrow_csv.ConvertOptions(
                column_types={written: types[name] for written, name in known if name in types},
                null_values=_MISSING,
                strings_can_be_null=False,
            ),
        }


class _WrongTypeError(Exception):
    """A value that does not have the type of its column."""

    def __init__(self, column: str):
        super().__init__(column)
        self.column = column


def read_delimited(source: Source, text_columns: Collection[str]):
    """Return the whole table."""
    header = _read_header(source)
    with source.open() as file:
        content = file.read()
    block = min(len(content) + 1, _LARGEST_BLOCK)

    def read(names: Collection[str]):
        types = dict.fromkeys(names, "string")
        table = _guarded(source, lambda: _read_whole(io.BytesIO(content), header, block, types))
        return table.rename_columns(header.names)

    table = with_codes_as_text(read(text_columns), may_be_hexadecimal(content), read)
    warn_if_rows_are_swallowed(source, header.delimiter, header.names, table)
    return _without_missing_words(table)


def iterate_delimited(
    source: Source,
    text_columns: Collection[str],
    numeric: Collection[str],
    verbatim: Collection[str],
) -> Iterator[Piece]:
    """Yield pieces. The types are those of the first block, with integers as floats.

    A column in which a later value does not have its type is text from there on.
    """
    header = _read_header(source)
    for name in verbatim:
        check_column_name(name, header.names)
    types = _guarded(source, lambda: _first_types(source, header))
    types |= dict.fromkeys(text_columns, "string") | dict.fromkeys(numeric, "double")
    n_done = 0
    while True:
        try:
            for piece in _pieces(source, header, types, verbatim, n_done):
                n_done += piece.table.num_rows
                yield piece
            return
        except _WrongTypeError as error:
            types[error.column] = "string"


def _pieces(
    source: Source, header: _Header, types: dict[str, str], verbatim: Collection[str], n_done: int
) -> Iterator[Piece]:
    """Yield the pieces after the first rows, which are done.

    Verbatim columns are read as text, and parsed for the table.
    """
    read_as = types | dict.fromkeys(verbatim, "string")
    options = header.options(_STREAM_BLOCK, read_as)
    with source.open() as file:
        batches = _guarded(source, lambda: _open(file, options), header)
        while (batch := _guarded(source, lambda: next(batches, None), header)) is not None:
            batch = batch.rename_columns(header.names)
            warn_if_rows_are_swallowed(source, header.delimiter, header.names, batch)
            skipped = min(n_done, batch.num_rows)
            n_done -= skipped
            if skipped < batch.num_rows:
                yield _piece(batch.slice(skipped), types, verbatim)


def _piece(batch, types: Mapping[str, str], verbatim: Collection[str]) -> Piece:
    import pyarrow as pa

    table = pa.Table.from_batches([batch])
    text = table.select(list(verbatim))
    table = _without_missing_words(table)
    for name in verbatim:
        parsed = parsed_or_text(table.column(name), types.get(name, "string"))
        table = table.set_column(table.schema.get_field_index(name), name, parsed)
    return Piece(table, text)


def _without_missing_words(table):
    """Make words for a missing value missing in columns of text.

    pyarrow could do so while reading, but then for verbatim columns as well.
    """
    import pyarrow as pa
    from pyarrow import compute

    words = pa.array(_MISSING)
    for number, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            column = table.column(number)
            is_word = compute.is_in(column, value_set=words)
            if compute.any(is_word).as_py():
                kept = compute.if_else(is_word, pa.scalar(None, field.type), column)
                table = table.set_column(number, field.name, kept)
    return table


def _read_whole(file, header: _Header, block: int, types: Mapping[str, str]):
    from pyarrow import csv as arrow_csv

    table = arrow_csv.read_csv(file, **header.options(block, types))
    _check_types(table.schema)
    return table


def _open(file, options: dict):
    from pyarrow import csv as arrow_csv

    reader = arrow_csv.open_csv(file, **options)
    _check_types(reader.schema)
    return iter(reader)


def _first_types(source: Source, header: _Header) -> dict[str, str]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    def read(names: Collection[str]):
        options = header.options(_STREAM_BLOCK, dict.fromkeys(names, "string"))
        with source.open() as file:
            reader = arrow_csv.open_csv(file, **options)
            first = next(iter(reader), None)
        table = reader.schema.empty_table() if first is None else pa.Table.from_batches([first])
        return table.rename_columns(header.names)

    with source.open() as file:
        has_hexadecimal = may_be_hexadecimal(file.read(_STREAM_BLOCK))
    schema = with_codes_as_text(read(()), has_hexadecimal, read).schema
    words = {"int64": "double", "null": "string"}
    return {field.name: words.get(str(field.type), str(field.type)) for field in schema}


def _check_types(schema) -> None:
    """Raise an error for bytes, which is what pyarrow makes of text that is not UTF-8."""
    if any(str(field.type) == "binary" for field in schema):
        raise ValueError("invalid UTF8 data")


def _read_header(source: Source) -> _Header:
    """Return the names of the columns, or raise an error that says what is wrong with them."""
    try:
        with source.open() as file:
            lines = dropwhile(lambda line: not line.strip(), file)
            first = list(islice(lines, _MOST_HEADER_LINES))
            delimiter = _find_delimiter(b"".join(first), _DELIMITERS[source.format])
            # A quoted name may continue in the next line.
            decoded = (line.decode("utf-8-sig") for line in chain(first, lines))
            names = next(csv.reader(decoded, delimiter=delimiter), [])
    except UnicodeDecodeError as error:
        raise _not_utf8(source, 1) from error
    except csv.Error as error:
        if first and b"\r" in first[0].removesuffix(b"\r\n"):
            raise InvalidDataError(
                f"The lines of {source.name} end in carriage returns alone, as on old Macs. Save "
                r"it with line feeds, for instance with: tr '\r' '\n'"
            ) from error
        raise InvalidDataError(f"The header of {source.name} cannot be read: {error}.") from error
    if not first:
        raise InvalidDataError(f"{source.name} is empty. Pass a table with a header and rows.")
    found = _Header(delimiter, tuple(names))
    for name, written in zip(found.names, found.written, strict=True):
        if found.names.count(name) > 1 or found.written.count(written) > 1:
            called = f"called {name!r}" if written else "without a name"
            raise InvalidDataError(
                f"{source.name} has more than one column {called}. Rename one of them."
            )
    return found


def _find_delimiter(beginning: bytes, delimiters: str) -> str:
    """Return the most frequent delimiter in the header, apart from those in quoted names."""
    unquoted = _QUOTED.sub(r"\1", beginning.decode("utf-8-sig", "replace"))
    return max(delimiters, key=unquoted.split("\n")[0].count)


def _guarded(source: Source, action, header: _Header | None = None):
    """Call the action, and raise an error that names the line for what pyarrow says.

    With a header, a value of the wrong type raises `_WrongTypeError`.
    """
    from pyarrow import ArrowInvalid

    try:
        return action()
    except (ArrowInvalid, UnicodeDecodeError, ValueError) as error:
        wrong = _WRONG_TYPE.search(str(error))
        if header is not None and wrong is not None and wrong[2] != "string":
            raise _WrongTypeError(header.names[int(wrong[1])]) from error
        raise _explained(source, error) from error


def _explained(source: Source, error: Exception) -> InvalidDataError:
    if isinstance(error, InvalidDataError):
        return error
    header = _read_header(source)
    with source.open() as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return _not_utf8(source, number)
    with source.open() as file, io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        ragged = _ragged_record(text, header.delimiter)
    if "Empty CSV" in str(error):  # a header without an end of line
        return no_rows(source)
    if ragged is not None:
        number, found, expected = ragged
        if found is None:
            return InvalidDataError(
                f"Line {number} of {source.name} opens a quote that is not closed. Close it, or "
                "remove it."
            )
        return InvalidDataError(
            f"Line {number} of {source.name} has {found} values where the header has {expected} "
            "names. Correct the line, or quote values that contain the delimiter."
        )
    return InvalidDataError(
        f"{source.name} cannot be read as {source.format}: {str(error).strip().rstrip('.')}. "
        "Correct the file."
    )


def no_rows(source: Source) -> InvalidDataError:
    """Return the error for a table with a header only."""
    return InvalidDataError(
        f"{source.name} has a header and no rows. Pass a table with at least one row."
    )


def _ragged_record(text, delimiter: str) -> tuple[int, int | None, int] | None:
    """Return the line where the first record of another width begins, its width and the header's.

    The width is None if a quote is open at the end of the file.
    """
    # A blank line is a record of its own, unless a quote is open.
    records, expected = numbered_records(chain(text, ["\n"]), delimiter), None
    try:
        for begins, record, _ in records:
            expected = expected or len(record)
            if record and len(record) != expected:
                is_open = next(records, None) is None
                return begins, None if is_open else len(record), expected
    except csv.Error:
        return None
    return None


def _not_utf8(source: Source, number: int) -> InvalidDataError:
    with source.open() as file:
        is_utf16 = file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE)
    return InvalidDataError(
        f"Line {number} of {source.name} is not UTF-8 text. Save the file as UTF-8, for instance "
        f"with: iconv -f {'utf-16' if is_utf16 else 'latin1'} -t utf-8"
    )
