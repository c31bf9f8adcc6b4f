"""Turns errors into one line on standard error and an exit code."""

from __future__ import annotations

import functools
import inspect
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, get_type_hints

import typer
from typer.models import OptionInfo

from skauc.app.cli.output import say
from skauc.app.cli.signals import exit_code_of_interrupt
from skauc.app.cli.text import one_line
from skauc.exceptions import (
    InvalidDataError,
    InvalidParameterError,
    MissingPackageError,
    ModelFileError,
    UnknownLevelsWarning,
    interrupts,
)

WORK_FAILED, BAD_INPUT = 1, 2
_BAD_INPUT = (
    InvalidDataError,
    InvalidParameterError,
    MissingPackageError,
    ModelFileError,
    OSError,
    UnicodeDecodeError,
)
# Parameters of estimators whose options have other names.
_OTHER_NAMES = {
    "jobs": "n_jobs",
    "weights": "sample_weight",
    "group": "groups",
    "force": "overwrite",
}
_Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


class Interrupted(KeyboardInterrupt):
    """An interrupt with a sentence that says what was kept."""


def guarded(command: Callable) -> Callable:
    """Return a command that ends with a message and an exit code, and has ``--debug``."""
    signature = _with_debug(command)
    options = _options_of(signature)

    @functools.wraps(command)
    def run(*args, debug: bool = False, **kwargs):
        held: list[str] = []
        with warnings.catch_warnings():
            # `InputCheck` says it of all rows, which may come in pieces.
            warnings.simplefilter("ignore", UnknownLevelsWarning)
            warnings.showwarning = lambda message, *_: held.append(str(message))
            try:
                with interrupts():
                    answer = command(*args, **kwargs)
                for message in dict.fromkeys(held):  # after an error, only the error is printed
                    warn(_with_options(message, options))
                return answer
            except (KeyboardInterrupt, Exception) as error:
                if debug and not isinstance(error, typer.Exit | KeyboardInterrupt):
                    raise
                code = _report(error, options)
        raise typer.Exit(code)

    run.__signature__ = signature  # type: ignore[attr-defined]
    return run


@contextmanager
def naming(table: str | None) -> Iterator[None]:
    """Name the table in errors about what it holds, if the command reads another one, too."""
    try:
        yield
    except (InvalidDataError, InvalidParameterError) as error:
        if table is None:
            raise
        raise type(error)(f"{table}: {error}") from error


def warn(message: str) -> None:
    """Print one line to standard error that says what may be wrong."""
    say(f"skauc: warning: {one_line(message)}")


def _with_debug(command: Callable) -> inspect.Signature:
    """Return the parameters of a command with their annotations resolved, and ``--debug``."""
    hints = get_type_hints(command, include_extras=True)
    parameters = [
        each.replace(annotation=hints[name])
        for name, each in inspect.signature(command).parameters.items()
    ]
    keyword = inspect.Parameter.KEYWORD_ONLY
    debug = inspect.Parameter("debug", keyword, default=False, annotation=_Debug)
    return inspect.Signature([*parameters, debug])


def _options_of(signature: inspect.Signature) -> dict[str, str]:
    """Return the option of each parameter, also by its name in the library."""
    options = {}
    for name, parameter in signature.parameters.items():
        (info,) = parameter.annotation.__metadata__
        if isinstance(info, OptionInfo):
            declared = [each for each in info.param_decls or () if each.startswith("--")]
            option = declared[0] if declared else f"--{name.replace('_', '-')}"
            options[name] = options[_OTHER_NAMES.get(name, name)] = option
    return options


def _with_options(message: str, options: dict[str, str]) -> str:
    """Return a message of the library with parameters written as on the command line."""

    def with_value(match: re.Match) -> str:
        option, value = options.get(match[1]), match[3]
        if option is None:
            return match[0]
        return option if value == "True" else f"{option} {value}"

    message = re.sub(r"""\b(\w+)=(['"]?)(\w[\w.+-]*\b)\2""", with_value, message)
    message = message.replace(", or None for ", ", or leave it out for ")
    return re.sub(r"`(\w+)`", lambda match: options.get(match[1], match[0]), message)


def _report(error: BaseException, options: dict[str, str]) -> int:
    """Print one line on what went wrong; return the exit code."""
    if isinstance(error, typer.Exit):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        kept = str(error) if isinstance(error, Interrupted) else "Nothing was written."
        return _fail(f"Interrupted. {kept}", exit_code_of_interrupt())
    if isinstance(error, BrokenPipeError):
        sys.stdout = None  # the reader has closed the pipe
        return WORK_FAILED
    if isinstance(error, _BAD_INPUT):
        return _fail(_with_options(_words_of(error), options), BAD_INPUT)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return _fail(
        f"The command failed with {what}. Run it with --debug to see the traceback.", WORK_FAILED
    )


def _words_of(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return str(error)


def _fail(message: str, code: int) -> int:
    say(f"skauc: {one_line(message)}")
    return code
