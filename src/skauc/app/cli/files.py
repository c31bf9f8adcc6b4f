"""Files that commands write: never over another one unasked, and whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from skauc.exceptions import InvalidParameterError


def check_output(path: Path | None, force: bool) -> None:
    """Raise an error before any work is done if a file could not be written in the end."""
    if path is None:
        return
    if path.is_dir():
        raise InvalidParameterError(f"{path} is a folder. Name a file in it.")
    if path.exists() and not force:
        raise InvalidParameterError(
            f"{path} exists already. Choose another name, or replace it with --force."
        )
    if path.parent.is_file():
        raise InvalidParameterError(f"{path.parent} is no folder. Choose another place.")
    if not path.parent.is_dir():
        raise InvalidParameterError(f"There is no folder {path.parent}. Make it first.")
    draft = _draft(path)
    try:
        draft.touch(exist_ok=False)  # permissions do not tell all, to root least
    except OSError as error:
        raise InvalidParameterError(
            f"{path} cannot be written: {error.strerror}. Choose another place."
        ) from error
    finally:
        with suppress(OSError):
            draft.unlink()


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes its name when all of it is written."""
    draft = _draft(path)
    try:
        with open(draft, "xb") as file:
            yield file
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _draft(path: Path) -> Path:
    return path.with_name(f".{path.name}.{uuid4().hex}")
