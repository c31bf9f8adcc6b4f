"""What a few centres reach, with every parameter but the size chosen on the training part.

    SKAUC_DATA=... python -m benchmarks.few_centres [--only ijcnn1-32 ...] [--out FILE.jsonl]

For each data set and size: `SparseKernelAUCCV` with that largest size, then its rule among the
settings that have this size: of those within one standard error of the best mean, unrefined before
refined, without before with a linear term, and then the best mean. Official test parts where there
are some, five stratified folds elsewhere.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from benchmarks.peers import N_JOBS, folds_of
from skauc import SparseKernelAUC, SparseKernelAUCCV
from skauc.estimators._tuning import NO_DIFFERENCE

# Data, size, and the test AUC that is wanted.
GOALS = {
    "ijcnn1-16": ("ijcnn1", 16, 0.985),
    "ijcnn1-32": ("ijcnn1", 32, 0.995),
    "ijcnn1-64": ("ijcnn1", 64, 0.9968),
    "ijcnn1-128": ("ijcnn1", 128, 0.998),
    "magic04-16": ("magic04", 16, 0.930),
    "magic04-64": ("magic04", 64, 0.938),
    "poker-16": ("poker", 16, 0.68),
    "satimage-64": ("satimage", 64, 0.963),
    "a2a-16": ("a2a", 16, 0.880),
    "segment-32": ("segment", 32, 0.993),
    "sonar-32": ("sonar", 32, 0.936),
    "sonar-64": ("sonar", 64, 0.948),
    "balance-6": ("balance", 6, 1.000),
}


def best_of_size(search: SparseKernelAUCCV, n_basis: int) -> dict:
    """Return the parameters that the rule picks among settings of that size with all folds."""
    results = search.cv_results_
    names = [name for name in results if name.startswith("split")]
    scores = np.column_stack([results[name] for name in names])
    rows = np.flatnonzero(~np.isnan(scores).any(axis=1) & (results["param_n_basis"] == n_basis))
    means = results["mean_test_score"]
    behind = scores[rows[np.argmax(means[rows])]] - scores[rows]
    errors = behind.std(axis=1, ddof=1) / np.sqrt(behind.shape[1])
    good = rows[behind.mean(axis=1) <= np.maximum(errors, NO_DIFFERENCE)]
    simplicity = ("refine", "linear_term")
    best = min(
        good, key=lambda i: (*(bool(results[f"param_{n}"][i]) for n in simplicity), -means[i])
    )
    names = ("scaling", "C", "gamma", "linear_term", "refine", "rotate", "n_basis")
    return {name: results[f"param_{name}"][best] for name in names}


def measure(data: str, n_basis: int) -> tuple[list[float], list[dict]]:
    """Return the test AUC of every fold, and what was chosen."""
    scores, chosen = [], []
    # The features of ijcnn1 are taken as given, as in the paper.
    scaler = FunctionTransformer if data == "ijcnn1" else StandardScaler
    for (X, y), (X_test, y_test) in folds_of(data):
        search = SparseKernelAUCCV(n_basis=n_basis, n_jobs=N_JOBS, random_state=0)
        pipeline = make_pipeline(scaler(), search).fit(X, y)
        parameters = best_of_size(pipeline[-1], n_basis)
        model = SparseKernelAUC(**parameters, n_jobs=N_JOBS, random_state=0)
        model = make_pipeline(scaler(), model).fit(X, y)
        scores.append(model.score(X_test, y_test))
        chosen.append({k: v for k, v in parameters.items() if k != "gamma"})
    return scores, chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=list(GOALS), choices=list(GOALS))
    parser.add_argument("--out", type=Path, default=Path("few_centres.jsonl"))
    options = parser.parse_args()
    print("| data | centres | test AUC | goal |\n| --- | --- | --- | --- |")
    for name in options.only:
        data, n_basis, goal = GOALS[name]
        scores, chosen = measure(data, n_basis)
        print(f"| {data} | {n_basis} | {np.mean(scores):.4f} | {goal} |", flush=True)
        line = {"name": name, "auc": np.mean(scores), "folds": scores, "chosen": chosen}
        with options.out.open("a") as file:
            file.write(json.dumps(line, default=lambda value: value.item()) + "\n")


if __name__ == "__main__":
    main()
