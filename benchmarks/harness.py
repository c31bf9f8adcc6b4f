"""Interleaved timing, the machine and its peaks, result lines and tables."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

PACKAGES = ("skauc", "numpy", "scipy", "scikit-learn", "numba", "xgboost", "lightgbm")
PROCESSOR_FILE = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class Options:
    """What to measure: numbers of threads, repeats and the fraction of the rows."""

    threads: tuple[int, ...] = (1, 2)
    repeats: int = 5
    scale: float = 1.0
    scratch: Path = Path("/tmp")

    @property
    def most_threads(self) -> int:
        """The number of threads of workloads that use only one."""
        return max(self.threads)

    def rows(self, n_rows: int) -> int:
        """Return a number of rows multiplied by the scale."""
        return max(int(n_rows * self.scale), 400)


@dataclass(frozen=True)
class Line:
    """One comparison of our cost with that of a peer.

    ``ratio`` is ours over theirs, each the best of interleaved rounds; ``lowest`` and ``highest``
    are ratios of single rounds. ``goal`` is the largest acceptable ratio.
    """

    workload: str
    what: str
    against: str
    ours: float
    theirs: float
    ratio: float
    lowest: float
    highest: float
    goal: float | None = None
    unit: str = "s"
    facts: dict = field(default_factory=dict)

    @property
    def reached(self) -> str:
        """Whether the goal is reached: 'yes', 'no' or an empty string."""
        return "" if self.goal is None else "yes" if self.ratio <= self.goal else "no"


def interleave(
    tasks: Mapping[str, Callable], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, np.ndarray]:
    """Return the seconds of each task in each round. A round runs all tasks in turn.

    Use CPU time (``time.process_time``) for tasks on one thread: other programs do not affect it.
    """
    seconds = {name: np.empty(repeats) for name in tasks}
    for turn in range(repeats):
        for name, task in tasks.items():
            started = clock()
            task()
            seconds[name][turn] = clock() - started
    return seconds


def clock_for(n_threads: int) -> Callable[[], float]:
    """Return the CPU clock for tasks on one thread, otherwise the wall clock."""
    return time.process_time if n_threads == 1 else time.perf_counter


def often(task: Callable, n_calls: int) -> Callable:
    """Return a task that repeats a task that is too short for the clock."""

    def repeated():
        for _ in range(n_calls):
            task()

    return repeated


def compare(
    workload: str,
    tasks: Mapping[str, Callable],
    repeats: int,
    *,
    goals: Mapping[str, float] | None = None,
    facts: dict | None = None,
    n_calls: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Line]:
    """Run the tasks in turn and compare the first with each of the others."""
    seconds = interleave(
        {name: often(task, n_calls) for name, task in tasks.items()}, repeats, clock
    )
    each = {name: rounds / n_calls for name, rounds in seconds.items()}
    return to_lines(workload, each, goals=goals, facts=facts)


def to_lines(
    workload: str, costs: Mapping[str, np.ndarray], *, goals=None, facts=None, unit="s"
) -> list[Line]:
    """Return lines that compare the first task with each of the others."""
    (what, ours), *others = costs.items()
    return [
        Line(
            workload=workload,
            what=what,
            against=against,
            ours=float(ours.min()),
            theirs=float(theirs.min()),
            ratio=float(ours.min() / theirs.min()),
            lowest=float((ours / theirs).min()),
            highest=float((ours / theirs).max()),
            goal=(goals or {}).get(against),
            unit=unit,
            facts=dict(facts or {}),
        )
        for against, theirs in others
    ]


# -- the machine ---------------------------------------------------------------------------------


def machine(options: Options) -> dict:
    """Return the processor, threads, load and versions."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": list(options.threads),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "versions": {name: found for name in PACKAGES if (found := _version(name))},
        "peaks, one thread": {name: round(value, 1) for name, value in peaks().items()},
    }


def _processor() -> str:
    if PROCESSOR_FILE.exists():
        for line in PROCESSOR_FILE.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


@cache
def peaks() -> dict[str, float]:
    """Measure the peak performance of one thread of this machine."""
    found = {}
    with threadpool_limits(1):
        for dtype in (np.float32, np.float64):
            name, size = np.dtype(dtype).name, 768
            square = np.full((size, size), 0.5, dtype)
            out = np.empty_like(square)
            product = _best(lambda a=square, o=out: np.matmul(a, a, out=o), 10)
            exponents = np.linspace(-8, 0, 1 << 15, dtype=dtype)
            values = np.empty_like(exponents)
            exponentials = _best(often(lambda e=exponents, v=values: np.exp(e, out=v), 100), 5)
            found[f"{name} GFlop/s"] = 2 * size**3 / product / 1e9
            found[f"{name} Gexp/s"] = 100 * len(exponents) / exponentials / 1e9
        source = np.zeros(1 << 26, np.float32)
        target = np.ones_like(source)
        found["copy GB/s"] = 2 * source.nbytes / _best(lambda: np.copyto(target, source), 5) / 1e9
    return found


def _best(task: Callable, repeats: int) -> float:
    return float(interleave({"task": task}, repeats, time.process_time)["task"].min())


# -- output --------------------------------------------------------------------------------------

COLUMNS = ("workload", "what", "against", "ours", "theirs", "ratio", "rounds", "goal", "")


def to_markdown(results: list[Line], facts: dict) -> str:
    """Return the lines as a Markdown table below a description of the machine."""
    rows = [
        (
            line.workload,
            _described(line),
            line.against,
            f"{line.ours:.3g} {line.unit}",
            f"{line.theirs:.3g} {line.unit}",
            f"{line.ratio:.3g}",
            f"{line.lowest:.2g} to {line.highest:.2g}",
            "" if line.goal is None else f"{line.goal:.3g}",
            line.reached,
        )
        for line in results
    ]
    head = [f"- {name}: {value}" for name, value in facts.items()]
    table = ["| " + " | ".join(row) + " |" for row in (COLUMNS, ("---",) * len(COLUMNS), *rows)]
    return "\n".join([*head, "", *table]) + "\n"


def _described(line: Line) -> str:
    facts = ", ".join(f"{name} {value}" for name, value in line.facts.items())
    return f"{line.what} ({facts})" if facts else line.what


def write(results: list[Line], facts: dict, folder: Path) -> None:
    """Write the table and its numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "speed.md").write_text(to_markdown(results, facts))
    content = {"machine": facts, "lines": [asdict(line) for line in results]}
    (folder / "speed.json").write_text(json.dumps(content, indent=1) + "\n")
