"""The cluster engine: bytes over the network, seconds of each pass, and a fit beside the CPU's.

    unshare -n sh -c "ip link set lo up && python -m benchmarks.cluster docs/results/cluster.json"

In a network namespace of its own, the counters of its loopback device see this cluster's traffic
and nothing else: every byte between client, scheduler and workers, headers included. Rows are made
on the workers. Seconds are those that workers spent in tasks, from the scheduler's own books.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from skauc import SparseKernelAUC
from skauc.engines import make_engine, read_training
from skauc.kernels import RBF

N_FEATURES = 20
N_CANDIDATES = 100
PARTS = 8
# Rows and centres: the last needs a gigabyte of columns, and more of both would not fit here.
TRAFFIC = ((100_000, 16), (1_000_000, 16), (10_000_000, 16), (100_000, 256), (1_000_000, 256))


def make_rows(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < 0.1
    X = rng.normal(size=(n_rows, N_FEATURES)).astype(np.float32)
    X[:, 0] += 1.2 * y * np.sign(X[:, 1])
    X[:, 2] += 0.8 * y
    return X, y.astype(np.int8)


def rows_on_workers(n_rows: int) -> tuple[da.Array, da.Array]:
    size = n_rows // PARTS
    made = [dask.delayed(make_rows, nout=2)(size, seed) for seed in range(PARTS)]
    X = da.concatenate([da.from_delayed(x, (size, N_FEATURES), np.float32) for x, _ in made])
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
    """Bytes, seconds of wall time, and seconds in tasks between its beginning and its end."""

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
    """Return the bytes a second of a cluster that has nothing to do: heartbeats."""
    with Meter(client) as meter:
        time.sleep(3)
    return meter.bytes / meter.seconds


def measure(client: Client, n_rows: int, n_basis: int, repeats: int = 2) -> dict:
    """Return what one Newton iteration and one more centre cost, with that many centres."""
    rng = np.random.default_rng(0)
    data = read_training("auto", SparseKernelAUC(), *rows_on_workers(n_rows))
    wait(data.blocks)
    kernel, idle = RBF(1 / N_FEATURES), idle_rate(client)
    results = {"rows": n_rows, "centres": n_basis, "workers": len(client.nthreads())}
    with make_engine(data, capacity=n_basis + repeats + 1, n_jobs=None) as engine:
        centres = rng.normal(size=(n_basis, N_FEATURES)).astype(np.float32)
        transform = np.triu(rng.normal(size=(n_basis, n_basis))) / n_basis + np.eye(n_basis)
        engine.replace(kernel, centres, transform, 0)
        state = curved = engine.at(rng.normal(size=n_basis) / n_basis)
        engine.hessian(state)  # compiles, and brings everything into place
        engine.candidate_slopes(state, curved, kernel, centres[:N_CANDIDATES], n_basis)
        with Meter(client) as meter:
            for _ in range(repeats):
                engine.gradient(state)
                engine.hessian(state)
                state = engine.step(state, engine.direction(np.full(n_basis, 1e-4)), 1.0)
        results["newton"] = per(repeats, meter.result(idle))
        random_state = np.random.RandomState(0)
        with Meter(client) as meter:
            for number in range(repeats):
                rows = engine.rows(engine.draw(N_CANDIDATES, [], random_state))
                size = n_basis + number
                engine.candidate_slopes(state, curved, kernel, rows, size)
                engine.append(kernel, rows[:1], np.full(size, 1e-3), 1.0)
                state = engine.step(state, engine.direction(np.full(size + 1, 1e-4)), 1.0)
                engine.gradient(state)
        results["centre"] = per(repeats, meter.result(idle))
    return results


def seconds_a_task(client: Client, n_tasks: int = 2000) -> float:
    """Return what the scheduler needs for one task that does nothing."""
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


def compare_fits(client: Client, n_rows: int, n_basis: int) -> dict:
    """Return the seconds of the same fit on the cluster and with as many threads here."""
    X, y = rows_on_workers(n_rows)
    model = SparseKernelAUC(n_basis, random_state=0)
    model.fit(X[: n_rows // PARTS], y[: n_rows // PARTS])
    with Meter(client) as meter:
        model.fit(X, y)
    cluster, objective = meter.seconds, model.path_[-1].objective
    rows = X.compute(), y.compute()
    del X, y
    started = time.perf_counter()
    local = SparseKernelAUC(n_basis, random_state=0, n_jobs=len(client.nthreads())).fit(*rows)
    cpu = time.perf_counter() - started
    return {
        "rows": n_rows,
        "centres": n_basis,
        "workers": len(client.nthreads()),
        "cluster_seconds": round(cluster, 1),
        "cpu_seconds": round(cpu, 1),
        "ratio": round(cluster / cpu, 2),
        "task_seconds": meter.tasks,
        "megabytes": round(meter.bytes / 1e6, 1),
        "objective_difference": objective / local.path_[-1].objective - 1,
    }


def start(n_workers: int = 2) -> LocalCluster:
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0"
    )


def main(path: str) -> None:
    results = {"traffic": [], "fits": []}
    with start() as cluster, Client(cluster) as client:
        results["seconds_a_task"] = seconds_a_task(client)
        for n_rows, n_basis in TRAFFIC:
            results["traffic"].append(measure(client, n_rows, n_basis))
            print(json.dumps(results["traffic"][-1]), flush=True)
            Path(path).write_text(json.dumps(results, indent=1) + "\n")
        for n_rows in (200_000, 1_000_000, 5_000_000):
            results["fits"].append(compare_fits(client, n_rows, 16))
            print(json.dumps(results["fits"][-1]), flush=True)
            Path(path).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
