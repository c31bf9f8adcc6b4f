"""What users do most: fits to few rows, searches, and the program on a small table.

Fits to few rows are compared with those of XGBoost and with plain NumPy, searches with one default
fit to the same rows, and the program with the import of scikit-learn.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.harness import Line, Options, compare, often
from reproduction.data_sets import load_dataset
from skauc import SparseKernelAUC, SparseKernelAUCCV

FITS: dict[str, dict] = {
    "not refined": {"refine": False, "linear_term": False},
    "refined": {"linear_term": False},
    "default": {},
}
SMALL_SETS = ("300 x 20", "1,000 x 20", "5,000 x 20", "sonar", "svmguide3")
LARGE_SETS = ("magic04", "poker", "ijcnn1")
# Largest time of a search over that of one default fit.
SEARCH_GOAL = 15.0


@cache
def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return standardised rows and labels: those of a set of the paper, or n x d made ones."""
    if " x " in name:
        n_rows, n_features = (int(number.replace(",", "")) for number in name.split(" x "))
        return make_classification(n_rows, n_features, n_informative=8, random_state=0)
    data = load_dataset(name)
    return StandardScaler().fit_transform(data.X_train), data.y_train > 0


def few_rows(options: Options) -> list[Line]:
    """64 centres on sonar and svmguide3, compared with XGBoost: wall time on one thread."""
    from xgboost import XGBClassifier

    found = []
    for name in ("sonar", "svmguide3"):
        X, y = rows_of(name)
        for what, parameters in FITS.items():
            model = SparseKernelAUC(64, n_jobs=1, random_state=0, **parameters).fit(X, y)
            peer = XGBClassifier(n_jobs=1, random_state=0)
            tasks = {
                f"{name}, {what}": lambda model=model, X=X, y=y: model.fit(X, y),
                "XGBoost": lambda peer=peer, X=X, y=y: peer.fit(X, y),
            }
            found += compare("few rows", tasks, 3 * options.repeats)
    return found


def few_rows_roof(options: Options) -> list[Line]:
    """Default fits to few rows, compared with matrix products and exponentials of NumPy."""
    found = []
    for n_rows in (240, 1_000):
        X, y = rows_of(f"{n_rows:,} x 20")
        model = SparseKernelAUC(n_jobs=1, random_state=0).fit(X, y)
        columns = np.linspace(-1, 0, n_rows * 64).reshape(n_rows, 64)

        def bare(columns=columns):
            np.exp(columns)
            columns.T @ columns

        tasks = {
            f"default, {n_rows:,} rows": lambda model=model, X=X, y=y: model.fit(X, y),
            "100 blocks of NumPy": often(bare, 100),
        }
        # Threads of BLAS that wait would count as processor time.
        with threadpool_limits(1):
            found += compare("few rows", tasks, options.repeats, clock=time.process_time)
    return found


def searches(options: Options, sets: tuple[str, ...] = SMALL_SETS) -> list[Line]:
    """Searches compared with one default fit: wall time on all threads."""
    n_jobs, found = options.most_threads, []
    for name in sets:
        X, y = rows_of(name)
        fit = SparseKernelAUC(n_jobs=n_jobs, random_state=0).fit(X, y)
        for effort in ("default", "quick"):
            search = SparseKernelAUCCV(effort=effort, n_jobs=n_jobs, random_state=0)
            tasks = {
                f"{name}, {effort}": lambda search=search, X=X, y=y: search.fit(X, y),
                "one fit": lambda fit=fit, X=X, y=y: fit.fit(X, y),
            }
            goals = {"one fit": SEARCH_GOAL} if effort == "default" else {}
            found += compare("search", tasks, 2, goals=goals, facts={"threads": n_jobs})
    return found


def large_searches(options: Options) -> list[Line]:
    """The same on the larger sets of the paper."""
    return searches(options, LARGE_SETS)


def command(options: Options) -> list[Line]:
    """`skauc fit` on a table of 400 rows, from the prompt back to the prompt."""
    X, y = make_classification(400, 8, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        head = ",".join([*(f"x{j}" for j in range(8)), "y"])
        np.savetxt(path, np.column_stack((X, y)), delimiter=",", header=head, comments="")
        start = [sys.executable, "-c"]
        fit = [*start, "from skauc.app.cli import main; main()", "fit", str(path), "--target", "y"]
        fit += ["-o", str(Path(folder) / "model.skauc"), "--force"]
        calls = {"skauc fit, 400 rows": fit, "import of scikit-learn": [*start, "import sklearn"]}
        tasks = {
            name: lambda call=call: subprocess.run(call, check=True, capture_output=True)
            for name, call in calls.items()
        }
        return compare("program", tasks, min(options.repeats, 3))
