"""The command line: one file a command, each a thin call into the library."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the ``skauc`` program, or say what it needs."""
    # Imports make a million objects that all stay. Looking through them for garbage, again and
    # again and once more at the end, takes a fifth of the time of a short command.
    gc.set_threshold(100_000, 50, 100)
    try:
        from skauc.app.cli.app import app

        app(prog_name="skauc")
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(
            f"The skauc program needs the package {error.name}, which is not installed. "
            "Install it with: pip install 'skauc[cli]'"
        )
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(130)
    finally:
        gc.freeze()
