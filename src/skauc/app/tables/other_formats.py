"""Tables in parquet, arff and libsvm files."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import islice

from scipy import sparse
from sklearn.datasets import load_svmlight_file

from skauc.app.tables.sources import Source
from skauc.app.tables.verbatim import Piece, as_text
from skauc.exceptions import InvalidDataError
from skauc.preprocessing.names import check_column_name

LIBSVM_TARGET = "target"
# Wider data is for the estimators, which take sparse matrices.
MOST_LIBSVM_FEATURES = 10_000
_ARFF_NUMBERS = ("NUMERIC", "REAL", "INTEGER")
_ARFF_ATTRIBUTE = re.compile(
    r"""(\s*@attribute\s+)("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s]+)\s+(\w+)\b""",
    re.IGNORECASE,
)


def read_parquet(source: Source):
    """Return the whole table as a table of pyarrow's."""
    with _open_parquet(source) as file:
        return file.read()


def iterate_parquet(source: Source, chunk_rows: int, verbatim: Collection[str]) -> Iterator[Piece]:
    """Yield pieces of the table."""
    import pyarrow as pa

    with _open_parquet(source) as file:
        for name in verbatim:
            check_column_name(name, file.schema_arrow.names)
        for batch in file.iter_batches(chunk_rows):
            table = pa.Table.from_batches([batch])
            yield Piece(table, as_text(table, verbatim))


@contextmanager
def _open_parquet(source: Source):
    import pyarrow
    from pyarrow import parquet

    try:
        with source.open() as file:
            yield parquet.ParquetFile(file)
    except (pyarrow.ArrowException, OSError) as error:
        raise InvalidDataError(
            f"{source.name} cannot be read as parquet: {str(error).strip().rstrip('.')}. "
            "Write it again."
        ) from error


def read_arff(source: Source):
    """Return the whole table, dense or sparse, as a frame."""
    with _open_arff(source) as text:
        _, lines = _declared_as_text(text, ())
        return _arff_frame(*_parse_arff("".join(lines)))


def _parse_arff(content) -> tuple[list, list[tuple]]:
    """Return the rows and the attributes.

    A sparse row leaves out values that are 0 or the first of the nominal values.
    """
    import arff

    try:
        parsed = arff.loads(content)
        return parsed["data"], parsed["attributes"]
    except arff.BadLayout:
        parsed = arff.loads(content, return_type=arff.LOD)
    attributes = parsed["attributes"]
    defaults = [kind[0] if isinstance(kind, list) else 0.0 for _, kind in attributes]
    rows = [[row.get(i, default) for i, default in enumerate(defaults)] for row in parsed["data"]]
    return rows, attributes


def _arff_frame(rows: list, attributes: list[tuple]):
    """Return numbers as floats, nominal values as categories and the rest as objects."""
    import pandas as pd

    frame = pd.DataFrame(rows, columns=[name for name, _ in attributes], dtype=object)
    types: dict = {name: float for name, kind in attributes if kind in _ARFF_NUMBERS}
    for name, kind in attributes:
        if isinstance(kind, list):
            types[name] = pd.CategoricalDtype(list(dict.fromkeys(kind)))
    return frame.astype(types)


def iterate_arff(source: Source, chunk_rows: int, verbatim: Collection[str]) -> Iterator[tuple]:
    """Yield frames, and the verbatim columns as text. Sparse files are read whole.

    liac-arff turns numbers into floats. Verbatim columns are declared as strings before it reads
    them, and become numbers afterwards.
    """
    import arff

    is_sparse = False
    with _open_arff(source) as text:
        numeric, lines = _declared_as_text(text, verbatim)
        parsed = arff.load(lines, return_type=arff.DENSE_GEN)
        for name in verbatim:
            check_column_name(name, [attribute for attribute, _ in parsed["attributes"]])
        rows = iter(parsed["data"])
        try:
            while chunk := list(islice(rows, chunk_rows)):
                yield _arff_piece(chunk, parsed["attributes"], numeric, verbatim)
        except arff.BadLayout:
            is_sparse = True
    if is_sparse:
        with _open_arff(source) as text:
            numeric, lines = _declared_as_text(text, verbatim)
            rows, attributes = _parse_arff("".join(lines))
        for start in range(0, len(rows), chunk_rows):
            chunk = rows[start : start + chunk_rows]
            yield _arff_piece(chunk, attributes, numeric, verbatim)


def _declared_as_text(text, verbatim: Collection[str]) -> tuple[set[str], Iterator[str]]:
    """Return the numeric columns among the verbatim ones, and the lines with them as strings.

    Dates, which liac-arff does not know, are strings as well.
    """
    numeric: set[str] = set()
    head = []
    for line in text:
        match = _ARFF_ATTRIBUTE.match(line)
        kind = "" if match is None else match[3].upper()
        if match is not None and kind in (*_ARFF_NUMBERS, "DATE"):
            name = re.sub(r"\\(.)", r"\1", match[2].strip("'\""))
            if kind != "DATE" and name in verbatim:
                numeric.add(name)
            if kind == "DATE" or name in verbatim:
                line = f"{match[1]}{match[2]} STRING\n"
        head.append(line)
        if line.strip().lower() == "@data":
            break

    def lines() -> Iterator[str]:
        yield from head
        yield from text

    return numeric, lines()


def _arff_piece(
    rows: list, attributes: list[tuple], numeric: set[str], verbatim: Collection[str]
) -> tuple:
    frame = _arff_frame(rows, attributes)
    written = frame[list(verbatim)].astype(object)
    text = written.where(written.notna(), "").map(_arff_text)
    return frame.astype(dict.fromkeys(numeric, float)), text


def _arff_text(value) -> str:
    """Return a value as it stands; what a sparse row leaves out is 0."""
    return "0" if isinstance(value, float) and value == 0 else str(value)


@contextmanager
def _open_arff(source: Source):
    import arff

    try:
        with source.open() as file, io.TextIOWrapper(file, "utf-8") as text:
            yield text
    except arff.ArffException as error:
        raise InvalidDataError(
            f"{source.name} cannot be read as arff: {str(error).rstrip('.')}. Correct the file."
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidDataError(
            f"{source.name} is not UTF-8 text. Save the file as UTF-8."
        ) from error


def read_libsvm(source: Source, names: list[str] | None):
    """Return the whole table as a frame: columns f1, f2 and so on by index, and the target.

    If the names of the features are known, the frame has these columns whatever is in the file.
    """
    with source.open() as file:
        lines = file.readlines()
    X, y = _parse_libsvm(source, lines, 1)
    return _libsvm_frame(source, X, y, names)


def iterate_libsvm(
    source: Source, chunk_rows: int, names: list[str] | None, verbatim: Collection[str]
) -> Iterator[tuple]:
    """Yield frames, and the verbatim columns as text.

    Without names, the features are those of the first rows. Values that are 0 are not in the
    file, so that the text of a value is that of its number.
    """
    n_before = 0
    with source.open() as file:
        while lines := list(islice(file, chunk_rows)):
            X, y = _parse_libsvm(source, lines, n_before + 1)
            frame = _libsvm_frame(source, X, y, names)
            for name in verbatim:
                check_column_name(name, list(frame.columns))
            names = names or [name for name in frame.columns if name != LIBSVM_TARGET]
            n_before += len(lines)
            yield frame, frame[list(verbatim)].map(lambda value: f"{value:.17g}")


def _parse_libsvm(source: Source, lines: list[bytes], first: int) -> tuple:
    try:
        return load_svmlight_file(io.BytesIO(b"".join(lines)), zero_based=True)
    except (ValueError, OverflowError) as error:
        number = first + _first_bad_line(lines)
        raise InvalidDataError(
            f"Line {number} of {source.name} cannot be read as libsvm: {str(error).rstrip('.')}. "
            "A line is a label and index:value pairs in rising order."
        ) from error


def _first_bad_line(lines: list[bytes]) -> int:
    """Return the index of the first line that cannot be read, by bisection."""
    good, bad = 0, len(lines)
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            load_svmlight_file(io.BytesIO(b"".join(lines[good:middle])), zero_based=True)
            good = middle
        except (ValueError, OverflowError):
            bad = middle
    return good


def _libsvm_frame(source: Source, X: sparse.csr_matrix, y, names: list[str] | None):
    import pandas as pd

    if X.shape[1] > MOST_LIBSVM_FEATURES:
        raise InvalidDataError(
            f"{source.name} has {X.shape[1]} features, too many for a table of columns. Load it "
            "with sklearn.datasets.load_svmlight_file: the estimators take sparse matrices."
        )
    frame = pd.DataFrame(X.toarray(), columns=[f"f{i}" for i in range(X.shape[1])])
    if names is not None:
        frame = frame.reindex(columns=names, fill_value=0.0)
    elif X.shape[1] and X[:, [0]].nnz == 0:
        frame = frame.drop(columns="f0")  # indices count from 1
    frame[LIBSVM_TARGET] = y
    return frame
