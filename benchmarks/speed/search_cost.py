"""Cost of `SparseKernelAUCCV` compared with single fits, in CPU time on one thread.

    SKAUC_DATA=... python -m benchmarks.speed.search_cost [svmguide3 ...]

Standardised training rows. One search with defaults, compared with fits of 64 centres (defaults,
``refine=True``, the chosen parameters) and of the chosen model: medians of five seeds.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from reproduction.data_sets import load_dataset
from skauc import SparseKernelAUC, SparseKernelAUCCV

SIZE = 64


def processor_seconds(model, X, y) -> float:
    started = time.process_time()
    model.fit(X, y)
    return time.process_time() - started


def fit_seconds(X, y, **parameters) -> float:
    models = (SparseKernelAUC(**parameters, n_jobs=1, random_state=seed) for seed in range(5))
    return float(np.median([processor_seconds(model, X, y) for model in models]))


def main() -> None:
    print("| data | what | seconds | the search takes |\n| --- | --- | --- | --- |")
    for name in sys.argv[1:] or ["svmguide3"]:
        data = load_dataset(name)
        X, y = StandardScaler().fit_transform(data.X_train), data.y_train
        for refine in (False, 2, True):  # compile first
            SparseKernelAUC(8, refine=refine, rotate=bool(refine), scaling="rank").fit(X, y)
        search = SparseKernelAUCCV(n_basis=SIZE, n_jobs=1, random_state=0)
        total = processor_seconds(search, X, y)
        chosen = search.best_params_
        fits = {
            f"{SIZE} centres, defaults": {"n_basis": SIZE},
            f"{SIZE} centres, `refine=True`": {"n_basis": SIZE, "refine": True},
            f"{SIZE} centres, as chosen": {**chosen, "n_basis": SIZE},
            f"{chosen['n_basis']} centres, as chosen": chosen,
        }
        print(f"| {name} | the search | {total:.2f} | |")
        for what, parameters in fits.items():
            seconds = fit_seconds(X, y, **parameters)
            print(f"| {name} | {what} | {seconds:.3f} | {total / seconds:.1f} times |", flush=True)
        print(f"\n{name}: {chosen}\n")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
