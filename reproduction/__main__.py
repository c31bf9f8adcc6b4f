"""Reproduce the paper's tables and figures: ``python -m reproduction table2 --quick``.

Only the library itself is needed to measure (``--only measure``). Tables and figures need the
extra ``reproduction``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from reproduction import EXPERIMENT_NAMES, reproduce
from skauc.exceptions import InvalidDataError, InvalidParameterError, MissingPackageError

BAD_INPUT, INTERRUPTED = 2, 130
SECONDS_BETWEEN_LINES = 15.0


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m reproduction",
        description="Reproduce one of the paper's tables or figures. An interrupted run resumes "
        "when the same command is given again.",
    )
    parser.add_argument("what", metavar="WHAT", help=f"one of {', '.join(EXPERIMENT_NAMES)}")
    parser.add_argument(
        "--datasets", action="append", metavar="NAMES", help="data sets, separated by commas"
    )
    parser.add_argument(
        "--methods",
        action="append",
        metavar="NAMES",
        help="methods of Tables II and III, separated by commas",
    )
    parser.add_argument(
        "--runs", type=int, dest="n_runs", help="runs of five folds (default: 4; 1 with --quick)"
    )
    parser.add_argument(
        "--nested-runs",
        type=int,
        help="runs in which settings are also chosen by nested folds; 0 for the paper's protocol",
    )
    parser.add_argument(
        "--quick", action="store_true", help="a coarse grid on few rows: minutes instead of hours"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="output folder (default: results/WHAT)"
    )
    parser.add_argument(
        "--jobs", type=int, default=1, dest="n_jobs", help="parallel tasks; -1 for one per core"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed of folds and fits")
    parser.add_argument(
        "--device", default="cpu", help="torch device for the matrices of KernelRankSVM"
    )
    parser.add_argument(
        "--only",
        metavar="STEP",
        help="'measure' writes results and draws nothing; 'draw' draws existing results",
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one experiment and print the files that it wrote. Return the exit status."""
    options = vars(parse(arguments))
    options["datasets"] = _names(options["datasets"])
    options["methods"] = _names(options["methods"])
    try:
        files = reproduce(**options, progress=_Progress(options["what"]), say=_say)
    except KeyboardInterrupt:
        _say("Interrupted. Finished tasks are kept; run the same command to resume.")
        return INTERRUPTED
    except (InvalidDataError, InvalidParameterError, MissingPackageError, OSError) as error:
        _say(" ".join(str(error).split()))
        return BAD_INPUT
    for path in files:
        print(path)
    return 0


class _Progress:
    """Writes the number of finished tasks to standard error, at most every few seconds."""

    def __init__(self, what: str):
        self.what = what
        self.started = self.last_written = time.monotonic()

    def __call__(self, n_done: int, n_tasks: int, last: str) -> None:
        now = time.monotonic()
        if n_tasks == 0 or (n_done < n_tasks and now < self.last_written + SECONDS_BETWEEN_LINES):
            return
        self.last_written = now
        seconds = now - self.started
        _say(f"{self.what}: {n_done}/{n_tasks} tasks in {seconds:.0f} s, last {last}")


def _names(values: list[str] | None) -> list[str] | None:
    """Return the names of a repeatable option whose values are separated by commas."""
    if not values:
        return None
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
