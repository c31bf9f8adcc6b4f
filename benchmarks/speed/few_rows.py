"""Time fits and searches on few rows: CPU time on one thread, the best of several.

    SKAUC_DATA=... python -m benchmarks.speed.few_rows --repeats 20

Standardised training rows of sonar and svmguide3, and 300 x 20 rows of `make_classification`. To
compare two versions of the code, run this file with the one and the other on the Python path, in
turn. A line of JSON is printed for each.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from reproduction.data_sets import load_dataset
from skauc import SparseKernelAUC, SparseKernelAUCCV

FITS = {
    "unrefined": {"refine": False, "linear_term": False},
    "refined": {"linear_term": False},
    "default": {},
}


def read_rows() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return rows and labels by name."""
    rows = {"300 x 20": make_classification(300, 20, random_state=0)}
    for name in ("sonar", "svmguide3"):
        data = load_dataset(name)
        rows[name] = StandardScaler().fit_transform(data.X_train), data.y_train
    return rows


def best_seconds(fit: Callable[[], object], n_repeats: int) -> float:
    """Return the least CPU time of several calls, after one that compiles."""
    fit()
    seconds = []
    for _ in range(n_repeats):
        started = time.process_time()
        fit()
        seconds.append(time.process_time() - started)
    return min(seconds)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--no-search", action="store_true")
    arguments = parser.parse_args()
    for name, (X, y) in read_rows().items():
        tasks = {
            fit: SparseKernelAUC(64, n_jobs=1, random_state=0, **parameters)
            for fit, parameters in FITS.items()
        }
        if not arguments.no_search:
            tasks["search"] = SparseKernelAUCCV(n_jobs=1, random_state=0)
        for what, model in tasks.items():
            n_repeats = max(arguments.repeats // 10, 1) if what == "search" else arguments.repeats
            seconds = best_seconds(lambda model=model, X=X, y=y: model.fit(X, y), n_repeats)
            print(json.dumps({"rows": name, "fit": what, "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
