"""The kernel RankSVM problem in function space, and its solution.

    E(f) = 1/2 |f|^2 + C_pair/2 * sum over the preferences (i, j) of max(0, 1 - f_i + f_j)^2,

where f = sum_i beta_i k(x_i, .) over all rows. A function is stored as an array of two rows: its
coefficients beta and its scores K beta. Its inner product with another function is beta.K.beta'.
With this inner product, the gradient is beta + C_pair r, where r is half the derivative of the loss
with respect to the scores, and the Hessian I + C_pair H K is at least the identity. An iteration of
conjugate gradients then takes one product with K. With the Hessian with respect to beta,
K + C_pair K H K, it would take two, and the condition number would be worse by that of K.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from skauc.engines.gram_matrix import GramMatrix
from skauc.exceptions import KERNEL_OVERFLOW, InvalidDataError, warn_user
from skauc.kernels import Kernel, Linear, Rows
from skauc.losses.focus import WHOLE, Focus
from skauc.losses.graded_pairs import PairLoss, Preferences
from skauc.rank_svm.queries import Queries
from skauc.solvers.trust_region import iterate
from skauc.support import cached_property

# Largest relative increase of the objective that polishing may cause.
POLISHING_LOSS = 1e-5


@dataclass(frozen=True, eq=False)
class RankingPoint:
    """A function with its objective and, on demand, its gradient."""

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
        """The gradient. Its scores are the Euclidean gradient with respect to beta."""
        return self.problem.function(self.coef + self.problem.C_pair * self.pairs.residual)


@dataclass(frozen=True, eq=False)
class RankingProblem:
    """The objective over all functions that the rows span."""

    gram: GramMatrix
    preferences: Preferences
    C_pair: float

    def function(self, coef: np.ndarray) -> np.ndarray:
        """Return the function with these coefficients."""
        return np.stack((coef, self.gram.product(coef)))

    def at(self, vector: np.ndarray) -> RankingPoint:
        """Evaluate at a function."""
        coef, scores = vector
        pairs = PairLoss.at(self.preferences, scores)
        value = 0.5 * float(coef @ scores) + 0.5 * self.C_pair * pairs.loss
        if not np.isfinite(value):
            raise InvalidDataError(KERNEL_OVERFLOW)
        return RankingPoint(self, vector, value, pairs)

    def hessian_product(self, point: RankingPoint, vector: np.ndarray) -> np.ndarray:
        """Return (I + C_pair H K) times a function."""
        coef, scores = vector
        return self.function(coef + self.C_pair * point.pairs.hessian_product(scores))

    def inner(self, left: np.ndarray, right: np.ndarray) -> float:
        """Return the inner product of two functions."""
        return float(left[0] @ right[1])

    def slopes(self, point: RankingPoint, direction: np.ndarray) -> tuple[float, float]:
        """Return the first and second derivatives along a function, without a kernel product."""
        scores = direction[1]
        slope = self.inner(point.vector, direction)
        slope += self.C_pair * float(point.pairs.residual @ scores)
        curvature = self.inner(direction, direction)
        curvature += self.C_pair * float(point.pairs.hessian_product(scores) @ scores)
        return slope, curvature

    def polish(self, point: RankingPoint) -> RankingPoint:
        """Replace beta by -C_pair r, its value at the optimum: 0 for rows in no violating pair.

        This is a step of length one against the gradient, whose scores are known.
        """
        coef = -self.C_pair * point.pairs.residual
        return self.at(np.stack((coef, point.scores - point.gradient[1])))


@dataclass(frozen=True, eq=False)
class RankingSolution:
    """The last iterate, and the same after polishing if that does not harm the objective."""

    point: RankingPoint
    unpolished: RankingPoint
    n_iter: int


def solve(problem: RankingProblem, *, tol: float, max_iter: int) -> RankingSolution:
    """Minimise until the gradient is ``tol`` times its first length and polishing does no harm."""
    start = np.zeros((2, len(problem.preferences)))
    first = math.nan
    for n_iter, point in enumerate(islice(iterate(problem, start), max_iter + 1)):
        length = float(np.linalg.norm(point.gradient[1]))
        if n_iter == 0:
            first = length
            _check_magnitude(problem, point)
        if length <= tol * first:
            polished = problem.polish(point)
            if _is_harmless(polished, point):
                return RankingSolution(polished, point, n_iter)
    polished = problem.polish(point)
    if n_iter == max_iter:
        warn_user(
            f"The trust-region method did not converge in max_iter={max_iter} iterations: the "
            f"gradient is {length / first:.1e} times its first length (tol={tol:g}), and polishing "
            f"changes the objective by a factor of 1 + "
            f"{polished.value / point.value - 1:.0e} (at most 1 + {POLISHING_LOSS:g} is "
            "accepted). Raise `max_iter`, lower `C`, or scale the features.",
            ConvergenceWarning,
        )
    return RankingSolution(polished if _is_harmless(polished, point) else point, point, n_iter)


def _check_magnitude(problem: RankingProblem, start: RankingPoint) -> None:
    """Raise an error if squared lengths underflow, because C or the weights are tiny."""
    squared = problem.inner(start.gradient, start.gradient)
    if start.gradient[1].any() and squared < np.finfo(np.float64).tiny:
        raise InvalidDataError(
            f"The squared gradient is {squared:.3g}, too small to compute with. Raise `C` or the "
            "weights, or scale the features."
        )


def _is_harmless(polished: RankingPoint, point: RankingPoint) -> bool:
    return polished.value <= (1.0 + POLISHING_LOSS) * point.value


def fit_ranking(
    kernel: Kernel,
    rows: Rows,
    queries: Queries,
    *,
    C: float,
    tol: float,
    max_iter: int,
    cache_size: float,
    focus: Focus = WHOLE,
    n_jobs=None,
) -> RankingSolution:
    """Solve for these rows, with C_pair = C * (weight of the rows) / (weight of the pairs).

    With a focus, these are the weights that count. Products of two weights must not underflow.
    Dividing the weights by a power of two and multiplying C by it changes no digit of the result.
    """
    unit = math.ldexp(1.0, math.frexp(queries.weights.mean())[1])
    preferences = Preferences(queries.bounds, queries.grades, queries.weights / unit, focus)
    counted = preferences.focused_at(np.zeros(len(preferences)))
    C_pair = C * unit * float(counted.weights.sum()) / counted.pair_weight
    centred = _centred(kernel, rows, preferences.weights)
    with GramMatrix(kernel, centred, cache_size=cache_size, n_jobs=n_jobs) as gram:
        return solve(RankingProblem(gram, preferences, C_pair), tol=tol, max_iter=max_iter)


def _centred(kernel: Kernel, rows: Rows, weights: np.ndarray) -> Rows:
    """Return dense rows minus their mean for the linear kernel, and other rows unchanged.

    The coefficients sum to zero, because every pair adds opposite amounts to its two rows. So the
    function sum_i beta_i x_i.x changes by a constant only, but its values no longer cancel for
    features far from zero.
    """
    if not isinstance(kernel, Linear) or sparse.issparse(rows):
        return rows
    return rows - np.average(rows.astype(np.float64, copy=False), axis=0, weights=weights)
