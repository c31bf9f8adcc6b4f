"""Ten fits, each with a worker killed at a random moment.

    python -m benchmarks.cluster.kills

A worker process receives SIGKILL between the first and the last centre. The model is compared with
that of the CPU engine.
"""

from __future__ import annotations

import os
import signal
import threading
import time

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from sklearn.base import clone
from sklearn.datasets import make_classification

from benchmarks.cluster.traffic import PLAIN
from skauc import SparseKernelAUC

N_FITS = 10


def fit_and_kill(model, rows, seed: int) -> tuple[SparseKernelAUC, float]:
    """Return the fitted model and the time at which a worker was killed."""
    rng = np.random.default_rng(seed)
    X, y = rows
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        delay = rng.uniform(0.5, 8.0)
        victim = list(client.run(os.getpid).values())[int(rng.integers(2))]
        timer = threading.Timer(delay, os.kill, (victim, signal.SIGKILL))
        timer.start()
        data = da.from_array(X, chunks=(3000, -1)), da.from_array(y, chunks=3000)
        fitted = clone(model).fit(*data)
        was_in_time = not timer.is_alive()
        timer.cancel()
    return fitted, delay if was_in_time else np.nan


def main() -> None:
    rows = make_classification(12_000, 6, weights=[0.8], flip_y=0.1, random_state=0)
    model = SparseKernelAUC(24, random_state=0, **PLAIN)
    expected = clone(model).fit(*rows)
    for seed in range(N_FITS):
        started = time.perf_counter()
        fitted, delay = fit_and_kill(model, rows, seed)
        seconds = time.perf_counter() - started
        is_same = np.array_equal(fitted.basis_indices_, expected.basis_indices_)
        error = fitted.path_[-1].objective / expected.path_[-1].objective - 1
        print(
            f"fit {seed}: worker killed after {delay:.1f} s of {seconds:.1f}; same centres: "
            f"{is_same}, objective off by {error:.1e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
