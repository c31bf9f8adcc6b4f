"""The kernel RankSVM problem in function space, and its solution.

    E(f) = 1/2 |f|^2 + C_pair/2 * sum over the preferences (i, j) of max(0, 1 - f_i + f_j)^2,

f = sum_i beta_i k(x_i, .) over all rows. A function is stored as an array of two rows, its
coefficients beta and its scores K beta, and its inner product with another is beta.K.beta'. In that
inner product the gradient is beta + C_pair r, with r half the derivative of the loss by the scores,
and the Hessian I + C_pair H K is at least the identity. Conjugate gradients then take one product
with K an iteration, where they take two with the Hessian by beta, K + C_pair K H K, whose condition
is worse by that of K.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import islice

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skauc.engines.gram_matrix import GramMatrix
from skauc.exceptions import KERNEL_OVERFLOW, InvalidDataError
from skauc.kernels import Kernel, Rows
from skauc.losses.graded_pairs import PairLoss, Preferences
from skauc.rank_svm.queries import Queries
from skauc.solvers.trust_region import iterate
from skauc.support import cached_property

# Polishing may raise the objective by this share of it at the most.
POLISHING_LOSS = 1e-5


@dataclass(frozen=True, eq=False)
class RankingPlace:
    """A function with its objective and, when asked for, its gradient."""

    problem: RankingProblem
    vector: np.ndarray
    value: float
    pairs: PairLoss

    @property
    def coef(self) -> np.ndarray:
        """The coefficients beta."""
        return self.vector[0]

    @property
    def scores(self) -> np.ndarray:
        """The scores of the rows, K beta."""
        return self.vector[1]

    @cached_property
    def gradient(self) -> np.ndarray:
        """The gradient; its scores are the Euclidean gradient by beta."""
        return self.problem.function(self.coef + self.problem.C_pair * self.pairs.residual)


@dataclass(frozen=True, eq=False)
class RankingProblem:
    """The objective, over all functions that the rows span."""

    gram: GramMatrix
    preferences: Preferences
    C_pair: float

    def function(self, coef: np.ndarray) -> np.ndarray:
        """Return the function of these coefficients."""
        return np.stack((coef, self.gram.product(coef)))

    def at(self, vector: np.ndarray) -> RankingPlace:
        """Evaluate at a function."""
        coef, scores = vector
        pairs = PairLoss.at(self.preferences, scores)
        value = 0.5 * float(coef @ scores) + 0.5 * self.C_pair * pairs.loss
        if not np.isfinite(value):
            raise InvalidDataError(KERNEL_OVERFLOW)
        return RankingPlace(self, vector, value, pairs)

    def hessian_product(self, place: RankingPlace, vector: np.ndarray) -> np.ndarray:
        """Return (I + C_pair H K) times a function."""
        coef, scores = vector
        return self.function(coef + self.C_pair * place.pairs.hessian_product(scores))

    def inner(self, left: np.ndarray, right: np.ndarray) -> float:
        """Return the inner product of two functions."""
        return float(left[0] @ right[1])

    def slopes(self, place: RankingPlace, direction: np.ndarray) -> tuple[float, float]:
        """Return the first and the second derivative along a function, without a product."""
        scores = direction[1]
        slope = self.inner(place.vector, direction)
        slope += self.C_pair * float(place.pairs.residual @ scores)
        curvature = self.inner(direction, direction)
        curvature += self.C_pair * float(place.pairs.hessian_product(scores) @ scores)
        return slope, curvature

    def polish(self, place: RankingPlace) -> RankingPlace:
        """Replace beta by -C_pair r, which it is at the optimum: rows in no violating pair get 0.

        That is a step of length one along the gradient, whose scores are known.
        """
        coef = -self.C_pair * place.pairs.residual
        return self.at(np.stack((coef, place.scores - place.gradient[1])))


@dataclass(frozen=True, eq=False)
class Solution:
    """Where the iteration ended and, where that does no harm, the same polished."""

    place: RankingPlace
    unpolished: RankingPlace
    n_iter: int


def solve(problem: RankingProblem, *, tol: float, max_iter: int) -> Solution:
    """Minimise until the gradient by beta is ``tol`` of what it was, and polishing does no harm."""
    start = np.zeros((2, len(problem.preferences)))
    first = None
    for n_iter, place in enumerate(islice(iterate(problem, start), max_iter + 1)):
        length = float(np.linalg.norm(place.gradient[1]))
        first = length if first is None else first
        if length <= tol * first:
            polished = problem.polish(place)
            if _is_harmless(polished, place):
                return Solution(polished, place, n_iter)
    polished = problem.polish(place)
    if n_iter == max_iter:
        warnings.warn(
            f"The trust-region method did not converge in max_iter={max_iter} iterations: the "
            f"gradient is {length / first:.1e} of its first length (tol={tol:g}), and polishing "
            f"changes the objective by {polished.value / place.value - 1:.0e} of it (at most "
            f"{POLISHING_LOSS:g} is taken). Raise `max_iter`, lower `C`, or scale the features.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Solution(polished if _is_harmless(polished, place) else place, place, n_iter)


def _is_harmless(polished: RankingPlace, place: RankingPlace) -> bool:
    return polished.value <= (1.0 + POLISHING_LOSS) * place.value


def fit_ranking(
    kernel: Kernel,
    rows: Rows,
    queries: Queries,
    *,
    C: float,
    tol: float,
    max_iter: int,
    cache_size: float,
    n_jobs=None,
) -> Solution:
    """Solve for these rows, with C_pair = C * (weight of the rows) / (weight of the pairs)."""
    preferences = Preferences(queries.bounds, queries.grades, queries.weights)
    C_pair = C * float(queries.weights.sum()) / preferences.pair_weight
    with GramMatrix(kernel, rows, cache_size=cache_size, n_jobs=n_jobs) as gram:
        return solve(RankingProblem(gram, preferences, C_pair), tol=tol, max_iter=max_iter)
