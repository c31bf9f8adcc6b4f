"""Test AUC, size and time of models with centres of several shapes on sets of the paper.

    SKAUC_DATA=... python -m benchmarks.quality.shapes [--only poker-64 ...] [--out FILE.json]

Every set and size is measured in several ways: the three values of ``shapes`` at their defaults,
with standardised features; "chosen", where shape, scaling (none, normal scores), principal axes
and C are chosen by three folds of the training part, one after the other; and `SparseKernelAUCCV`
with its default effort ("search") and effort="thorough" ("thorough search"). The AUC is that of the
official test part if there is one, otherwise the mean over five random splits, or one split of
more than 12,000 rows. Fits use one thread.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from statistics import mean

import numpy as np
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from benchmarks.quality.ablation import DATA
from skauc import SparseKernelAUC, SparseKernelAUCCV

# Data set and size, and the goal for the test AUC.
GOALS = {
    "poker-64": 0.95,
    "balance-16": 0.97,
    "balance-6": 1.0,
    "ijcnn1-16": 0.9965,
    "ijcnn1-64": 0.998,
    "magic04-16": 0.937,
    "magic04-64": 0.942,
    "svmguide3-64": 0.890,
    "vehicle-16": 0.998,
    "fourclass-8": 1.0,
    "sonar-32": 0.955,
}
SHAPES = ("round", "local", "ridge")
SEARCHES = {"search": "default", "thorough search": "thorough"}
# Rows of the training part on which settings are compared.
MOST_ROWS = 12_000
N_SPLITS = 5


def splits_of(name: str):
    """Yield training and test rows: the official ones, or five random splits."""
    stored = np.load(DATA / f"{name}.npz")
    X, y = stored["X_train"], stored["y_train"] == 1
    if "X_test" in stored:
        yield (X, y), (stored["X_test"], stored["y_test"] == 1)
        return
    n_splits = N_SPLITS if len(y) <= MOST_ROWS else 1
    for train, test in StratifiedShuffleSplit(n_splits, test_size=0.3, random_state=0).split(X, y):
        yield (X[train], y[train]), (X[test], y[test])


def make(name: str, n_basis: int, parameters: dict):
    """Return a pipeline. The features of ijcnn1 are not scaled, as in the paper."""
    parameters = dict(parameters)
    steps = [FunctionTransformer() if name == "ijcnn1" else StandardScaler()]
    if parameters.pop("logarithms", False):
        steps.insert(0, FunctionTransformer(np.log))
    kind = SparseKernelAUCCV if "effort" in parameters else SparseKernelAUC
    return make_pipeline(*steps, kind(n_basis=n_basis, random_state=0, n_jobs=1, **parameters))


def parameters_of(how: str, name: str, n_basis: int, X, y) -> dict:
    """Return the parameters of one way of fitting to some rows."""
    if how == "chosen":
        return choose(name, n_basis, X, y)
    return {"effort": SEARCHES[how]} if how in SEARCHES else {"shapes": how}


def choose(name: str, n_basis: int, X, y) -> dict:
    """Return the best parameters by three folds: one change after the other."""
    if len(y) > MOST_ROWS:
        cut = StratifiedShuffleSplit(1, train_size=MOST_ROWS, random_state=0)
        kept, _ = next(cut.split(X, y))
        X, y = X[kept], y[kept]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    best: dict = {}
    highest = -np.inf
    changes = [{"shapes": shapes} for shapes in SHAPES]
    changes += [{"logarithms": True, "scaling": None}] if (X >= 1).all() else []
    changes += [{"C": C} for C in (0.3, 3.0, 10.0)]
    changes += [{"scaling": None}, {"scaling": "normal"}, {"rotate": True}, {"refine": 40}]
    for change in changes:
        pipeline = make(name, n_basis, {**best, **change})
        score = cross_val_score(pipeline, X, y, cv=folds, scoring="roc_auc").mean()
        if score > highest:
            best, highest = {**best, **change}, score
    return best


def measure(name: str, n_basis: int, how: str) -> dict:
    """Return the mean test AUC with sizes and times."""
    found = []
    for (X, y), (X_test, y_test) in splits_of(name):
        parameters = parameters_of(how, name, n_basis, X, y)
        pipeline = make(name, n_basis, parameters)
        started = time.perf_counter()
        pipeline.fit(X, y)
        fitted = time.perf_counter()
        auc = pipeline.score(X_test, y_test)
        scored = time.perf_counter()
        model = pipeline[-1]
        found.append(
            {
                "auc": auc,
                "ridges": int(model.is_ridge_.sum()),
                "numbers": model.path_[-1].model.n_numbers,
                "fit_seconds": fitted - started,
                "predict_microseconds_per_row": 1e6 * (scored - fitted) / len(y_test),
                "parameters": parameters,
            }
        )
    line = {key: mean(each[key] for each in found) for key in found[0] if key != "parameters"}
    return {"set": name, "n_basis": n_basis, "how": how, **line} | (
        {"parameters": [each["parameters"] for each in found]} if how == "chosen" else {}
    )


def table(lines: list[dict]) -> str:
    """Return the lines as a Markdown table."""
    rows = [
        "| set | centres | shapes | test AUC | goal | ridges | numbers | fit, s | predict, us |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for line in lines:
        goal = GOALS.get(f"{line['set']}-{line['n_basis']}")
        rows.append(
            f"| {line['set']} | {line['n_basis']} | {line['how']} | {line['auc']:.4f} | {goal} | "
            f"{line['ridges']:.0f} | {line['numbers']:.0f} | {line['fit_seconds']:.2f} | "
            f"{line['predict_microseconds_per_row']:.1f} |"
        )
    return "\n".join(rows)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=list(GOALS))
    parser.add_argument("--how", nargs="+", default=[*SHAPES, "chosen", *SEARCHES])
    parser.add_argument("--out", type=Path, default=Path("shapes.json"))
    options = parser.parse_args()
    lines = json.loads(options.out.read_text()) if options.out.exists() else []
    done = {(line["set"], line["n_basis"], line["how"]) for line in lines}
    for name in options.only:
        data, size = name.split("-")
        for how in options.how:
            if (data, int(size), how) not in done:
                lines.append(measure(data, int(size), how))
                options.out.write_text(json.dumps(lines, indent=1) + "\n")
    print(table(lines))


if __name__ == "__main__":
    main()
