"""Start-up cost: the import, and the first fit."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import numpy as np

from benchmarks.harness import Line, Options, to_lines

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
