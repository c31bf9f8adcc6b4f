"""Kernel RankSVM on all rows: all pair weights share one kernel matrix."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from reproduction.protocol import Part
from skauc.kernels import Kernel
from skauc.metrics import auc

# Full kernel matrices up to 50,000 rows.
_GRAM_MEGABYTES = 6000


@dataclass(frozen=True)
class RankSVMResult:
    """Test AUC of one C, and the size of the model before and after polishing."""

    auc: float
    n_unpolished: int
    n_support: int


def rank_svm_results(
    part: Part, kernel: Kernel, C_pairs: Iterable[float], device: str = "cpu"
) -> dict[float, RankSVMResult]:
    """Fit every pair weight with one kernel matrix, as `KernelRankSVM.fit` does."""
    from skauc.losses.graded_pairs import Preferences
    from skauc.rank_svm.problem import RankingProblem, solve

    grades = part.y_train.astype(np.int64)
    preferences = Preferences(np.array([0, len(grades)]), grades, np.ones(len(grades)))
    solutions = {}
    with _gram_on(device, kernel, part.X_train) as gram, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for C_pair in C_pairs:
            solutions[C_pair] = solve(
                RankingProblem(gram, preferences, C_pair), tol=1e-3, max_iter=100
            )
        coef = np.column_stack([solution.point.coef for solution in solutions.values()])
        scores = gram.scores(part.X_test, coef)
    return {
        C_pair: RankSVMResult(
            auc(part.y_test, column),
            int(np.count_nonzero(solution.unpolished.coef)),
            int(np.count_nonzero(solution.point.coef)),
        )
        for (C_pair, solution), column in zip(solutions.items(), scores.T, strict=True)
    }


def _gram_on(device: str, kernel: Kernel, rows: np.ndarray):
    """Return the kernel matrix."""
    if device == "cpu":
        from reproduction.gram import CPUGramMatrix

        return CPUGramMatrix(kernel, rows, cache_size=_GRAM_MEGABYTES)
    from reproduction.gram import TorchGramMatrix

    return TorchGramMatrix(kernel, rows, device=device)
