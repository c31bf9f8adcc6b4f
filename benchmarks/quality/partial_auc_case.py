"""One case of `max_fpr`, from start to end: failures of machines (AI4I 2020).

    SKAUC_DEV=... python -m benchmarks.quality.partial_auc_case docs/figures/partial_auc.png

Six stratified halves of the table: one half trains, the other tests. C is chosen by three folds of
the training rows, for the partial AUC up to 5% false positives. The figure shows the ROC curve of
models for the whole curve and for the part, and the gain in recall at every false positive rate.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline

from benchmarks.quality.ablation import read
from skauc import SparseKernelAUC, TablePreprocessor
from skauc.metrics import auc, operating_points, partial_auc, partial_auc_scorer

MAX_FPR = 0.05
N_CENTRES = 4
KINDS = {"whole curve": {}, f"max_fpr={MAX_FPR}": {"max_fpr": MAX_FPR}}
RATES = np.geomspace(0.002, 1, 200)


def fit(X, y, limits):
    """Choose C for the partial AUC, and fit."""
    model = make_pipeline(TablePreprocessor(), SparseKernelAUC(N_CENTRES, random_state=0, **limits))
    grid = {"sparsekernelauc__C": [0.1, 1.0, 10.0, 100.0]}
    return GridSearchCV(model, grid, scoring=partial_auc_scorer(max_fpr=MAX_FPR), cv=3).fit(X, y)


def measure(X, y) -> dict[str, dict[str, np.ndarray]]:
    """Return the AUCs, and the recall at all rates, of each split and kind of model."""
    found: dict[str, dict[str, list]] = {kind: {} for kind in KINDS}
    splits = StratifiedShuffleSplit(6, test_size=0.5, random_state=0).split(X, y)
    for train, test in splits:
        for kind, limits in KINDS.items():
            model = fit(X.iloc[train], y[train], limits)
            scores = model.decision_function(X.iloc[test])
            points = operating_points(scores, y[test], np.ones(len(test)))
            values = {
                "auc": auc(y[test], scores),
                "partial": partial_auc(y[test], scores, max_fpr=MAX_FPR),
                "recall": np.interp(RATES, points.false_positive_rate, points.recall),
            }
            for name, value in values.items():
                found[kind].setdefault(name, []).append(value)
    return {kind: {k: np.array(v) for k, v in by.items()} for kind, by in found.items()}


def draw(found: dict[str, dict[str, np.ndarray]], path: Path) -> None:
    """Draw both curves, and their difference with its standard error."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    for (kind, by), colour in zip(found.items(), ("0.45", "tab:blue"), strict=True):
        left.plot(RATES, by["recall"].mean(axis=0), color=colour, label=kind)
    gains = np.subtract(*(by["recall"] for by in reversed(found.values())))
    mean, error = gains.mean(axis=0), gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
    right.plot(RATES, mean, color="tab:blue")
    right.fill_between(RATES, mean - error, mean + error, color="tab:blue", alpha=0.2, linewidth=0)
    right.axhline(0, color="0.45", linewidth=1)
    for axes in (left, right):
        axes.set(xscale="log", xlim=(RATES[0], 1), xlabel="False positive rate")
        axes.axvspan(RATES[0], MAX_FPR, color="0.5", alpha=0.15, linewidth=0)
        axes.grid(alpha=0.3, linewidth=0.6)
    left.set(ylabel="Recall", ylim=(0, 1))
    left.legend(loc="lower right", frameon=False)
    right.set(ylabel="Gain in recall")
    figure.savefig(path, dpi=160)


def main() -> None:
    """Measure, print and draw."""
    X, y = read("ai4i2020")
    found = measure(X, y)
    for kind, by in found.items():
        print(f"{kind}: partial AUC {by['partial'].mean():.4f}, AUC {by['auc'].mean():.4f}")
        at = {rate: by["recall"][:, np.searchsorted(RATES, rate)].mean() for rate in (0.01, 0.05)}
        print("  recall at", {rate: round(float(value), 3) for rate, value in at.items()})
    gains = np.subtract(*(by["partial"] for by in reversed(found.values())))
    print(f"gain {gains.mean():+.4f} ± {gains.std(ddof=1) / np.sqrt(len(gains)):.4f}")
    draw(found, Path(sys.argv[1]))


if __name__ == "__main__":
    main()
