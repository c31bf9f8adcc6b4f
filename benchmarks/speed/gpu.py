"""Compare the GPU engine with the CPU engine: results, time and memory.

    python -m benchmarks.speed.gpu [--rows 100000x256 1000000x256 10000000x256]
        [--cpu 100000x256 1000000x64] [--refine 64] [--out DIR]

Arguments are rows times centres, with 28 float32 features. Both engines fit the
sizes of --cpu. The script updates gpu.md and gpu.json after each line. Seconds are those of
``fit``, including validation and the transfer to the device; "of them" excludes validation. The
refined model is fitted to ijcnn1, found through SKAUC_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from reproduction.data_sets import load_dataset
from skauc import Selection, SparseKernelAUC
from skauc.engines import OrthonormalColumns, make_engine, read_training
from skauc.engines.gpu import find_device
from skauc.engines.passes import (
    CandidateGains,
    Centres,
    Derivatives,
    Gradient,
    HessianProduct,
    Moments,
)
from skauc.kernels import RBF

N_FEATURES, GAMMA = 28, 0.02
N_TEST = 100_000
# Fits whose passes are over all rows.
PLAIN = {"refine": False, "linear_term": False, "selection": Selection(n_rows=None)}
PASS_ROWS, PASS_CENTRES = 200_000, 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    sizes = ["100000x256", "1000000x256", "10000000x256"]
    parser.add_argument("--rows", nargs="*", default=sizes)
    parser.add_argument("--cpu", nargs="*", default=["100000x256", "1000000x64"])
    parser.add_argument("--refine", type=int, default=64, help="centres, 0 for no refined model")
    parser.add_argument("--out", type=Path, default=Path("."))
    arguments = parser.parse_args()
    results = {"machine": machine(), "passes": agreement(), "fits": []}
    for engine in ("gpu", "cpu"):
        SparseKernelAUC(4, engine=engine, **PLAIN).fit(*make_rows(20_000, 0))
    jobs = [("gpu", size) for size in arguments.rows if size not in arguments.cpu]
    jobs = [(engine, size) for size in arguments.cpu for engine in ("gpu", "cpu")] + jobs
    for engine, size in jobs:
        results["fits"].append(fit_size(engine, *map(int, size.split("x"))))
        write(results, arguments.out)
    for engine in ("gpu", "cpu") if arguments.refine else ():
        results["fits"].append(fit_refined(engine, arguments.refine))
        write(results, arguments.out)


def machine() -> dict:
    device = find_device()
    is_gpu = device.startswith("cuda")
    return {
        "device": torch.cuda.get_device_name() if is_gpu else device,
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
    }


def make_rows(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with about one positive in eleven, labelled by products of features and noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, N_FEATURES), dtype=np.float32)
    truth = np.sin(2 * X[:, 0]) * X[:, 1] + X[:, 2] * X[:, 3] + 0.5 * X[:, 4] ** 2
    truth += rng.standard_normal(n_rows, dtype=np.float32)
    return X, (truth > 2.8).astype(np.int8)


def agreement() -> dict[str, float]:
    """Return the largest relative difference of each pass between the engines."""
    data = read_training("cpu", SparseKernelAUC(), *make_rows(PASS_ROWS, 1))
    answers = [answer(data), answer(replace(data, device=find_device()))]
    return {
        name: float(np.abs(found - expected).max() / np.abs(expected).max())
        for (name, expected), found in zip(answers[0].items(), answers[1].values(), strict=True)
    }


def answer(data) -> dict[str, np.ndarray]:
    """Return the results of all passes of an engine at the same weights."""
    rng, kernel = np.random.default_rng(0), RBF(GAMMA)
    weights = rng.normal(size=PASS_CENTRES)
    centres = data.X[:PASS_CENTRES]
    factor = np.linalg.cholesky(kernel.columns(centres.astype(float), np.float64)(centres))
    inverse = np.linalg.inv(factor)
    with make_engine(data, capacity=PASS_CENTRES, n_jobs=-1) as engine:
        nothing = np.zeros((0, PASS_CENTRES))
        engine.append(OrthonormalColumns(kernel, centres, nothing, inverse.T))
        state = engine.at(weights)
        state = engine.step(state, engine.direction(weights[::-1].copy()), 0.5)
        candidates = Centres(kernel, data.X[100:200])
        along = engine.ask(CandidateGains(candidates), state)
        slopes, curvatures = engine.ask(Derivatives(PASS_CENTRES, candidates), state)
        question = Moments(PASS_CENTRES, np.zeros(N_FEATURES), factor, weights)
        moments = engine.ask(question, state)
        line, quality = engine.direction(weights), engine.quality(state)
        return {
            "loss": np.array(state.loss),
            "gradient": engine.ask(Gradient(PASS_CENTRES), state),
            "Hessian": engine.ask(Derivatives(PASS_CENTRES), state)[1],
            "Hessian product": engine.ask(HessianProduct(line, PASS_CENTRES), state),
            "slopes of candidates": along.slopes,
            "curvatures of candidates": along.curvatures,
            "gradient with candidates": slopes,
            "Hessian with candidates": curvatures,
            "moments of the kernel": moments.first,
            "AUC": np.array(quality.train_auc),
            "threshold": np.array(quality.threshold),
        }


def fit_size(engine: str, n_rows: int, n_centres: int) -> dict:
    model = SparseKernelAUC(
        n_centres, gamma=GAMMA, engine=engine, n_jobs=-1, random_state=0, **PLAIN
    )
    return measured(model, f"{n_rows:,}", *make_rows(n_rows, 0), *make_rows(N_TEST, 2))


def fit_refined(engine: str, n_centres: int) -> dict:
    data = load_dataset("ijcnn1")
    model = SparseKernelAUC(n_centres, refine=True, engine=engine, n_jobs=-1, random_state=0)
    rows = data.X_train, data.y_train, data.X_test, data.y_test
    return measured(model, "ijcnn1, refined", *rows)


def measured(model: SparseKernelAUC, rows: str, X, y, X_test, y_test) -> dict:
    is_gpu = torch.cuda.is_available()
    if is_gpu:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    started = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - started
    peak = torch.cuda.max_memory_allocated() / 1e9 if is_gpu and model.engine == "gpu" else None
    return {
        "rows": rows,
        "centres": model.n_basis,
        "engine": model.engine,
        "seconds": seconds,
        "seconds of the path": model.path_[-1].seconds,
        "objective": model.path_[-1].objective,
        "test AUC": model.score(X_test, y_test),
        "GB on the GPU": peak,
    }


def write(results: dict, folder: Path) -> None:
    (folder / "gpu.json").write_text(json.dumps(results, indent=1))
    text = as_markdown(results)
    (folder / "gpu.md").write_text(text)
    print(text.splitlines()[-1], flush=True)


def as_markdown(results: dict) -> str:
    lines = [", ".join(f"{name} {value}" for name, value in results["machine"].items()), ""]
    lines += ["| pass | largest difference |", "| --- | --- |"]
    lines += [f"| {name} | {value:.1e} |" for name, value in results["passes"].items()]
    lines += ["", "| rows | centres | engine | seconds | of them | objective | test AUC | GB |"]
    lines += ["| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for fit in results["fits"]:
        peak = "" if fit["GB on the GPU"] is None else f"{fit['GB on the GPU']:.1f}"
        lines.append(
            f"| {fit['rows']} | {fit['centres']} | {fit['engine']} | {fit['seconds']:.2f} "
            f"| {fit['seconds of the path']:.2f} | {fit['objective']:.9g} "
            f"| {fit['test AUC']:.6f} | {peak} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
