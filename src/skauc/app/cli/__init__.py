"""The command line: one file per command, each a thin call into the library."""

from __future__ import annotations

import gc
import io
import sys

from skauc.app.cli.signals import exit_code_of_interrupt, ignore_signals, install_handlers, leave
from skauc.compiling import when_compiling

TYPER_INTERRUPTED = 130


def main() -> None:
    """Run the ``skauc`` program, or say which package it needs."""
    # Imports create a million objects that stay alive. Scanning them for garbage takes a fifth of
    # the time of a short command.
    gc.set_threshold(100_000, 50, 100)
    install_handlers()
    _accept_any_text()
    try:
        from skauc.app.cli.app import app

        when_compiling(_say_that_it_compiles)
        app(prog_name="skauc")
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(
            f"The skauc program needs the package {error.name}, which is not installed. "
            "Install it with: pip install 'skauc[cli]'"
        )
    except KeyboardInterrupt:  # before a command has begun
        leave(exit_code_of_interrupt())
    except SystemExit as end:
        # Typer ends with 130 after any interrupt outside of a command.
        if end.code in (TYPER_INTERRUPTED, exit_code_of_interrupt()):
            leave(exit_code_of_interrupt())
        ignore_signals()
        raise
    finally:
        gc.freeze()


def _accept_any_text() -> None:
    """Write UTF-8 to pipes and files, as to those that -o names, whatever the system prefers.

    A terminal shows escapes for what it does not know.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(
            encoding=None if sys.stdout.isatty() else "utf-8", errors="backslashreplace"
        )


def _say_that_it_compiles() -> None:
    # A progress bar takes the place of `sys.stderr`, and prints this line above itself.
    message = "Compiling for this machine. The first fit takes up to 20 seconds longer."
    print(message, file=sys.stderr)
