"""Refinement on ijcnn1 beside XGBoost: test AUC, and fit time as a multiple of XGBoost's.

SKAUC_DATA=... python -m benchmarks.refinement [--sizes 16 32 64] [--seeds 3]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.metrics import roc_auc_score
from xgboost import XGBClassifier

from skauc import SparseKernelAUC
from skauc.datasets import load_dataset

N_JOBS = 2


def timed(fit, repeats: int) -> float:
    """Return the median time of a few calls."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        fit()
        times.append(time.perf_counter() - started)
    return float(np.median(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[16, 32, 64])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    data = load_dataset("ijcnn1")
    X, y, X_test, y_test = data.X_train, data.y_train, data.X_test, data.y_test
    # Compiled code comes from the cache in the timed fits.
    SparseKernelAUC(4, refine=True, n_jobs=N_JOBS, random_state=0).fit(X, y)
    forest = XGBClassifier(n_jobs=N_JOBS, random_state=0)
    unit = timed(lambda: forest.fit(X, y > 0), 3)
    peer = roc_auc_score(y_test, forest.predict_proba(X_test)[:, 1])
    print("| model | test AUC | fit seconds | of XGBoost's |\n| --- | --- | --- | --- |")
    print(f"| XGBoost, defaults | {peer:.4f} | {unit:.2f} | 1 |")
    for size in options.sizes:
        for seed in range(options.seeds):
            model = SparseKernelAUC(size, C=4.0, refine=True, n_jobs=N_JOBS, random_state=seed)
            seconds = timed(lambda model=model: model.fit(X, y), 3)
            score = model.score(X_test, y_test)
            name = f"{size} centres, refined, seed {seed}"
            print(f"| {name} | {score:.4f} | {seconds:.2f} | {seconds / unit:.1f} |", flush=True)


if __name__ == "__main__":
    main()
