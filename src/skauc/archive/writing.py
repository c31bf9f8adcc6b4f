"""Write arrays and a JSON header to a file."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from typing import Any, BinaryIO, cast

import numpy as np

from skauc.archive.atomic import write_atomically
from skauc.archive.container import (
    ARRAY_NAME,
    COMMENT,
    DEFAULT_LIMITS,
    DIGEST_LENGTH,
    HEADER,
    ArchiveError,
    checksum_of,
    problem_with,
)


def write_archive(
    target: str | os.PathLike | BinaryIO,
    header: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    *,
    compress: bool = True,
) -> None:
    """Write an archive. The same content gives the same bytes.

    Parameters
    ----------
    target : str, path-like or binary file
        A path, which is written atomically, or an empty file that is open for writing and reading.
    header : dict
        Values for JSON. Numbers must be finite.
    arrays : dict of str to ndarray
        Arrays of bools, integers, floats of at most 64 bits, or strings of fixed width.
    compress : bool, default=True
        Whether to compress the members.
    """
    members = {HEADER: json.dumps(header, separators=(",", ":"), allow_nan=False).encode()}
    plain = {name: _checked_array(name, array) for name, array in arrays.items()}
    if len(plain) >= DEFAULT_LIMITS.max_members:
        raise ArchiveError(
            f"An archive has at most {DEFAULT_LIMITS.max_members - 1} arrays; got {len(plain)}."
        )
    if hasattr(target, "write"):
        _write_members(cast(BinaryIO, target), members, plain, compress)
        return
    with write_atomically(target) as file:
        _write_members(file, members, plain, compress)


def _write_members(file: BinaryIO, members: dict, arrays: dict, compress: bool) -> None:
    """Write and seal an archive that opens with the default limits."""
    if not _write_zip(file, members, arrays, zipfile.ZIP_DEFLATED if compress else 0):
        file.seek(0)
        file.truncate()
        _write_zip(file, members, arrays, zipfile.ZIP_STORED)
    digest = checksum_of(file, file.seek(0, os.SEEK_END) - DIGEST_LENGTH)
    file.seek(-DIGEST_LENGTH, os.SEEK_END)
    file.write(digest)


def _write_zip(file: BinaryIO, members: dict, arrays: dict, compression: int) -> bool:
    """Write a zip file without its checksum; return whether its size is within the limits."""
    with zipfile.ZipFile(file, "w", compression, compresslevel=9) as archive:
        for name, content in members.items():
            archive.writestr(_member(name, compression), content)
        for name, array in arrays.items():
            member = _member(f"{name}.npy", compression)
            member.file_size = array.nbytes + 128  # zipfile writes members of 2 GiB in another form
            with archive.open(member, "w") as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)
        archive.comment = COMMENT + b"0" * DIGEST_LENGTH
        infos = archive.infolist()
    size = file.seek(0, os.SEEK_END)
    is_small = sum(info.file_size for info in infos) <= DEFAULT_LIMITS.total(size)
    return is_small and infos[0].file_size <= DEFAULT_LIMITS.header(size)


def _member(name: str, compression: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)  # it has a fixed date
    info.compress_type = compression
    return info


def _checked_array(name: str, array: np.ndarray) -> np.ndarray:
    """Return an array as it is stored, in little-endian order."""
    if not ARRAY_NAME.fullmatch(name):
        raise ArchiveError(f"An array of an archive cannot have the name {name!r}.")
    array = np.asarray(array)
    reason = problem_with(array.dtype, array.shape)
    if reason:
        raise ArchiveError(f"The array {name!r} cannot be stored: {reason}.")
    return array.astype(array.dtype.newbyteorder("<"), copy=False)
