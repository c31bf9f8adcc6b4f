"""Refinement: the shape of the basis becomes free and descends the same objective.

The coefficients are eliminated: E(shape) = min over w of E(w; shape), by a few Newton steps from
the last solution. The gradient of E(shape) is the partial derivative at that minimum, and consists
of matrix products. For centres with the metric rows m_k (see `skauc.shaped_rbf`; an RBF kernel has
m_k = sqrt(gamma_k) s) and M_ik = r_i coef_k k(x_i, z_k), the loss has the derivatives

    round centres   dE/dz_k     = 2 m_k^2 * (sum_i M_ik (x_i - z_k))       (C_pair in front)
                    dE/dlog m_k = -2 m_k^2 * (sum_i M_ik (x_i - z_k)^2)
    ridges          dE/dm_k     = -2 sum_i M_ik u_ik (x_i - z_k),          u_ik = m_k.(x_i - z_k)

and the regulariser those of the Gram matrix. The descent is L-BFGS. Its variables are in
`skauc.sparse.shapes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skauc.engines import Engine, FewRows, OrthonormalColumns
from skauc.engines.passes import Moments
from skauc.exceptions import KERNEL_OVERFLOW, InvalidDataError
from skauc.kernels import Kernel, Rows, same_format
from skauc.shaped_rbf import add_norm_derivatives
from skauc.solvers.lbfgs import Descent
from skauc.solvers.newton import Minimum, Newton, Point
from skauc.solvers.triangular import cholesky_factor, inverse_lower, solve_upper
from skauc.sparse.basis import Basis
from skauc.sparse.few_refinement import (
    add_shared_norm_derivatives,
    chain_rule,
    exponents,
    solve_shape,
)
from skauc.sparse.objective import Objective
from skauc.sparse.shapes import Shape, ShapeDerivatives, ShapeVariables

# The penalty on the shape has a weight of one up to this many rows of the rarer class, and falls
# like one over their number beyond.
FEW_SHAPED_ROWS = 50.0


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
    problem = make_problem(objective, basis, minimise, start)
    descent, latest = Descent(problem.pack(start.shape)), start
    while latest.n_iter < n_steps and not descent.is_over:
        value, derivatives = problem.evaluate(descent.trial)
        is_step = descent.tell(*problem.penalised(descent.trial, value, derivatives))
        if is_step:
            latest = problem.found(latest.n_iter + 1)
            on_step(latest.n_iter)
    return latest


def shape_ridge(engine: Engine) -> float:
    """Return the weight of the penalty on the shape.

    The penalty is half the sum of squares of the variables of `skauc.sparse.shapes`: log scales,
    displacements of the centres in units of the width, and so on. It keeps few rows from being
    fitted by the shape. The more rows there are of either class, the less it is needed.
    """
    p, n = engine.positive_weight, engine.negative_weight
    return min(1.0, FEW_SHAPED_ROWS * (p + n) / (p * n))


def gram_ridge(engine: Engine) -> float:
    """Return what is added to the diagonal of a Gram matrix, because refined centres may meet."""
    return engine.precision**0.75


def raised_factor(gram: np.ndarray, engine: Engine) -> np.ndarray:
    """Return the triangular factor of a Gram matrix with a raised diagonal."""
    raised = gram.copy()
    raised.flat[:: len(raised) + 1] += gram_ridge(engine)
    return cholesky_factor(raised)


def put_columns(
    engine: Engine, kernel: Kernel, centres: Rows, factor: np.ndarray, n_linear: int
) -> None:
    """Put the columns of centres whose Gram matrix has this factor into an engine."""
    nothing = np.zeros((n_linear, len(factor)))
    engine.append(OrthonormalColumns(kernel, centres, nothing, inverse_lower(factor).T))


class _Problem:
    """E(shape) and its gradient. The last solution is where the next one starts."""

    def __init__(self, objective: Objective, basis: Basis, minimise, start: Refined):
        self.objective, self.basis, self.minimise = objective, basis, minimise
        self.linear, self.coef = start.linear, start.coef
        self.variables = ShapeVariables(basis, start.shape)
        self.rest = self.variables.rest(start.shape)
        self.ridge = shape_ridge(objective.engine)

    def pack(self, shape: Shape) -> np.ndarray:
        """Return the shape as one vector."""
        return self.variables.pack(shape)

    def unpack(self, theta: np.ndarray) -> Shape:
        """Return the vector as a shape."""
        return self.variables.unpack(theta)

    def penalised(
        self, theta: np.ndarray, value: float, derivatives: ShapeDerivatives
    ) -> tuple[float, np.ndarray]:
        """Return the objective and its gradient by the vector, with the penalty."""
        gradient = self.variables.gradient(theta, derivatives)
        moved = theta - self.rest
        penalty = self.ridge * moved
        return value + 0.5 * float(penalty @ moved), gradient + penalty

    def evaluate(self, theta: np.ndarray) -> tuple[float, ShapeDerivatives]:
        """Return the objective and its derivatives, without the penalty."""
        self.accept(self.minimise(self.objective, self.place(theta)).point)
        return self.point.value, self._derivatives()

    def found(self, n_iter: int) -> Refined:
        """Return the last solution."""
        return Refined(self.shape, self.linear, self.coef, self.factor, n_iter)

    def place(self, theta: np.ndarray) -> np.ndarray:
        """Put the columns of a vector into the engine; return the weights of the last solution."""
        return self.place_shape(self.unpack(theta))

    def place_shape(self, shape: Shape) -> np.ndarray:
        """Put the columns of a shape into the engine; return the weights of the last solution."""
        kernel, engine = self.variables.kernel(shape), self.objective.engine
        self.gram = kernel.gram(shape.centres, kernel, shape.centres)
        if not np.isfinite(self.gram).all():
            raise InvalidDataError(KERNEL_OVERFLOW)
        self.shape, self.factor = shape, raised_factor(self.gram, engine)
        rows = same_format(shape.centres, self.basis.centres)
        put_columns(engine, kernel, rows, self.factor, len(self.linear))
        return np.concatenate((self.linear, self.factor.T @ self.coef))

    def accept(self, point: Point) -> None:
        """Remember the minimum over the columns that are in place."""
        self.point = point
        self.linear, kernel_part = np.split(point.weights, [len(self.linear)])
        self.coef = solve_upper(self.factor, kernel_part)

    def _derivatives(self) -> ShapeDerivatives:
        """Return the derivatives of loss and regulariser by all centres and rows of the metric."""
        variables, coef, C_pair = self.variables, self.coef, self.objective.C_pair
        metric, (origin, moved) = variables.metric(self.shape), variables.centred(self.shape)
        ridges = variables.ridges(metric, moved)
        question = Moments(len(self.point.weights), origin, self.factor, coef, ridges)
        moments = self.objective.engine.ask(question, self.point.state)
        by_centre, by_metric = np.empty(moved.shape), np.empty(moved.shape)
        chain_rule(
            moments.first,
            moments.total,
            moments.second,
            metric,
            moved,
            variables.is_ridge,
            C_pair,
            by_centre,
            by_metric,
        )
        if self.shape.metric is None:
            by_metric = by_metric.sum(axis=0, keepdims=True)
            add_shared_norm_derivatives(metric, moved, coef, self.gram, by_centre, by_metric[0])
        else:
            add_norm_derivatives(metric, moved, coef, self._round_gram, by_centre, by_metric)
        return ShapeDerivatives(by_centre, by_metric, 2 * C_pair * moments.total[ridges.places])

    @property
    def _round_gram(self) -> np.ndarray:
        """The Gram matrix, with zeros in the rows and columns of ridges."""
        is_ridge = self.variables.is_ridge
        if not is_ridge.any():
            return self.gram
        return np.where(is_ridge | is_ridge[:, None], 0.0, self.gram)


class _FewRowsProblem(_Problem):
    """The same on few rows, in compiled calls; see `skauc.sparse.few_refinement`."""

    def __init__(
        self, objective: Objective, basis: Basis, minimise: Newton, start: Refined, rows: FewRows
    ):
        super().__init__(objective, basis, minimise, start)
        self.rows, self.newton = rows, minimise
        # Rows and centres are relative to the mean of the first centres.
        self.origin = start.shape.centres.mean(axis=0)
        self.moved = np.subtract(rows.X, self.origin, dtype=np.float64, order="C")
        self.features = np.ascontiguousarray(self.moved.T)
        self.gammas = basis.gammas(np.asarray(basis.widths))
        n_linear, n_centres = len(start.linear), len(self.gammas)
        n_rows, size = len(self.moved), n_linear + n_centres
        self.columns = np.empty((size, n_rows))
        self.room = np.empty((2, -(-n_centres // 4) * 4, len(self.features)))
        self.columns[:n_linear] = rows.columns_of(n_linear)
        # Kernel values by centre, at the rows and then at the centres: exponentials of one call.
        self.values = np.empty(n_centres * (n_rows + n_centres))
        at_rows, at_centres = np.split(self.values, [n_centres * n_rows])
        self.at_rows = at_rows.reshape(n_centres, n_rows)
        self.at_centres = at_centres.reshape(n_centres, n_centres)
        self.factors = rows.factors("factors", size)

    def evaluate(self, theta: np.ndarray) -> tuple[float, ShapeDerivatives]:
        """Return the objective and its derivatives; go the general way if there is difficulty."""
        shape, rows, newton = self.unpack(theta), self.rows, self.newton
        metric, gammas = self.variables.metric(shape), self.gammas
        centres, values = shape.centres - self.origin, (self.at_rows, self.at_centres)
        if not exponents(self.features, centres, metric, gammas, self.room, *values):
            return super().evaluate(theta)
        np.exp(self.values, out=self.values)
        value, factor, linear, coef, by_centre, by_scale, is_fine = solve_shape(
            self.at_rows,
            self.at_centres,
            gammas,
            gram_ridge(self.objective.engine),
            self.linear,
            self.coef,
            self.columns,
            rows.positive,
            rows.weights,
            self.objective.C_pair,
            rows.merged,
            newton.tol,
            newton.max_iter,
            self.factors,
            self.moved,
            self.features,
            metric,
            centres,
            self.room,
        )
        if not is_fine:
            return super().evaluate(theta)
        self.shape, self.factor, self.linear, self.coef = shape, factor, linear, coef
        return value, ShapeDerivatives(by_centre, by_scale[None], np.empty(0))


def make_problem(objective: Objective, basis: Basis, minimise, start: Refined) -> _Problem:
    """Return the problem of a refinement, for few rows if that is possible."""
    rows = objective.engine.few_rows
    is_simple = isinstance(minimise, Newton) and minimise.is_simple
    if rows is None or not is_simple or start.shape.metric is not None:
        return _Problem(objective, basis, minimise, start)
    return _FewRowsProblem(objective, basis, minimise, start, rows)


def solve_for_shape(
    objective: Objective, basis: Basis, start: Refined, minimise
) -> tuple[Refined, Point]:
    """Return the best coefficients of a fixed shape on the rows of the objective."""
    problem = _Problem(objective, basis, minimise, start)
    weights = problem.place_shape(start.shape)
    problem.accept(minimise(objective, weights).point)
    return problem.found(0), problem.point
