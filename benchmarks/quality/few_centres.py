"""Test AUC of small models whose parameters are chosen on the training part.

    SKAUC_DATA=... python -m benchmarks.quality.few_centres [--only ijcnn1-32 ...] [--out
        FILE.jsonl]

``--only`` accepts any data set of the paper and any size.

For each data set and size, `SparseKernelAUCCV` runs with this largest size, and the best of the
settings of this size is taken. AUC is measured on the official test part if there is one,
otherwise on five stratified folds.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import fields
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from benchmarks.quality.peers import N_JOBS, folds_of
from skauc import SparseKernelAUC, SparseKernelAUCCV
from skauc.sparse.search import best_mean
from skauc.sparse.settings import Setting

# Data set and size, and the goal for the test AUC.
GOALS = {
    "ijcnn1-16": 0.985,
    "ijcnn1-32": 0.995,
    "ijcnn1-64": 0.9968,
    "ijcnn1-128": 0.998,
    "magic04-16": 0.930,
    "magic04-64": 0.938,
    "poker-16": 0.68,
    "satimage-64": 0.963,
    "a2a-16": 0.880,
    "segment-32": 0.993,
    "sonar-32": 0.936,
    "sonar-64": 0.948,
    "balance-6": 1.000,
}


def best_of_size(search: SparseKernelAUCCV, n_basis: int) -> dict:
    """Return the best parameters of this size."""
    results = search.cv_results_
    names = [field.name for field in fields(Setting)]
    columns = zip(*(results[f"param_{name}"] for name in names), strict=True)
    settings = [Setting(*map(as_value, column)) for column in columns]
    splits = [results[f"split{fold}_test_score"] for fold in range(search.n_splits_)]
    scores = dict(zip(settings, np.column_stack(splits), strict=True))
    of_size = {
        setting: by_fold
        for setting, by_fold in scores.items()
        if setting.n_basis == n_basis and not np.isnan(by_fold).any()
    }
    return best_mean(of_size).parameters()


def as_value(value):
    """Return an element of an array as a Python number or bool."""
    return value.item() if isinstance(value, np.generic) else value


def measure(data: str, n_basis: int) -> tuple[list[float], list[dict]]:
    """Return the test AUC of each fold and the chosen parameters."""
    scores, chosen = [], []
    # The features of ijcnn1 are not scaled, as in the paper.
    scaler = FunctionTransformer if data == "ijcnn1" else StandardScaler
    for (X, y), (X_test, y_test) in folds_of(data):
        search = SparseKernelAUCCV(n_basis=n_basis, ensemble=False, n_jobs=N_JOBS, random_state=0)
        pipeline = make_pipeline(scaler(), search).fit(X, y)
        parameters = best_of_size(pipeline[-1], n_basis)
        model = SparseKernelAUC(**parameters, n_jobs=N_JOBS, random_state=0)
        model = make_pipeline(scaler(), model).fit(X, y)
        scores.append(model.score(X_test, y_test))
        chosen.append({k: v for k, v in parameters.items() if k != "gamma"})
    return scores, chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=list(GOALS))
    parser.add_argument("--out", type=Path, default=Path("few_centres.jsonl"))
    options = parser.parse_args()
    print("| data | centres | test AUC | goal |\n| --- | --- | --- | --- |")
    for name in options.only:
        data, n_basis = name.split("-")
        scores, chosen = measure(data, int(n_basis))
        goal = GOALS.get(name, "")
        print(f"| {data} | {n_basis} | {np.mean(scores):.4f} | {goal} |", flush=True)
        line = {"name": name, "auc": np.mean(scores), "folds": scores, "chosen": chosen}
        with options.out.open("a") as file:
            file.write(json.dumps(line, default=lambda value: value.item()) + "\n")


if __name__ == "__main__":
    main()
