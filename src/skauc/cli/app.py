"""The program itself: its name, its options, its list of commands."""

from __future__ import annotations

import typer

import skauc
from skauc.cli.demo import demo
from skauc.cli.reproduce import reproduce

app = typer.Typer(
    name="skauc",
    help="Rank rare events with sparse kernel classifiers that maximise AUC.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"skauc {skauc.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Rank rare events with sparse kernel classifiers that maximise AUC."""


app.command()(demo)
app.command()(reproduce)
