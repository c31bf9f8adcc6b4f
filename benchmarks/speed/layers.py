"""Layers of a fit compared with their rooflines.

The roofline of a layer is measured in the same rounds: the plain matrix product and exponentials of
a kernel block, the plain product of a Hessian, one read of the columns. The ratio is the time of
the layer over its roofline. Its inverse is the fraction of the peak.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness import Line, Options, compare
from benchmarks.speed.growth import make_rows
from skauc.data.training import TrainingData
from skauc.engines import Product, make_engine
from skauc.engines.blocks.cpu import CompiledScratch
from skauc.engines.expansion import evaluate_expansion
from skauc.engines.passes import CandidateGains, Centres, Derivatives, Gradient, Moments
from skauc.engines.single import SingleEngine
from skauc.kernels import RBF
from skauc.losses import pairs
from skauc.losses.cells import binned_cells
from skauc.solvers.newton import cholesky_step, minimise
from skauc.sparse.basis import Added, Basis
from skauc.sparse.objective import Objective, pair_weight

N_CENTRES, N_CANDIDATES = 64, 100
GAMMA = 0.05
# Everything here runs on one thread.
CLOCK = time.process_time
# Rows per block that fit the L2 cache, as in the engine.
BLOCK_ROWS = 1024


def kernel_block(options: Options) -> list[Line]:
    """One kernel block in the cache, compared with its product and exponentials."""
    found = []
    for dtype in (np.float32, np.float64):
        rows = make_rows(BLOCK_ROWS)[0].astype(dtype)
        for n_centres in (N_CENTRES, N_CANDIDATES):
            centres = make_rows(n_centres, 1)[0].astype(dtype)
            columns = RBF(GAMMA).columns(centres, dtype, CompiledScratch())
            columns(rows)
            found += against_roof(
                "kernel block",
                {f"{n_centres} centres, {np.dtype(dtype).name}": lambda c=columns, r=rows: c(r)},
                bare_block(rows, n_centres),
                options,
                goal=1 / 0.6,
                n_calls=100,
            )
    return found


def pair_statistics(options: Options) -> list[Line]:
    """Cells, tables, loss and residual of a million scores, compared with sorting."""
    scores, positive, weights = make_scores(options.rows(1_000_000))

    def statistics():
        cells = binned_cells(scores, positive)
        found = pairs.pair_statistics(scores, positive, weights, cells)
        pairs.residual(found, scores, positive, weights)

    statistics()
    tasks = {
        "cells, tables, loss, residual": statistics,
        "np.argsort": lambda: np.argsort(scores),
        "np.sort": lambda: np.sort(scores),
    }
    facts = {"rows": len(scores)}
    goals = {"np.argsort": 1 / 3}
    return compare("pair statistics", tasks, options.repeats, goals=goals, facts=facts, clock=CLOCK)


def passes(options: Options) -> list[Line]:
    """The passes of a fit over all rows, on one thread."""
    engine, objective, point = make_problem(options.rows(200_000))
    X, columns = engine.block.X, engine.block.columns
    kernel = RBF(GAMMA)
    candidates = Centres(kernel, X[:N_CANDIDATES])
    weights = point.weights
    moments = Moments(N_CENTRES, X[0].astype(float), np.eye(N_CENTRES), weights)
    wide = np.ones((engine.n_rows, N_CENTRES + N_CANDIDATES), columns.dtype)
    bare_blocks = over_blocks(engine.n_rows, bare_block(X[:BLOCK_ROWS], N_CANDIDATES))
    bare_scores = over_blocks(engine.n_rows, bare_block(X[:BLOCK_ROWS], N_CENTRES))
    layers = [
        (
            "gains of 100 candidates",
            lambda: engine.ask(CandidateGains(candidates), point.state),
            bare_blocks,
        ),
        (
            "forward selection",
            lambda: engine.ask(Derivatives(N_CENTRES, candidates), point.state),
            in_turn(bare_blocks, lambda: wide.T @ wide),
        ),
        (
            "Hessian",
            lambda: engine.ask(Derivatives(N_CENTRES), point.state),
            lambda: columns.T @ columns,
        ),
        ("scores", lambda: engine.line(Product(weights)), lambda: columns.sum()),
        ("gradient", lambda: engine.ask(Gradient(N_CENTRES), point.state), lambda: columns.sum()),
        (
            "refinement gradient",
            lambda: engine.ask(moments, point.state),
            lambda: columns.T @ X,
        ),
        (
            "prediction",
            lambda: evaluate_expansion(kernel, X[:N_CENTRES], weights, X, n_jobs=1),
            bare_scores,
        ),
    ]
    found = []
    with engine, threadpool_limits(1):
        for name, task, roof in layers:
            task()
            found += against_roof(name, {f"{engine.n_rows} rows": task}, roof, options)
        found += newton(engine, objective, options)
    return found


def newton(engine: SingleEngine, objective: Objective, options: Options) -> list[Line]:
    """One retraining from zero, compared with the plain products of its Hessians."""
    columns = engine.block.columns

    def retrain():
        return minimise(
            objective, np.zeros(N_CENTRES), step=cholesky_step, tol=1e-4, max_iter=100
        ).n_iter

    n_iter = retrain()

    def bare():
        for _ in range(n_iter):
            columns.T @ columns

    name = {f"{engine.n_rows} rows, {n_iter} iterations": retrain}
    return against_roof("Newton", name, bare, options)


def against_roof(
    workload: str, tasks: dict, roof: Callable, options: Options, goal=None, n_calls=1
) -> list[Line]:
    """Compare a task with its roofline and add the fraction of the peak."""
    goals = None if goal is None else {"roofline": goal}
    with threadpool_limits(1):
        found = compare(
            workload,
            {**tasks, "roofline": roof},
            2 * options.repeats,
            goals=goals,
            n_calls=n_calls,
            clock=CLOCK,
        )
    return [
        replace(line, facts={**line.facts, "of the peak": f"{1 / line.ratio:.0%}"})
        for line in found
    ]


def bare_block(rows: np.ndarray, n_centres: int) -> Callable:
    """Return a task with only the product and exponentials of a kernel block."""
    right = np.full((rows.shape[1], n_centres), 0.01, rows.dtype)
    exponents = np.full((len(rows), n_centres), -1.0, rows.dtype)
    out = np.empty_like(exponents)

    def bare():
        np.matmul(rows, right, out=out)
        np.exp(exponents, out=out)

    return bare


def over_blocks(n_rows: int, block: Callable) -> Callable:
    """Return the roofline of a kernel block, repeated for all blocks."""

    def bare():
        for _ in range(-(-n_rows // BLOCK_ROWS)):
            block()

    return bare


def in_turn(*tasks: Callable) -> Callable:
    """Return a task that runs several tasks in turn."""

    def run():
        for task in tasks:
            task()

    return run


def make_scores(n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return overlapping scores of two classes, their labels and weights."""
    rng = np.random.default_rng(0)
    positive = rng.random(n_rows) < 0.1
    return rng.standard_normal(n_rows) + 2 * positive, positive, np.ones(n_rows)


def make_problem(n_rows: int):
    """Return an engine with a full basis, its objective and an intermediate point."""
    X, y = make_rows(n_rows)
    data = TrainingData(X, np.asarray(y), np.ones(n_rows), np.array([0, 1]))
    engine = make_engine(data, capacity=N_CENTRES, n_jobs=1)
    kernel = RBF(GAMMA)
    basis = Basis([kernel], N_CENTRES, engine.precision)
    with engine:
        rows, widths = np.arange(N_CENTRES), np.zeros(N_CENTRES, dtype=int)
        kernel = basis.kernel_of(widths)
        factor = np.linalg.cholesky(kernel.gram(X[rows], kernel, X[rows]))
        basis.append(engine, Added(kernel, X[rows], rows, widths, np.empty((0, N_CENTRES)), factor))
        objective = Objective(engine, pair_weight(10.0, engine))
        point = minimise(
            objective, np.zeros(N_CENTRES), step=cholesky_step, tol=1e-1, max_iter=100
        ).point
    return engine, objective, point
