"""One atomic writer for every file that the library writes."""

from __future__ import annotations

import atexit
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

try:
    import fcntl
except ImportError:  # Windows does not delete a file that a process has open
    fcntl = None  # type: ignore[assignment]


@contextmanager
def write_atomically(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """Open a file that replaces ``path`` once all of it is written.

    The content goes to a draft in the same directory. The draft is removed if an error occurs.
    Drafts of earlier writers of the same file that were killed are removed, too. A file that is
    replaced keeps its permissions; a new file has those of the umask. Symbolic links are
    followed. Devices and pipes are written directly.

    Parameters
    ----------
    path : str or path-like
        The file to write.

    Yields
    ------
    file : binary file
        Open for writing and reading.
    """
    target = Path(os.path.realpath(path))
    mode = _mode_of(target)
    if mode is not None and not stat.S_ISREG(mode):
        with open(target, "wb") as device:
            yield device
        return
    _remove_stale_drafts(target)
    draft = _name_draft(target)
    try:
        while (file := _open_draft(draft, mode)) is None:
            _DRAFTS.pop(draft)
            draft = _name_draft(target)
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is not None:  # while the draft is locked
                os.replace(draft, target)
        if fcntl is None:
            os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    finally:
        _DRAFTS.pop(draft, None)
    _sync_directory(target.parent)


# The drafts of this process and its number, which a forked process does not have.
_DRAFTS: dict[Path, int] = {}


@atexit.register
def remove_drafts() -> None:
    """Remove the drafts of this process. An interrupt can end a writer before it watches them."""
    for draft, process in list(_DRAFTS.items()):
        if process == os.getpid():
            with suppress(OSError):
                draft.unlink(missing_ok=True)


def _mode_of(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _draft_prefix(target: Path) -> str:
    """Return how the names of the drafts of a file begin. They are short for a long name, too."""
    name = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]
    return f".skauc-draft-{name}-"


def _name_draft(target: Path) -> Path:
    """Return the name of a new draft, and remember it before the file exists."""
    draft = target.with_name(_draft_prefix(target) + uuid4().hex)
    _DRAFTS[draft] = os.getpid()
    return draft


def _open_draft(draft: Path, mode: int | None) -> BinaryIO | None:
    """Create a draft and lock it. The lock says that its writer is alive.

    Return None if another writer has taken it for a stale one before it was locked.
    """
    permissions = 0o666 if mode is None else stat.S_IMODE(mode)
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(draft, flags, permissions), "w+b")
    try:
        is_own = _lock(file) and draft.exists()
        if is_own and mode is not None:
            os.chmod(draft, permissions)  # the umask may have removed some of them
    except BaseException:
        file.close()
        raise
    if is_own:
        return file
    file.close()
    return None


def _lock(file: BinaryIO) -> bool:
    """Lock a file; return False if another open file holds the lock."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _remove_stale_drafts(target: Path) -> None:
    """Remove the drafts of a file whose writers are dead."""
    prefix = _draft_prefix(target)
    with suppress(OSError):
        names = [name for name in os.listdir(target.parent) if name.startswith(prefix)]
        for name in names:
            with suppress(OSError):
                _remove_unlocked(target.with_name(name))


def _remove_unlocked(draft: Path) -> None:
    if fcntl is None:
        draft.unlink()
        return
    with open(os.open(draft, os.O_RDWR | os.O_NOFOLLOW), "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        draft.unlink()


def _sync_directory(directory: Path) -> None:
    """Make a change of names last, where the system can."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
