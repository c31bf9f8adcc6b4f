"""Compare refinement along features and along principal axes for each scaling.

    SKAUC_DATA=... python -m benchmarks.quality.axes [data ...]

64 centres, standardised features, C = 0.2 and 2.
Prints the mean test AUC on the folds of `benchmarks.quality.peers`.
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.quality.peers import N_JOBS, folds_of
from reproduction.catalogue import DATASET_NAMES
from skauc import SparseKernelAUC

SCALINGS, TURNS, CS = (None, "rank", "normal"), (False, True), (0.2, 2.0)


def mean_auc(folds: list, **parameters) -> float:
    scores = []
    for (X, y), test in folds:
        model = SparseKernelAUC(64, n_jobs=N_JOBS, random_state=0, **parameters)
        scores.append(make_pipeline(StandardScaler(), model).fit(X, y).score(*test))
    return float(np.mean(scores))


def main() -> None:
    columns = list(product(SCALINGS, TURNS))
    titles = [f"{scaling}{', axes' if turn else ''}" for scaling, turn in columns]
    print(f"| data | C | {' | '.join(titles)} |")
    print("| --- " * (2 + len(columns)) + "|")
    for name in sys.argv[1:] or DATASET_NAMES:
        folds = list(folds_of(name))
        for C in CS:
            found = (mean_auc(folds, C=C, scaling=s, rotate=turn) for s, turn in columns)
            print(f"| {name} | {C:g} | {' | '.join(f'{v:.4f}' for v in found)} |", flush=True)


if __name__ == "__main__":
    main()
