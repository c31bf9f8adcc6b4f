"""Open a file or standard input, compressed or not, and find its format."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from skauc.exceptions import InvalidDataError, MissingPackageError
from skauc.validation import check_choice

STANDARD_INPUT = "-"
_GZIP_MAGIC = b"\x1f\x8b"
_PARQUET_MAGIC = b"PAR1"
_ZIP_MAGIC = b"PK\x03\x04"
_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".svm": "libsvm",
}
FORMATS = tuple(dict.fromkeys(_FORMATS.values()))


@dataclass(frozen=True)
class Source:
    """A table that can be opened any number of times.

    Attributes
    ----------
    name : str
        The name in error messages.
    format : str
        One of `FORMATS`.
    reopen : callable
        Returns a binary file at its beginning.
    """

    name: str
    format: str
    reopen: Callable[[], BinaryIO]

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the table. An archive that is damaged raises an error that says so."""
        try:
            with self.reopen() as file:
                yield file
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InvalidDataError(
                f"{self.name} is not a complete gzip file: {error}. Compress it again."
            ) from error


def find_source(path, format: str | None) -> Source:
    """Return the source at a path, or standard input for "-"."""
    if format is not None:
        check_choice("format", format, FORMATS)
    if str(path) == STANDARD_INPUT:
        return _standard_input(format)
    path = Path(path)
    beginning = _beginning_of(path)
    if format is None:
        format = _format_of(path)
    if format != "parquet":
        _check_is_text(path, format, beginning)
    if beginning.startswith(_GZIP_MAGIC):
        return Source(str(path), format, lambda: _unzipped(path))
    return Source(str(path), format, lambda: open(path, "rb"))


def _standard_input(format: str | None) -> Source:
    content = sys.stdin.buffer.read()
    if not content:
        raise InvalidDataError("Standard input is empty. Pipe a table into it.")
    if format is None:
        format = "parquet" if content.startswith(_PARQUET_MAGIC) else "csv"
    if content.startswith(_GZIP_MAGIC):
        return Source("standard input", format, lambda: _unzipped(io.BytesIO(content)))
    return Source("standard input", format, lambda: io.BytesIO(content))


def _unzipped(file) -> BinaryIO:
    return cast(BinaryIO, gzip.open(file, "rb"))


def _beginning_of(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            beginning = file.read(4)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"There is no file {path}. Check the name.") from error
    except IsADirectoryError as error:
        raise InvalidDataError(f"{path} is a folder. Pass a file.") from error
    except OSError as error:
        raise InvalidDataError(
            f"{path} cannot be read: {error.strerror}. Check its permissions."
        ) from error
    if not beginning:
        raise InvalidDataError(f"{path} is empty. Pass a table with a header and rows.")
    return beginning


def _check_is_text(path: Path, format: str, beginning: bytes) -> None:
    """Raise an error for files that programs write under the names of others."""
    if beginning.startswith(_PARQUET_MAGIC):
        raise InvalidDataError(
            f"{path} is a parquet file, and no {format} file. Set `format` to parquet."
        )
    if beginning.startswith(_ZIP_MAGIC):
        raise InvalidDataError(
            f"{path} is a spreadsheet or a zip archive, and no {format} file. Save the table as "
            "csv."
        )


def _format_of(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    suffix = Path(name).suffix
    if suffix not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise InvalidDataError(
            f"The format of {path} does not follow from its name. Names end in {known}, with or "
            f"without .gz. Otherwise, set `format` to one of {', '.join(FORMATS)}."
        )
    return _FORMATS[suffix]


def missing_package(error: ImportError) -> MissingPackageError:
    """Return the error that says how to install a package that reads tables."""
    return MissingPackageError(
        f"Reading tables needs the package {error.name}, which is not installed. "
        "Install it with: pip install 'skauc[tables]'"
    )
