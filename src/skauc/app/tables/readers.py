"""Tables from files: csv, tsv, parquet, arff and libsvm, each also gzipped, or standard input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
from skauc.validation import check_whole_number


def read_table(path, *, format: str | None = None, kinds: Mapping[str, str] | None = None):
    r"""Read a table into a pandas frame.

    Parameters
    ----------
    path : str or path-like
        The file, or "-" for standard input. Its format is told by its name: .csv, .tsv, .parquet,
        .arff or .libsvm, with or without .gz.
    format : {"csv", "tsv", "parquet", "arff", "libsvm"}, default=None
        The format, where the name does not tell it. Standard input is csv unless it is parquet.
    kinds : mapping of str to str, default=None
        Kinds of columns that are known already, such as ``columns_`` of a fitted
        `TablePreprocessor`. Columns of text, categories and dates are then read as text even
        where every value in this file looks like a number, and a libsvm file has these columns.

    Returns
    -------
    frame : pandas.DataFrame
        One row a line. Empty values, NA, NaN, null, None and ? in text formats are missing ones.

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
        return _checked(source, _read(source, kinds or {}))
    except ModuleNotFoundError as error:
        raise missing_package(error) from error


def iterate_table(
    path,
    chunk_rows: int = 100_000,
    *,
    format: str | None = None,
    kinds: Mapping[str, str] | None = None,
) -> Iterator:
    """Read a table piece by piece, for tables larger than memory.

    Without ``kinds`` the types of the columns of a csv or tsv file are those of its first 16 MB.

    Parameters
    ----------
    path : str or path-like
        As in `read_table`. Standard input is held in memory.
    chunk_rows : int, default=100_000
        Rows of a piece.
    format : {"csv", "tsv", "parquet", "arff", "libsvm"}, default=None
        As in `read_table`.
    kinds : mapping of str to str, default=None
        As in `read_table`.

    Yields
    ------
    frame : pandas.DataFrame
        The next rows; at most ``chunk_rows``.
    """
    check_whole_number("chunk_rows", chunk_rows, 1, "100000 rows are usual.")
    source = find_source(path, format)
    n_rows = 0
    try:
        for frame in _pieces(source, chunk_rows, kinds or {}):
            n_rows += len(frame)
            yield frame
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


def _pieces(source: Source, chunk_rows: int, kinds: Mapping[str, str]) -> Iterator:
    if source.format in ("csv", "tsv"):
        numeric = {name for name, kind in kinds.items() if kind == "numeric"}
        batches = iterate_delimited(source, _text_columns(kinds), numeric)
        return map(_as_frame, _regrouped(batches, chunk_rows))
    if source.format == "parquet":
        return map(_as_frame, _regrouped(iterate_parquet(source, chunk_rows), chunk_rows))
    if source.format == "arff":
        return iterate_arff(source, chunk_rows)
    return iterate_libsvm(source, chunk_rows, _feature_names(kinds))


def _text_columns(kinds: Mapping[str, str]) -> set[str]:
    return {name for name, kind in kinds.items() if kind in ("category", "text", "date")}


def _feature_names(kinds: Mapping[str, str]) -> list[str] | None:
    return [name for name in kinds if name != LIBSVM_TARGET] or None


def _regrouped(batches: Iterator, chunk_rows: int) -> Iterator:
    """Yield tables of exactly that many rows, but for the last."""
    import pyarrow as pa

    waiting = None
    for batch in batches:
        table = pa.Table.from_batches([batch])
        waiting = table if waiting is None else pa.concat_tables([waiting, table])
        while waiting.num_rows >= chunk_rows:
            yield waiting.slice(0, chunk_rows)
            waiting = waiting.slice(chunk_rows)
    if waiting is not None and waiting.num_rows:
        yield waiting


def _as_frame(table):
    """Return a pandas frame; times of the day, which nothing here computes with, are text."""
    import pyarrow as pa

    for number, field in enumerate(table.schema):
        if pa.types.is_time(field.type):
            text = table.column(number).cast(pa.string())
            table = table.set_column(number, field.name, text)
    return table.to_pandas(date_as_object=False)


def _checked(source: Source, frame):
    if len(frame) == 0:
        raise no_rows(source)
    return frame
