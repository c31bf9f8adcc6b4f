"""The regularised objective, E(w) = 1/2 |w|^2 + C_pair/2 * sum of squared hinges."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from skauc.engines import Engine, Line, State
from skauc.engines.passes import Derivatives, Gradient, HessianProduct
from skauc.exceptions import KERNEL_OVERFLOW, InvalidDataError
from skauc.solvers.few_rows import minimise_few
from skauc.solvers.newton import Minimum, Point
from skauc.validation import check_pair_weight


def pair_weight(C: float, engine: Engine) -> float:
    """Return C_pair = C / (p + n), the weight of one pair of p positives and n negatives.

    The whole loss then has a weight of C p n / (p + n), about C times the number of rows of the
    rarer class. It does not grow with the rows of the other class, which add no information about
    the rare one.
    """
    p, n = engine.positive_weight, engine.negative_weight
    check_pair_weight(p, n)
    return C / (p + n)


@dataclass(frozen=True)
class Objective:
    """The objective over the first columns that the engine holds, one per weight."""

    engine: Engine
    C_pair: float

    def at(self, weights: np.ndarray) -> Point:
        """Evaluate at the given weights."""
        return self._point(weights, self.engine.at(weights))

    def direction(self, weights: np.ndarray) -> Line:
        """Return Phi w as a line in score space."""
        return self.engine.direction(weights)

    def step(self, point: Point, direction: np.ndarray, line: Line, length: float) -> Point:
        """Evaluate at ``point + length * direction``; ``line`` is the direction in score space."""
        state = self.engine.step(point.state, line, length)
        return self._point(point.weights + length * direction, state)

    def _point(self, weights: np.ndarray, state: State) -> Point:
        value = 0.5 * float(weights @ weights) + 0.5 * self.C_pair * state.loss
        if not math.isfinite(value):
            raise InvalidDataError(KERNEL_OVERFLOW)
        return Point(weights, value, state)

    def gradient(self, point: Point) -> np.ndarray:
        """Return the gradient."""
        gradient = self.engine.ask(Gradient(len(point.weights)), point.state)
        return point.weights + self.C_pair * gradient

    def derivatives(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient and the generalised Hessian. Its eigenvalues are at least 1."""
        question = Derivatives(len(point.weights))
        gradient, hessian = self.engine.ask(question, point.state)
        hessian *= self.C_pair
        hessian.flat[:: len(hessian) + 1] += 1.0
        return point.weights + self.C_pair * gradient, hessian

    def minimum(self, start: np.ndarray | Point, *, tol: float, max_iter: int) -> Minimum | None:
        """Return the minimum in one call if there are few rows, else None."""
        few = self.engine.few_rows
        if few is None:
            return None
        if not isinstance(start, Point):
            start = Point(start, 0.0, self.engine.at(start))
        size = len(start.weights)
        weights, value, scores, n_iter, is_fine = minimise_few(
            few.columns_of(size),
            few.positive,
            few.weights,
            self.C_pair,
            few.merged,
            start.weights,
            start.state.scores,
            tol,
            max_iter,
            few.factors("factors", size),
        )
        if not is_fine:
            return None
        state = self.engine.step(None, scores, 1.0)
        return Minimum(Point(weights, value, state), n_iter)

    def hessian_product(self, point: Point, vector: np.ndarray) -> np.ndarray:
        """Return the generalised Hessian times a vector."""
        line = self.engine.direction(vector)
        product = self.engine.ask(HessianProduct(line, len(vector)), point.state)
        return vector + self.C_pair * product
