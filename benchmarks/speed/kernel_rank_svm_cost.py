"""Cost of KernelRankSVM: products with the kernel matrix, and time compared with NumPy.

    SKAUC_DATA=... python -m benchmarks.speed.kernel_rank_svm_cost products
    python -m benchmarks.speed.kernel_rank_svm_cost time [--rows 20000] [--jobs 2] [--fits NAME ...]

``products`` counts products with the kernel matrix until the paper's stopping rule, for two inner
products. ``time`` fits the estimator and the same algorithm in NumPy, each in a new process.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from types import SimpleNamespace

import numpy as np
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.speed.growth import N_FEATURES, make_rows
from reproduction.data_sets import load_dataset
from skauc import KernelRankSVM
from skauc.engines.gram_matrix import GramMatrix
from skauc.kernels import RBF
from skauc.losses.graded_pairs import Preferences
from skauc.rank_svm.problem import POLISHING_LOSS, RankingProblem, solve
from skauc.solvers.trust_region import iterate

# -- products with the kernel matrix ----------------------------------------------------------


class InFunctionSpace:
    """The problem of `skauc.rank_svm.problem`, counting conjugate-gradient steps."""

    n_products_per_step = 1

    def __init__(self, problem: RankingProblem):
        self.problem = problem
        self.n_steps = 0

    def start(self):
        return np.zeros((2, self.problem.gram.n_rows))

    def at(self, vector):
        return self.problem.at(vector)

    def inner(self, left, right):
        return self.problem.inner(left, right)

    def slopes(self, point, direction):
        return self.problem.slopes(point, direction)

    def derivative(self, point):
        return point.gradient[1]

    def hessian_product(self, point, vector):
        self.n_steps += 1
        return self.problem.hessian_product(point, vector)


class ByCoefficients(InFunctionSpace):
    """The same in the Euclidean inner product of beta, as in Kuo, Lee and Lin."""

    n_products_per_step = 2

    def start(self):
        return np.zeros(self.problem.gram.n_rows)

    def at(self, coef):
        point = self.problem.at(self.problem.function(coef))
        return SimpleNamespace(
            vector=coef, value=point.value, gradient=point.gradient[1], point=point
        )

    def inner(self, left, right):
        return float(left @ right)

    def slopes(self, point, coef):
        return self.problem.slopes(point.point, self.problem.function(coef))

    def derivative(self, point):
        return point.gradient

    def hessian_product(self, point, coef):
        self.n_steps += 1
        return self.problem.hessian_product(point.point, self.problem.function(coef))[1]


def count_products(walked: InFunctionSpace) -> tuple[int, int, float]:
    """Return iterations, products and objective at the paper's stopping rule.

    Products for gradients are counted; other work of an iteration is not.
    """
    points = iterate(walked, walked.start())
    point = next(points)
    goal = 1e-3 * np.linalg.norm(walked.derivative(point))
    n_iter = 0
    while np.linalg.norm(walked.derivative(point)) > goal:
        point = next(points)
        n_iter += 1
    return n_iter, walked.n_products_per_step * walked.n_steps + n_iter + 1, point.value


def print_products() -> None:
    print("| data | C | inner product | iterations | products | objective over the least |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, C in product(("sonar", "svmguide3"), (0.1, 1.0, 100.0)):
        data = load_dataset(name)
        X, grades = StandardScaler().fit_transform(data.X_train), (data.y_train > 0).astype(int)
        preferences = Preferences(np.array([0, len(grades)]), grades, np.ones(len(grades)))
        C_pair = C * len(grades) / preferences.pair_weight
        with GramMatrix(RBF(1 / X.shape[1]), X, cache_size=4000) as gram:
            problem = RankingProblem(gram, preferences, C_pair)
            least = solve(problem, tol=1e-8, max_iter=200).unpolished.value
            for kind, walked in (
                ("function space", InFunctionSpace(problem)),
                ("Euclidean, by beta", ByCoefficients(problem)),
            ):
                n_iter, n_products, value = count_products(walked)
                cells = f"{name} | {C:g} | {kind} | {n_iter} | {n_products}"
                print(f"| {cells} | {value / least - 1:.0e} |", flush=True)


# -- time -------------------------------------------------------------------------------------


class NumPyProblem:
    """The problem of `skauc.rank_svm.problem` for two classes, in plain NumPy."""

    def __init__(self, X, positive, gamma, C, dtype):
        X = X.astype(dtype)
        squares = (X * X).sum(axis=1)
        self.gram = 2 * X @ X.T
        self.gram -= squares
        self.gram -= squares[:, None]
        self.gram *= gamma
        np.exp(self.gram, out=self.gram)
        self.positive = positive
        n_positive = np.count_nonzero(positive)
        self.C_pair = C * len(positive) / (n_positive * (len(positive) - n_positive))
        self.n_products = 0

    def function(self, coef):
        self.n_products += 1
        scores = self.gram @ coef.astype(self.gram.dtype)
        return np.stack((coef, scores.astype(np.float64)))

    def inner(self, left, right):
        return float(left[0] @ right[1])

    def at(self, vector):
        return NumPyPoint(self, vector)

    def hessian_product(self, point, vector):
        coef, scores = vector
        curved = point.partners * scores - point.partner_sums(scores)
        return self.function(coef + self.C_pair * curved)

    def slopes(self, point, direction):
        scores = direction[1]
        curved = point.partners * scores - point.partner_sums(scores)
        slope = self.inner(point.vector, direction) + self.C_pair * (point.residual @ scores)
        return slope, self.inner(direction, direction) + self.C_pair * (curved @ scores)

    def polish(self, point):
        coef = -self.C_pair * point.residual
        return self.at(np.stack((coef, point.vector[1] - point.gradient[1])))


class NumPyPoint:
    """Sorted scores: violating partners are a tail or head of the other class."""

    def __init__(self, problem, vector):
        self.problem, self.vector = problem, vector
        positive, scores = problem.positive, vector[1]
        self.upper, self.lower = np.flatnonzero(positive), np.flatnonzero(~positive)
        self.upper = self.upper[np.argsort(scores[self.upper])]
        self.lower = self.lower[np.argsort(scores[self.lower])]
        margins, others = scores[self.upper] - 1, scores[self.lower]
        self.first = np.searchsorted(others, margins, side="right")
        self.last = np.searchsorted(margins, others, side="left")
        self.partners = self.partner_sums(np.ones(len(scores)))
        sums = self.partner_sums(scores)
        sign = np.where(positive, 1.0, -1.0)
        hinges = self.partners * (1 - sign * scores) + sign * sums
        self.residual = -sign * hinges
        loss = hinges[positive].sum() + self.residual @ scores
        self.value = 0.5 * vector[0] @ scores + 0.5 * problem.C_pair * loss
        self._gradient = None

    def partner_sums(self, values):
        out = np.empty(len(values))
        above = np.append(np.cumsum(values[self.lower][::-1])[::-1], 0.0)
        below = np.append(0.0, np.cumsum(values[self.upper]))
        out[self.upper] = above[self.first]
        out[self.lower] = below[self.last]
        return out

    @property
    def gradient(self):
        if self._gradient is None:
            coef = self.vector[0] + self.problem.C_pair * self.residual
            self._gradient = self.problem.function(coef)
        return self._gradient


def fit_numpy(X, y, gamma, C, dtype) -> dict:
    """Fit the NumPy problem by the same trust-region method to the same rule."""
    problem = NumPyProblem(X, y, gamma, C, dtype)
    first = None
    for point in iterate(problem, np.zeros((2, len(y)))):
        length = np.linalg.norm(point.gradient[1])
        first = length if first is None else first
        if length <= 1e-3 * first:
            polished = problem.polish(point)
            if polished.value <= (1 + POLISHING_LOSS) * point.value:
                break
    return {"objective": polished.value, "support": int(np.count_nonzero(polished.vector[0]))}


def fit_skauc(X, y, gamma, C, cache_size, n_jobs) -> dict:
    model = KernelRankSVM(C=C, gamma=gamma, cache_size=cache_size, n_jobs=n_jobs).fit(X, y)
    return {"objective": model.objective_, "support": model.n_support_}


def make_fits(n_rows: int, n_jobs: int) -> dict[str, Callable]:
    """Return the timed fits by name."""
    tenth = 2 * n_rows**2 / 10 / (1 << 20)
    return {
        "KernelRankSVM": lambda *data: fit_skauc(*data, 24_000, n_jobs),
        "KernelRankSVM, cache for a tenth": lambda *data: fit_skauc(*data, tenth, n_jobs),
        "NumPy, float32": lambda *data: fit_numpy(*data, np.float32),
        "NumPy, float64": lambda *data: fit_numpy(*data, np.float64),
    }


def measure_time(which: str, n_rows: int, C: float, n_jobs: int) -> dict:
    """Fit once in this process, after a small fit that compiles everything."""
    fit = make_fits(n_rows, n_jobs)[which]
    gamma = 1.0 / N_FEATURES
    make_fits(5100, n_jobs)["KernelRankSVM"](*make_rows(5100), gamma, C)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    X, y = make_rows(n_rows)
    started, cpu_started = time.perf_counter(), time.process_time()
    with threadpool_limits(n_jobs):
        outcome = fit(X, y, gamma, C)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu_started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    times = {"seconds": round(seconds, 1), "cpu": round(cpu, 1)}
    return {**times, "peak_mb": round(peak / 1024), **outcome}


def print_times(n_rows: int, C: float, n_jobs: int, fits: list[str] | None) -> None:
    """Measure each fit in a new process."""
    print("| | seconds | ratio | CPU seconds | ratio | peak MB | objective | support vectors |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    first = None
    for which in fits or make_fits(n_rows, n_jobs):
        command = [
            sys.executable,
            "-m",
            "benchmarks.speed.kernel_rank_svm_cost",
            "time",
            "--only",
            which,
        ]
        command += ["--rows", str(n_rows), "--C", str(C), "--jobs", str(n_jobs)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        row = json.loads(done.stdout)
        first = first or row
        print(
            f"| {which} | {row['seconds']} | {row['seconds'] / first['seconds']:.2f} | "
            f"{row['cpu']} | {row['cpu'] / first['cpu']:.2f} | {row['peak_mb']:,} | "
            f"{row['objective']:.6g} | {row['support']:,} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["products", "time"])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--fits", nargs="+", help="time these alone, by name")
    parser.add_argument("--only", help="measure this one in this process")
    options = parser.parse_args()
    if options.what == "products":
        print_products()
    elif options.only:
        print(json.dumps(measure_time(options.only, options.rows, options.C, options.jobs)))
    else:
        print_times(options.rows, options.C, options.jobs, options.fits)


if __name__ == "__main__":
    main()
