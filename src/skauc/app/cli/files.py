"""Where commands write: files that never replace others unasked, and standard output.

The path ``-`` stands for standard output in every command.
"""

from __future__ import annotations

import gzip
import io
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import (
    AbstractContextManager,
    ExitStack,
    contextmanager,
    nullcontext,
    redirect_stdout,
    suppress,
)
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO
from uuid import uuid4

from skauc.exceptions import InvalidParameterError

STANDARD_OUTPUT = Path("-")


def is_standard_output(path: Path | None) -> bool:
    """Tell whether a path stands for standard output."""
    return path == STANDARD_OUTPUT


def check_outputs(
    *paths: Path | None,
    inputs: Sequence[Path | str | None],
    force: bool,
    json: bool = False,
    is_binary: bool = True,
) -> None:
    """Raise an error before any work is done if an output could not be written in the end.

    No output may replace one of the inputs, also with ``force``.
    """
    n_piped = sum(map(is_standard_output, paths))
    if n_piped > 1:
        raise InvalidParameterError(
            "Only one output can go to standard output; got - twice. Name a file for the other."
        )
    if n_piped and json:
        raise InvalidParameterError(
            "--json prints to standard output, and - sends the output there too. Name a file."
        )
    if n_piped and is_binary and sys.stdout.isatty():
        raise InvalidParameterError(
            "The output is binary and standard output is a terminal. Pipe it, or name a file."
        )
    files = [path for path in paths if path is not None and not is_standard_output(path)]
    read = [Path(path) for path in inputs if path is not None]
    _check_distinct([path for path in files if not _is_special(path)], read)
    for path in files:
        _check_file(path, force)


def _check_distinct(files: list[Path], inputs: list[Path]) -> None:
    """Raise an error if one output would replace another, or an input."""
    for number, path in enumerate(files):
        if path.resolve() in (given.resolve() for given in inputs):
            raise InvalidParameterError(
                f"The output {path} is a file that the command reads, and would replace it. "
                "Choose another name for the output."
            )
        if path.resolve() in (earlier.resolve() for earlier in files[:number]):
            raise InvalidParameterError(
                f"Two outputs go to the file {path}, and one would replace the other. Choose "
                "another name for one of them."
            )


def _check_file(path: Path, force: bool) -> None:
    if _is_special(path):
        return
    if path.is_dir():
        raise InvalidParameterError(f"{path} is a folder. Name a file in it.")
    if path.exists() and not force:
        raise InvalidParameterError(
            f"{path} exists already. Choose another name, or replace it with --force."
        )
    if path.parent.is_file():
        raise InvalidParameterError(f"{path.parent} is not a folder. Choose another place.")
    if not path.parent.is_dir():
        raise InvalidParameterError(f"There is no folder {path.parent}. Make it first.")
    draft = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        draft.touch(exist_ok=False)  # root may write where permissions say otherwise
    except OSError as error:
        raise InvalidParameterError(
            f"{path} cannot be written: {error.strerror}. Choose another place."
        ) from error
    finally:
        with suppress(OSError):
            draft.unlink()


@contextmanager
def file_to_write(path: Path) -> Iterator[Path]:
    """Yield the file to write.

    For ``-``, a pipe or a device it is a temporary file that is copied there in the end.
    """
    if not is_standard_output(path) and not _is_special(path):
        yield path
        return
    with TemporaryDirectory() as folder:
        temporary = Path(folder) / "output"
        yield temporary
        with open(temporary, "rb") as content:
            if not is_standard_output(path):
                with open(path, "wb") as special:
                    shutil.copyfileobj(content, special)
                return
            sys.stdout.flush()
            shutil.copyfileobj(content, sys.stdout.buffer)
            sys.stdout.flush()


@contextmanager
def text_file(path: Path) -> Iterator[IO[str]]:
    """Open a file that replaces ``path`` once all of it is written, or standard output.

    It is gzipped if its name ends in ``.gz``.
    """
    if is_standard_output(path):
        yield sys.stdout
        return
    from skauc.archive import write_atomically

    with write_atomically(path) as file, ExitStack() as stack:
        content = stack.enter_context(gzip.open(file, "wb")) if path.suffix == ".gz" else file
        text = io.TextIOWrapper(content, encoding="utf-8", newline="")
        stack.callback(text.detach)  # flushes the text; the others close their files
        yield text


def _is_special(path: Path) -> bool:
    """Tell whether a path is a pipe or a device, such as /dev/null."""
    return path.exists() and not (path.is_file() or path.is_dir())


def messages_beside(*paths: Path | None) -> AbstractContextManager:
    """Send printed results to standard error where one of the outputs is standard output."""
    if any(map(is_standard_output, paths)):
        return redirect_stdout(sys.stderr)
    return nullcontext()
