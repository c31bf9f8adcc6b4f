"""The regularised objective, E(w) = 1/2 |w|^2 + C_pair/2 * sum of squared hinges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from skauc.engines import KERNEL_OVERFLOW, Engine, Line, State
from skauc.exceptions import InvalidDataError


def pair_weight(C: float, engine: Engine) -> float:
    """Return C_pair = C * l / (p * n): the weight of one pair, from the scale-free C."""
    p, n = engine.positive_weight, engine.negative_weight
    return C * (p + n) / (p * n)


def factorise(hessian: np.ndarray) -> np.ndarray:
    """Return the lower Cholesky factor of a Hessian.

    Columns in float32 can leave it indefinite by rounding when C is huge; what is then added to
    its diagonal shortens a step and keeps it a descent direction.
    """
    if not np.isfinite(hessian).all():
        raise InvalidDataError(KERNEL_OVERFLOW)
    added = 0.0
    while True:
        try:
            return cholesky(hessian, lower=True, check_finite=False)
        except LinAlgError:
            more = max(9 * added, 1e-7 * max(np.abs(hessian.diagonal()).max(), 1.0))
            hessian.flat[:: len(hessian) + 1] += more
            added += more


@dataclass(frozen=True)
class Point:
    """Weights, their objective, and the engine's state of the scores."""

    weights: np.ndarray
    value: float
    state: State


@dataclass(frozen=True)
class Objective:
    """The objective over the columns that the engine holds."""

    engine: Engine
    C_pair: float

    def at(self, weights: np.ndarray) -> Point:
        """Evaluate at the given weights."""
        return self._point(weights, self.engine.at(weights))

    def step(self, point: Point, direction: np.ndarray, line: Line, length: float) -> Point:
        """Evaluate at ``point + length * direction``; ``line`` is the direction in score space."""
        state = self.engine.step(point.state, line, length)
        return self._point(point.weights + length * direction, state)

    def _point(self, weights: np.ndarray, state: State) -> Point:
        value = 0.5 * float(weights @ weights) + 0.5 * self.C_pair * state.loss
        if not np.isfinite(value):
            raise InvalidDataError(KERNEL_OVERFLOW)
        return Point(weights, value, state)

    def gradient(self, point: Point) -> np.ndarray:
        """Return the gradient."""
        return point.weights + self.C_pair * self.engine.gradient(point.state)

    def hessian(self, point: Point) -> np.ndarray:
        """Return the generalised Hessian, at least the identity."""
        hessian = self.C_pair * self.engine.hessian(point.state)
        hessian.flat[:: len(hessian) + 1] += 1.0
        return hessian

    def hessian_product(self, point: Point, vector: np.ndarray) -> np.ndarray:
        """Return the generalised Hessian times a vector."""
        return vector + self.C_pair * self.engine.hessian_product(point.state, vector)
