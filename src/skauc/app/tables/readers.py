"""Tables from files: csv, tsv, parquet, arff and libsvm, each also gzipped, or standard input."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from skauc.app.tables.delimited import iterate_delimited, no_rows, read_delimited
from skauc.app.tables.other_formats import (
    LIBSVM_TARGET,
    iterate_arff,
    iterate_libsvm,
    iterate_parquet,
    read_arff,
    read_libsvm,
    read_parquet,
)
from skauc.app.tables.sources import Source, find_source, missing_package
from skauc.app.tables.verbatim import Piece
from skauc.validation import check_integer


def read_table(path, *, format: str | None = None, kinds: Mapping[str, str] | None = None):
    r"""Read a table into a pandas frame.

    Parameters
    ----------
    path : str or path-like
        The file, or "-" for standard input. The format follows from the name: .csv, .tsv,
        .parquet, .arff or .libsvm, with or without .gz.
    format : {"csv", "tsv", "parquet", "arff", "libsvm"}, default=None
        The format, if it does not follow from the name. Standard input is csv or parquet unless
        a format is given.
    kinds : mapping of str to str, default=None
        Kinds of columns that are known already, such as ``columns_`` of a fitted
        `TablePreprocessor`. Columns of text, categories and dates are read as text even if every
        value in this file looks like a number. A libsvm file has these columns.

    Returns
    -------
    frame : pandas.DataFrame
        One row per line. Empty values, NA, NaN, null, None and ? in text formats are missing.
        Hexadecimal codes, and integers of 19 digits or more that do not fit in 64 bits, are text.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from skauc.app.tables import read_table
    >>> path = Path(mkdtemp()) / "people.csv"
    >>> _ = path.write_text("age,town\n31,Oslo\n,Bern\n")
    >>> read_table(path)["age"].tolist()
    [31.0, nan]
    """
    source = find_source(path, format)
    try:
        frame = _read(source, kinds or {})
    except ModuleNotFoundError as error:
        raise missing_package(error) from error
    if len(frame) == 0:
        raise no_rows(source)
    return frame


def iterate_table(
    path,
    chunk_rows: int = 100_000,
    *,
    format: str | None = None,
    kinds: Mapping[str, str] | None = None,
) -> Iterator:
    """Read a table piece by piece, for tables larger than memory.

    Without ``kinds``, the types of the columns of a csv or tsv file are those of its first 16 MB.
    A column in which a later value does not have its type is text from there on.

    Parameters
    ----------
    path : str or path-like
        As in `read_table`. Standard input is held in memory.
    chunk_rows : int, default=100_000
        Number of rows per piece.
    format : {"csv", "tsv", "parquet", "arff", "libsvm"}, default=None
        As in `read_table`.
    kinds : mapping of str to str, default=None
        As in `read_table`.

    Yields
    ------
    frame : pandas.DataFrame
        The next rows; at most ``chunk_rows``. The index has the numbers of the rows in the whole
        table, counted from 0.
    """
    for frame, _ in iterate_with_text(path, (), chunk_rows, format=format, kinds=kinds):
        yield frame


def iterate_with_text(
    path,
    verbatim: Collection[str],
    chunk_rows: int = 100_000,
    *,
    format: str | None = None,
    kinds: Mapping[str, str] | None = None,
) -> Iterator[tuple]:
    r"""Read a table piece by piece, with some columns exactly as they stand in the file.

    Parameters
    ----------
    path : str or path-like
        As in `read_table`. Standard input is held in memory.
    verbatim : collection of str
        Columns to return as text as well. 001 stays 001.
    chunk_rows : int, default=100_000
        Number of rows per piece.
    format : {"csv", "tsv", "parquet", "arff", "libsvm"}, default=None
        As in `read_table`.
    kinds : mapping of str to str, default=None
        As in `read_table`.

    Yields
    ------
    frame : pandas.DataFrame
        The next rows as `iterate_table` yields them, the verbatim columns included.
    text : pandas.DataFrame
        The verbatim columns of these rows as strings. In text formats these are the characters
        in the file without quotes. A missing value of parquet or arff is "".

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from skauc.app.tables import iterate_with_text
    >>> path = Path(mkdtemp()) / "people.csv"
    >>> _ = path.write_text("id,age\n001,31\n002,54\n")
    >>> frame, text = next(iterate_with_text(path, ["id"]))
    >>> text["id"].tolist(), frame["id"].tolist()
    (['001', '002'], [1.0, 2.0])
    """
    check_integer("chunk_rows", chunk_rows, 1, "100000 rows are usual.")
    source = find_source(path, format)
    verbatim = list(dict.fromkeys(verbatim))
    n_rows = 0
    try:
        for frame, text in _pieces(source, verbatim, chunk_rows, kinds or {}):
            for piece in (frame, text):
                piece.index += n_rows
            n_rows += len(frame)
            yield frame, text
    except ModuleNotFoundError as error:
        raise missing_package(error) from error
    if n_rows == 0:
        raise no_rows(source)


def _read(source: Source, kinds: Mapping[str, str]):
    if source.format in ("csv", "tsv"):
        return _as_frame(read_delimited(source, _text_columns(kinds)))
    if source.format == "parquet":
        return _as_frame(read_parquet(source))
    if source.format == "arff":
        return read_arff(source)
    return read_libsvm(source, _feature_names(kinds))


def _pieces(
    source: Source, verbatim: list[str], chunk_rows: int, kinds: Mapping[str, str]
) -> Iterator[tuple]:
    if source.format in ("csv", "tsv"):
        numeric = {name for name, kind in kinds.items() if kind == "numeric"}
        pieces = iterate_delimited(source, _text_columns(kinds), numeric, verbatim)
        return map(_as_frames, _regrouped(pieces, chunk_rows))
    if source.format == "parquet":
        pieces = iterate_parquet(source, chunk_rows, verbatim)
        return map(_as_frames, _regrouped(pieces, chunk_rows))
    if source.format == "arff":
        return iterate_arff(source, chunk_rows, verbatim)
    return iterate_libsvm(source, chunk_rows, _feature_names(kinds), verbatim)


def _text_columns(kinds: Mapping[str, str]) -> set[str]:
    return {name for name, kind in kinds.items() if kind in ("category", "text", "date")}


def _feature_names(kinds: Mapping[str, str]) -> list[str] | None:
    return [name for name in kinds if name != LIBSVM_TARGET] or None


def _regrouped(pieces: Iterator[Piece], chunk_rows: int) -> Iterator[Piece]:
    """Yield pieces of as many rows, except before a change of types and at the end."""
    import pyarrow as pa

    waiting = None
    for piece in pieces:
        if waiting is None:
            waiting = piece
        elif waiting.table.schema.equals(piece.table.schema):
            joined = zip(waiting, piece, strict=True)
            waiting = Piece(*(pa.concat_tables(tables) for tables in joined))
        else:
            yield waiting
            waiting = piece
        while waiting.table.num_rows >= chunk_rows:
            yield Piece(*(table.slice(0, chunk_rows) for table in waiting))
            waiting = Piece(*(table.slice(chunk_rows) for table in waiting))
        if waiting.table.num_rows == 0:
            waiting = None
    if waiting is not None:
        yield waiting


def _as_frames(piece: Piece) -> tuple:
    return _as_frame(piece.table), piece.text.to_pandas()


def _as_frame(table):
    """Return a pandas frame with numbered rows. Times of the day become text."""
    import pyarrow as pa

    for number, field in enumerate(table.schema):
        if pa.types.is_time(field.type):
            text = table.column(number).cast(pa.string())
            table = table.set_column(number, field.name, text)
    frame = table.to_pandas(date_as_object=False)
    frame.index = range(len(frame))  # parquet files may hold another index
    return frame
