"""The container of a model file: one line with a checksum, and a zip archive of small members.

The line is ``skauc-model <format version> <SHA-256 of all that follows>``, so that damage is seen
before anything is parsed. Archives are read as if an enemy had written them and the checksum:
every size is checked before memory is taken.
"""

from __future__ import annotations

import hashlib
import io
import re
import struct
import zipfile
from pathlib import Path

from skauc.exceptions import ModelFileError

MAGIC = b"skauc-model "
MANIFEST = "manifest.json"
SCHEMA = "schema.json"
_HEADER = re.compile(rb"skauc-model (\d{1,6}) ([0-9a-f]{64})\n")
_HEADER_LENGTH = 128
_MEMBER = re.compile(r"manifest\.json|schema\.json|\d{1,5}\.npy")
# JSON takes up to thirty times its size in memory.
_LARGEST = {MANIFEST: 1 << 18, SCHEMA: 1 << 21}
_LARGEST_DIRECTORY = 1 << 17
_END_RECORD = struct.Struct("<4s4H2LH")
_END_SIGNATURE = b"PK\x05\x06"
_ZIP64_SIGNATURE = b"PK\x06\x07"


def pack(version: int, members: dict[str, bytes]) -> bytes:
    """Return the content of a file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in members.items():
            # A fixed date: the same model makes the same file.
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    body = buffer.getvalue()
    return MAGIC + f"{version} {hashlib.sha256(body).hexdigest()}\n".encode() + body


def read_body(path: Path, max_bytes: int) -> tuple[int, bytes]:
    """Return the format version and the archive, whose checksum is right."""
    try:
        with open(path, "rb") as file:
            content = file.read(max_bytes + _HEADER_LENGTH + 1)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"There is no file {path}. Check the name.") from error
    except OSError as error:
        raise ModelFileError(
            f"{path} cannot be read: {error.strerror}. Check the name and the permissions."
        ) from error
    header = _HEADER.match(content)
    if header is None:
        raise ModelFileError(
            f"{path} is not a skauc model file. Pass a file written by skauc.save_model."
        )
    if len(content) - header.end() > max_bytes:
        raise _too_large(path, max_bytes)
    body = content[header.end() :]
    if hashlib.sha256(body).hexdigest().encode() != header[2]:
        raise ModelFileError(
            f"{path} is damaged: its content does not match its checksum. Copy or save it again."
        )
    return int(header[1]), body


def unpack(path: Path, body: bytes, max_bytes: int) -> dict[str, bytes]:
    """Return the members, none larger than it says and all together not too large."""
    try:
        _check_directory(body)
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            infos = _checked(archive.infolist())
            if sum(info.file_size for info in infos) > max_bytes:
                raise _too_large(path, max_bytes)
            return {info.filename: _read(archive, info) for info in infos}
    except ModelFileError:
        raise
    except Exception as error:  # zipfile and zlib have many words for a broken archive
        raise ModelFileError(
            f"{path} is not a sound archive: {error}. Save the model again."
        ) from error


def _check_directory(body: bytes) -> None:
    """Raise an error unless the directory of the archive is small: it is read as a whole."""
    end = body[-_END_RECORD.size :]
    if len(end) < _END_RECORD.size or not end.startswith(_END_SIGNATURE):
        raise ValueError("it does not end as an archive does")
    *_, size, _, _ = _END_RECORD.unpack(end)
    is_zip64 = body[-_END_RECORD.size - 20 :].startswith(_ZIP64_SIGNATURE)
    if size > _LARGEST_DIRECTORY or is_zip64:
        raise ValueError("it has too many members")


def _checked(infos: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    names = [info.filename for info in infos]
    if len(set(names)) < len(names):
        raise ValueError("it has two members of one name")
    for info in infos:
        if not _MEMBER.fullmatch(info.filename):
            raise ValueError(f"its member {info.filename[:40]!r} does not belong there")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"its member {info.filename!r} is compressed in another way")
        if info.file_size > _LARGEST.get(info.filename, info.file_size):
            raise ValueError(f"its member {info.filename!r} is too large")
    return infos


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as file:
        # Asked for a number of bytes, zipfile inflates no more than these.
        content = file.read(info.file_size + 1)
    if len(content) != info.file_size:
        raise ValueError(f"its member {info.filename!r} is not as long as it says")
    return content


def _too_large(path: Path, max_bytes: int) -> ModelFileError:
    return ModelFileError(
        f"{path} takes more than {max_bytes} bytes. If you trust it, pass a larger `max_bytes`."
    )
