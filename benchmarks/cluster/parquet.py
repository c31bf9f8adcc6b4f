"""Fit Parquet files on two worker processes with a memory limit each.

    python -m benchmarks.cluster.parquet [--rows 20000000] [--limit 8GB] [--folder DIR]

The script writes files with 20 float32 features, fits 64 centres through dask, and prints the
seconds, the peak memory of each worker and the AUC on rows of another seed.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from dask import dataframe
from distributed import Client, LocalCluster

from benchmarks.cluster.traffic import PLAIN, make_rows
from skauc import SparseKernelAUC

ROWS_A_FILE = 1_000_000


def write(folder: Path, n_rows: int) -> None:
    """Write the files."""
    for number, first in enumerate(range(0, n_rows, ROWS_A_FILE)):
        frame = as_frame(min(ROWS_A_FILE, n_rows - first), seed=number)
        frame.to_parquet(folder / f"part-{number:03}.parquet")


def as_frame(n_rows: int, seed: int) -> pd.DataFrame:
    X, y = make_rows(n_rows, seed)
    frame = pd.DataFrame(X.astype(np.float32), columns=[f"x{i}" for i in range(X.shape[1])])
    return frame.assign(label=y)


def peak_megabytes() -> float:
    """Return the peak resident memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--centres", type=int, default=64)
    parser.add_argument("--limit", default="8GB")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        write(Path(folder), options.rows)
        cluster = LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=options.limit,
            dashboard_address=None,
            local_directory=folder,
        )
        with cluster, Client(cluster) as client:
            rows = dataframe.read_parquet(folder)
            start = time.perf_counter()
            model = SparseKernelAUC(options.centres, random_state=0, **PLAIN)
            model.fit(rows.drop(columns="label"), rows["label"])
            seconds = time.perf_counter() - start
            peaks = sorted(client.run(peak_megabytes).values())
    test = as_frame(200_000, seed=10_000)
    result = {
        "rows": options.rows,
        "centres": model.n_basis_,
        "limit of a worker": options.limit,
        "seconds": round(seconds, 1),
        "largest MB of each worker": [round(peak) for peak in peaks],
        "largest MB of the client": round(peak_megabytes()),
        "test AUC": round(model.score(test.drop(columns="label"), test["label"]), 5),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
