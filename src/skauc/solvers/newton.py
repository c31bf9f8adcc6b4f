"""Newton's method for the piecewise quadratic objective; the step is passed as a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.linalg import LinAlgError
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.exceptions import ConvergenceWarning

from skauc.exceptions import KERNEL_OVERFLOW, InvalidDataError, warn_user
from skauc.solvers.parabola import parabola_minimum
from skauc.solvers.triangular import cholesky_factor, solve_factored
from skauc.validation import check_choice

SOLVERS = ("auto", "cholesky", "cg")
# Above this size products with the Hessian are cheaper than forming and factoring it.
CHOLESKY_SIZE = 1000

SUFFICIENT_DECREASE = 1e-4
# The smallest decrease, relative to the objective, that a step is worth.
LEAST_PROMISE = 1e-14
# A step is worth another evaluation if it becomes shorter by at least this factor.
SHORTER = 0.9
MOST_HALVINGS = 30

# A direction in the space where the objective is evaluated, opaque to the solver.
SearchLine = Any


@dataclass(frozen=True)
class Point:
    """Weights, their objective, and the state that the objective keeps of the evaluation."""

    weights: np.ndarray
    value: float
    state: Any


class NewtonObjective(Protocol):
    """The objective of Newton's method: values, derivatives, and lines to search along."""

    def at(self, weights: np.ndarray) -> Point:
        """Evaluate at the given weights."""

    def direction(self, weights: np.ndarray) -> SearchLine:
        """Return a direction as the line that `step` moves along."""

    def step(self, point: Point, direction: np.ndarray, line: SearchLine, length: float) -> Point:
        """Evaluate at ``point + length * direction``."""

    def gradient(self, point: Point) -> np.ndarray:
        """Return the gradient."""

    def derivatives(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient and the Hessian."""

    def minimum(self, start: np.ndarray | Point, *, tol: float, max_iter: int) -> Minimum | None:
        """Return what `Newton` finds if the objective has a faster way to it, None otherwise.

        The step is `cholesky_step`, the search `halving_search`.
        """

    def hessian_product(self, point: Point, vector: np.ndarray) -> np.ndarray:
        """Return the Hessian times a vector."""


StepRule = Callable[[NewtonObjective, Point], tuple[np.ndarray, np.ndarray]]
# Takes an objective, a point, a direction, its line and its slope; returns a length and a point.
SearchRule = Callable[..., tuple[float, Point]]


@dataclass(frozen=True)
class Minimum:
    """The last point of the iteration, and the number of steps."""

    point: Point
    n_iter: int


@dataclass(frozen=True)
class Newton:
    """`minimise` with a step, a tolerance, a number of iterations and a search."""

    step: StepRule
    tol: float
    max_iter: int
    search: SearchRule

    def __call__(
        self, objective: NewtonObjective, start: np.ndarray | Point, *, tol: float | None = None
    ) -> Minimum:
        """Minimise an objective, with another tolerance if there is one."""
        tol = self.tol if tol is None else tol
        if self.is_simple:
            found = objective.minimum(start, tol=tol, max_iter=self.max_iter)
            if found is not None:
                return found
        return minimise(
            objective, start, self.step, tol=tol, max_iter=self.max_iter, search=self.search
        )

    @property
    def is_simple(self) -> bool:
        """Whether the compiled functions of `skauc.solvers.few_rows` follow the same rules."""
        return self.step is cholesky_step and self.search is halving_search


def make_step(solver: str, size: int) -> StepRule:
    """Return the step for the name of a solver and the size of the basis."""
    check_choice("solver", solver, SOLVERS)
    if solver == "auto":
        solver = "cholesky" if size <= CHOLESKY_SIZE else "cg"
    return cholesky_step if solver == "cholesky" else conjugate_gradient_step


def minimise(
    objective: NewtonObjective,
    start: np.ndarray | Point,
    step: StepRule,
    *,
    tol: float,
    max_iter: int,
    search: SearchRule | None = None,
) -> Minimum:
    """Minimise the objective, starting from weights or from a point.

    Each iteration finds a direction d and searches along it, with `halving_search` unless told. The
    decrease that d promises is -g.d / 2. The iteration stops

    - before a step whose promise is negligible compared with the objective;
    - after a full step that promised less than ``tol`` times the objective, because the remaining
      error is of second order;
    - after two steps of any length that did, because rounding then prevents full steps.
    """
    search = halving_search if search is None else search
    point = start if isinstance(start, Point) else objective.at(start)
    was_small = False
    for n_iter in range(1, max_iter + 1):
        gradient, direction = step(objective, point)
        promised = -0.5 * float(gradient @ direction)
        if promised <= LEAST_PROMISE * point.value:
            return Minimum(point, n_iter)
        line = objective.direction(direction)
        length, point = search(objective, point, direction, line, slope=-2 * promised)
        is_small = promised <= tol * point.value
        if length == 0 or (is_small and (length == 1 or was_small)):
            return Minimum(point, n_iter)
        was_small = is_small
    warn_user(
        f"Newton's method did not converge in max_iter={max_iter} iterations on a basis of "
        f"{len(point.weights)}: the last step promised a relative decrease of "
        f"{promised / point.value:.1e}, tol={tol:g}. Raise `max_iter`, lower `C`, or scale the "
        "features.",
        ConvergenceWarning,
    )
    return Minimum(point, max_iter)


def halving_search(
    objective: NewtonObjective,
    point: Point,
    direction: np.ndarray,
    line: SearchLine,
    *,
    slope: float,
) -> tuple[float, Point]:
    """Halve the step until the objective falls enough; return its length and the new point.

    If rounding hides any further decrease, the length is zero and the point is unchanged.
    """
    length = 1.0
    for _ in range(MOST_HALVINGS):
        trial = objective.step(point, direction, line, length)
        if trial.value <= point.value + SUFFICIENT_DECREASE * length * slope:
            return length, trial
        length *= 0.5
    return 0.0, point


def parabola_search(
    objective: NewtonObjective,
    point: Point,
    direction: np.ndarray,
    line: SearchLine,
    *,
    slope: float,
) -> tuple[float, Point]:
    """Search by halving, and go on to the minimum of the parabola through what was found.

    It is for Hessians that lack a part of the curvature: steps are then too long by about the same
    factor in every iteration, and Newton's method would converge slowly. The length returned is
    that before the last step.
    """
    length, found = halving_search(objective, point, direction, line, slope=slope)
    best = parabola_minimum(length, point.value, slope, found.value) if length else 0.0
    if 0 < best < SHORTER * length:
        trial = objective.step(point, direction, line, best)
        found = min(found, trial, key=lambda other: other.value)
    return length, found


def cholesky_step(objective: NewtonObjective, point: Point) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradient and the step, found with a Cholesky factor of the Hessian."""
    gradient, hessian = objective.derivatives(point)
    return gradient, -solve_factored(factorise(hessian), gradient)


def conjugate_gradient_step(
    objective: NewtonObjective, point: Point
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradient and the step, solved more exactly as the optimum gets closer."""
    gradient = objective.gradient(point)
    size = len(gradient)
    operator = LinearOperator(
        (size, size), matvec=lambda v: objective.hessian_product(point, v), dtype=np.float64
    )
    relative = np.linalg.norm(gradient) / max(float(np.linalg.norm(point.weights)), 1.0)
    forcing = min(0.1, np.sqrt(relative))
    direction, _ = cg(operator, -gradient, rtol=forcing, maxiter=10 * size)
    return gradient, direction


def factorise(hessian: np.ndarray) -> np.ndarray:
    """Return the lower Cholesky factor of a Hessian.

    If C is huge, the rounding of float32 columns can make the Hessian indefinite. Its diagonal is
    then raised, which shortens the step and keeps it a descent direction.
    """
    if not np.isfinite(hessian).all():
        raise InvalidDataError(KERNEL_OVERFLOW)
    added = 0.0
    while True:
        try:
            return cholesky_factor(hessian)
        except LinAlgError:
            more = max(9 * added, 1e-7 * max(np.abs(hessian.diagonal()).max(), 1.0))
            hessian.flat[:: len(hessian) + 1] += more
            added += more
