"""Read archives as if an attacker had written them."""

from __future__ import annotations

import json
import math
import os
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, BinaryIO, NoReturn, TypeAlias, cast

import numpy as np

from skauc.archive.container import (
    ARRAY_KINDS,
    ARRAY_NAME,
    CHUNK,
    COMMENT,
    DEFAULT_LIMITS,
    DIGEST_LENGTH,
    HEADER,
    Archive,
    ArchiveError,
    ArchiveSizeError,
    Limits,
    checksum_of,
    problem_with,
)

# Records at the end of a zip file, and the part that files of 2 GiB and more have in addition.
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_END64_LOCATOR = struct.Struct("<4sLQL")
_LARGEST_DIRECTORY = 2 << 20
_LARGEST_EMPTY = 1 << 20

# A path, or a binary file that is open.
PathOrFile: TypeAlias = str | os.PathLike | BinaryIO


def read_archive(source: PathOrFile, limits: Limits = DEFAULT_LIMITS) -> Archive:
    """Read an archive that `write_archive` has written.

    Parameters
    ----------
    source : str, path-like or binary file
        A path, or a file that is open for reading and can be searched.
    limits : Limits, default=Limits()
        How much memory it may take.

    Returns
    -------
    archive : Archive
        ``header`` and ``arrays``. Arrays are writable and in native byte order.
    """
    with _opened(source) as (archive, size):
        infos = _checked_members(archive, limits, size)
        header = _read_header(archive, infos[HEADER], limits.header(size))
        names = [name for name in infos if name != HEADER]
        arrays = {name.removesuffix(".npy"): _read_array(archive, infos[name]) for name in names}
    return Archive(header, arrays)


def read_header(source: PathOrFile, limits: Limits = DEFAULT_LIMITS) -> dict[str, Any]:
    """Read the header of an archive and check the checksum of the whole file.

    Parameters
    ----------
    source : str, path-like or binary file
        A path, or a file that is open for reading and can be searched.
    limits : Limits, default=Limits()
        How much memory it may take.

    Returns
    -------
    header : dict
        The header.
    """
    with _opened(source) as (archive, size):
        infos = _checked_members(archive, limits, size)
        return _read_header(archive, infos[HEADER], limits.header(size))


@contextmanager
def _opened(source: PathOrFile) -> Iterator[tuple[zipfile.ZipFile, int]]:
    """Open a zip file whose checksum is right and whose directory is small; add its size."""
    if not hasattr(source, "read"):
        with open(source, "rb") as file, _opened(file) as opened:
            yield opened
        return
    binary = cast(BinaryIO, source)
    try:
        size = _check_end(binary)
        with zipfile.ZipFile(binary) as archive:
            yield archive, size
    except ArchiveError:
        raise
    except MemoryError as error:
        raise ArchiveError("it takes more memory than there is") from error
    except Exception as error:  # zipfile, zlib, json and NumPy raise many types for bad input
        reason = str(error).partition("\n")[0][:200]
        raise ArchiveError(f"it cannot be parsed ({type(error).__name__}: {reason})") from error


def _check_end(file: BinaryIO) -> int:
    """Check the checksum and the size of the directory; return the size of the file."""
    size = file.seek(0, os.SEEK_END)
    length = _END.size + len(COMMENT) + DIGEST_LENGTH
    tail = _read_at(file, max(size - length, 0), length)
    comment = tail[_END.size :]
    if not (tail.startswith(b"PK\x05\x06") and comment.startswith(COMMENT)):
        raise ArchiveError("it is not an archive of skauc, or its end is missing")
    digest = checksum_of(file, size - DIGEST_LENGTH)
    if digest != comment[len(COMMENT) :]:
        raise ArchiveError("it is damaged: its content does not match its checksum")
    *_, directory_size, _, comment_length = _END.unpack(tail[: _END.size])
    if directory_size == 0xFFFFFFFF:
        raise ArchiveError("its directory is too large")
    locator = _read_at(file, max(size - length - _END64_LOCATOR.size, 0), _END64_LOCATOR.size)
    if locator.startswith(b"PK\x06\x07"):
        directory_size = _directory_size_64(file, locator)
    if comment_length != len(comment) or directory_size > _LARGEST_DIRECTORY:
        raise ArchiveError("its directory is too large")
    return size


def _directory_size_64(file: BinaryIO, locator: bytes) -> int:
    """Return the size of the directory of a file of 2 GiB or more."""
    offset = _END64_LOCATOR.unpack(locator)[2]
    record = _read_at(file, offset, _END64.size)
    if not record.startswith(b"PK\x06\x06"):
        raise ArchiveError("its directory cannot be found")
    return _END64.unpack(record)[8]


def _read_at(file: BinaryIO, offset: int, length: int) -> bytes:
    file.seek(offset)
    return file.read(length)


def _checked_members(
    archive: zipfile.ZipFile, limits: Limits, file_size: int
) -> dict[str, zipfile.ZipInfo]:
    infos = archive.infolist()
    if len(infos) > limits.max_members:
        raise ArchiveError(f"it has {len(infos)} members; at most {limits.max_members} may be read")
    by_name = {info.filename: info for info in infos}
    if len(by_name) < len(infos):
        raise ArchiveError("two of its members have the same name")
    if HEADER not in by_name:
        raise ArchiveError("it has no member 'header.json'")
    for name, info in by_name.items():
        if name != HEADER and not (
            name.endswith(".npy") and ARRAY_NAME.fullmatch(name.removesuffix(".npy"))
        ):
            raise ArchiveError(f"its member {name[:40]!r} is not an array")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArchiveError(f"the compression of its member {name!r} is not supported")
    total, allowed = sum(info.file_size for info in infos), limits.total(file_size)
    if total > allowed:
        raise ArchiveSizeError(f"it expands to {total} bytes; at most {allowed} may be read")
    return by_name


def _read_header(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most_bytes: int) -> dict:
    if info.file_size > most_bytes:
        raise ArchiveSizeError(
            f"its header expands to {info.file_size} bytes; at most {most_bytes} may be read"
        )
    with archive.open(info) as stream:
        content = bytes(_read_exactly(stream, info.file_size, HEADER))
    header = json.loads(content, parse_constant=_refuse_constant)
    if not isinstance(header, dict):
        raise ArchiveError("its header is not a JSON object")
    return header


def _refuse_constant(name: str) -> NoReturn:
    raise ArchiveError(f"its header holds the number {name}")


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    """Read one array. Its memory is allocated once its size is known to be that of its bytes."""
    name = info.filename.removesuffix(".npy")
    with archive.open(info) as stream:
        shape, is_fortran, dtype = check_array_header(stream, info.file_size, name)
        n_bytes = math.prod(shape) * dtype.itemsize
        content = _read_exactly(stream, n_bytes, name)
    array = content.view(dtype) if n_bytes else np.empty(0, dtype)
    _check_values(array, name)
    array = array.astype(dtype.newbyteorder("="), copy=False)
    return array.reshape(shape, order="F" if is_fortran else "C")


def check_array_header(
    stream: IO[bytes], file_size: int, name: str, kinds: str = ARRAY_KINDS
) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Read the header of a ``.npy`` file and check that the array takes the rest of the file.

    Parameters
    ----------
    stream : binary file
        The file, at its start.
    file_size : int
        The number of bytes in it.
    name : str
        A name for error messages.
    kinds : str, default="biufU"
        The kinds of types that are allowed, as characters of ``dtype.kind``.

    Returns
    -------
    shape : tuple of int
        The shape.
    is_fortran : bool
        Whether the first index varies fastest.
    dtype : dtype
        The type.
    """
    version = np.lib.format.read_magic(stream)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in readers:
        raise ArchiveError(f"the array {name!r} has the unknown format {version}")
    shape, is_fortran, dtype = readers[version](stream)
    reason = problem_with(dtype, shape, kinds)
    if reason:
        raise ArchiveError(f"the array {name!r} cannot be read: {reason}")
    # An array without elements can still be as long as it likes in another direction.
    longest = math.prod(max(length, 1) for length in shape) * dtype.itemsize
    n_bytes = math.prod(shape) * dtype.itemsize
    if n_bytes != file_size - stream.tell() or (n_bytes == 0 and longest > _LARGEST_EMPTY):
        raise ArchiveError(
            f"the array {name!r} has the shape {shape} but {file_size - stream.tell()} bytes"
        )
    return shape, is_fortran, dtype


def _read_exactly(stream: IO[bytes], n_bytes: int, name: str) -> np.ndarray:
    """Return the rest of a member, which must be of this length."""
    content = np.empty(n_bytes, np.uint8)
    n_read = 0
    while n_read < n_bytes:
        chunk = stream.read(min(n_bytes - n_read, CHUNK))
        if not chunk:
            break
        content[n_read : n_read + len(chunk)] = np.frombuffer(chunk, np.uint8)
        n_read += len(chunk)
    if n_read < n_bytes or stream.read(1):
        raise ArchiveError(f"its member {name!r} is not as long as its directory says")
    return content


def _check_values(array: np.ndarray, name: str) -> None:
    """Refuse bytes that are no bool and no character."""
    if array.dtype.kind == "b":
        is_sound = array.view(np.uint8).max(initial=0) <= 1
    elif array.dtype.kind == "U":
        code = np.dtype(np.uint32).newbyteorder(array.dtype.byteorder)
        is_sound = array.view(code).max(initial=0) <= 0x10FFFF
    else:
        return
    if not is_sound:
        raise ArchiveError(f"the array {name!r} holds values that its type does not have")
