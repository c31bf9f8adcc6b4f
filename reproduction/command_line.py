"""``skauc reproduce``: the paper's tables and figures beside ours."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from skauc.app.cli.errors import Interrupted


def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="table1, table2, table3, figure1, figure2 or figure3.",
            show_default=False,
        ),
    ],
    datasets: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Data sets, with commas between them."),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Methods of Tables II and III, with commas between."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(help="Runs of five folds. By default 4, and 1 with --quick.")
    ] = None,
    nested_runs: Annotated[
        int | None,
        typer.Option(help="Runs with nested choices too: 0 is the paper's protocol alone."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A coarse grid on few rows: minutes, not hours.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the results. By default results/WHAT."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Folds worked on at once; -1 is one a core.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of the folds and the fits.")] = 0,
    device: Annotated[
        str,
        typer.Option(
            metavar="DEVICE",
            help="Where KernelRankSVM keeps its matrices of many rows: cpu, or a device of "
            "torch's, cuda say.",
        ),
    ] = "cpu",
    only: Annotated[
        str | None,
        typer.Option(
            metavar="STEP",
            help="measure: lines alone, and nothing drawn; draw: what is there, and nothing "
            "measured.",
        ),
    ] = None,
) -> None:
    """Make one of the paper's tables or figures; interrupted, the same command goes on."""
    import reproduction as experiments

    try:
        with _progress(what) as progress:
            files = experiments.reproduce(
                what,
                datasets=_names(datasets),
                methods=_names(methods),
                n_runs=runs,
                nested_runs=nested_runs,
                quick=quick,
                out=out,
                n_jobs=jobs,
                seed=seed,
                device=device,
                only=only,
                progress=progress,
                say=lambda message: typer.echo(f"skauc: {message}", err=True),
            )
    except KeyboardInterrupt:
        raise Interrupted("What was done is kept; the same command goes on.") from None
    for path in files:
        typer.echo(str(path))


def _names(values: list[str] | None) -> list[str] | None:
    """Return the names of all options of a kind, each of which may hold several."""
    if not values:
        return None
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


@contextmanager
def _progress(what: str):
    """Give a function that moves a bar on standard error, where that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda n_done, n_tasks, last: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    times = TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(*columns, *times, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what)
        yield lambda n_done, n_tasks, last: bar.update(
            task, completed=n_done, total=n_tasks, description=f"{what} {last}".rstrip()
        )
