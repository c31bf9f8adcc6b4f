"""Test AUC on ijcnn1 against the number of centres for three methods.

    SKAUC_DATA=... python -m benchmarks.quality.ijcnn1_sizes [--figure FILE.png] [--out FILE.json]

Official split, features as given. The pursuits have gamma 1 and C 50 (C_pair about 1e-3), no
refinement and no linear term. The refined models have C 50, 40 steps and the other defaults; one
fit per size. Boosted trees (100 trees, the default of scikit-learn) are drawn as a line.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from reproduction.data_sets import load_dataset
from skauc import SparseKernelAUC
from skauc.metrics import auc

SIZES = (8, 16, 32, 64, 128)
C = 50.0
PAPER = {"Sparse Kernel AUC, as printed": (182, 0.995)}


def pursue(data, selection: str) -> list:
    model = SparseKernelAUC(
        182,
        C=C,
        gamma=1.0,
        selection=selection,
        refine=False,
        linear_term=False,
        n_jobs=2,
        random_state=0,
    )
    model.fit(data.X_train, data.y_train)
    stages = zip(model.path_, model.staged_decision_function(data.X_test), strict=True)
    return [(record.n_basis, auc(data.y_test, scores)) for record, scores in stages]


def refine(data) -> list:
    points = []
    for n_basis in SIZES:
        model = SparseKernelAUC(n_basis, C=C, refine=40, n_jobs=2, random_state=0)
        started = time.perf_counter()
        model.fit(data.X_train, data.y_train)
        seconds = time.perf_counter() - started
        points.append((n_basis, model.score(data.X_test, data.y_test)))
        print(f"refined {n_basis}: {points[-1][1]:.5f} in {seconds:.1f} s", flush=True)
    return points


def boost(data) -> float:
    from sklearn.ensemble import HistGradientBoostingClassifier

    trees = HistGradientBoostingClassifier(random_state=0).fit(data.X_train, data.y_train)
    return auc(data.y_test, trees.decision_function(data.X_test))


def draw(curves: dict, trees: float, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for name, points in curves.items():
        axes.plot(*zip(*points, strict=True), "o-", markersize=4, label=name)
    for name, (size, value) in PAPER.items():
        axes.plot(size, value, "k*", markersize=12, label=name)
    axes.axhline(trees, color="0.5", linestyle="--", label="boosted trees, 100 trees")
    axes.set_xscale("log", base=2)
    ticks = [1, 2, 4, 8, 16, 32, 64, 128]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set(ylim=(0.85, 1.0), xlabel="Number of centres", ylabel="Test AUC")
    axes.set_title("ijcnn1: 49,990 training rows, 91,701 test rows")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    data = load_dataset("ijcnn1")
    curves = {
        "moving centres, learnt scales, linear part": refine(data),
        "fixed centres, orthogonal selection": pursue(data, "orthogonal"),
        "fixed centres, the paper's Method 2": pursue(data, "greedy"),
    }
    trees = boost(data)
    print(f"boosted trees {trees:.4f}")
    for name, points in curves.items():
        print(name, [(size, round(value, 4)) for size, value in points if size >= 8])
    if options.out:
        options.out.write_text(json.dumps(curves, indent=1) + "\n")
    if options.figure:
        draw(curves, trees, options.figure)


if __name__ == "__main__":
    main()
