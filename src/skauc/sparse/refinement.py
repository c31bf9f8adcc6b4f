"""Refinement: centres and feature scales become free and descend the same objective.

For an RBF kernel with scales s, k(x, z) = exp(-gamma |s * (x - z)|^2), the coefficients are
eliminated: E(Z, s) = min over w of E(w; Z, s), by a few Newton steps from the last solution. The
gradient of E(Z, s) is the partial derivative at that minimum, and consists of matrix products.
With M_ik = r_i coef_k gamma_k k(x_i, z_k),

    dE/dz_k    = 2 s^2 * (sum_i M_ik (x_i - z_k))        (loss part, C_pair in front)
    dE/dlog s  = -2 s^2 * sum_ik M_ik (x_i - z_k)^2

and the same with the centres in place of the rows for the regulariser. The descent is L-BFGS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skauc.engines import Engine, OrthonormalColumns
from skauc.engines.passes import KernelMoments, Moments
from skauc.exceptions import KERNEL_OVERFLOW, InvalidDataError
from skauc.kernels import RBF, same_format
from skauc.solvers.lbfgs import Descent
from skauc.solvers.newton import Minimum, Point
from skauc.solvers.triangular import cholesky_factor, inverse_lower, solve_upper
from skauc.sparse.basis import Basis
from skauc.sparse.objective import Objective
from skauc.support import quiet_overflow

# Bounds of log scales. Beyond them exp overflows or underflows.
_SCALE_BOUNDS = (-5.0, 3.0)

# The penalty on the shape has a weight of one up to this many rows of the rarer class, and falls
# like one over their number beyond.
FEW_SHAPED_ROWS = 50.0

# Centres are rounded to decimals of this part of the width of the kernel. The coefficients are
# solved for afterwards, so the objective changes by the square of it.
_ROUNDING = 1e-4


@dataclass(frozen=True, eq=False)
class Shape:
    """What refinement moves: the centres and one scale per feature."""

    centres: np.ndarray
    scales: np.ndarray

    def rounded(self, gamma: float) -> Shape:
        """Return the shape with centres of a few decimals, in single precision if that has them.

        More digits of a refined centre mean nothing, and files and exported code are smaller
        without them. ``gamma`` is that of the narrowest kernel.
        """
        with quiet_overflow():
            grain = _ROUNDING / (np.sqrt(gamma) * self.scales)
            decimals = np.clip(np.ceil(-np.log10(grain)), -300, 300).astype(int)
            columns = zip(self.centres.T, decimals.tolist(), strict=True)
            rounded = np.column_stack([np.round(column, places) for column, places in columns])
            single = rounded.astype(np.float32).astype(np.float64)
        for centres in (single, rounded):
            if np.all(np.abs(centres - self.centres) <= grain):
                return Shape(centres, self.scales)
        return self


@dataclass(frozen=True, eq=False)
class Refined:
    """A shape with its best coefficients."""

    shape: Shape
    linear: np.ndarray
    coef: np.ndarray
    factor: np.ndarray | None = None
    n_iter: int = 0


def refine(
    objective: Objective,
    basis: Basis,
    start: Refined,
    n_steps: int,
    minimise: Callable[[Objective, np.ndarray], Minimum],
    on_step: Callable[[int], object] = lambda n_done: None,
) -> Refined:
    """Take at most ``n_steps`` steps from ``start``; ``minimise`` finds the coefficients.

    ``on_step`` is called with the number of steps after every one.
    """
    problem = _Problem(objective, basis, minimise, start)
    descent, latest = Descent(problem.pack(start.shape)), start
    while latest.n_iter < n_steps and not descent.is_over:
        is_step = descent.tell(*problem(descent.trial))
        if is_step:
            latest = problem.found(latest.n_iter + 1)
            on_step(latest.n_iter)
    return latest


def shape_ridge(engine: Engine) -> float:
    """Return the weight of the penalty on the shape.

    The penalty is half the sum of squared log scales and of squared displacements of the centres in
    units of the width. It keeps few rows from being fitted by the shape. The more rows there are of
    either class, the less it is needed.
    """
    p, n = engine.positive_weight, engine.negative_weight
    return min(1.0, FEW_SHAPED_ROWS * (p + n) / (p * n))


class _Problem:
    """E(Z, s) and its gradient. The last solution is where the next one starts."""

    def __init__(self, objective: Objective, basis: Basis, minimise, start: Refined):
        self.objective, self.basis, self.minimise = objective, basis, minimise
        self.start = start
        self.gammas = basis.gammas()
        widths = np.asarray(basis.widths)
        self.same_width = widths[:, None] == widths[None, :]
        # Centres are in units of the width of the kernel, so that they are of order one.
        self.unit = 1.0 / (np.sqrt(self.gammas)[:, None] * start.shape.scales)
        self.linear, self.coef = start.linear, start.coef
        n_scales = len(start.shape.scales)
        # The shape without a penalty: the centres where they start, and scales of one.
        self.rest = np.append(self.pack(start.shape)[: self.unit.size], np.zeros(n_scales))
        self.ridge = shape_ridge(objective.engine)

    def pack(self, shape: Shape) -> np.ndarray:
        """Return the shape as one vector."""
        return np.concatenate(((shape.centres / self.unit).ravel(), np.log(shape.scales)))

    def unpack(self, theta: np.ndarray) -> Shape:
        """Return the vector as a shape."""
        size = self.unit.size
        scales = np.exp(theta[size:].clip(*_SCALE_BOUNDS))
        return Shape(theta[:size].reshape(self.unit.shape) * self.unit, scales)

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        self.accept(self.minimise(self.objective, self.place(theta)).point)
        by_centre, by_scale = self._derivatives()
        logs = theta[self.unit.size :]
        by_scale *= (logs > _SCALE_BOUNDS[0]) & (logs < _SCALE_BOUNDS[1])
        gradient = np.concatenate(((by_centre * self.unit).ravel(), by_scale))
        moved = theta - self.rest
        penalty = self.ridge * moved
        return self.point.value + 0.5 * float(penalty @ moved), gradient + penalty

    def found(self, n_iter: int) -> Refined:
        """Return the last solution."""
        return Refined(self.shape, self.linear, self.coef, self.factor, n_iter)

    def place(self, theta: np.ndarray) -> np.ndarray:
        """Put the columns of a vector into the engine; return the weights of the last solution."""
        return self.place_shape(self.unpack(theta))

    def place_shape(self, shape: Shape) -> np.ndarray:
        """Put the columns of a shape into the engine; return the weights of the last solution."""
        kernel = RBF(self.gammas, shape.scales)
        factor, self.gram = self._factorise(kernel, shape.centres)
        inverse = inverse_lower(factor)
        rows = same_format(shape.centres, self.basis.centres)
        nothing = np.zeros((len(self.linear), len(factor)))
        self.objective.engine.append(OrthonormalColumns(kernel, rows, nothing, inverse.T))
        self.shape, self.factor = shape, factor
        return np.concatenate((self.linear, factor.T @ self.coef))

    def accept(self, point: Point) -> None:
        """Remember the minimum over the columns that are in place."""
        self.point = point
        self.linear, kernel_part = np.split(point.weights, [len(self.linear)])
        self.coef = solve_upper(self.factor, kernel_part)

    def _factorise(self, kernel: RBF, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the factor of the Gram matrix, and the matrix.

        The diagonal is raised a little, because free centres may meet.
        """
        gram = kernel.columns(centres, np.float64)(centres) * self.same_width
        if not np.isfinite(gram).all():
            raise InvalidDataError(KERNEL_OVERFLOW)
        ridge = self.objective.engine.precision**0.75
        raised = gram.copy()
        raised.flat[:: len(raised) + 1] += ridge
        return cholesky_factor(raised), gram

    def _derivatives(self) -> tuple[np.ndarray, np.ndarray]:
        coef = self.coef * self.gammas
        origin, n_columns = self.shape.centres.mean(axis=0), len(self.point.weights)
        question = Moments(n_columns, origin, self.factor, coef)
        loss = self.objective.engine.ask(question, self.point.state)
        by_centre, by_scale = _chain_rule(loss, self.shape)
        norm_by_centre, norm_by_scale = _chain_rule(self._norm_moments(coef), self.shape)
        C_pair = self.objective.C_pair
        return C_pair * by_centre + norm_by_centre, C_pair * by_scale + 0.5 * norm_by_scale

    def _norm_moments(self, coef: np.ndarray) -> KernelMoments:
        """Return the moments of the regulariser, with the centres in place of the rows."""
        origin = self.shape.centres.mean(axis=0)
        moved = self.shape.centres - origin
        products = self.gram * np.outer(self.coef, coef)
        total = products.sum(axis=0)
        return KernelMoments(origin, products.T @ moved, total, products.sum(axis=1) @ moved**2)


def _chain_rule(moments: KernelMoments, shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Turn moments into derivatives by centres and by log scales."""
    centres = shape.centres - moments.origin
    squared_scales = shape.scales**2
    by_centre = 2 * squared_scales * (moments.first - moments.total[:, None] * centres)
    spread = moments.second - 2 * np.einsum("kj,kj->j", centres, moments.first)
    spread += moments.total @ centres**2
    return by_centre, -2 * squared_scales * spread


def solve_for_shape(
    objective: Objective, basis: Basis, start: Refined, minimise
) -> tuple[Refined, Point]:
    """Return the best coefficients of a fixed shape on the rows of the objective."""
    problem = _Problem(objective, basis, minimise, start)
    weights = problem.place_shape(start.shape)
    problem.accept(minimise(objective, weights).point)
    return problem.found(0), problem.point
