"""Speed-up by threads of layers and whole fits, in wall time.

    python -m benchmarks run --only thread-layers thread-fits --threads 1 2 4 8 16 --repeats 3

Run this on an idle machine. The ratio of a line is its time divided by the time on the fewest
threads, next to the ideal ratio. Results do not depend on the number of threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from benchmarks.harness import Line, Options
from benchmarks.speed.growth import make_rows
from benchmarks.speed.layers import (
    BLOCK_ROWS,
    GAMMA,
    N_CANDIDATES,
    N_CENTRES,
    make_problem,
    make_scores,
)
from benchmarks.speed.marks import greedy, ijcnn1, refined
from skauc import Selection, SparseKernelAUC
from skauc.engines.expansion import evaluate_expansion
from skauc.engines.passes import CandidateGains, Centres, Derivatives, Gradient
from skauc.engines.single import SingleEngine
from skauc.kernels import RBF
from skauc.losses import pairs
from skauc.losses.cells import Run, binned_cells
from skauc.solvers.newton import cholesky_step, minimise
from skauc.threads import RowThreads


def thread_layers(options: Options) -> list[Line]:
    """The passes of a fit over 400,000 rows, and pair statistics of a million scores."""
    engine, objective, point = make_problem(options.rows(400_000))
    scores = make_scores(options.rows(1_000_000))
    seconds: dict[str, dict[int, float]] = {}
    for n_threads in sorted(options.threads):
        engine._threads = engine.block.threads = RowThreads(n_threads)
        with engine:
            for name, task in _layers(engine, objective, point, scores, n_threads):
                by_threads = seconds.setdefault(name, {})
                by_threads[n_threads] = _best(task, 2 * options.repeats)
    facts = {"rows": engine.n_rows}
    return [line for name, found in seconds.items() for line in _lines(name, found, facts)]


def _layers(
    engine: SingleEngine, objective, point, scores, n_threads: int
) -> Iterator[tuple[str, Callable]]:
    X, kernel, state = engine.block.X, RBF(GAMMA), point.state
    candidates = Centres(kernel, X[:N_CANDIDATES])
    columns = kernel.columns(X[:N_CENTRES], np.float32, engine.block.scratch)

    def evaluate(start, stop):
        columns(X[start:stop])

    yield (
        "kernel block",
        lambda: list(engine.block.threads.map(evaluate, engine.n_rows, BLOCK_ROWS)),
    )
    yield "pair statistics", lambda: _statistics(engine.block.run, *scores)
    yield "scores", lambda: engine.direction(point.weights)
    yield "gradient", lambda: engine.ask(Gradient(N_CENTRES), state)
    yield "gains", lambda: engine.ask(CandidateGains(candidates), state)
    yield (
        "forward selection",
        lambda: engine.ask(Derivatives(N_CENTRES, candidates), state),
    )
    yield "Hessian", lambda: engine.ask(Derivatives(N_CENTRES), state)
    yield (
        "Newton",
        lambda: minimise(
            objective, np.zeros(N_CENTRES), step=cholesky_step, tol=1e-4, max_iter=100
        ),
    )
    yield (
        "prediction",
        lambda: evaluate_expansion(kernel, X[:N_CENTRES], point.weights, X, n_jobs=n_threads),
    )


def _statistics(run: Run, scores, positive, weights) -> None:
    cells = binned_cells(scores, positive, run=run)
    found = pairs.pair_statistics(scores, positive, weights, cells, run)
    pairs.residual(found, scores, positive, weights, run)


def thread_fits(options: Options) -> list[Line]:
    """Whole fits: ijcnn1, greedy and refined, and a million rows of 20 features."""
    X, y, _, _ = ijcnn1(options.scale)
    cases: list[tuple[str, Callable, tuple, int]] = [
        ("fit of ijcnn1, 182 centres, greedy", greedy, (X, y), 2),
        ("fit of ijcnn1, 32 centres, refined", refined, (X, y), options.repeats),
        ("fit, 64 centres, orthogonal", _default, make_rows(options.rows(200_000)), 1),
        ("fit, 64 centres, greedy", _greedy, make_rows(options.rows(1_000_000)), 1),
    ]
    lines = []
    for name, make, rows, repeats in cases:
        # Load compiled code once per case.
        make(max(options.threads)).set_params(n_basis=8).fit(*(part[:25_000] for part in rows))
        models = {n_threads: make(n_threads) for n_threads in sorted(options.threads)}
        found = {n: _best(partial(model.fit, *rows), repeats) for n, model in models.items()}
        lines += _lines(name, found, {"rows": len(rows[1])})
    return lines


def _default(n_jobs: int) -> SparseKernelAUC:
    """An estimator whose passes are over all rows."""
    return SparseKernelAUC(
        N_CENTRES,
        C=10,
        refine=False,
        linear_term=False,
        selection=Selection(n_rows=None),
        n_jobs=n_jobs,
        random_state=0,
    )


def _greedy(n_jobs: int) -> SparseKernelAUC:
    return _default(n_jobs).set_params(selection="greedy")


def _best(task: Callable, repeats: int) -> float:
    """Return the shortest wall time of a few calls."""
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        task()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def _lines(name: str, found: Mapping[int, float], facts: dict) -> list[Line]:
    first, *others = found
    return [
        Line(
            workload="threads",
            what=f"{name}, {n_threads}",
            against=f"{first} thread" + "s" * (first > 1),
            ours=found[n_threads],
            theirs=found[first],
            ratio=found[n_threads] / found[first],
            lowest=found[n_threads] / found[first],
            highest=found[n_threads] / found[first],
            facts={**facts, "ideal": round(first / n_threads, 4)},
        )
        for n_threads in others
    ]
