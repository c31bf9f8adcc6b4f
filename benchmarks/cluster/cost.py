"""Simulate the cost of a fit on a cluster from measured parts.

    python -m benchmarks.cluster.cost constants.json

A fit without refinement, whose centres are chosen on all rows, consists of a start and of each
retraining: the choice of the centres up to it, its Newton iterations and its quality.
The cost of each part is the sum of

- the time of the slowest worker on its rows, from measured seconds per row;
- the time without rows: dask's messages and the scheduler's time per task;
- the transfer of sums within a tree of workers and of the resulting table to all workers, limited
  by the bandwidth or by TCP's slow start; at the start, the transfer of rows to their blocks;
- the number of sequential messages times the delay.

Bytes and tasks follow from the engine's arrays and passes. `benchmarks.cluster.check` measures the
other constants and compares the simulation with real fits.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

from skauc.engines import SizePolicy
from skauc.engines.cluster.pool import FAN_IN
from skauc.engines.cluster.reading import BLOCKS_PER_THREAD
from skauc.engines.tables import N_PLACES
from skauc.sparse.sizes import retraining_sizes

N_CANDIDATES = 100
N_FEATURES = 20
# Tasks per block of each part, and sequential reductions.
TASKS = {"start": 6, "centre": 6, "newton": 4, "quality": 1}
REDUCTIONS = {"start": 4, "centre": 3, "newton": 3, "quality": 1}
# Messages per level of a tree: done, start, fetch and answer.
HOPS_A_LEVEL = 4
# Bytes per row: float32 features, label and weight.
ROW_BYTES = 4 * N_FEATURES + 9
# Packets in TCP's first window.
FIRST_WINDOW = 10


@dataclass(frozen=True)
class Cluster:
    """Workers with one thread; bytes per second, delay and packet size of each link.

    ``speed`` is the speed of a worker relative to the measured workers.
    """

    n_workers: int
    bandwidth: float
    delay: float = 0.0
    packet: float = 1460.0
    speed: float = 1.0

    @property
    def n_levels(self) -> int:
        """Levels of a tree of sums."""
        return max(math.ceil(math.log(BLOCKS_PER_THREAD * self.n_workers, FAN_IN) - 1e-9), 1)

    def transfer(self, n_bytes: float, n_senders: int = 1) -> float:
        """Return the seconds in which one host receives bytes over several connections."""
        if not n_bytes:
            return 0.0
        window = FIRST_WINDOW * self.packet
        rounds = math.log2(1 + n_bytes / n_senders / window)
        return max(n_bytes / self.bandwidth, 2 * self.delay * rounds)


@dataclass(frozen=True)
class Measured:
    """Constants measured by `benchmarks.cluster.check`.

    Per part: seconds per row at two numbers of centres, and for one and two workers the seconds
    without rows and the number of sequential messages.
    """

    per_row: dict[str, list[tuple[int, float]]]
    overhead: dict[str, dict[int, float]]
    hops: dict[str, dict[int, float]]
    seconds_per_task: float
    iterations: float
    margins: float

    @classmethod
    def read(cls, stored: dict) -> Measured:
        """Return the constants from JSON."""
        by_number = {
            name: {
                kind: {int(n): x for n, x in part.items()} for kind, part in stored[name].items()
            }
            for name in ("overhead", "hops")
        }
        return cls(**{**stored, **by_number})

    def work(self, kind: str, n_centres: int) -> float:
        """Return the seconds per row on one worker."""
        (few, at_few), (many, at_many) = self.per_row[kind]
        if kind == "newton":
            # One term per column and one term per pair of columns.
            square = (at_many / many - at_few / few) / (many - few)
            return max(n_centres * (at_few / few + square * (n_centres - few)), 0.0)
        slope = max((at_many - at_few) / (many - few), 0.0)
        return max(at_few + slope * (n_centres - few), 0.0)


def part_bytes(kind: str, n_centres: int, margins: float) -> float:
    """Return the bytes that one block sends to the tree of sums."""
    if kind == "start":
        return 0.0
    if kind == "quality":
        return 2 * 8 * N_PLACES
    n_columns = n_centres if kind == "newton" else n_centres + N_CANDIDATES
    return table_bytes(margins) + 8 * n_columns * (2 * SizePolicy.coarse_cells + n_columns)


def table_bytes(margins: float) -> float:
    """Return the bytes of one table of scores."""
    return 2 * 3 * 8 * 1024 * margins


def network_seconds(cluster: Cluster, kind: str, n_centres: int, margins: float) -> float:
    """Return the seconds to reduce sums level by level and to broadcast a table."""
    part = part_bytes(kind, n_centres, margins)
    n_others = min(cluster.n_workers - 1, FAN_IN // BLOCKS_PER_THREAD - 1)
    seconds = cluster.transfer(BLOCKS_PER_THREAD * n_others * part, max(n_others, 1))
    seconds += (cluster.n_levels - 1) * cluster.transfer((FAN_IN - 1) * part, FAN_IN - 1)
    if kind in ("centre", "newton"):
        n_copies = min(cluster.n_workers - 1, 2 * math.ceil(math.log2(cluster.n_workers)) + 1)
        seconds += cluster.transfer(n_copies * table_bytes(margins), max(n_copies, 1))
    return seconds


def piece_seconds(measured: Measured, cluster: Cluster, kind: str, n_rows: int, m: int) -> float:
    """Return the seconds of one part of a fit with m centres."""
    known = min(cluster.n_workers, 2)
    extra_blocks = BLOCKS_PER_THREAD * (cluster.n_workers - known)
    overhead = measured.overhead[kind][known] / min(cluster.speed, 1.0)
    overhead += extra_blocks * TASKS[kind] * measured.seconds_per_task
    hops = measured.hops[kind][known]
    hops += HOPS_A_LEVEL * REDUCTIONS[kind] * (cluster.n_levels - 1)
    work = measured.work(kind, m) * n_rows / cluster.n_workers / cluster.speed
    network = network_seconds(cluster, kind, m, measured.margins)
    if kind == "start":
        moved = ROW_BYTES * n_rows / cluster.n_workers * (1 - 1 / cluster.n_workers)
        network += cluster.transfer(moved)
    return work + overhead + network + hops * cluster.delay


def fit_seconds(measured: Measured, cluster: Cluster, n_rows: int, n_basis: int) -> float:
    """Return the seconds of a fit of rows in the workers' memory."""

    def cost(kind, m):
        return piece_seconds(measured, cluster, kind, n_rows, m)

    retrained = retraining_sizes("doubling", n_basis)
    centres = sum(cost("centre", m) for m in retrained)
    newton = sum((measured.iterations + 1) * cost("newton", m) for m in retrained)
    return cost("start", 0) + centres + newton + sum(cost("quality", m) for m in retrained)


def fit_memory(n_rows: int, n_basis: int, n_workers: int) -> float:
    """Return the bytes per worker."""
    return 1.5 * 4 * n_rows * (N_FEATURES + n_basis + 24) / n_workers


def main(path: str) -> None:
    measured = Measured.read(json.loads(Path(path).read_text()))
    print("| rows | workers | centres | GB a worker | 1 Gbit/s, 0.2 ms | 10 Gbit/s, 0.05 ms |")
    print("| --- | --- | --- | --- | --- | --- |")
    for n_rows in (10**9, 10**10):
        for n_workers in (10, 100, 1000):
            for n_basis in (64, 256):
                times = [
                    fit_seconds(measured, Cluster(n_workers, *link), n_rows, n_basis)
                    for link in ((1.25e8, 2e-4), (1.25e9, 5e-5))
                ]
                memory = fit_memory(n_rows, n_basis, n_workers) / 1e9
                hours = " | ".join(f"{seconds / 3600:.2f} h" for seconds in times)
                print(f"| {n_rows:.0e} | {n_workers} | {n_basis} | {memory:.1f} | {hours} |")


if __name__ == "__main__":
    main(sys.argv[1])
