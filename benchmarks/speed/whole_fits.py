"""Time whole fits: by the number of threads, by the number of rows, and on a GPU.

    python -m benchmarks.speed.whole_fits --rows 300000 --threads 1 2 4 8 16
    python -m benchmarks.speed.whole_fits --rows 1000000 10000000 --features 28 --gpu

The rows are synthetic: a wave in one feature, a product of two, a slope in a fourth, and noise; a
tenth is positive. Every line is the best of ``--repeats`` fits. A line of JSON is printed for each.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial

import numpy as np
from sklearn.metrics import roc_auc_score

from skauc import SparseKernelAUC

FITS = {
    "unrefined": {"refine": False, "linear_term": False},
    "refined": {"linear_term": False},
    "default": {},
}
N_TESTED = 100_000


def make_rows(n_rows: int, n_features: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return float32 rows and labels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    score = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3]
    score += 0.7 * rng.standard_normal(n_rows, dtype=np.float32)
    return X, score > np.quantile(score[:N_TESTED], 0.9)


def best_seconds(fit, n_repeats: int) -> tuple[float, SparseKernelAUC]:
    """Return the shortest time of several fits, and the last model."""
    seconds = []
    for _ in range(n_repeats):
        started = time.perf_counter()
        model = fit()
        seconds.append(time.perf_counter() - started)
    return min(seconds), model


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[300_000])
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--centres", type=int, nargs="+", default=[64])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--fits", nargs="+", choices=FITS, default=list(FITS))
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--gpu", action="store_true")
    arguments = parser.parse_args()
    test = make_rows(N_TESTED, arguments.features, seed=1)
    places = ["gpu"] if arguments.gpu else arguments.threads
    for n_rows in arguments.rows:
        X, y = make_rows(n_rows, arguments.features)
        for name in arguments.fits:
            for n_centres in arguments.centres:
                for place in places:
                    where = {"engine": "gpu"} if place == "gpu" else {"n_jobs": place}
                    model = SparseKernelAUC(n_centres, random_state=0, **FITS[name], **where)
                    model.fit(X[:20_000], y[:20_000])  # compiles what the fit needs
                    seconds, fitted = best_seconds(partial(model.fit, X, y), arguments.repeats)
                    auc = roc_auc_score(test[1], fitted.decision_function(test[0]))
                    line = {"fit": name, "rows": n_rows, "centres": n_centres, "on": place}
                    print(json.dumps({**line, "seconds": seconds, "auc": auc}), flush=True)


if __name__ == "__main__":
    main()
