"""L-BFGS for a few dozen steps of a smooth function."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from skauc.solvers.parabola import parabola_minimum

# Pairs of steps and gradient changes that are remembered.
N_PAIRS = 10
_SUFFICIENT_DECREASE = 1e-4
_MOST_TRIALS = 10
# A pair is remembered only if its curvature is positive beyond rounding.
LEAST_CURVATURE = 1e-10


@dataclass(frozen=True, eq=False)
class Pair:
    """A step, the change of the gradient over it, and their inner product."""

    step: np.ndarray
    change: np.ndarray
    curvature: float


class Descent:
    """A descent that asks for values: evaluate the function at `trial`, then call `tell`.

    The caller evaluates the function, so that it sees every value and can stop at any step.
    """

    def __init__(self, start: np.ndarray):
        self.trial = start
        self.is_over = False
        self._pairs: deque[Pair] = deque(maxlen=N_PAIRS)
        self._last: _Evaluated | None = None
        self._n_trials, self._length, self._slope = 0, 1.0, 0.0
        self._direction = np.zeros_like(start)

    def tell(self, value: float, gradient: np.ndarray) -> bool:
        """Use the value and the gradient at `trial`; return whether a step ends there.

        `trial` is then the next point to evaluate, unless `is_over`.
        """
        found, last = _Evaluated(self.trial, value, gradient), self._last
        if last is None:
            self._start_from(found)
            return False
        if value <= last.value + _SUFFICIENT_DECREASE * self._length * self._slope:
            self._remember(found.x - last.x, gradient - last.gradient)
            self._start_from(found)
            return True
        self._n_trials += 1
        self.is_over = self._n_trials == _MOST_TRIALS
        self._length = _shorter(self._length, last.value, self._slope, value)
        self.trial = last.x + self._length * self._direction
        return False

    def _start_from(self, point: _Evaluated) -> None:
        """Begin a step: find its direction, and try its full length first."""
        self._last, self._n_trials, self._length = point, 0, 1.0
        self._direction = _direction(point.gradient, self._pairs)
        self._slope = float(point.gradient @ self._direction)
        # Not >=, so that a slope that is not a number ends the descent too.
        self.is_over = not self._slope < 0
        self.trial = point.x + self._direction

    def _remember(self, step: np.ndarray, change: np.ndarray) -> None:
        curvature = float(step @ change)
        if curvature > LEAST_CURVATURE * _norm(step) * _norm(change):
            self._pairs.append(Pair(step, change, curvature))


@dataclass(frozen=True, eq=False)
class _Evaluated:
    """A point with the value and the gradient of the function."""

    x: np.ndarray
    value: float
    gradient: np.ndarray


def _direction(gradient: np.ndarray, pairs: deque[Pair]) -> np.ndarray:
    """Return minus the approximate inverse Hessian times the gradient: two loops over the pairs."""
    direction = -gradient
    if not pairs:
        return direction / max(_norm(gradient), 1.0)
    factors = []
    for pair in reversed(pairs):
        factor = float(pair.step @ direction) / pair.curvature
        factors.append(factor)
        direction = direction - factor * pair.change
    last = pairs[-1]
    direction *= last.curvature / float(last.change @ last.change)
    for pair, factor in zip(pairs, reversed(factors), strict=True):
        direction += (factor - float(pair.change @ direction) / pair.curvature) * pair.step
    return direction


def _norm(vector: np.ndarray) -> float:
    return math.sqrt(float(vector @ vector))


def _shorter(length: float, value: float, slope: float, found: float) -> float:
    """Return the minimum of the parabola through both values, kept between a tenth and a half."""
    best = parabola_minimum(length, value, slope, found)
    return min(max(best, 0.1 * length), 0.5 * length)
