"""`StructuralAUC` on the paper's small data sets, and its time against the number of rows.

    SKAUC_DATA=... python -m benchmarks.quality.structural_auc [--datasets ...] [--rows
        ...] [--jobs 1]

AUC: standardised features, stratified 5 folds, C and gamma chosen on each training part by 3 inner
folds for every method. Time: float32 rows with a noisy linear border, one in ten positive, C = 1.
The seconds per round are divided by l log2 l.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from reproduction.data_sets import load_dataset
from skauc import StructuralAUC
from skauc.metrics import auc

DATASETS = (
    "sonar",
    "glass",
    "ionosphere",
    "balance",
    "australian",
    "vehicle",
    "fourclass",
    "svmguide3",
)
# The C of StructuralAUC and of SVC both weight a sum over rows.
LINEAR_CS = [0.001, 0.01, 0.1, 1.0, 10.0]
CS = [0.1, 1.0, 10.0, 100.0]
GAMMAS = [0.01, 0.03, 0.1, 0.3, 1.0]
METHODS = {
    "StructuralAUC, linear": (StructuralAUC(), {"C": LINEAR_CS}),
    "LogisticRegression": (LogisticRegression(max_iter=10_000), {"C": LINEAR_CS}),
    "StructuralAUC, rbf": (StructuralAUC(kernel="rbf"), {"C": CS, "gamma": GAMMAS}),
    "SVC, rbf": (SVC(), {"C": CS, "gamma": GAMMAS}),
}
N_FEATURES = 20


def fold_aucs(method: str, X, y, n_jobs: int) -> list[float]:
    """Return the AUC of each of five folds, tuned inside each training part."""
    model, grid = METHODS[method]
    name = type(model).__name__.lower()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), model),
        {f"{name}__{key}": values for key, values in grid.items()},
        scoring="roc_auc",
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
        n_jobs=n_jobs,
    )
    scores = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        fitted = clone(search).fit(X[train], y[train])
        scores.append(auc(y[test], fitted.decision_function(X[test])))
    return scores


def compare(datasets, n_jobs: int) -> None:
    print("| data | rows | " + " | ".join(METHODS) + " |")
    print("| --- " * (2 + len(METHODS)) + "|", flush=True)
    for name in datasets:
        data = load_dataset(name)
        cells = []
        for method in METHODS:
            scores = fold_aucs(method, data.X_train, data.y_train, n_jobs)
            cells.append(f"{np.mean(scores):.4f} ± {np.std(scores):.4f}")
        print(f"| {name} | {len(data.y_train)} | " + " | ".join(cells) + " |", flush=True)


def make_rows(n_rows: int):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, N_FEATURES), dtype=np.float32)
    signal = X @ rng.standard_normal(N_FEATURES, dtype=np.float32)
    signal += 2 * rng.standard_normal(n_rows, dtype=np.float32)
    return X, signal > np.quantile(signal, 0.9)


def grow(sizes, n_jobs: int) -> None:
    print("| rows | rounds | seconds | seconds of a round | nanoseconds / (l log2 l) |")
    print("| --- | --- | --- | --- | --- |", flush=True)
    StructuralAUC().fit(*make_rows(1000))  # compiles
    for n_rows in sizes:
        X, y = make_rows(n_rows)
        started = time.perf_counter()
        model = StructuralAUC(n_jobs=n_jobs).fit(X, y)
        seconds = time.perf_counter() - started
        a_round = seconds / model.n_iter_
        share = 1e9 * a_round / (n_rows * math.log2(n_rows))
        print(
            f"| {n_rows:,} | {model.n_iter_} | {seconds:.3f} | {a_round:.5f} | {share:.1f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="*", default=DATASETS)
    parser.add_argument("--rows", nargs="*", type=int, default=[10**3, 10**4, 10**5, 10**6])
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.datasets:
        compare(options.datasets, options.jobs)
    if options.rows:
        grow(options.rows, options.jobs)


if __name__ == "__main__":
    main()
