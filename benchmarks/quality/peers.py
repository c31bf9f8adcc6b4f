"""Compare the untouched `SparseKernelAUCCV` with other classifiers on the paper's data sets.

    SKAUC_DATA=... python -m benchmarks.quality.peers [--datasets ...] [--folds ...] [--methods ...]

Every classifier follows a `StandardScaler` and uses its defaults. "Tuned" classifiers use a random
search with about the time that `SparseKernelAUCCV` took on the same fold. AUC is measured on
official test parts if there are any, otherwise on five stratified folds. Each data set, method and
fold gives one JSON line with the AUC, the numbers stored in the model, and the fit and predict
times. Lines that exist are not measured again.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
from pathlib import Path

import numpy as np
from scipy.stats import loguniform, randint
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterSampler, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from reproduction.catalogue import DATASET_NAMES
from reproduction.data_sets import load_dataset
from skauc import SparseKernelAUCCV
from skauc.metrics import auc

N_JOBS = 2


def lightgbm(**parameters):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=N_JOBS, random_state=0, verbose=-1, **parameters)


def xgboost():
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=N_JOBS, random_state=0)


METHODS = {
    "SparseKernelAUCCV": lambda: SparseKernelAUCCV(n_jobs=N_JOBS, random_state=0),
    "LightGBM": lightgbm,
    "XGBoost": xgboost,
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "RandomForest": lambda: RandomForestClassifier(n_jobs=N_JOBS, random_state=0),
    "SVC": SVC,
    "LogisticRegression": lambda: LogisticRegression(max_iter=1000),
    "SVC tuned": SVC,
    "LightGBM tuned": lightgbm,
}
GRIDS = {
    "SVC tuned": {"C": loguniform(1e-2, 1e3), "gamma": loguniform(1e-4, 1e1)},
    "LightGBM tuned": {
        "n_estimators": randint(50, 600),
        "learning_rate": loguniform(0.01, 0.3),
        "num_leaves": randint(4, 64),
        "min_child_samples": randint(2, 50),
        "subsample": [0.6, 0.8, 1.0],
        "subsample_freq": [1],
        "colsample_bytree": [0.5, 0.8, 1.0],
    },
}


def scores_of(model, X) -> np.ndarray:
    """Return the ranking scores of a classifier."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]


def random_search(make, grid, X, y, seconds: float):
    """Return the best parameters of a random search with five folds and a time limit."""
    started, best = time.perf_counter(), (-np.inf, {})
    for parameters in ParameterSampler(grid, 10_000, random_state=0):
        model = make_pipeline(StandardScaler(), make().set_params(**parameters))
        score = cross_val_score(model, X, y, scoring="roc_auc", cv=5).mean()
        best = max(best, (score, parameters), key=lambda entry: entry[0])
        if time.perf_counter() - started > seconds:
            return best[1]


def n_numbers(model) -> int:
    """Return the approximate number of stored values: the pickle size divided by eight."""
    last = model[-1]
    if isinstance(last, SparseKernelAUCCV):
        return last.best_estimator_._model.n_numbers
    return len(pickle.dumps(last)) // 8


def measure(method: str, train, test, tuning_seconds: float) -> dict:
    """Fit, predict, and time both."""
    (X, y), (X_test, y_test) = train, test
    started = time.perf_counter()
    parameters = {}
    if method in GRIDS:
        parameters = random_search(METHODS[method], GRIDS[method], X, y, tuning_seconds)
    model = make_pipeline(StandardScaler(), METHODS[method]().set_params(**parameters)).fit(X, y)
    fitted = time.perf_counter()
    scores = scores_of(model, X_test)
    predicted = time.perf_counter()
    result = {
        "auc": round(auc(y_test, scores), 5),
        "numbers": n_numbers(model),
        "fit_seconds": round(fitted - started, 3),
        "predict_seconds": round(predicted - fitted, 4),
    }
    if method == "SparseKernelAUCCV":
        result["chosen"] = model[-1].best_params_
    return result


def folds_of(name: str):
    """Yield (train, test) pairs of rows and 0/1 labels."""
    data = load_dataset(name)
    X, y = data.X_train, (data.y_train > 0).astype(int)
    if data.X_test is not None:
        yield (X, y), (data.X_test, (data.y_test > 0).astype(int))
        return
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        yield (X[train], y[train]), (X[test], y[test])


def lines_of(path: Path) -> dict[tuple, dict]:
    """Return the existing lines by data set, method and fold."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {(r["data"], r["method"], r["fold"]): r for r in map(json.loads, lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=list(DATASET_NAMES))
    parser.add_argument("--folds", nargs="+", type=int, help="only these folds")
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--out", type=Path, default=Path("peers.jsonl"))
    options = parser.parse_args()
    done = lines_of(options.out)
    for name in options.datasets:
        for fold, (train, test) in enumerate(folds_of(name)):
            if options.folds is not None and fold not in options.folds:
                continue
            for method in options.methods:
                ours = done.get((name, "SparseKernelAUCCV", fold), {"fit_seconds": 10.0})
                if (name, method, fold) in done:
                    continue
                result = measure(method, train, test, ours["fit_seconds"])
                done[name, method, fold] = result
                line = json.dumps({"data": name, "method": method, "fold": fold, **result})
                print(line, flush=True)
                with options.out.open("a") as file:
                    file.write(line + "\n")


if __name__ == "__main__":
    main()
