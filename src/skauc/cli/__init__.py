"""The command line: one file a command, each a thin call into the library."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the ``skauc`` program, or say what it needs."""
    try:
        from skauc.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(
            f"The skauc program needs the package {error.name}, which is not installed. "
            "Install it with: pip install 'skauc[cli]'"
        )
    app()
