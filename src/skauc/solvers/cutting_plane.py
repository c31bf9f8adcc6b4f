"""The 1-slack cutting plane method, which approximates a convex risk by its tangent planes.

It minimises 1/2 |w|^2 + C R(w), where the risk R is the largest of very many planes,

    R(w) = max over c of offset_c - <w, d_c>,

and an *oracle* returns the largest plane at a given w. For the planes seen so far, one slack xi
replaces the risk. The *master problem*

    min 1/2 |w|^2 + C xi   subject to   <w, d_t> + xi >= offset_t for every plane t

is a small quadratic program. Its value is a lower bound of the minimum, and its solution is w = C
sum_t mix_t d_t with mix >= 0 and sum 1. The next plane is computed at a point between the best w so
far and that solution, at a fraction *step* of the way. In the method of Joachims the step is 1.
With a smaller step, either the best objective decreases or the master problem's value at that point
increases, by at least a fraction step / 2 of the gap between them. So the method still converges,
and takes fewer rounds on most data. It stops when the best w is within C * tol of the bound. The
plane c = 0, which keeps the risk from being negative, is included from the start.

Values in this module are divided by C, so they are in units of the risk.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning

from skauc.exceptions import KERNEL_OVERFLOW, InvalidDataError, warn_user

if TYPE_CHECKING:
    from skauc.losses.roc_area import Cut  # which loads numba

# A plane that is not part of the solution for this many rounds is dropped.
IDLE_ROUNDS = 50
# Fraction of the tolerance that is left to the master problem.
MASTER_SHARE = 0.01
MOST_PULLS = 20
# Square of kappa in `mix_planes`. A smaller value takes fewer steps and loses more digits. 1e-3
# takes two or three steps and is accurate to about 1e-13.
PULL = 1e-3


class Space(Protocol):
    """The vector space of w. Vectors are arrays that can be added and scaled."""

    def zero(self) -> np.ndarray:
        """Return the zero vector."""

    def vector(self, coef: np.ndarray) -> np.ndarray:
        """Return sum_i coef_i x_i over the rows x_i."""

    def inner(self, one: np.ndarray, other: np.ndarray) -> float:
        """Return the inner product of two vectors."""

    def scores(self, vector: np.ndarray) -> np.ndarray:
        """Return the inner product of each row with a vector."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The best w so far, its scores and objective, and a bound of its gap to the minimum."""

    vector: np.ndarray
    scores: np.ndarray
    objective: float
    gap: float
    n_iter: int


Report = Callable[[Solution], bool]


def minimise_by_planes(
    space: Space,
    oracle: Callable[[np.ndarray], Cut],
    C: float,
    *,
    step: float,
    tol: float,
    max_iter: int,
    report: Report = lambda solution: False,
) -> Solution:
    """Minimise 1/2 |w|^2 + C R(w), as described in the docstring of the module.

    The first plane is computed at zero. Each round

    1. solves the master problem,
    2. scores the rows at a fraction ``step`` of the way from the best w to the solution,
    3. asks the oracle for the plane there,
    4. stops if ``report`` asks for it, or if the gap between the best objective and the best bound
       is at most ``tol``,
    5. drops planes that were idle for long, and adds the new one.

    The zero vector is never returned, however close to the minimum, because it ranks nothing.
    """
    planes = _Planes(space, C)
    best = space.zero()
    planes.add(oracle(space.scores(best)))
    least, bound = np.inf, 0.0
    for n_iter in range(1, max_iter + 1):
        mix = planes.mix(MASTER_SHARE * tol)
        bound = max(bound, planes.value(mix))
        vector = (1.0 - step) * best + step * planes.combine(mix)
        scores = space.scores(vector)
        cut = oracle(_finite(scores))
        value = 0.5 * space.inner(vector, vector) / C + cut.risk
        if value < least:
            least, best, best_scores = value, vector, scores
        solution = Solution(best, best_scores, C * least, C * max(least - bound, 0.0), n_iter)
        if report(solution) or least - bound <= tol:
            return solution
        planes.drop_idle(mix)
        planes.add(cut)
    warn_user(
        f"The cutting plane method did not converge in max_iter={max_iter} rounds: the mean hinge "
        f"may be {least - bound:.1e} too large (tol={tol:g}). Raise `max_iter` or `tol`, lower "
        "`C`, or scale the features.",
        ConvergenceWarning,
    )
    return solution


class _Planes:
    """The planes that are kept, as vectors C d_t, with their inner products."""

    def __init__(self, space: Space, C: float):
        self._space, self._C = space, C
        self._vectors: list[np.ndarray] = []
        self._gram = np.zeros((0, 0))
        self._offsets = np.zeros(0)
        self._idle = np.zeros(0, int)
        self._slack = 1.0

    def add(self, cut: Cut) -> None:
        """Add a plane."""
        vector = self._space.vector(self._C * cut.coef)
        self._vectors.append(vector)
        products = [self._space.inner(other, vector) / self._C for other in self._vectors]
        gram = np.zeros((len(products), len(products)))
        gram[:-1, :-1] = self._gram
        gram[-1] = gram[:, -1] = _finite(np.array(products))
        self._gram = gram
        self._offsets = np.append(self._offsets, cut.offset)
        self._idle = np.append(self._idle, 0)

    def mix(self, tol: float) -> np.ndarray:
        """Solve the master problem; return the weights of the planes, without that of c = 0."""
        gram = np.pad(self._gram, ((1, 0), (1, 0)))
        mix, self._slack = mix_planes(gram, np.append(0.0, self._offsets), self._slack, tol)
        return mix[1:]

    def value(self, mix: np.ndarray) -> float:
        """Return the lower bound that the weights prove. They need not be optimal."""
        return float(self._offsets @ mix - 0.5 * mix @ self._gram @ mix)

    def combine(self, mix: np.ndarray) -> np.ndarray:
        """Return the w of these weights."""
        active = np.flatnonzero(mix)
        return sum((mix[t] * self._vectors[t] for t in active), start=self._space.zero())

    def drop_idle(self, mix: np.ndarray) -> None:
        """Count idle rounds, and drop planes that were idle for `IDLE_ROUNDS`."""
        self._idle = np.where(mix > 0, 0, self._idle + 1)
        kept = np.flatnonzero(self._idle < IDLE_ROUNDS)
        self._vectors = [self._vectors[t] for t in kept]
        self._gram = self._gram[np.ix_(kept, kept)]
        self._offsets, self._idle = self._offsets[kept], self._idle[kept]


def mix_planes(
    gram: np.ndarray, offsets: np.ndarray, slack: float, tol: float
) -> tuple[np.ndarray, float]:
    """Minimise 1/2 mix' gram mix - offsets.mix over mix >= 0 of sum 1; return mix and xi.

    This is the dual of min 1/2 |w|^2 + xi over the planes. With the additional term
    1/2 kappa^2 (xi - slack)^2, it is the search for the shortest vector
    (w, kappa (xi - slack) + 1/kappa) in an intersection of half-spaces. The least distance
    programming of Lawson and Hanson turns that into one non-negative least squares problem.
    Repeated with the xi found as the new slack, it converges to the problem without the additional
    term. Planes may be parallel, equal, or more than there are dimensions. The iteration stops when
    the duality gap is at most ``tol``, or no longer decreases because of rounding.
    """
    values, vectors = eigh(gram)
    kept = values > np.finfo(float).eps * len(values) * max(values[-1], 0.0)
    factor = (vectors[:, kept] * np.sqrt(PULL * values[kept])).T
    last_gap = np.inf
    for _ in range(MOST_PULLS):
        right = np.vstack((factor, np.ones(len(offsets)), 1.0 + PULL * (offsets - slack)))
        target = np.zeros(len(right))
        target[-1] = 1.0
        multipliers, _ = nnls(right, target, maxiter=100 * len(offsets))
        total = multipliers.sum()
        mix = multipliers / total
        slack += (total / (1.0 - right[-1] @ multipliers) - 1.0) / PULL
        slopes = gram @ mix
        largest = float(np.max(offsets - slopes))
        gap = float(mix @ slopes - offsets @ mix) + largest
        if gap <= tol or gap > 0.5 * last_gap:
            break
        last_gap = gap
    return mix, largest


def _finite(values: np.ndarray) -> np.ndarray:
    if not np.isfinite(values).all():
        raise InvalidDataError(KERNEL_OVERFLOW)
    return values
