"""Exact Shapley values beside the package shap, in one run on one thread.

    SKAUC_DATA=... python -m benchmarks.speed.explanations

Needs shap and lightgbm. Prints the processor time per row for models of 64 centres on ijcnn1 (22
features), sonar (60) and random rows of 784 features, the time of ``shap.KernelExplainer`` on the
same model and of TreeSHAP on a LightGBM model of the same rows, and the largest differences to
``shap.explainers.Exact`` and to the scores. Two plots of shap are drawn to see that they take our
explanations.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

from reproduction.data_sets import load_dataset
from skauc import SparseKernelAUC
from skauc.explain import shapley_values

N_BACKGROUND = 100


def main() -> None:
    """Print all measurements."""
    warnings.simplefilter("ignore")
    for name in ("ijcnn1", "sonar", "random"):
        X, y = make_rows(784) if name == "random" else real_rows(name)
        model = SparseKernelAUC(64, random_state=0).fit(X, y)
        n_features = X.shape[1]
        n_rows = 100 if n_features < 100 else 32
        report(f"skauc, {name}, {n_features} features", *ours(model, X, n_rows))
        if name == "ijcnn1":
            report("shap.KernelExplainer, the same model", *kernel_explainer(model, X))
            report("TreeSHAP, LightGBM, 100 background rows", *tree_explainer(X, y, n_rows))
    print(f"largest difference to shap.explainers.Exact: {difference_to_exact():.1e}")


def real_rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the first 2,000 rows of the training part, with a mean of 0 and a variance of 1."""
    data = load_dataset(name)
    X = np.asarray(data.X_train[:2000], dtype=np.float64)
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12), data.y_train[:2000]


def make_rows(n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 1,000 random rows, a third of them positive."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, n_features))
    return X, X[:, 0] + X[:, 1] ** 2 + rng.normal(size=1000) > 2


def report(name: str, milliseconds: float, error: float | None) -> None:
    more = "" if error is None else f", additive to {error:.1e}"
    print(f"{name}: {milliseconds:.2f} ms per row{more}", flush=True)


def ours(model: SparseKernelAUC, X: np.ndarray, n_rows: int) -> tuple[float, float]:
    rows, background = X[N_BACKGROUND : N_BACKGROUND + n_rows], X[:N_BACKGROUND]
    shapley_values(model, rows[:1], background)
    start = time.process_time()
    found = shapley_values(model, rows, background, n_jobs=1)
    seconds = time.process_time() - start
    total = found.values.sum(axis=1) + found.base_values
    error = np.abs(total - model.decision_function(rows)).max()
    return 1e3 * seconds / n_rows, float(error)


def kernel_explainer(model: SparseKernelAUC, X: np.ndarray) -> tuple[float, float | None]:
    import shap

    explainer = shap.KernelExplainer(model.decision_function, X[:N_BACKGROUND])
    start = time.process_time()
    explainer.shap_values(X[N_BACKGROUND : N_BACKGROUND + 2], silent=True)
    return 1e3 * (time.process_time() - start) / 2, None


def tree_explainer(X: np.ndarray, y: np.ndarray, n_rows: int) -> tuple[float, float | None]:
    import lightgbm
    import shap

    trees = lightgbm.LGBMClassifier(n_jobs=1, verbose=-1).fit(X, y)
    explainer = shap.TreeExplainer(trees, X[:N_BACKGROUND])
    explainer.shap_values(X[:1])
    start = time.process_time()
    explainer.shap_values(X[N_BACKGROUND : N_BACKGROUND + n_rows])
    return 1e3 * (time.process_time() - start) / n_rows, None


def difference_to_exact() -> float:
    """Compare a pipeline on real rows with shap's enumeration, and draw two of its plots."""
    import matplotlib
    import pandas as pd
    import shap
    from sklearn.datasets import load_breast_cancer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    matplotlib.use("Agg")
    data = load_breast_cancer(as_frame=True)
    X = data.data.iloc[:, :8]
    model = make_pipeline(StandardScaler(), SparseKernelAUC(16, random_state=0))
    model.fit(X, data.target)
    found = shapley_values(model, X[:5], X[100:140])
    explainer = shap.explainers.Exact(
        lambda rows: model.decision_function(pd.DataFrame(rows, columns=X.columns)),
        shap.maskers.Independent(X[100:140].to_numpy(), max_samples=40),
    )
    expected = explainer(X[:5].to_numpy())
    shap.plots.waterfall(found[0], show=False)
    shap.plots.beeswarm(found, show=False)
    return float(np.abs(found.values - expected.values).max())


if __name__ == "__main__":
    main()
