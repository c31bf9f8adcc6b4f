"""Compare cluster workers on a GPU with other engines on the same rows.

    python -m benchmarks.cluster.gpu [--rows 200000x64 1000000x64] [--workers 2]
        [--by "GPU engine" "workers on the GPU"] [--out FILE.json]

``--rows`` takes rows times centres. Rows are those of `benchmarks.speed.gpu`, in eight partitions
that are on the workers before the clock starts. The engines are the CPU engine, the GPU engine,
workers on the CPU, and workers that share the GPU, each after a small fit that is not timed.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster

from benchmarks.cluster.traffic import PARTS, PLAIN, rows_on_workers
from benchmarks.speed.gpu import GAMMA, N_FEATURES, N_TEST, machine, make_rows
from skauc import SparseKernelAUC
from skauc.engines import GPU_VARIABLE

WAYS = ("CPU engine", "GPU engine", "workers", "workers on the GPU")


def make_part(n_rows: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    return make_rows(n_rows, seed=10 + number)


def rows_here(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    parts = [make_part(n_rows // PARTS, number) for number in range(PARTS)]
    return tuple(map(np.concatenate, zip(*parts, strict=True)))


def fit(engine: str, rows: tuple, n_centres: int) -> tuple[SparseKernelAUC, float]:
    """Return the fitted model and its seconds."""
    model = SparseKernelAUC(
        n_centres, gamma=GAMMA, engine=engine, n_jobs=-1, random_state=0, **PLAIN
    )
    started = time.perf_counter()
    model.fit(*rows)
    return model, time.perf_counter() - started


def fit_here(engine: str, n_rows: int, n_centres: int) -> tuple[SparseKernelAUC, float]:
    fit(engine, rows_here(20_000), 4)
    return fit(engine, rows_here(n_rows), n_centres)


def fit_on_workers(n_workers: int, env: dict, n_rows: int, n_centres: int):
    cluster = LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=None, env=env
    )
    with cluster, Client(cluster):
        fit("cluster", rows_on_workers(20_000, make_part, N_FEATURES), 4)
        return fit("cluster", rows_on_workers(n_rows, make_part, N_FEATURES), n_centres)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", default=["200000x64", "1000000x64"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--by", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=Path, default=Path("cluster_gpu.json"))
    options = parser.parse_args()
    by_workers = partial(fit_on_workers, options.workers)
    ways = (
        partial(fit_here, "cpu"),
        partial(fit_here, "gpu"),
        partial(by_workers, {}),
        partial(by_workers, {GPU_VARIABLE: options.device}),
    )
    ways = dict(zip(WAYS, ways, strict=True))
    results = {"machine": machine(), "workers": options.workers, "fits": []}
    test = make_rows(N_TEST, 2)
    print("| rows | centres | by | seconds | objective | test AUC | of the first's centres |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for size in options.rows:
        n_rows, n_centres = map(int, size.split("x"))
        first = None
        for way in options.by:
            model, seconds = ways[way](n_rows, n_centres)
            first = first or model
            line = {
                "rows": n_rows,
                "centres": n_centres,
                "by": way,
                "seconds": round(seconds, 2),
                "objective": model.path_[-1].objective,
                "test AUC": round(model.score(*test), 6),
                "shared": len(np.intersect1d(model.basis_indices_, first.basis_indices_)),
            }
            results["fits"].append(line)
            print("|", " | ".join(map(str, line.values())), "|", flush=True)
            options.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
