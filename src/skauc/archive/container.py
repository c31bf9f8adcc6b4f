"""What an archive may hold, and how much memory it may take."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import numpy as np

HEADER = "header.json"
COMMENT = b"skauc sha256 "
DIGEST_LENGTH = 64
ARRAY_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,99}")
CHUNK = 1 << 20
# Bools, integers, floats and strings of fixed width.
ARRAY_KINDS = "biufU"
_MOST_DIMENSIONS = 8
_LEAST_BYTES = 16 << 20
_LEAST_HEADER = 2 << 20
_LARGEST_RATIO = 20


class ArchiveError(ValueError):
    """A file is not an archive of this format, is damaged, or takes too much memory."""


class ArchiveSizeError(ArchiveError):
    """An archive takes more memory than the limits allow."""


@dataclass(frozen=True)
class Limits:
    """How much memory an archive may take.

    Attributes
    ----------
    max_bytes : int or None, default=None
        The largest sum of all expanded members, in bytes. None allows 20 times the size of the
        file, and at least 16 MiB. `write_archive` does not compress an archive that would exceed
        this.
    max_members : int, default=10000
        The largest number of members.
    """

    max_bytes: int | None = None
    max_members: int = 10_000

    def total(self, file_size: int) -> int:
        """Return how many bytes the members of a file of this size may take."""
        return (
            max(_LEAST_BYTES, _LARGEST_RATIO * file_size)
            if self.max_bytes is None
            else self.max_bytes
        )

    def header(self, file_size: int) -> int:
        """Return how many bytes the header may take. Parsed JSON takes up to 30 times as many."""
        return min(max(_LEAST_HEADER, file_size), self.total(file_size))


DEFAULT_LIMITS = Limits()


class Archive(NamedTuple):
    """The content of an archive."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray]


def problem_with(dtype: np.dtype, shape: tuple[int, ...], kinds: str = ARRAY_KINDS) -> str | None:
    """Return why an array of this type cannot be part of an archive."""
    is_small = dtype.itemsize > 0 and (dtype.kind in "US" or dtype.itemsize <= 8)
    if dtype.kind not in kinds or not is_small:
        return f"its type is {str(dtype)[:40]!r}"
    if len(shape) > _MOST_DIMENSIONS or any(length < 0 for length in shape):
        return f"its shape is {shape}"
    return None


def checksum_of(file: BinaryIO, length: int) -> bytes:
    """Return the checksum of the first bytes of a file."""
    digest = hashlib.sha256()
    file.seek(0)
    while length > 0:
        chunk = file.read(min(length, CHUNK))
        if not chunk:
            break
        digest.update(chunk)
        length -= len(chunk)
    return digest.hexdigest().encode()
