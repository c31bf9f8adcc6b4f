"""Forward selection: several centres from one pass over the rows.

Between two retrainings the objective is replaced by its quadratic model at the last point. With H
the Hessian over the basis, S the Hessian of the loss over basis and candidates, and candidates
written as the rests r_q of their columns that are not in the span of the basis, one pass gives

    D = inner products of the rests,
    T = D + C_pair S_rr - (C_pair S_rb) H^-1 (C_pair S_br),
    g = C_pair (slopes of the rests) - (C_pair S_rb) H^-1 (gradient over the basis).

The step of Newton over all coefficients including candidate q lowers the model by g_q^2 / (2 T_qq)
more than the step without it. The best candidate is taken, eliminated from T, g and D by one step
of Gauss, and the next one chosen by what is left. A centre that a full optimisation would choose
is found in this way without one, and everything but the choice itself consists of matrix products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skauc.compiling import compiled, compiled_fast
from skauc.engines.passes import Centres, Derivatives
from skauc.exceptions import KERNEL_OVERFLOW, InvalidDataError
from skauc.solvers.newton import Point, factorise
from skauc.solvers.triangular import (
    cholesky_factor,
    inverse_lower,
    solve_factored,
    solve_lower,
)
from skauc.sparse.basis import Added
from skauc.sparse.gains import Candidates
from skauc.sparse.objective import Objective

# Gains that differ by less than this, relatively, are ties. The first candidate wins.
TIE = 1e-9
# Among gains below this part of the objective, rounding would decide. The largest rest wins.
NEGLIGIBLE_GAIN = 1e-10


@dataclass(frozen=True, eq=False)
class Selected:
    """The chosen candidates, the Newton step with them, and its slope.

    ``factor`` is that of the Gram matrix of their rests. The step is in the coordinates of the
    extended orthonormal basis.
    """

    chosen: np.ndarray
    factor: np.ndarray
    step: np.ndarray
    slope: float

    def added(self, candidates: Candidates) -> Added:
        """Return the chosen candidates as centres to add."""
        return candidates.added(self.chosen, self.factor)


@dataclass(frozen=True, eq=False)
class PoolModel:
    """The quadratic model of the objective over the basis and the rests of the candidates.

    ``loss`` is the Hessian of the weighted loss over basis and candidates, ``slopes`` its gradient,
    and ``value`` the objective.
    """

    candidates: Candidates
    weights: np.ndarray
    gram: np.ndarray
    loss: np.ndarray
    slopes: np.ndarray
    value: float

    @classmethod
    def of(cls, objective: Objective, point: Point, candidates: Candidates):
        """Find the model in one pass over the rows."""
        size = len(point.weights)
        question = Derivatives(size, Centres(candidates.kernel, candidates.centres))
        slopes, loss = objective.engine.ask(question, point.state)
        if not (np.isfinite(slopes).all() and np.isfinite(loss).all()):
            raise InvalidDataError(KERNEL_OVERFLOW)
        coordinates = candidates.projection.coordinates
        rests = candidates.gram() - coordinates.T @ coordinates
        # Replace the columns of the candidates by their rests.
        slopes[size:] -= coordinates.T @ slopes[:size]
        loss[size:] -= coordinates.T @ loss[:size]
        loss[:, size:] -= loss[:, :size] @ coordinates
        C_pair = objective.C_pair
        loss, slopes = C_pair * loss, C_pair * slopes
        return cls(candidates, point.weights, rests, loss, slopes, point.value)

    def choose(self, n_most: int) -> np.ndarray:
        """Return up to ``n_most`` candidates, in the order in which they are chosen."""
        size = len(self.weights)
        hessian = self.loss[:size, :size] + np.eye(size)
        factor = factorise(hessian)
        cross = solve_lower(factor, self.loss[:size, size:])
        gradient = solve_lower(factor, self.weights + self.slopes[:size])
        curvature = self.gram + self.loss[size:, size:] - cross.T @ cross
        slopes = self.slopes[size:] - cross.T @ gradient
        smallest = self.candidates.projection.smallest
        least = NEGLIGIBLE_GAIN * self.value
        return select_forward(curvature, slopes, self.gram, smallest, least, n_most)

    def addition(self, chosen: np.ndarray) -> Selected:
        """Return the chosen candidates with the Newton step."""
        size = len(self.weights)
        factor = cholesky_factor(self.gram[np.ix_(chosen, chosen)])
        rows = np.concatenate((np.arange(size), size + chosen))
        inverse = np.eye(len(rows))
        inverse[size:, size:] = inverse_lower(factor)
        hessian = inverse @ self.loss[np.ix_(rows, rows)] @ inverse.T
        hessian.flat[:: len(hessian) + 1] += 1.0
        gradient = inverse @ self.slopes[rows]
        gradient[:size] += self.weights
        step = -solve_factored(factorise(hessian), gradient)
        return Selected(chosen, factor, step, float(gradient @ step))


@compiled_fast
def select_forward(curvature, slopes, gram, smallest, least, n_most):
    """Choose candidates one by one by g^2 / T, eliminating each from ``T``, ``g`` and ``D``.

    A candidate whose rest is no larger than ``smallest`` depends on those before it and is not
    chosen. Among candidates with a gain up to ``least``, the largest rest decides. Of ``T`` and
    ``D``, only the rows of the chosen candidates and the diagonals are brought up to date.
    """
    n_all = len(slopes)
    n_most = min(n_most, n_all)
    chosen, is_free, g = np.empty(n_most, np.int64), np.ones(n_all, np.bool_), slopes.copy()
    T_rows, D_rows = np.empty((n_most, n_all)), np.empty((n_most, n_all))
    T, D = np.empty(n_all), np.empty(n_all)
    for q in range(n_all):
        T[q], D[q] = curvature[q, q], gram[q, q]
    for place in range(n_most):
        best = best_candidate(T, g, D, smallest, least, is_free)
        if best < 0:
            return chosen[:place]
        chosen[place] = best
        is_free[best] = False
        pivot, rest, slope = max(T[best], D[best]), D[best], g[best]
        T_row, D_row = T_rows[place], D_rows[place]
        _eliminated_row(curvature[best], T_rows[:place], best, T_row)
        _eliminated_row(gram[best], D_rows[:place], best, D_row)
        for q in range(n_all):
            g[q] -= T_row[q] / pivot * slope
            T[q] -= T_row[q] * T_row[q] / pivot
            D[q] -= D_row[q] * D_row[q] / rest
            T_row[q] /= np.sqrt(pivot)
            D_row[q] /= np.sqrt(rest)
    return chosen


@compiled
def best_candidate(T, g, D, smallest, least, is_free):
    """Return the free and independent candidate of the largest gain, or -1."""
    best, most = -1, 0.0
    for q in range(len(g)):
        if is_free[q] and D[q] > smallest[q]:
            # The curvature is at least the squared norm of the rest, but for rounding. The
            # smaller the rest, the larger the rounding error: it must not decide ties.
            gain = g[q] ** 2 / (max(T[q], D[q]) + smallest[q])
            # Centres without a gain are chosen, too: the basis has the size that was asked for.
            if gain <= least:
                gain = least * D[q] / (1.0 + D[q])
            if best < 0 or gain > most * (1.0 + TIE):
                best, most = q, gain
    return best


@compiled_fast
def _eliminated_row(row, before, best, out):
    """Write a row of a matrix, from which those chosen before have been eliminated."""
    for q in range(len(row)):
        out[q] = row[q]
    for r in range(len(before)):
        factor = before[r, best]
        for q in range(len(row)):
            out[q] -= factor * before[r, q]
