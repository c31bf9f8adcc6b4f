"""Time what users do most: small fits, searches, and fits to ijcnn1 beside XGBoost and SVC.

    SKAUC_DATA=... python -m benchmarks.speed.everyday [small] [ijcnn1] [paper] [search] [command]

Wall time on all cores, on a machine that does nothing else. Lines with a peer alternate with it and
give the ratio of the shortest times. Every line is printed as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from reproduction.data_sets import load_dataset
from skauc import Selection, SparseKernelAUC, SparseKernelAUCCV

N_JOBS = -1


def seconds_of(work: Callable[[], object]) -> float:
    """Return the time of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def alternate(works: dict[str, Callable[[], object]], n_repeats: int) -> dict[str, float]:
    """Return the shortest time of each work, all of them in turn."""
    times = [{name: seconds_of(work) for name, work in works.items()} for _ in range(n_repeats)]
    return {name: min(each[name] for each in times) for name in works}


def report(what: str, **numbers) -> None:
    """Print a line."""
    rounded = {k: round(v, 4) if isinstance(v, float) else v for k, v in numbers.items()}
    print(json.dumps({"what": what, **rounded}), flush=True)


def standardised(name: str):
    """Return training rows, labels, test rows and labels of a set of the paper."""
    data = load_dataset(name)
    scaler = StandardScaler().fit(data.X_train)
    test = None if data.X_test is None else scaler.transform(data.X_test)
    return scaler.transform(data.X_train), data.y_train > 0, test, data.y_test


def small() -> None:
    """Time 64 centres on sonar and svmguide3."""
    plain = {"linear_term": False, "n_jobs": 1, "random_state": 0}
    for name in ("sonar", "svmguide3"):
        X, y, _, _ = standardised(name)
        works = {
            "unrefined": lambda X=X, y=y: SparseKernelAUC(64, refine=False, **plain).fit(X, y),
            "refined": lambda X=X, y=y: SparseKernelAUC(64, refine=True, **plain).fit(X, y),
            "default": lambda X=X, y=y: SparseKernelAUC(n_jobs=1, random_state=0).fit(X, y),
        }
        report(f"64 centres, {name}", **alternate(works, 15))


def ijcnn1() -> None:
    """Time fits to ijcnn1 over XGBoost."""
    from xgboost import XGBClassifier

    data = load_dataset("ijcnn1")
    X, y, X_test, y_test = data.X_train, data.y_train > 0, data.X_test, data.y_test > 0
    settings = {
        "SparseKernelAUC()": {},
        "SparseKernelAUC(16)": {"n_basis": 16},
        "SparseKernelAUC(16, C=10)": {"n_basis": 16, "C": 10},
        "SparseKernelAUC(32, C=30)": {"n_basis": 32, "C": 30},
        "SparseKernelAUC(C=30)": {"C": 30},
    }
    for name, setting in settings.items():
        models: list[SparseKernelAUC] = []

        def fit(setting=setting, models=models):
            model = SparseKernelAUC(**setting, n_jobs=N_JOBS, random_state=len(models))
            models.append(model.fit(X, y))

        peer = XGBClassifier(n_jobs=N_JOBS, random_state=0)
        fit()
        times = alternate({"skauc": fit, "XGBoost": lambda peer=peer: peer.fit(X, y)}, 5)
        areas = [float(round(model.score(X_test, y_test), 4)) for model in models[:5]]
        ratio = times["skauc"] / times["XGBoost"]
        report(name, **times, ratio=ratio, auc=areas)


def paper() -> None:
    """Time 182 centres as in the paper over SVC, on ijcnn1."""
    data = load_dataset("ijcnn1")
    X, y, X_test, y_test = data.X_train, data.y_train > 0, data.X_test, data.y_test > 0
    # C_pair = C / (p + n) = 1e-3, and sigma = 1.
    ours = SparseKernelAUC(
        182,
        C=1e-3 * len(y),
        gamma=0.5,
        refine=False,
        linear_term=False,
        selection=Selection(n_candidates=100),
        n_jobs=N_JOBS,
        random_state=0,
    )
    peer = SVC(C=32, gamma=2)
    times = alternate({"skauc": lambda: ours.fit(X, y), "SVC": lambda: peer.fit(X, y)}, 3)
    area = float(ours.score(X_test, y_test))
    other = float(roc_auc_score(y_test, peer.decision_function(X_test)))
    report("182 centres", **times, ratio=times["skauc"] / times["SVC"], auc=area, SVC_auc=other)


def search() -> None:
    """Time searches beside one default fit, and beside the quick search."""
    sets = {
        f"{n:,} x 20": (*make_classification(n, 20, n_informative=8, random_state=0), None, None)
        for n in (300, 1000, 5000)
    }
    for name in ("sonar", "svmguide3", "magic04", "poker", "ijcnn1"):
        sets[name] = standardised(name)
    for name, (X, y, _, _) in sets.items():
        works: dict[str, Callable[[], object]] = {
            effort: lambda X=X, y=y, effort=effort: SparseKernelAUCCV(
                effort=effort, n_jobs=N_JOBS, random_state=0
            ).fit(X, y)
            for effort in ("default", "quick")
        }
        works["fit"] = lambda X=X, y=y: SparseKernelAUC(random_state=0, n_jobs=N_JOBS).fit(X, y)
        times = alternate(works, 2 if len(y) < 2000 else 1)
        report(f"search, {name}", **times, ratio=times["default"] / times["fit"])


def command() -> None:
    """Time `skauc fit` on a table of 400 rows, from the prompt back to the prompt."""
    X, y = make_classification(400, 8, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        head = ",".join([*(f"x{j}" for j in range(8)), "y"])
        np.savetxt(path, np.column_stack((X, y)), delimiter=",", header=head, comments="")
        call = [sys.executable, "-c", "from skauc.app.cli import main; main()", "fit", str(path)]
        call += ["--target", "y", "-o", str(Path(folder) / "model.skauc"), "--force"]

        def run():
            subprocess.run(call, check=True, capture_output=True)

        report("skauc fit, 400 rows", **alternate({"seconds": run}, 3))


if __name__ == "__main__":
    parts = {each.__name__: each for each in (small, ijcnn1, paper, search, command)}
    for name in sys.argv[1:] or parts:
        parts[name]()
