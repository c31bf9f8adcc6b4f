"""Figures 1 to 3: effect of schedules, candidates and cores on the time of a fit.

The paper names neither the six data sets of Figures 1 and 2 nor C and sigma. We use six sets of
Table II, C_pair = 10 l / (p n) and gamma = "scale", on standardised features.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from joblib import cpu_count
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from reproduction.data_sets import load_dataset
from reproduction.protocol import Part, Protocol, part_of, to_scale_free
from reproduction.runner import Key, Task
from reproduction.synthetic import make_waves
from skauc.metrics import auc
from skauc.sparse import Selection, SparseKernelAUC

SIX = ("ionosphere", "australian", "vehicle", "fourclass", "svmguide3", "a2a")
LARGEST = ("magic04", "poker", "ijcnn1")
CORES = (1, 2, 4, 8, 16)
C = 10.0
_load = cache(load_dataset)


@dataclass(frozen=True)
class Curves:
    """A figure of AUC against time for several values of one parameter.

    The size is at most ``most_basis`` and at most half of the rows (the paper's d_max). Results are
    averaged over ``n_folds`` folds.
    """

    parameter: str
    values: tuple
    most_basis: int = 256
    n_folds: int = 5

    def settings(self) -> dict:
        """Return everything that the results depend on."""
        return {**vars(self), "values": list(self.values), "C": C, "gamma": "scale"}

    def tasks(self, datasets: Sequence[str], protocol: Protocol) -> list[Task]:
        """Return one task per data set, value and fold."""
        return [
            Task((name, value, fold), partial(self._follow, name, value, fold, protocol))
            for fold in range(self.n_folds)
            for name in datasets
            for value in self.values
        ]

    def _follow(self, name: str, value, fold: int, protocol: Protocol) -> list[dict]:
        """Fit once and return size, seconds and test AUC of each retraining."""
        part = _standardised(name, fold, protocol)
        n_basis = min(len(part.y_train) // 2, self.most_basis)
        model = _model(n_basis, fold, part.y_train, **{self.parameter: value})
        _compile(**{self.parameter: value})
        _fit(model, part)
        scores = model.staged_decision_function(part.X_test)
        points = [
            [record.n_basis, round(record.seconds, 5), round(auc(part.y_test, score), 5)]
            for record, score in zip(model.path_, scores, strict=True)
        ]
        return [{"data": name, self.parameter: value, "fold": fold, "seed": fold, "points": points}]


@dataclass(frozen=True)
class Cores:
    """A figure of time against cores."""

    n_basis: int = 182
    n_repeats: int = 3

    def settings(self) -> dict:
        """Return everything that the results depend on."""
        return {**vars(self), "C": C, "gamma": "scale", "cores": list(CORES)}

    def tasks(self, datasets: Sequence[str], protocol: Protocol) -> list[Task]:
        """Return one task per data set and available number of cores."""
        return [
            Task((name, n_jobs, repeat), partial(self._time, name, n_jobs, repeat, protocol))
            for repeat in range(self.n_repeats)
            for name in datasets
            for n_jobs in CORES
            if n_jobs <= cpu_count()
        ]

    def _time(self, name: str, n_jobs: int, repeat: int, protocol: Protocol) -> list[dict]:
        part = _standardised(name, 0, protocol)
        model = _model(self.n_basis, 0, part.y_train, n_jobs=n_jobs)
        _compile(n_rows=20_000, n_jobs=n_jobs)
        started = time.perf_counter()
        _fit(model, part)
        seconds = round(time.perf_counter() - started, 4)
        score = round(auc(part.y_test, model.decision_function(part.X_test)), 5)
        return [{"data": name, "n_jobs": n_jobs, "repeat": repeat, "fit": seconds, "auc": score}]


def missing_cores() -> tuple[int, ...]:
    """Return the numbers of cores of Figure 3 that this machine does not have."""
    return tuple(n for n in CORES if n > cpu_count())


def _standardised(name: str, fold: int, protocol: Protocol) -> Part:
    return part_of(_load(name), 0, fold, protocol).scaled(StandardScaler())


def _model(
    n_basis: int, seed: int, y: np.ndarray, *, n_jobs: int | None = None, **parameters
) -> SparseKernelAUC:
    share = np.count_nonzero(y > 0) / len(y)
    return SparseKernelAUC(
        n_basis,
        C=to_scale_free(C / (len(y) * share * (1 - share)), y),
        selection=Selection("greedy", n_rows=None, **{"retrain": "geometric", **parameters}),
        refine=False,
        linear_term=False,
        scaling=None,
        n_jobs=n_jobs,
        random_state=seed,
    )


def _fit(model: SparseKernelAUC, part: Part) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(part.X_train, part.y_train)


@cache
def _compile(n_rows: int = 200, **parameters) -> None:
    """Fit once, so that measured times exclude loading and compiling code."""
    X, y = make_waves(n_rows, 4)
    _model(4, 0, y, **parameters).fit(X, y)


def typical_curve(lines: Sequence[dict]) -> np.ndarray:
    """Return median seconds and mean AUC of the sizes present in all folds.

    The median is robust to fits that other work on the machine slows down.
    """
    by_fold = [{point[0]: point[1:] for point in line["points"]} for line in lines]
    sizes = sorted(set(by_fold[0]).intersection(*by_fold[1:]))
    values = np.array([[fold[size] for fold in by_fold] for size in sizes])
    return np.column_stack((np.median(values[..., 0], axis=1), values[..., 1].mean(axis=1)))


def lines_by(finished: dict[Key, list[dict]], data: str, value) -> list[dict]:
    """Return the lines of one data set and one value of the parameter."""
    return [lines[-1] for key, lines in finished.items() if key[:2] == (data, value)]
