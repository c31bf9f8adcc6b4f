"""Profile a fit on several threads by pass.

    python -m benchmarks.speed.thread_profile --threads 1 2

For a fit of Figure 3, the script prints wall time, CPU time (user and system), CPU time inside and
outside of parallel tasks, the number of context switches, and a lower bound for the time on 16
cores. ``--copies N`` also runs N such fits at once, each in a process with one thread: passes that
do not become slower are not limited by memory.
"""

import argparse
import resource
import time
from collections import defaultdict

from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from reproduction.curves import C
from reproduction.data_sets import load_dataset
from reproduction.protocol import FULL, part_of
from skauc import Selection, SparseKernelAUC
from skauc.threads import RowThreads

CORES = 16
Calls = list[tuple[str, list[float]]]


class Recorder:
    """Record the CPU time of every task by pass."""

    def __init__(self):
        self.calls: Calls = []
        self._map = RowThreads.map

    def __enter__(self) -> "Recorder":
        recorder = self

        def recorded(threads, task, n_rows, block_rows):
            seconds = []
            recorder.calls.append((task.__qualname__.split(".<locals>")[0], seconds))

            def timed(start, stop):
                started = time.thread_time()
                try:
                    return task(start, stop)
                finally:
                    seconds.append(time.thread_time() - started)

            return recorder._map(threads, timed, n_rows, block_rows)

        RowThreads.map = recorded
        return self

    def __exit__(self, *exception) -> None:
        RowThreads.map = self._map


def span(seconds: list[float], n_cores: int) -> float:
    """Return the time of the tasks on several cores with greedy scheduling."""
    ends = [0.0] * n_cores
    for second in seconds:
        ends[ends.index(min(ends))] += second
    return max(ends)


def profile(name: str, n_threads: int, n_basis: int) -> tuple[dict, Calls]:
    """Fit and return totals and calls."""
    part = part_of(load_dataset(name), 0, 0, FULL).scaled(StandardScaler())
    rows = part.X_train, part.y_train
    greedy = SparseKernelAUC(
        8,
        C=C,
        refine=False,
        linear_term=False,
        selection=Selection("greedy", n_rows=None),
        random_state=0,
        n_jobs=n_threads,
    )
    clone(greedy).fit(*rows)  # loads compiled code
    before = resource.getrusage(resource.RUSAGE_SELF)
    with Recorder() as recorder:
        started, cpu_started = time.perf_counter(), time.thread_time()
        greedy.set_params(n_basis=n_basis).fit(*rows)
        seconds, serial = time.perf_counter() - started, time.thread_time() - cpu_started
    after = resource.getrusage(resource.RUSAGE_SELF)
    in_tasks = sum(sum(seconds) for _, seconds in recorder.calls)
    if n_threads == 1:
        serial -= in_tasks
    bound = serial + sum(span(seconds, CORES) for _, seconds in recorder.calls)
    totals = {
        "threads": n_threads,
        "fit": seconds,
        "user": after.ru_utime - before.ru_utime,
        "system": after.ru_stime - before.ru_stime,
        "in tasks": in_tasks,
        "serial": serial,
        "switches": after.ru_nvcsw - before.ru_nvcsw,
        "bound on 16": bound,
    }
    return totals, recorder.calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="ijcnn1")
    parser.add_argument("--centres", type=int, default=182)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--copies", type=int, default=0)
    asked = parser.parse_args()
    for n_threads in asked.threads:
        totals, calls = profile(asked.data, n_threads, asked.centres)
        print(", ".join(f"{k} {round(v, 2):g}" for k, v in totals.items()), flush=True)
        if n_threads == asked.threads[0]:
            show_passes(calls)
    if asked.copies:
        found = Parallel(asked.copies)(
            delayed(profile)(asked.data, 1, asked.centres) for _ in range(asked.copies)
        )
        seconds = sorted(round(totals["fit"], 2) for totals, _ in found)
        print(f"{asked.copies} fits at once, a process and a thread each: {seconds}")


def show_passes(calls: Calls) -> None:
    by_pass = defaultdict(list)
    for name, seconds in calls:
        by_pass[name].append(seconds)
    print("| pass | calls | tasks a call | processor seconds | on 16 cores at best |")
    print("| --- | --- | --- | --- | --- |")
    for name, found in sorted(by_pass.items(), key=lambda entry: -sum(map(sum, entry[1]))):
        n_tasks = sum(map(len, found)) / len(found)
        total, least = sum(map(sum, found)), sum(span(seconds, CORES) for seconds in found)
        print(f"| {name} | {len(found)} | {n_tasks:.1f} | {total:.2f} | {least:.2f} |")


if __name__ == "__main__":
    main()
