"""Tables in parquet, arff and libsvm files."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

from scipy import sparse
from sklearn.datasets import load_svmlight_file

from skauc.app.tables.sources import Source
from skauc.exceptions import InvalidDataError

LIBSVM_TARGET = "target"
# A frame of more columns than this is no table: sparse rows go straight to the estimators.
MOST_LIBSVM_FEATURES = 10_000


def read_parquet(source: Source):
    """Return the whole table as pyarrow has it."""
    with _open_parquet(source) as file:
        return file.read()


def iterate_parquet(source: Source, chunk_rows: int) -> Iterator:
    """Yield batches of pyarrow's."""
    with _open_parquet(source) as file:
        yield from file.iter_batches(chunk_rows)


@contextmanager
def _open_parquet(source: Source):
    import pyarrow
    from pyarrow import parquet

    try:
        with source.open() as file:
            yield parquet.ParquetFile(file)
    except (pyarrow.ArrowException, OSError) as error:
        raise InvalidDataError(
            f"{source.name} cannot be read as parquet: {str(error).strip()}. Write it again."
        ) from error


def read_arff(source: Source):
    """Return the whole table, dense or sparse, as a frame."""
    import arff

    with _open_arff(source) as text:
        content = text.read()
        try:
            parsed = arff.loads(content)
        except arff.BadLayout:
            return _sparse_arff(arff.loads(content, return_type=arff.LOD))
    return _arff_frame(parsed["data"], parsed["attributes"])


def _sparse_arff(parsed: dict):
    """Fill in what a sparse row leaves out: 0, or the first of the nominal values."""
    defaults = [kind[0] if isinstance(kind, list) else 0.0 for _, kind in parsed["attributes"]]
    rows = [[row.get(i, default) for i, default in enumerate(defaults)] for row in parsed["data"]]
    return _arff_frame(rows, parsed["attributes"])


def _arff_frame(rows: list, attributes: list[tuple]):
    """Return numbers as floats and the rest as objects, whatever these rows hold."""
    import pandas as pd

    frame = pd.DataFrame(rows, columns=[name for name, _ in attributes], dtype=object)
    numeric = ("NUMERIC", "REAL", "INTEGER")
    return frame.astype({name: float for name, kind in attributes if kind in numeric})


def iterate_arff(source: Source, chunk_rows: int) -> Iterator:
    """Yield frames; sparse files are read whole."""
    import arff

    is_sparse = False
    with _open_arff(source) as text:
        parsed = arff.load(text, return_type=arff.DENSE_GEN)
        rows = iter(parsed["data"])
        try:
            while chunk := list(islice(rows, chunk_rows)):
                yield _arff_frame(chunk, parsed["attributes"])
        except arff.BadLayout:
            is_sparse = True
    if is_sparse:
        frame = read_arff(source)
        yield from (frame[i : i + chunk_rows] for i in range(0, len(frame), chunk_rows))


@contextmanager
def _open_arff(source: Source):
    import arff

    try:
        with source.open() as file, io.TextIOWrapper(file, "utf-8") as text:
            yield text
    except arff.ArffException as error:
        raise InvalidDataError(
            f"{source.name} cannot be read as arff: {error}. Mend the file."
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidDataError(
            f"{source.name} is not UTF-8 text. Save the file as UTF-8."
        ) from error


def read_libsvm(source: Source, names: list[str] | None):
    """Return the whole table as a frame: columns f1, f2 and so on by index, and the target.

    Where the names of the features are known, these are the columns whatever the file has.
    """
    with source.open() as file:
        lines = file.readlines()
    X, y = _parse_libsvm(source, lines, 1)
    return _libsvm_frame(source, X, y, names)


def iterate_libsvm(source: Source, chunk_rows: int, names: list[str] | None) -> Iterator:
    """Yield frames; without names the features are those of the first rows."""
    n_before = 0
    with source.open() as file:
        while lines := list(islice(file, chunk_rows)):
            frame = _libsvm_frame(source, *_parse_libsvm(source, lines, n_before + 1), names)
            names = names or [name for name in frame.columns if name != LIBSVM_TARGET]
            n_before += len(lines)
            yield frame


def _parse_libsvm(source: Source, lines: list[bytes], first: int):
    try:
        return load_svmlight_file(io.BytesIO(b"".join(lines)), zero_based=True)
    except ValueError as error:
        number = first + _first_bad_line(lines)
        raise InvalidDataError(
            f"Line {number} of {source.name} cannot be read as libsvm: {error}. "
            "A line is a label and index:value pairs in rising order."
        ) from error


def _first_bad_line(lines: list[bytes]) -> int:
    """Return the index of the first line that cannot be read, by halving."""
    good, bad = 0, len(lines)
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            load_svmlight_file(io.BytesIO(b"".join(lines[good:middle])), zero_based=True)
            good = middle
        except ValueError:
            bad = middle
    return good


def _libsvm_frame(source: Source, X: sparse.csr_matrix, y, names: list[str] | None):
    import pandas as pd

    if X.shape[1] > MOST_LIBSVM_FEATURES:
        raise InvalidDataError(
            f"{source.name} has {X.shape[1]} features, too many for a table of columns. Load it "
            "with sklearn.datasets.load_svmlight_file: the estimators take sparse rows."
        )
    frame = pd.DataFrame(X.toarray(), columns=[f"f{i}" for i in range(X.shape[1])])
    if names is not None:
        frame = frame.reindex(columns=names, fill_value=0.0)
    elif X.shape[1] and X[:, [0]].nnz == 0:
        frame = frame.drop(columns="f0")  # indices count from 1
    frame[LIBSVM_TARGET] = y
    return frame
