"""The one place where errors become a line on standard error and an exit code."""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, get_type_hints

import typer

from skauc.exceptions import (
    InvalidDataError,
    InvalidParameterError,
    MissingPackageError,
    ModelFileError,
)

WORK_FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
_BAD_INPUT = (
    InvalidDataError,
    InvalidParameterError,
    MissingPackageError,
    ModelFileError,
    OSError,
    UnicodeDecodeError,
)
_Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with a sentence on what was kept."""


def guarded(command: Callable) -> Callable:
    """Return a command that ends with a message and an exit code, and knows ``--debug``."""

    @functools.wraps(command)
    def run(*args, debug: bool = False, **kwargs):
        held: list[str] = []
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: held.append(str(message))
            try:
                answer = command(*args, **kwargs)
                for message in held:  # an error is one line, and says what matters
                    typer.echo(f"skauc: warning: {_one_line(message)}", err=True)
                return answer
            except (KeyboardInterrupt, Exception) as error:
                if debug and not isinstance(error, typer.Exit | KeyboardInterrupt):
                    raise
                code = _report(error)
        raise typer.Exit(code)

    run.__signature__ = _with_debug(command)
    return run


def _with_debug(command: Callable) -> inspect.Signature:
    """Return the command's parameters, their annotations resolved, and ``--debug``."""
    hints = get_type_hints(command, include_extras=True)
    parameters = [
        each.replace(annotation=hints[name])
        for name, each in inspect.signature(command).parameters.items()
    ]
    keyword = inspect.Parameter.KEYWORD_ONLY
    debug = inspect.Parameter("debug", keyword, default=False, annotation=_Debug)
    return inspect.Signature([*parameters, debug])


def _report(error: BaseException) -> int:
    """Print one line on what went wrong; return the exit code."""
    if isinstance(error, typer.Exit):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        kept = str(error) if isinstance(error, Interrupted) else "Nothing was written."
        return _fail(f"Interrupted. {kept}", INTERRUPTED)
    if isinstance(error, BrokenPipeError):
        sys.stdout = None  # nobody listens any more
        return WORK_FAILED
    if isinstance(error, _BAD_INPUT):
        return _fail(_words_of(error), BAD_INPUT)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return _fail(f"The work failed with {what}. Run it with --debug to see where.", WORK_FAILED)


def _words_of(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return str(error)


def _fail(message: str, code: int) -> int:
    typer.echo(f"skauc: {_one_line(message)}", err=True)
    return code


def _one_line(text: str) -> str:
    return " ".join(text.split())
