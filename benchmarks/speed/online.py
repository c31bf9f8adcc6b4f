"""Rows per second of each online learner and of scikit-learn's SGDClassifier.

    python -m benchmarks.speed.online [--rows 50000] [--features 20]

One `partial_fit` of all rows after a first call that compiles; the best CPU time of three. The
learners use one thread. The first call is timed in a new process with an empty cache, compilation
included.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier

from skauc import OAM, OILK, OPAUC, AdaOAM, SAdaOAM

LINEAR, KERNEL = 200_000, 20_000  # goal in rows per second, with 20 features and buffers of 100

LEARNERS = {
    OAM("sequential"): LINEAR,
    OAM("gradient"): LINEAR,
    OPAUC(): LINEAR,
    OPAUC(rank=5): LINEAR,
    AdaOAM(): LINEAR,
    SAdaOAM(): LINEAR,
    OILK("reservoir"): KERNEL,
    OILK("fifo"): KERNEL,
    OILK("rsx"): KERNEL,
    OILK("reservoir", n_violators=10): KERNEL,
}


def make_rows(n_rows: int, n_features: int):
    """Return rows, about one in four positive, with a linear border and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    signal = X[:, 0] * 2 + X[:, 1] + rng.normal(size=n_rows)
    return X, (signal > 1.6).astype(int)


def seconds_for(learner, X, y) -> float:
    """Return the time of one pass over the rows, without compilation."""
    started = time.process_time()
    clone(learner).partial_fit(X, y, classes=[0, 1])
    return time.process_time() - started


def first_call(name: str) -> float:
    """Return the time of the first call, including the import of numba and compilation."""
    code = (
        "import time, numpy as np\n"
        "from skauc import OAM, OILK, OPAUC, AdaOAM, SAdaOAM\n"
        "X, y = np.eye(20), np.arange(20) % 2\n"
        "started = time.process_time()\n"
        f"{name}.partial_fit(X, y, classes=[0, 1])\n"
        "print(time.process_time() - started)\n"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--features", type=int, default=20)
    options = parser.parse_args()
    X, y = make_rows(options.rows, options.features)
    print("| learner | rows a second | goal | AUC on the rows | first call ever, s |")
    print("| --- | --- | --- | --- | --- |")
    for learner, goal in LEARNERS.items():
        model = clone(learner).partial_fit(X, y, classes=[0, 1])
        speed = options.rows / min(seconds_for(learner, X, y) for _ in range(3))
        quality, first = model.score(X, y), first_call(repr(learner))
        print(
            f"| `{learner}` | {speed:,.0f} | {goal:,} | {quality:.4f} | {first:.1f} |", flush=True
        )
    speed = options.rows / min(seconds_for(SGDClassifier(), X, y) for _ in range(3))
    print(f"| scikit-learn's `SGDClassifier()` | {speed:,.0f} | | | |")


if __name__ == "__main__":
    main()
