"""What a fit would cost on a cluster: a simulation from measured passes, checked by real fits.

    python -m benchmarks.cluster_cost predict docs/results/cluster.json
    python -m benchmarks.cluster_cost check docs/results/cluster.json [megabits a second]

A fit is a sequence of passes. A pass costs the time of the slowest worker over its rows, the time
that the scheduler needs for its tasks, and that of the arrays that go up and down a tree of
workers. Seconds a row are those of `benchmarks.cluster`, and so are the seconds that a pass takes
without any rows; bytes are the formulas of the guide.

`check` needs root: every worker gets a network namespace of its own, as a host has, joined by a
bridge whose ports are limited to the given bandwidth.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from skauc.engines.block import COARSE_CELLS
from skauc.engines.cluster.pool import FAN_IN
from skauc.engines.cluster.reading import BLOCKS_PER_THREAD
from skauc.path import retraining_sizes

N_CANDIDATES = 100
N_FEATURES = 20
# Newton iterations of a retraining, and margins between the lowest and the highest score.
ITERATIONS = 3
MARGINS = 6
# Tasks of a pass for each block, and beyond them.
TASKS_A_BLOCK, OTHER_TASKS = 3, 4

NEWTON_PASSES, CENTRE_PASSES = 2, 3


@dataclass(frozen=True)
class Cluster:
    """Workers of one thread, the bandwidth of each in bytes a second, and the delay of a message.

    ``speed`` is that of a worker against those that were measured.
    """

    n_workers: int
    bandwidth: float
    delay: float = 0.0
    speed: float = 1.0


@dataclass(frozen=True)
class Measured:
    """Seconds in tasks for a row, at two numbers of centres, and those of an empty pass."""

    per_row: dict[str, dict[int, dict[str, float]]]
    pass_overhead: float
    seconds_a_task: float

    @classmethod
    def read(cls, path: str) -> Measured:
        """Return what `benchmarks.cluster` found on most rows, and the overhead on fewest."""
        stored = json.loads(Path(path).read_text())
        traffic = stored["traffic"]
        per_row: dict[str, dict[int, dict[str, float]]] = {"newton": {}, "centre": {}}
        for entry in sorted(traffic, key=lambda entry: entry["rows"]):
            for kind, by_centres in per_row.items():
                tasks = entry[kind]["task_seconds"]
                by_centres[entry["centres"]] = {
                    name: seconds / entry["rows"] for name, seconds in tasks.items()
                }
        smallest = min(traffic, key=lambda entry: (entry["rows"], entry["centres"]))
        passes = {"newton": NEWTON_PASSES, "centre": CENTRE_PASSES}
        idle = sum(
            smallest[kind]["seconds"]
            - sum(smallest[kind]["task_seconds"].values()) / smallest["workers"]
            for kind in passes
        )
        return cls(per_row, max(idle, 0.0) / sum(passes.values()), stored["seconds_a_task"])

    def seconds(self, kind: str, n_centres: int) -> float:
        """Return the seconds a row of a Newton iteration, or of a centre, on one worker."""
        (few, at_few), (many, at_many) = sorted(
            (centres, sum(tasks.values())) for centres, tasks in self.per_row[kind].items()
        )
        if kind == "centre":
            slope = (at_many - at_few) / (many - few)
            return max(at_few + slope * (n_centres - few), 0.0)
        # The Hessian is quadratic in the number of centres.
        square = (at_many / many - at_few / few) / (many - few)
        return max(n_centres * (at_few / few + square * (n_centres - few)), at_few / few)


def pass_bytes(kind: str, n_centres: int) -> float:
    """Return the bytes that one block sends up in a Newton iteration, or for a centre."""
    table = 2 * 3 * 8 * 1024 * MARGINS
    if kind == "newton":
        return table + 8 * n_centres * (2 * COARSE_CELLS + n_centres)
    candidates = 2 * COARSE_CELLS * (N_CANDIDATES + n_centres) + N_CANDIDATES * n_centres
    return table + 8 * candidates


def pass_seconds(measured: Measured, cluster: Cluster, kind: str, n_rows: int, m: int) -> float:
    """Return the seconds of a Newton iteration, or of one more centre."""
    n_passes = NEWTON_PASSES if kind == "newton" else CENTRE_PASSES
    work = measured.seconds(kind, m) * n_rows / cluster.n_workers / cluster.speed
    n_tasks = BLOCKS_PER_THREAD * cluster.n_workers * TASKS_A_BLOCK + OTHER_TASKS
    extra_tasks = max(n_tasks - (BLOCKS_PER_THREAD * 2 * TASKS_A_BLOCK + OTHER_TASKS), 0)
    overhead = n_passes * (measured.pass_overhead + extra_tasks * measured.seconds_a_task)
    levels = max(math.ceil(math.log(BLOCKS_PER_THREAD * cluster.n_workers, FAN_IN)), 1)
    # On each level one worker takes in the sums of the others of its group; then all get the table.
    fan_in = min(FAN_IN, BLOCKS_PER_THREAD * cluster.n_workers) - BLOCKS_PER_THREAD
    network = levels * max(fan_in, 0) * pass_bytes(kind, m) / cluster.bandwidth
    delays = n_passes * (2 * levels + 4) * cluster.delay
    return work + overhead + network + delays


def fit_seconds(measured: Measured, cluster: Cluster, n_rows: int, n_basis: int) -> float:
    """Return the seconds of a fit, reading not included."""
    retrained = retraining_sizes("geometric", n_basis)
    centres = sum(
        pass_seconds(measured, cluster, "centre", n_rows, m) for m in range(1, n_basis + 1)
    )
    newton = sum(
        (ITERATIONS + 1) * pass_seconds(measured, cluster, "newton", n_rows, m) for m in retrained
    )
    return centres + newton


def fit_memory(n_rows: int, n_basis: int, n_workers: int) -> float:
    """Return the bytes that a worker needs."""
    return 1.5 * 4 * n_rows * (N_FEATURES + n_basis + 24) / n_workers


def predict(path: str) -> None:
    measured = Measured.read(path)
    print("| rows | workers | centres | GB a worker | 1 Gbit/s | 10 Gbit/s |")
    print("| --- | --- | --- | --- | --- | --- |")
    for n_rows in (10**9, 10**10):
        for n_workers in (10, 100, 1000):
            for n_basis in (64, 256):
                times = [
                    fit_seconds(measured, Cluster(n_workers, rate, 2e-4), n_rows, n_basis)
                    for rate in (1.25e8, 1.25e9)
                ]
                memory = fit_memory(n_rows, n_basis, n_workers) / 1e9
                hours = " | ".join(f"{seconds / 3600:.2f} h" for seconds in times)
                print(f"| {n_rows:.0e} | {n_workers} | {n_basis} | {memory:.1f} | {hours} |")


# -- checks with real fits --------------------------------------------------------------------


def namespace(number: int) -> str:
    return f"skauc{number}"


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


def make_hosts(n_hosts: int, megabits: float) -> None:
    """Make a namespace with a bridge for client and scheduler, and one for each worker."""
    hub = namespace(0)
    ip("netns", "add", hub)
    ip("-n", hub, "link", "set", "lo", "up")
    ip("-n", hub, "link", "add", "bridge", "type", "bridge")
    ip("-n", hub, "addr", "add", "10.77.0.1/24", "dev", "bridge")
    ip("-n", hub, "link", "set", "bridge", "up")
    for number in range(1, n_hosts + 1):
        host, port = namespace(number), f"port{number}"
        ip("netns", "add", host)
        ip("-n", hub, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", host)
        ip("-n", hub, "link", "set", port, "master", "bridge", "up")
        ip("-n", host, "addr", "add", f"10.77.0.{number + 1}/24", "dev", "eth0")
        for where, device in ((hub, port), (host, "eth0")):
            ip("-n", where, "link", "set", device, "up")
            limit = ["rate", f"{megabits}mbit", "burst", "256kb", "latency", "100ms"]
            command = ["tc", "-n", where, "qdisc", "add", "dev", device, "root", "tbf", *limit]
            subprocess.run(command, check=True)
        ip("-n", host, "link", "set", "lo", "up")


def remove_hosts(n_hosts: int) -> None:
    for number in range(n_hosts + 1):
        subprocess.run(["ip", "netns", "del", namespace(number)], check=False)


def check(path: str, megabits: float) -> None:
    measured = Measured.read(path)
    for n_workers in (1, 2, 4):
        make_hosts(n_workers, megabits)
        try:
            command = [sys.executable, "-m", "benchmarks.cluster_cost", "fit", str(n_workers)]
            hub = ["ip", "netns", "exec", namespace(0)]
            done = subprocess.run([*hub, *command], check=True, capture_output=True, text=True)
        finally:
            remove_hosts(n_workers)
        real = json.loads(done.stdout.splitlines()[-1])
        cores = min(n_workers, 2) / n_workers
        cluster = Cluster(n_workers, megabits * 1.25e5, speed=cores)
        expected = fit_seconds(measured, cluster, real["rows"], real["centres"])
        print(
            f"{n_workers} workers at {megabits:g} Mbit/s, {real['rows']} rows, {real['centres']} "
            f"centres: {real['seconds']:.1f} s, simulated {expected:.1f} s",
            flush=True,
        )


def fit(n_workers: int, n_rows: int = 400_000, n_basis: int = 16) -> None:
    """Fit in this namespace with a worker in each of the others; print the seconds."""
    from distributed import Client, LocalCluster

    from benchmarks.cluster import rows_on_workers
    from skauc import SparseKernelAUC

    with (
        LocalCluster(n_workers=0, host="10.77.0.1", dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address]
        worker += ["--nthreads", "1", "--no-dashboard", "--no-nanny"]
        limits = ["env", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1"]
        workers = [
            subprocess.Popen(
                ["ip", "netns", "exec", namespace(number), *limits, *worker],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for number in range(1, n_workers + 1)
        ]
        try:
            client.wait_for_workers(n_workers, timeout=60)
            X, y = rows_on_workers(n_rows)
            SparseKernelAUC(4, random_state=0).fit(X, y)
            started = time.perf_counter()
            SparseKernelAUC(n_basis, random_state=0).fit(X, y)
            seconds = time.perf_counter() - started
        finally:
            for process in workers:
                process.kill()
                process.wait()
    print(json.dumps({"rows": n_rows, "centres": n_basis, "seconds": seconds}))


def main() -> None:
    command, *arguments = sys.argv[1:]
    if command == "predict":
        predict(*arguments)
    elif command == "check":
        check(arguments[0], float(arguments[1]) if arguments[1:] else 1000.0)
    else:
        fit(int(arguments[0]))


if __name__ == "__main__":
    main()
