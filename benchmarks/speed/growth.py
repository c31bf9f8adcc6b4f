"""Time and peak memory against rows, features, centres, candidates and threads.

    python -m benchmarks.speed.growth [--rows 100000 1000000] [--n-basis 64] [--jobs 2]
        [--selection ...]
    python -m benchmarks run --only growth

Each measurement is one fit in a new process, after a small fit that compiles everything. Memory is
the additional peak, data included, next to rows * (n_basis + features) * 4 bytes, the size of the
columns and the data.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from scipy import sparse

N_FEATURES = 20
# Number of informative features.
N_TOLD = 4
BLOCK = 100_000
CLEAR_REFS, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


@dataclass(frozen=True)
class Setting:
    """One fit: the data, the model and the threads."""

    rows: int = 100_000
    features: int = N_FEATURES
    centres: int = 64
    candidates: int = 100
    threads: int = 2
    selection: str = "orthogonal"
    density: float = 1.0
    refine: bool = False
    mapped: str = ""


def make_rows(n_rows: int, seed: int = 0, n_features: int = N_FEATURES):
    """Return float32 rows, one in ten positive, with a nonlinear border."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    return X, _labels(X, rng)


def _labels(X: np.ndarray, rng) -> np.ndarray:
    told = np.zeros((len(X), N_TOLD), np.float32)
    n_told = min(N_TOLD, X.shape[1])
    told[:, :n_told] = X[:, :n_told]
    signal = told[:, 0] * told[:, 1] + np.sin(2 * told[:, 2]) + 0.5 * told[:, 3]
    signal += 0.5 * rng.standard_normal(len(X), dtype=np.float32)
    return signal > np.quantile(signal[:10_000], 0.9)


def make_sparse_rows(n_rows: int, n_features: int, density: float):
    """Return sparse rows as CSR."""
    rng = np.random.default_rng(0)
    X = sparse.random_array(
        (n_rows, n_features), density=density, format="csr", dtype=np.float32, rng=rng
    )
    weights = rng.standard_normal(n_features)
    signal = np.asarray(X @ weights) + 0.01 * rng.standard_normal(n_rows)
    return X, signal > np.quantile(signal, 0.9)


def map_rows(path: Path, n_rows: int) -> tuple[np.memmap, np.ndarray]:
    """Write rows to a file block by block, unless it exists, and return them memory-mapped."""
    labels = path.with_suffix(".labels.npy")
    if not labels.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = np.memmap(path, np.float32, mode="w+", shape=(n_rows, N_FEATURES))
        y = np.empty(n_rows, bool)
        for start in range(0, n_rows, BLOCK):
            stop = min(start + BLOCK, n_rows)
            rows[start:stop], y[start:stop] = make_rows(stop - start, seed=start + 1)
        rows.flush()
        np.save(labels, y)
    return np.memmap(path, np.float32, mode="r", shape=(n_rows, N_FEATURES)), np.load(labels)


def make_data(setting: Setting):
    """Return the rows and labels of a setting."""
    if setting.mapped:
        return map_rows(Path(setting.mapped), setting.rows)
    if setting.density < 1:
        return make_sparse_rows(setting.rows, setting.features, setting.density)
    return make_rows(setting.rows, n_features=setting.features)


def peak_memory() -> int:
    """Return the peak memory of this process in kB, without that of its parent."""
    if STATUS.exists():
        return int(STATUS.read_text().split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def forget_peak() -> int:
    """Reset the peak if the system supports it and return its current value."""
    if CLEAR_REFS.exists():
        CLEAR_REFS.write_text("5")
    return peak_memory()


def measure_here(setting: Setting) -> dict:
    """Fit once in this process, after a small fit that compiles everything."""
    from skauc import Selection, SparseKernelAUC

    model = SparseKernelAUC(
        setting.centres,
        C=10,
        selection=Selection(setting.selection, n_candidates=setting.candidates, n_rows=None),
        refine=setting.refine,
        linear_term=False,
        n_jobs=setting.threads,
        random_state=0,
    )
    small = replace(setting, rows=25_000, mapped="")
    model.set_params(n_basis=8).fit(*make_data(small))
    model.set_params(n_basis=setting.centres)
    before = forget_peak()
    X, y = make_data(setting)
    started, busy = time.perf_counter(), time.process_time()
    model.fit(X, y)
    fitted, worked = time.perf_counter(), time.process_time()
    scores = model.decision_function(X)
    peak = peak_memory() - before
    n_numbers = setting.rows * (setting.centres + setting.features)
    return {
        **asdict(setting),
        "seconds": round(fitted - started, 3),
        "processor_seconds": round(worked - busy, 3),
        "predict_seconds": round(time.perf_counter() - fitted, 4),
        "peak_mb": round(peak / 1024),
        "memory_ratio": round(peak * 1024 / (4 * n_numbers), 2),
        "train_auc": round(model.path_[-1].train_auc, 4),
        "n_finite": int(np.isfinite(scores).sum()),
    }


def measure(setting: Setting) -> dict:
    """Fit once in a new process."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.speed.growth",
        "--here",
        json.dumps(asdict(setting)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{setting} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--n-basis", type=int, default=64)
    parser.add_argument("--selection", default="greedy")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--mapped", default="", help="put the rows into this file, mapped")
    parser.add_argument("--here", metavar="JSON", help="measure this setting in this process")
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure_here(Setting(**json.loads(options.here)))))
        return
    print("| rows | seconds | peak MB | peak / (rows * (n_basis + features) * 4) | train AUC |")
    print("| --- | --- | --- | --- | --- |")
    for n_rows in options.rows:
        row = measure(
            Setting(
                rows=n_rows,
                centres=options.n_basis,
                selection=options.selection,
                threads=options.jobs,
                mapped=f"{options.mapped}.{n_rows}" if options.mapped else "",
            )
        )
        names = ("rows", "seconds", "peak_mb", "memory_ratio", "train_auc")
        print("| " + " | ".join(str(row[name]) for name in names) + " |", flush=True)


if __name__ == "__main__":
    main()
