"""Draw the figure of the landing page and of the README.

    python docs/figures/landing.py [docs/figures/landing.png]

Left: a model of twelve centres in the plane. Right: the mean test AUC over the ten digits of
scikit-learn, each in turn the rare class, by the number of positive training images. All
classifiers use their defaults and standardised features, two draws of the positives per digit.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_moons
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC
from skauc.metrics import auc

COUNTS, DRAWS = (5, 10, 20, 40, 80), 2
MODELS = {
    "SparseKernelAUC": lambda: SparseKernelAUC(random_state=0),
    "boosted trees": HistGradientBoostingClassifier,
    "logistic regression": LogisticRegression,
}
COLOURS = {
    "SparseKernelAUC": "#14527f",
    "boosted trees": "#c05a00",
    "logistic regression": "0.45",
}


def draw_surface(axes) -> None:
    """Draw the scores of a small model, its centres and its training points."""
    X, y = make_moons((1200, 60), noise=0.18, random_state=3)
    X = StandardScaler().fit_transform(X)
    model = SparseKernelAUC(12, C=10, scaling=None, random_state=0).fit(X, y)
    across, up = np.linspace(-2.5, 2.7, 240), np.linspace(-3.1, 2.6, 240)
    points = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    scores = model.decision_function(points).reshape(240, 240)
    limit = np.quantile(np.abs(scores), 0.95)
    axes.contourf(across, up, np.clip(scores, -limit, limit), levels=24, cmap="RdBu", alpha=0.85)
    axes.scatter(*X[y == 0].T, s=4, color="0.3", label="1,200 negatives")
    axes.scatter(
        *X[y == 1].T, s=22, color="gold", edgecolor="k", linewidth=0.7, label="60 positives"
    )
    axes.scatter(
        *model.basis_vectors_.T, s=130, facecolor="none", edgecolor="k", linewidth=1.8,
        label="12 centres",
    )  # fmt: skip
    axes.set(xticks=[], yticks=[], xlim=across[[0, -1]], ylim=up[[0, -1]])
    axes.set_title("A whole model: blue ranks high")
    axes.legend(loc="upper right", framealpha=0.9)


def draw_few_positives(axes) -> None:
    """Draw the test AUC by the number of positives."""
    X, digit = load_digits(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    X_train, X_test, train, test = train_test_split(
        X, digit, test_size=0.5, stratify=digit, random_state=0
    )
    for name, make in MODELS.items():
        means = []
        for count in COUNTS:
            found = [
                _test_auc(make(), X_train, train == rare, X_test, test == rare, count, seed)
                for rare in range(10)
                for seed in range(DRAWS)
            ]
            means.append(np.mean(found))
        print(name, np.round(means, 4).tolist(), flush=True)
        axes.plot(COUNTS, means, "o-", color=COLOURS[name], label=name)
    axes.set_xscale("log")
    axes.set_xticks(COUNTS, [str(count) for count in COUNTS])
    axes.minorticks_off()
    axes.set(xlabel="Positive training images, beside about 809 others", ylabel="Mean test AUC")
    axes.set_title("Find a digit after a few examples")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")


def _test_auc(model, X, y, X_test, y_test, n_positives: int, seed: int) -> float:
    positives = np.random.default_rng(seed).permutation(np.flatnonzero(y))[:n_positives]
    rows = np.concatenate([positives, np.flatnonzero(~y)])
    scores = model.fit(X[rows], y[rows]).decision_function(X_test)
    return auc(y_test, scores)


def main() -> None:
    """Draw both panels."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("landing.png")
    plt.rcParams.update({"font.size": 11})
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
    draw_surface(left)
    draw_few_positives(right)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
