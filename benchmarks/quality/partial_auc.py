"""Partial AUC of fits for a part of the ROC curve, beside fits for the whole curve and others.

    SKAUC_DATA=... python -m benchmarks.quality.partial_auc run lines.jsonl [--datasets ...] \
        [--centres 32] [--ours]
    python -m benchmarks.quality.partial_auc table lines.jsonl
    SKAUC_DATA=... python -m benchmarks.quality.partial_auc cost [--datasets ...]

The data are the paper's sets with at least three negatives per positive, and the development tables
with at least 2,000 rows and at most 16% positives. Sets of more than 6,000 rows are sampled. In
each of five folds every method is tuned for the same standardised partial AUC by three inner folds:
the two kinds of `SparseKernelAUC` over the same four Cs, LightGBM over eight random settings, and
logistic regression over five Cs. "either" is the kind of `SparseKernelAUC` with the better inner
score. Each line is one data set, fold and method. Lines that exist are not measured again. ``cost``
compares the processor time of default fits.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import loguniform, randint
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterSampler, StratifiedKFold

from benchmarks.quality.ablation import prepare, read
from skauc import SparseKernelAUC
from skauc.metrics import auc, partial_auc
from skauc.unwrapping import ranking_scores

PAPER = ("balance", "vehicle", "svmguide3", "segment", "satimage", "ijcnn1", "poker")
DEVELOPMENT = (
    "ai4i2020",
    "covid_testing",
    "framingham",
    "fre_mpl1_claim",
    "hmda",
    "insurance_lapse",
    "kc1",
    "natal_risk",
    "pc5",
    "pecarn_iai",
    "stackoverflow_remote",
    "taxi_tip",
    "west_nile",
)
DATA = PAPER + DEVELOPMENT
MOST_ROWS = 6000
N_FOLDS = 5
WHOLE = "whole curve"
REGIONS = {"max_fpr=0.05": {"max_fpr": 0.05}, "min_tpr=0.8": {"min_tpr": 0.8}}
CS = (0.1, 1.0, 10.0, 100.0)
LIGHTGBM = {
    "n_estimators": randint(50, 300),
    "learning_rate": loguniform(0.02, 0.3),
    "num_leaves": randint(4, 48),
    "min_child_samples": randint(2, 50),
    "colsample_bytree": [0.5, 0.8, 1.0],
}


def sparse(**limits) -> Callable:
    """Return a function that makes a `SparseKernelAUC` for a part of the curve."""
    return lambda **setting: SparseKernelAUC(random_state=0, **setting, **limits)


def lightgbm(**parameters):
    """Return a LightGBM classifier of one thread."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, random_state=0, verbose=-1, **parameters)


def ours(n_centres: int) -> dict[str, tuple[Callable, list[dict]]]:
    """Return what the kinds of `SparseKernelAUC` try: a function and its arguments."""
    settings = [{"C": C, "n_basis": n_centres} for C in CS]
    return {name: (sparse(**limits), settings) for name, limits in {WHOLE: {}, **REGIONS}.items()}


OTHERS: dict[str, tuple[Callable, list[dict]]] = {
    "LightGBM": (lightgbm, list(ParameterSampler(LIGHTGBM, 8, random_state=0))),
    "LogisticRegression": (
        lambda C: LogisticRegression(C=C, max_iter=2000),
        [{"C": C} for C in (0.01, 0.1, 1.0, 10.0, 100.0)],
    ),
}


def load(name: str):
    """Return all rows of a set, or a sample of them, and whether they are positive."""
    X, y = read(name)
    rows = np.random.RandomState(0).permutation(len(y))[:MOST_ROWS]
    return X[rows] if isinstance(X, np.ndarray) else X.iloc[rows], y[rows]


def quality(model, X, y) -> dict[str, float]:
    """Return the AUC and the partial AUC of each region."""
    scores = ranking_scores(model, X)
    found = {name: partial_auc(y, scores, **limits) for name, limits in REGIONS.items()}
    return {"auc": auc(y, scores), **found}


def tune(make: Callable, settings: list[dict], X, y) -> list[dict[str, float]]:
    """Return the mean quality of each setting over three folds."""
    folds = list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, y))
    found = []
    for setting in settings:
        by_fold = [
            quality(make(**setting).fit(X[train], y[train]), X[test], y[test])
            for train, test in folds
        ]
        found.append({name: float(np.mean([by[name] for by in by_fold])) for name in by_fold[0]})
    return found


def measure(method: str, make: Callable, settings: list[dict], train, test) -> dict:
    """Tune a method for each region it is for, fit it, and test it."""
    inner = tune(make, settings, *train)
    line: dict = {}
    for region in [method] if method in REGIONS else REGIONS:
        best = int(np.argmax([by[region] for by in inner]))
        started = time.process_time()
        model = make(**settings[best]).fit(*train)
        line[region] = {
            "inner": round(inner[best][region], 5),
            "test": round(quality(model, *test)[region], 5),
            "auc": round(quality(model, *test)["auc"], 5),
            "seconds": round(time.process_time() - started, 3),
            "setting": best,
        }
    return line


def run(path: Path, names: list[str], methods: dict[str, tuple[Callable, list[dict]]]) -> None:
    """Measure what is missing in the file of lines."""
    known = {(line["data"], line["fold"], line["method"]) for line in read_lines(path)}
    for name in names:
        X, y = load(name)
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y)
        for fold, (train, test) in enumerate(folds):
            rows = prepare(X, y, train, test)
            for method, tried in methods.items():
                if (name, fold, method) in known:
                    continue
                found = measure(method, *tried, (rows[0], y[train]), (rows[1], y[test]))
                line = {"data": name, "fold": fold, "method": method, **found}
                with path.open("a") as lines:
                    lines.write(json.dumps(line) + "\n")
                print(line, flush=True)


def read_lines(path: Path) -> list[dict]:
    """Return the lines of a file; none if there is no file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def results(lines: list[dict], region: str) -> dict[str, dict[str, np.ndarray]]:
    """Return the test results by data set and method, one per fold."""
    entries = {
        (line["data"], line["method"], line["fold"]): line[region]
        for line in lines
        if region in line
    }
    for data, method, fold in list(entries):
        if method == region and (data, WHOLE, fold) in entries:
            pair = entries[data, WHOLE, fold], entries[data, region, fold]
            entries[data, "either", fold] = max(pair, key=lambda entry: entry["inner"])
    found: dict[str, dict[str, list[float]]] = {}
    for (data, method, _), entry in sorted(entries.items()):
        found.setdefault(data, {}).setdefault(method, []).append(entry["test"])
    n_methods = max(map(len, found.values()))
    is_complete = {
        data: sorted(map(len, by.values())) == [N_FOLDS] * n_methods for data, by in found.items()
    }
    complete = {data: by for data, by in found.items() if is_complete[data]}
    return {d: {m: np.array(v) for m, v in by.items()} for d, by in complete.items()}


def table(lines: list[dict], region: str) -> str:
    """Return a Markdown table of means, with the gain over the whole curve and its error."""
    found = results(lines, region)
    methods = [region, "either", WHOLE]
    methods += [name for name in OTHERS if all(name in by for by in found.values())]
    rows = [
        "| data | " + " | ".join(methods) + " | gain over the whole curve |",
        "| --- " * (len(methods) + 2) + "|",
    ]
    gains = []
    for name in [name for name in DATA if name in found]:
        by = found[name]
        gain = by[region] - by[WHOLE]
        gains.append(gain.mean())
        cells = [f"{by[method].mean():.4f}" for method in methods]
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        rows.append(f"| {name} | " + " | ".join(cells) + f" | {gain.mean():+.4f} ± {error:.4f} |")
    mean, error = np.mean(gains), np.std(gains, ddof=1) / np.sqrt(len(gains))
    rows.append(f"\nMean gain {mean:+.4f} ± {error:.4f}; better on {np.sum(np.array(gains) > 0)}.")
    return "\n".join(rows)


def print_cost(names: list[str]) -> None:
    """Print the time of a default fit for each part, the best of three, relative to the whole."""
    for name in names:
        X, y = load(name)
        (rows, _), best = prepare(X, y, np.arange(len(y)), np.arange(2)), {}
        for kind, limits in {WHOLE: {}, **REGIONS}.items():
            seconds = []
            for _ in range(4):  # the first fit compiles
                started = time.process_time()
                SparseKernelAUC(random_state=0, **limits).fit(rows, y)
                seconds.append(time.process_time() - started)
            best[kind] = min(seconds)
        ratios = " | ".join(f"{best[region] / best[WHOLE]:.2f}" for region in REGIONS)
        print(f"| {name} | {len(y):,} | {best[WHOLE]:.2f} | {ratios} |", flush=True)


def main() -> None:
    """Measure, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("run", "table", "cost"))
    parser.add_argument("lines", type=Path, nargs="?", default=Path("partial_auc.jsonl"))
    parser.add_argument("--datasets", nargs="+", default=list(DATA), choices=DATA)
    parser.add_argument("--centres", type=int, default=32)
    parser.add_argument("--ours", action="store_true", help="leave the other classifiers out")
    options = parser.parse_args()
    if options.action == "cost":
        print_cost(options.datasets)
        return
    if options.action == "run":
        methods = ours(options.centres) if options.ours else ours(options.centres) | OTHERS
        run(options.lines, options.datasets, methods)
    for region in REGIONS:
        print(f"\n{region}\n\n{table(read_lines(options.lines), region)}")


if __name__ == "__main__":
    main()
