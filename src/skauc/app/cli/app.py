"""The program: its name, its options and its commands.

Commands import what they compute with when they run, so that ``skauc --help`` is fast.
"""

from __future__ import annotations

import typer

import skauc
from skauc.app.cli.compare import compare
from skauc.app.cli.demo import demo
from skauc.app.cli.drift import drift
from skauc.app.cli.errors import guarded
from skauc.app.cli.evaluate import evaluate
from skauc.app.cli.explain import explain
from skauc.app.cli.export import export
from skauc.app.cli.fit import fit
from skauc.app.cli.inspect import inspect
from skauc.app.cli.predict import predict
from skauc.app.cli.report import report

app = typer.Typer(
    name="skauc",
    help="Rank rare events with sparse kernel classifiers that maximise AUC.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help is faster, and twice as wide
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
    """Rank rare events with sparse kernel classifiers that maximise AUC.

    Begin with: skauc fit TABLE --target COL --report report.html
    """


for command in (
    *(fit, predict, evaluate, explain, compare, drift),
    *(report, export, inspect, demo),
):
    app.command()(guarded(command))
