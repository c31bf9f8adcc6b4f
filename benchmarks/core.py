"""The core on one machine: ijcnn1 beside SVC, imports, the first fit, the CV estimator.

    SKAUC_DATA=... python -m benchmarks.core

ijcnn1: official split, features as given, 182 centres, 100
candidates, sigma 1, C_pair 1e-3. Times are of one run; only their ratios mean something.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skauc import SparseKernelAUC, SparseKernelAUCCV
from skauc.datasets import load_dataset

FIRST_FIT = """
import time
from sklearn.datasets import make_classification
from skauc import SparseKernelAUC
X, y = make_classification({rows}, 20, weights=[0.9], random_state=0)
started = time.perf_counter()
SparseKernelAUC().fit(X, y)
print(round(time.perf_counter() - started, 2))
"""


def timed(function):
    started = time.perf_counter()
    result = function()
    return result, time.perf_counter() - started


def in_fresh_process(code: str, **environment) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def import_seconds(module: str) -> float:
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    return min(float(in_fresh_process(code)) for _ in range(5))


def ijcnn1() -> None:
    data = load_dataset("ijcnn1")
    X, y = data.X_train, data.y_train
    p, n = (y > 0).sum(), (y < 0).sum()
    C = 1e-3 * p * n / (p + n)
    SparseKernelAUC(8).fit(X, y)
    _, svc_seconds = timed(lambda: SVC(C=32, gamma=2).fit(X, y))
    print(f"SVC(C=32, gamma=2): {svc_seconds:.2f} s")
    for gamma in (0.5, 1.0):
        for selection in ("greedy", "orthogonal"):
            for seed in range(3):
                model = SparseKernelAUC(
                    182, C=C, gamma=gamma, selection=selection, n_jobs=2, random_state=seed
                )
                _, seconds = timed(lambda model=model: model.fit(X, y))
                score = model.score(data.X_test, data.y_test)
                print(
                    f"gamma {gamma} {selection} seed {seed}: test AUC {score:.4f}, {seconds:.2f} s "
                    f"({seconds / svc_seconds:.2f} of SVC)",
                    flush=True,
                )


def main() -> None:
    ijcnn1()
    sklearn, skauc = import_seconds("sklearn"), import_seconds("sklearn, skauc")
    print(f"import sklearn {sklearn:.3f} s, with skauc {skauc:.3f} s ({skauc / sklearn:.2f})")
    for rows in (2000, 20_000):
        with tempfile.TemporaryDirectory() as cache:
            first, second = (
                in_fresh_process(FIRST_FIT.format(rows=rows), NUMBA_CACHE_DIR=cache)
                for _ in range(2)
            )
        print(f"first-ever fit of {rows} rows {first} s, in the next process {second} s")
    data = load_dataset("svmguide3")
    X, y = StandardScaler().fit_transform(data.X_train), data.y_train
    _, one = min(
        (timed(lambda: SparseKernelAUC(64, random_state=0).fit(X, y)) for _ in range(3)),
        key=lambda entry: entry[1],
    )
    _, tuned = timed(lambda: SparseKernelAUCCV(random_state=0).fit(X, y))
    print(f"svmguide3: one fit {one:.2f} s, SparseKernelAUCCV {tuned:.2f} s ({tuned / one:.1f})")


if __name__ == "__main__":
    main()
