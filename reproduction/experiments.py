"""One plan per table and figure of the paper: its tasks and how results are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reproduction import printed
from reproduction.catalogue import DATASET_NAMES
from reproduction.comparison import (
    Summary,
    compact_lines,
    comparison_settings,
    comparison_tasks,
    summarise,
)
from reproduction.curves import LARGEST, SIX, Cores, Curves, missing_cores
from reproduction.data_sets import load_dataset
from reproduction.figures import draw_cores, draw_curves, write_figure
from reproduction.goals import find_goals, goal_lines, goal_table
from reproduction.methods import METHOD_NAMES, make_methods, missing_package
from reproduction.protocol import FULL, PAPER_RUNS, QUICK, Protocol
from reproduction.runner import Progress, Store, Task, run_tasks, versions
from reproduction.tables import comparison_table, table_1, write_table
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.plotting.axes import import_pyplot
from skauc.validation import check_choice, check_integer, check_n_jobs


@dataclass(frozen=True)
class Request:
    """Validated options."""

    what: str
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    n_runs: int
    is_quick: bool
    folder: Path
    protocol: Protocol


@dataclass(frozen=True)
class Plan:
    """The tasks of an experiment and the function that writes its results."""

    settings: dict
    tasks: list[Task]
    write: Callable[[Store], list[Path]]
    is_timed: bool = False


def reproduce(
    what: str,
    *,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    n_runs: int | None = None,
    nested_runs: int | None = None,
    quick: bool = False,
    out=None,
    n_jobs: int = 1,
    seed: int = 0,
    device: str = "cpu",
    only: str | None = None,
    progress: Progress = lambda n_done, n_tasks, last: None,
    say: Callable[[str], None] = lambda message: None,
) -> list[Path]:
    """Make one of the paper's tables or figures, resuming an interrupted run.

    Parameters
    ----------
    what : {"table1", "table2", "table3", "figure1", "figure2", "figure3"}
        The table or figure.
    datasets : sequence of str, default=None
        Names of data sets; None for all of the table or figure.
    methods : sequence of str, default=None
        Methods of Tables II and III; None for all that are installed.
    n_runs : int, default=None
        Number of runs of five folds; None for the paper's 4, or 1 if ``quick``.
    nested_runs : int, default=None
        Number of runs in which settings are also chosen by inner folds, which takes two to three
        times as long again; None for all runs, 0 for the paper's protocol only. More can be added
        to a folder later.
    quick : bool, default=False
        Use a coarser grid, small models and at most 1,000 training rows: minutes, not hours.
    out : path-like, default=None
        Output folder; None for ``results/<what>``, with ``-quick`` added if ``quick``. A folder
        made with other settings is refused.
    n_jobs : int, default=1
        Number of parallel tasks (slices of a grid on a fold or inner fold). Figures are timed and
        run one task at a time.
    seed : int, default=0
        Random seed of folds and fits.
    device : str, default="cpu"
        Device of KernelRankSVM's matrices with more than 1,500 rows: "cpu" or a torch device such
        as "cuda". The results do not depend on it.
    only : {"measure", "draw"}, default=None
        "measure" writes results only and needs no further package; files of results made with the
        same settings on several machines can be concatenated. "draw" draws the table or figure of
        existing results. None does both.
    progress : callable, default=None
        Called as ``progress(n_done, n_tasks, last_task)``.
    say : callable, default=None
        Called with messages about what is left out and why.

    Returns
    -------
    files : list of Path
        The tables or figures and the results by fold.

    Examples
    --------
    >>> from reproduction import reproduce
    >>> reproduce("table1", datasets=["sonar"], out="results/sonar")  # doctest: +SKIP
    """
    request = _checked(what, datasets, methods, n_runs, nested_runs, quick, out, seed, device)
    check_n_jobs(n_jobs)
    if only is not None:
        check_choice("only", only, ("measure", "draw"))
    _check_device(device)
    request = replace(request, methods=_installed(request, say))
    for name in request.datasets:
        load_dataset(name)  # report missing data before the work starts
    if only != "measure" and what.startswith("figure"):
        import_pyplot()  # report a missing package before the work starts
    if only == "draw":
        return _draw(request)
    plan = _PLANS[what](request, say)
    if plan.is_timed and n_jobs != 1:
        say("Figures are timed, so tasks run one at a time.")
        n_jobs = 1
    store = _store(request, plan)
    try:
        run_tasks(plan.tasks, store, n_jobs=n_jobs, progress=progress)
    except KeyboardInterrupt:
        if only is None:
            plan.write(store)
        raise
    return plan.write(store) if only is None else [store.path]


def _draw(request: Request) -> list[Path]:
    """Draw the table or figure of existing results."""
    path = request.folder / "lines.jsonl"
    if request.what != "table1" and not path.exists():
        raise InvalidDataError(
            f"Nothing to draw: {path} does not exist. Run without `only` to measure first."
        )
    plan = _PLANS[request.what](request, lambda message: None)
    return plan.write(_store(request, plan))


def _store(request: Request, plan: Plan) -> Store:
    return Store(request.folder, plan.settings | {"skauc": versions()["skauc"]})


def _checked(what, datasets, methods, n_runs, nested_runs, quick, out, seed, device) -> Request:
    check_choice("what", what, EXPERIMENT_NAMES)
    offered = _OFFERED[what]
    datasets = _names("datasets", datasets, offered, _DEFAULT.get(what, offered))
    methods = _names("methods", methods, METHOD_NAMES, METHOD_NAMES)
    if n_runs is None:
        n_runs = 1 if quick else PAPER_RUNS
    check_integer("n_runs", n_runs, 1, "The paper uses 4 runs.")
    if nested_runs is not None:
        check_integer("nested_runs", nested_runs, 0, "Use 0 for no nested choices.")
    check_integer("seed", seed, 0, "The documented results use 0.")
    folder = Path(out) if out is not None else Path("results") / (what + "-quick" * quick)
    protocol = replace(QUICK if quick else FULL, seed=seed, device=device, nested_runs=nested_runs)
    return Request(what, datasets, methods, n_runs, quick, folder, protocol)


def _check_device(device: str) -> None:
    if device != "cpu":
        from reproduction.gram import check_device

        check_device(device)


def _names(parameter: str, asked, offered: Sequence[str], default: Sequence[str]) -> tuple:
    if asked is None:
        return tuple(default)
    if isinstance(asked, str) or len(asked) == 0:
        raise InvalidParameterError(
            f"`{parameter}` must be a list of names; got {asked!r}. "
            f"Choose from {', '.join(offered)}."
        )
    for name in asked:
        check_choice(parameter, name, offered)
    return tuple(dict.fromkeys(asked))


def _installed(request: Request, say) -> tuple[str, ...]:
    """Return the methods whose packages are installed and report the others."""
    if request.what not in ("table2", "table3"):
        return request.methods
    known = make_methods(request.protocol)
    missing = {m: p for m in request.methods if (p := missing_package(known[m])) is not None}
    for method, package in missing.items():
        say(
            f"{method} is skipped because {package} is not installed. Install it with: "
            f"pip install {package}"
        )
    if len(missing) == len(request.methods):
        raise InvalidParameterError(
            f"None of `methods` is installed; got {', '.join(request.methods)}."
        )
    return tuple(m for m in request.methods if m not in missing)


def _plan_table_1(request: Request, say) -> Plan:
    def write(store: Store) -> list[Path]:
        table = table_1(request.datasets)
        lines = [dict(zip(table.header, row, strict=True)) for row in table.rows]
        return _write_lines(store, lines) + write_table(table, store.folder, "table1")

    settings = {"experiment": "table1", "data": comparison_settings("", FULL)["data"]}
    return Plan(settings, [], write)


def _plan_comparison(title: str, as_printed: dict) -> Callable:
    def plan(request: Request, say) -> Plan:
        asked = request.datasets, request.methods, request.n_runs

        def write(store: Store) -> list[Path]:
            finished, notes = store.finished(), _scope(request)
            summaries = summarise(finished, *asked, request.protocol)
            goals = find_goals(
                finished, as_printed, request.datasets, request.n_runs, request.protocol
            )
            table = comparison_table(
                title, as_printed, summaries, [*_not_run(request, summaries), *notes]
            )
            goal = goal_table(f"{title.partition(':')[0]}: goals", goals, notes)
            files = write_table(table, store.folder, request.what)
            files += write_table(goal, store.folder, f"{request.what}-goal")
            return _write_lines(store, compact_lines(summaries) + goal_lines(goals)) + files

        settings = comparison_settings(request.what, request.protocol)
        return Plan(settings, comparison_tasks(*asked, request.protocol), write)

    return plan


def _not_run(request: Request, summaries: Sequence[Summary]) -> list[str]:
    """Name the methods without a finished fold."""
    ended = {(summary.data, summary.method) for summary in summaries}
    left = [
        f"{method} on {', '.join(names)}"
        for method in request.methods
        if (names := [name for name in request.datasets if (name, method) not in ended])
    ]
    return [f"Not run: {'; '.join(left)}."] if left else []


def _scope(request: Request) -> list[str]:
    protocol = request.protocol
    if not request.is_quick:
        return []
    return [
        f"Quick: at most {protocol.most_rows} training rows, at most {protocol.most_basis} "
        f"centres, {len(protocol.C_pairs)} by {len(protocol.sigmas)} values of C and "
        "sigma. Run without --quick for the paper's protocol."
    ]


def _plan_curves(parameter: str, values: tuple, label: str) -> Callable:
    def plan(request: Request, say) -> Plan:
        curves = Curves(parameter, values)
        if request.is_quick:
            curves = replace(curves, most_basis=64, n_folds=2)

        def write(store: Store) -> list[Path]:
            finished = store.finished()
            figure = draw_curves(finished, request.datasets, curves, label)
            files = write_figure(figure, store.folder, request.what)
            return _write_lines(store, _last_lines(finished)) + files

        protocol = replace(FULL, seed=request.protocol.seed)
        settings = {"experiment": request.what, **curves.settings(), "seed": protocol.seed}
        return Plan(settings, curves.tasks(request.datasets, protocol), write, is_timed=True)

    return plan


def _plan_cores(request: Request, say) -> Plan:
    cores = Cores(n_basis=32, n_repeats=1) if request.is_quick else Cores()
    if missing_cores():
        say(
            "This machine does not have the cores for "
            f"{', '.join(map(str, missing_cores()))}. They are skipped."
        )

    def write(store: Store) -> list[Path]:
        finished = store.finished()
        files = write_figure(draw_cores(finished, request.datasets), store.folder, "figure3")
        return _write_lines(store, _last_lines(finished)) + files

    protocol = replace(FULL, seed=request.protocol.seed)
    settings = {"experiment": "figure3", **cores.settings(), "seed": protocol.seed}
    return Plan(settings, cores.tasks(request.datasets, protocol), write, is_timed=True)


def _last_lines(finished: dict) -> list[dict]:
    dropped = ("task", "done", "versions", "seconds", "cpu_seconds")
    return [{k: v for k, v in ls[-1].items() if k not in dropped} for ls in finished.values()]


def _write_lines(store: Store, lines: list[dict]) -> list[Path]:
    """Write the results by fold, after one line with the settings and all versions."""
    path = store.folder / "results.jsonl"
    head = {"settings": store.settings, "versions": store.versions() or [versions()]}
    text = (json.dumps(line, separators=(",", ":"), ensure_ascii=False) for line in (head, *lines))
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    return [path]


_PLANS = {
    "table1": _plan_table_1,
    "table2": _plan_comparison("Table II: AUC on folds", printed.TABLE_2),
    "table3": _plan_comparison("Table III: AUC on the official test part", printed.TABLE_3),
    "figure1": _plan_curves("retrain", ("always", "geometric", "doubling"), "Retraining"),
    "figure2": _plan_curves("n_candidates", (1, 10, 100), "Candidates (kappa)"),
    "figure3": _plan_cores,
}
_OFFERED = {
    "table1": DATASET_NAMES,
    "table2": tuple(printed.TABLE_2),
    "table3": tuple(printed.TABLE_3),
    "figure1": DATASET_NAMES,
    "figure2": DATASET_NAMES,
    "figure3": DATASET_NAMES,
}
_DEFAULT = {"figure1": SIX, "figure2": SIX, "figure3": LARGEST}
EXPERIMENT_NAMES = tuple(_PLANS)
