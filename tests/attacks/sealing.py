"""Model files as an attacker writes them: changed, with the checksum computed again.

Both layouts that skauc has had are known here by their look alone: a first line with a SHA-256
checksum before a zip archive, and a zip archive whose comment ends with one.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile

import numpy as np

from tests.attacks.byte_damage import Members, make_archive

FIRST_LINE = re.compile(rb"(skauc-model \d+ )[0-9a-f]{64}\n")
COMMENT = re.compile(rb"(.*sha256 )[0-9a-f]{64}", re.DOTALL)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def read_members(content: bytes) -> Members:
    """Return the members of a model file."""
    first = FIRST_LINE.match(content)
    with zipfile.ZipFile(io.BytesIO(content[first.end() if first else 0 :])) as archive:
        return [(info.filename, archive.read(info)) for info in archive.infolist()]


def sealed(members: Members, like: bytes) -> bytes:
    """Return a file with these members, with the layout and a checksum like those of another."""
    return _sealed_archive(make_archive(members), like)


def resealed(content: bytes, damage, rng: np.random.Generator) -> bytes:
    """Damage the archive within a file and make the checksum right."""
    first = FIRST_LINE.match(content)
    if first:
        return _with_first_line(damage(content[first.end() :], rng), first[1])
    end = zipfile.ZipFile(io.BytesIO(content)).comment
    comment = COMMENT.fullmatch(end)
    if comment is None:
        raise RuntimeError("The layout of model files has changed: teach tests.attacks.sealing it.")
    body = content[: -len(end)]
    start = damage(body, rng) + comment[1]
    return start + _digest(start)


def _sealed_archive(archive: bytes, like: bytes) -> bytes:
    first = FIRST_LINE.match(like)
    if first:
        return _with_first_line(archive, first[1])
    comment = COMMENT.fullmatch(zipfile.ZipFile(io.BytesIO(like)).comment)
    if comment is None:
        raise RuntimeError("The layout of model files has changed: teach tests.attacks.sealing it.")
    # The last two bytes of an archive without a comment are the length of the comment.
    length = (len(comment[1]) + 64).to_bytes(2, "little")
    start = archive[:-2] + length + comment[1]
    return start + _digest(start)


def _with_first_line(archive: bytes, start: bytes) -> bytes:
    return start + _digest(archive) + b"\n" + archive
