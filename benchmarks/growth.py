"""Time and peak memory against the number of rows, one fresh process a size.

    python -m benchmarks.growth [--rows 100000 1000000] [--n-basis 64] [--jobs 2]

Memory is the peak above the interpreter with everything imported and compiled, data included,
next to rows * (n_basis + features) * 4 bytes, which is what the columns and the data take.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

N_FEATURES = 20


def make_rows(n_rows: int, seed: int = 0):
    """Return float32 rows, one in ten positive, with a nonlinear border."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, N_FEATURES), dtype=np.float32)
    signal = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3]
    signal += 0.5 * rng.standard_normal(n_rows, dtype=np.float32)
    return X, signal > np.quantile(signal[:10_000], 0.9)


def measure(n_rows: int, n_basis: int, selection: str, n_jobs: int) -> dict:
    """Fit once in this process, after a small fit that compiles everything."""
    from skauc import SparseKernelAUC

    model = SparseKernelAUC(n_basis, C=10, selection=selection, n_jobs=n_jobs, random_state=0)
    model.fit(*make_rows(20_000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    X, y = make_rows(n_rows)
    started = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {
        "rows": n_rows,
        "seconds": round(seconds, 2),
        "peak_mb": round(peak / 1024),
        "ratio": round(peak * 1024 / (n_rows * (n_basis + N_FEATURES) * 4), 2),
        "train_auc": round(model.path_[-1].train_auc, 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--n-basis", type=int, default=64)
    parser.add_argument("--selection", default="greedy")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--here", action="store_true", help="measure in this process")
    options = parser.parse_args()
    if options.here:
        print(
            json.dumps(measure(options.rows[0], options.n_basis, options.selection, options.jobs))
        )
        return
    print("| rows | seconds | peak MB | peak / (rows * (n_basis + features) * 4) | train AUC |")
    print("| --- | --- | --- | --- | --- |")
    for n_rows in options.rows:
        command = [sys.executable, "-m", "benchmarks.growth", "--here", "--rows", str(n_rows)]
        command += ["--n-basis", str(options.n_basis), "--selection", options.selection]
        command += ["--jobs", str(options.jobs)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        row = json.loads(done.stdout)
        print("| " + " | ".join(str(value) for value in row.values()) + " |", flush=True)


if __name__ == "__main__":
    main()
