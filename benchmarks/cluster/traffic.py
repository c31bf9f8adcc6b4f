"""Network traffic and time of the cluster engine, compared with the CPU engine.

    unshare -n sh -c "ip link set lo up && python -m benchmarks.cluster.traffic cluster.json"
    unshare -n sh -c "ip link set lo up && python -m benchmarks.cluster.traffic more.json
        10000000x256"
    python -m benchmarks.cluster.traffic fits.json 200000 1000000

The first form measures everything. The second measures traffic for rows times centres (this one
needs 14 GB of memory). The third compares fits.

In a separate network namespace, the counters of the loopback device include all traffic between
client, scheduler and workers and nothing else. Rows are generated on the workers. Seconds are the
time that workers spend in tasks, as recorded by the scheduler.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from skauc import Selection, SparseKernelAUC
from skauc.data.statistics import feature_statistics, overall_variance
from skauc.engines import OrthonormalColumns, make_engine, read_training
from skauc.engines.passes import Centres, Derivatives, Gradient
from skauc.kernels import RBF

N_FEATURES = 20
N_CANDIDATES = 100
PARTS = 8
# Fits whose passes are over all rows.
PLAIN = {"refine": False, "linear_term": False, "selection": Selection(n_rows=None)}
FITS = (200_000, 1_000_000, 5_000_000)
# Rows and centres. The last setting needs a gigabyte of columns.
TRAFFIC = ((100_000, 16), (1_000_000, 16), (10_000_000, 16), (100_000, 256), (1_000_000, 256))


def make_rows(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < 0.1
    X = rng.normal(size=(n_rows, N_FEATURES)).astype(np.float32)
    X[:, 0] += 1.2 * y * np.sign(X[:, 1])
    X[:, 2] += 0.8 * y
    return X, y.astype(np.int8)


def rows_on_workers(
    n_rows: int, make=make_rows, n_features: int = N_FEATURES
) -> tuple[da.Array, da.Array]:
    """Return rows generated on the workers, one partition per seed."""
    size = n_rows // PARTS
    made = [dask.delayed(make, nout=2)(size, seed) for seed in range(PARTS)]
    X = da.concatenate([da.from_delayed(x, (size, n_features), np.float32) for x, _ in made])
    y = da.concatenate([da.from_delayed(label, (size,), np.int8) for _, label in made])
    X, y = dask.persist(X, y)
    wait([X, y])
    return X, y


def bytes_sent() -> int:
    lines = Path("/proc/net/dev").read_text().splitlines()[2:]
    return sum(int(line.split(":")[1].split()[8]) for line in lines)


def task_seconds(client: Client) -> dict[str, float]:
    def read(dask_scheduler):
        prefixes = dask_scheduler.task_prefixes.items()
        return {name: prefix.all_durations.get("compute", 0.0) for name, prefix in prefixes}

    return client.run_on_scheduler(read)


class Meter:
    """Bytes, wall time and time in tasks within a ``with`` block."""

    def __init__(self, client: Client):
        self.client = client

    def __enter__(self) -> Meter:
        self.tasks, self.bytes = task_seconds(self.client), bytes_sent()
        self.started = time.perf_counter()
        return self

    def __exit__(self, *exception) -> None:
        self.seconds = time.perf_counter() - self.started
        self.bytes = bytes_sent() - self.bytes
        after = task_seconds(self.client)
        self.tasks = {
            name: round(seconds - self.tasks.get(name, 0.0), 4)
            for name, seconds in after.items()
            if name.startswith("skauc") and seconds > self.tasks.get(name, 0.0)
        }

    def result(self, idle: float) -> dict:
        return {
            "megabytes": round((self.bytes - idle * self.seconds) / 1e6, 3),
            "seconds": round(self.seconds, 3),
            "task_seconds": self.tasks,
        }


def idle_rate(client: Client) -> float:
    """Return the bytes per second of an idle cluster (heartbeats)."""
    with Meter(client) as meter:
        time.sleep(3)
    return meter.bytes / meter.seconds


def measure(client: Client, n_rows: int, n_basis: int, repeats: int = 2) -> dict:
    """Return the cost of each part of a fit."""
    rng = np.random.default_rng(0)
    kernel, idle = RBF(1 / N_FEATURES), idle_rate(client)
    results = {"rows": n_rows, "centres": n_basis, "workers": len(client.nthreads())}
    rows = rows_on_workers(n_rows)
    with Meter(client) as meter:
        data = read_training("auto", SparseKernelAUC(), *rows)
        feature_statistics(data)
        overall_variance(data)
        engine = make_engine(data, capacity=n_basis + repeats + 1, n_jobs=None)
    results["start"] = per(1, meter.result(idle))
    del rows
    with engine:
        centres = rng.normal(size=(n_basis, N_FEATURES)).astype(np.float32)
        transform = np.triu(rng.normal(size=(n_basis, n_basis))) / n_basis + np.eye(n_basis)
        nothing = np.zeros((0, n_basis))
        engine.append(OrthonormalColumns(kernel, centres, nothing, transform))
        state = engine.at(rng.normal(size=n_basis) / n_basis)
        engine.ask(Derivatives(n_basis), state)  # compiles everything
        engine.ask(Derivatives(n_basis, Centres(kernel, centres[:N_CANDIDATES])), state)
        with Meter(client) as meter:
            for _ in range(repeats):
                engine.ask(Derivatives(n_basis), state)
                state = engine.step(state, engine.direction(np.full(n_basis, 1e-4)), 1.0)
        results["newton"] = per(repeats, meter.result(idle))
        random_state = np.random.RandomState(0)
        with Meter(client) as meter:
            for number in range(repeats):
                _, rows = engine.draw(N_CANDIDATES, [], random_state)
                size = n_basis + number
                engine.ask(Derivatives(size, Centres(kernel, rows)), state)
                projection = np.full((size, 1), 1e-3)
                engine.append(OrthonormalColumns(kernel, rows[:1], projection, np.eye(1)))
                state = engine.step(state, engine.direction(np.full(size + 1, 1e-4)), 1.0)
                engine.ask(Gradient(size + 1), state)
        results["centre"] = per(repeats, meter.result(idle))
        with Meter(client) as meter:
            engine.quality(state)
        results["quality"] = per(1, meter.result(idle))
    return results


def seconds_per_task(client: Client, n_tasks: int = 2000) -> float:
    """Return the scheduler's time per empty task."""
    started = time.perf_counter()
    wait(client.map(str, range(n_tasks), pure=False))
    return (time.perf_counter() - started) / n_tasks


def per(repeats: int, result: dict) -> dict:
    tasks = {name: seconds / repeats for name, seconds in result["task_seconds"].items()}
    return {
        "megabytes": result["megabytes"] / repeats,
        "seconds": result["seconds"] / repeats,
        "task_seconds": tasks,
    }


def processor_seconds(client: Client) -> float:
    """Return the CPU time of the workers and of this process, which runs the scheduler."""
    return time.process_time() + sum(client.run(time.process_time).values())


def compare_fits(client: Client, n_rows: int, n_basis: int, repeats: int = 2) -> dict:
    """Return the seconds of the same fit on the cluster and on the CPU engine, in turn."""
    X, y = rows_on_workers(n_rows)
    rows = X.compute(), y.compute()
    n_workers = len(client.nthreads())
    cluster = SparseKernelAUC(n_basis, random_state=0, **PLAIN)
    local = SparseKernelAUC(n_basis, random_state=0, n_jobs=n_workers, **PLAIN)
    for model, data in ((cluster, (X, y)), (local, rows)):
        model.fit(*(part[: n_rows // PARTS] for part in data))
    taken = []
    for model, data in repeats * [(cluster, (X, y)), (local, rows)]:
        before = time.perf_counter(), processor_seconds(client)
        model.fit(*data)
        after = time.perf_counter(), processor_seconds(client)
        taken.append(np.subtract(after, before).tolist())
    return {
        "rows": n_rows,
        "centres": n_basis,
        "workers": n_workers,
        "load": os.getloadavg()[0],
        "cluster": {"seconds, processor seconds": taken[::2]},
        "cpu": {"seconds, processor seconds": taken[1::2]},
        "ratios": np.divide(np.sum(taken[::2], axis=0), np.sum(taken[1::2], axis=0)).tolist(),
        "objective_difference": cluster.path_[-1].objective / local.path_[-1].objective - 1,
    }


def start(n_workers: int = 2) -> LocalCluster:
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=":0",
        memory_limit=0,
    )


def main(path: str, *sizes: str) -> None:
    """Measure traffic for rows times centres and fits for rows; by default all sizes."""
    pairs = [tuple(map(int, size.split("x"))) for size in sizes if "x" in size]
    fits = [int(size) for size in sizes if "x" not in size]
    results = {"traffic": [], "fits": []}
    with start() as cluster, Client(cluster) as client:
        results["seconds_per_task"] = seconds_per_task(client)
        for n_rows, n_basis in pairs if sizes else TRAFFIC:
            results["traffic"].append(measure(client, n_rows, n_basis))
            print(json.dumps(results["traffic"][-1]), flush=True)
            Path(path).write_text(json.dumps(results, indent=1) + "\n")
        for n_rows in fits if sizes else FITS:
            results["fits"].append(compare_fits(client, n_rows, 16))
            print(json.dumps(results["fits"][-1]), flush=True)
            Path(path).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
