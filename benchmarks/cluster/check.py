"""Compare the simulation of `benchmarks.cluster.cost` with real fits, and measure its constants.

    python -m benchmarks.cluster.check constants constants.json
    python -m benchmarks.cluster.check check check.json [megabits per second ...]

Each worker, and the scheduler with the client, is a host behind a link of
`benchmarks.cluster.slow_link`. This needs root. For each bandwidth, ``check`` measures the
constants, writes down the predictions for all settings, and then fits.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster

from benchmarks.cluster.cost import TASKS, Cluster, Measured, fit_seconds, network_seconds
from benchmarks.cluster.slow_link import address, hosts, inside, packet_size
from benchmarks.cluster.traffic import (
    PLAIN,
    make_rows,
    measure,
    rows_on_workers,
    seconds_per_task,
)
from skauc import SparseKernelAUC

N_ROWS, N_BASIS = 200_000, 16
# Rows for measuring the overhead and the work, and the delay for counting messages.
FEW_ROWS, MANY_ROWS = 20_000, 400_000
MEGABITS, DELAY = 1000.0, 0.02
# Settings of the check.
BANDWIDTHS, DELAYS, WORKERS = (1000, 50), (0.0, 0.002, 0.02), (1, 2, 4)
HUB = 0


# -- on the hosts -----------------------------------------------------------------------------


def on_hosts(n_workers: int, megabits: float, delay: float, *what: str):
    """Run one of `TASKS_HERE` on the scheduler's host, with workers on other hosts."""
    with hosts(n_workers + 1, megabits, delay):
        command = [sys.executable, "-m", "benchmarks.cluster.check", "here", str(n_workers), *what]
        done = subprocess.run(inside(HUB, *command), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def here(n_workers: int, what: str, *sizes: str) -> None:
    """Start a scheduler here and workers on the other hosts, and print the result of a task."""
    with (
        LocalCluster(n_workers=0, host=address(HUB), dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address]
        worker += ["--nthreads", "1", "--no-dashboard", "--no-nanny"]
        limits = ["env", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        workers = [
            subprocess.Popen(inside(number, *limits, *worker), **quiet)
            for number in range(1, n_workers + 1)
        ]
        try:
            client.wait_for_workers(n_workers, timeout=60)
            found = {"pieces": measure_pieces, "fit": fit}[what](client, *sizes)
        finally:
            for process in workers:
                process.kill()
                process.wait()
    print(json.dumps(found))


def measure_pieces(client: Client, *sizes: str) -> dict:
    """Return the cost of each part of a fit."""
    numbers = [tuple(map(int, size.split("x"))) for size in sizes]
    SparseKernelAUC(4, random_state=0, **PLAIN).fit(*rows_on_workers(FEW_ROWS))
    return {
        "seconds_per_task": seconds_per_task(client, 300),
        "pieces": [measure(client, *size, repeats=4) for size in numbers],
    }


def fit(client: Client) -> dict:
    """Return the seconds of a fit, after a smaller fit that compiles everything."""
    X, y = rows_on_workers(N_ROWS)
    SparseKernelAUC(4, random_state=0, **PLAIN).fit(X, y)
    started = time.perf_counter()
    SparseKernelAUC(N_BASIS, random_state=0, **PLAIN).fit(X, y)
    return {"seconds": time.perf_counter() - started}


# -- constants --------------------------------------------------------------------------------


def constants(work_sizes: tuple[str, ...]) -> dict:
    """Return the fields of `Measured`."""
    few = f"{FEW_ROWS}x{N_BASIS}"
    near = {1: on_hosts(1, MEGABITS, 0.0, "pieces", few)}
    near[2] = on_hosts(2, MEGABITS, 0.0, "pieces", few, *work_sizes)
    far = {n: on_hosts(n, MEGABITS, DELAY, "pieces", few) for n in (1, 2)}
    rows = make_rows(50_000, 0)
    model = SparseKernelAUC(N_BASIS, random_state=0, **PLAIN).fit(*rows)
    margins = float(np.ptp(model.decision_function(rows[0]))) + 1
    work = near[2]["pieces"][1:]
    found = {"per_row": {}, "overhead": {}, "hops": {}}
    for kind in TASKS:
        found["per_row"][kind] = [
            (one["centres"], sum(one[kind]["task_seconds"].values()) / one["rows"]) for one in work
        ]
        found["overhead"][kind] = {n: _beside_tasks(one, kind, n) for n, one in near.items()}
        found["hops"][kind] = {
            n: _hops(kind, n, near[n]["pieces"][0], far[n]["pieces"][0], margins) for n in near
        }
    found["seconds_per_task"] = near[2]["seconds_per_task"]
    found["iterations"] = float(np.mean([record.n_iter for record in model.path_]))
    return {**found, "margins": margins}


def _beside_tasks(measured: dict, kind: str, n_workers: int) -> float:
    """Return the seconds of a part during which no worker runs a task."""
    piece = measured["pieces"][0][kind]
    seconds = piece["seconds"] - sum(piece["task_seconds"].values()) / n_workers
    return max(seconds, 0.0)


def _hops(kind: str, n_workers: int, near: dict, far: dict, margins: float) -> float:
    """Return the number of sequential messages, from the effect of a delay."""
    links = [
        Cluster(n_workers, MEGABITS * 1.25e5, delay, packet_size(MEGABITS * 1.25e5))
        for delay in (0.0, DELAY)
    ]
    transfers = [network_seconds(link, kind, N_BASIS, margins) for link in links]
    added = far[kind]["seconds"] - near[kind]["seconds"] - (transfers[1] - transfers[0])
    return max(added / DELAY, 0.0)


# -- the check --------------------------------------------------------------------------------


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def simulate(measured: Measured, n_workers: int, megabits: float, delay: float) -> float:
    """Return the seconds of the fit; all workers share the cores of this machine."""
    speed = min(os.cpu_count() / n_workers, 1.0)
    bandwidth = megabits * 1.25e5
    cluster = Cluster(n_workers, bandwidth, delay, packet_size(bandwidth), speed)
    return fit_seconds(measured, cluster, N_ROWS, N_BASIS)


def check(path: str, *bandwidths: str) -> None:
    """For each bandwidth: measure, predict, write the prediction, then fit."""
    groups = []
    for megabits in map(float, bandwidths or BANDWIDTHS):
        measured = constants((f"{MANY_ROWS}x4", f"{MANY_ROWS}x{N_BASIS}"))
        group = {"measured_at": now(), "constants": measured, "settings": []}
        group["settings"] = [
            {"workers": n, "megabits": megabits, "delay": delay}
            for delay in DELAYS
            for n in WORKERS
        ]
        groups.append(group)
        for setting in group["settings"]:
            model = Measured.read(json.loads(json.dumps(measured)))
            setting["simulated"] = simulate(model, *list(setting.values())[:3])
        Path(path).write_text(json.dumps(groups, indent=1) + "\n")
        for setting in group["settings"]:
            place = setting["workers"], setting["megabits"], setting["delay"]
            setting["real"] = on_hosts(*place, "fit")["seconds"]
            setting["fitted_at"] = now()
            Path(path).write_text(json.dumps(groups, indent=1) + "\n")
            print(_line(setting), flush=True)


def _line(setting: dict) -> str:
    real, simulated = setting["real"], setting["simulated"]
    return (
        f"| {setting['workers']} | {setting['megabits']:g} | {1e3 * setting['delay']:g} "
        f"| {real:.1f} s | {simulated:.1f} s | {real / simulated:.2f} |"
    )


def main() -> None:
    command, *arguments = sys.argv[1:]
    if command == "here":
        here(int(arguments[0]), *arguments[1:])
    elif command == "constants":
        found = constants((f"{MANY_ROWS}x{N_BASIS}", "200000x256"))
        Path(arguments[0]).write_text(json.dumps(found, indent=1) + "\n")
    else:
        check(*arguments)


if __name__ == "__main__":
    main()
