"""Start-up cost: the import, the first fit, and a search compared with one fit."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import Line, Options, compare, to_lines
from reproduction.data_sets import load_dataset
from skauc import SparseKernelAUC, SparseKernelAUCCV

IMPORT = "import time; t = time.perf_counter(); import {modules}; print(time.perf_counter() - t)"
FIRST_FIT = """
import time
from sklearn.datasets import make_classification
from skauc import SparseKernelAUC
X, y = make_classification({rows}, 20, weights=[0.9], random_state=0)
started = time.process_time()
SparseKernelAUC().fit(X, y)
print(time.process_time() - started)
"""


def in_fresh_process(code: str, **environment) -> float:
    """Return the number printed by a program."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def imports(options: Options) -> list[Line]:
    """Import of scikit-learn and skauc, compared with scikit-learn alone."""
    names = ("sklearn, skauc", "sklearn")
    seconds = {
        name: np.array(
            [in_fresh_process(IMPORT.format(modules=name)) for _ in range(options.repeats)]
        )
        for name in names
    }
    return to_lines("import", seconds)


def first_fit(options: Options) -> list[Line]:
    """The first fit, compilation included, compared with the first fit of the next process."""
    found = []
    for n_rows in (2_000, 20_000):
        code = FIRST_FIT.format(rows=n_rows)
        with tempfile.TemporaryDirectory() as cache:
            first, second = (in_fresh_process(code, NUMBA_CACHE_DIR=cache) for _ in range(2))
        seconds = {"the first ever": np.array([first]), "the next process": np.array([second])}
        found += to_lines("first fit", seconds, facts={"rows": n_rows})
    return found


def search(options: Options) -> list[Line]:
    """`SparseKernelAUCCV` with defaults compared with one fit of 64 centres, on svmguide3."""
    data = load_dataset("svmguide3")
    X, y = StandardScaler().fit_transform(data.X_train), data.y_train
    tasks = {
        "SparseKernelAUCCV": lambda: SparseKernelAUCCV(random_state=0).fit(X, y),
        "SparseKernelAUC(64)": lambda: SparseKernelAUC(64, random_state=0).fit(X, y),
    }
    return compare("search", tasks, 2, clock=time.process_time)
