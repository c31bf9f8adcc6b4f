"""Measure for the paper's tables and figures where only the library itself is installed.

    python -m benchmarks.measure_paper table2 --runs 4 --jobs 16 --out results/table2

takes the options of ``skauc reproduce`` and writes the same lines, without the command line's
packages and without drawing. Stopped, the same command goes on. Each process has one thread.
``skauc reproduce WHAT --only draw --out FOLDER`` makes the table or figure of the lines there.
"""

import argparse
import time

from reproduction import EXPERIMENT_NAMES, reproduce


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=EXPERIMENT_NAMES)
    parser.add_argument("--datasets", nargs="+")
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--runs", type=int, dest="n_runs")
    parser.add_argument("--nested-runs", type=int)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--jobs", type=int, default=1, dest="n_jobs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu", help="torch's, for KernelRankSVM's matrices")
    started = last_told = time.monotonic()

    def tell(n_done: int, n_tasks: int, last: str) -> None:
        nonlocal last_told
        if n_done == n_tasks or time.monotonic() > last_told + 15:
            last_told = time.monotonic()
            print(f"{last_told - started:.0f} s: {n_done} of {n_tasks}, {last}", flush=True)

    reproduce(**vars(parser.parse_args()), only="measure", progress=tell, say=print)


if __name__ == "__main__":
    main()
