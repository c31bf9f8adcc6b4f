"""L-BFGS for a few dozen steps of a smooth function."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from skauc.compiling import compiled_fast
from skauc.row_products import inner
from skauc.solvers.parabola import parabola_minimum

# Pairs of steps and gradient changes that are remembered.
N_PAIRS = 10
_SUFFICIENT_DECREASE = 1e-4
_MOST_TRIALS = 10
# A pair is remembered only if its curvature is positive beyond rounding.
LEAST_CURVATURE = 1e-10


class Pairs:
    """The last steps, the changes of the gradient over them, and their inner products.

    The oldest pair is overwritten by the next one.
    """

    def __init__(self, size: int):
        self.steps, self.changes = np.empty((2, N_PAIRS, size))
        self.curvatures = np.empty(N_PAIRS)
        self.n_seen = 0

    def append(self, step: np.ndarray, change: np.ndarray, curvature: float) -> None:
        """Remember a pair."""
        place = self.n_seen % N_PAIRS
        self.steps[place], self.changes[place] = step, change
        self.curvatures[place] = curvature
        self.n_seen += 1

    def solve(self, gradient: np.ndarray) -> np.ndarray:
        """Return the approximate inverse Hessian times the gradient."""
        return _two_loops(gradient, self.steps, self.changes, self.curvatures, self.n_seen)


class Descent:
    """A descent that asks for values: evaluate the function at `trial`, then call `tell`.

    The caller evaluates the function, so that it sees every value and can stop at any step.
    """

    def __init__(self, start: np.ndarray):
        self.trial = start
        self.is_over = False
        self._pairs = Pairs(len(start))
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
        self._direction = self._find_direction(point.gradient)
        self._slope = float(point.gradient @ self._direction)
        # Not >=, so that a slope that is not a number ends the descent too.
        self.is_over = not self._slope < 0
        self.trial = point.x + self._direction

    def _find_direction(self, gradient: np.ndarray) -> np.ndarray:
        """Return the step of L-BFGS; the first one has at most unit length."""
        if not self._pairs.n_seen:
            return -gradient / max(_norm(gradient), 1.0)
        return -self._pairs.solve(gradient)

    def _remember(self, step: np.ndarray, change: np.ndarray) -> None:
        curvature = float(step @ change)
        if curvature > LEAST_CURVATURE * _norm(step) * _norm(change):
            self._pairs.append(step, change, curvature)


@dataclass(frozen=True, eq=False)
class _Evaluated:
    """A point with the value and the gradient of the function."""

    x: np.ndarray
    value: float
    gradient: np.ndarray


@compiled_fast
def _two_loops(gradient, steps, changes, curvatures, n_seen):
    """Return the approximate inverse Hessian times the gradient: two loops over the pairs."""
    n_pairs, n_all = min(n_seen, len(steps)), len(steps)
    product, factors = gradient.copy(), np.empty(n_all)
    for number in range(1, n_pairs + 1):
        pair = (n_seen - number) % n_all
        factors[pair] = inner(steps[pair], product) / curvatures[pair]
        _add_scaled(-factors[pair], changes[pair], product)
    last = (n_seen - 1) % n_all
    factor = curvatures[last] / inner(changes[last], changes[last])
    for j in range(len(product)):
        product[j] *= factor
    for number in range(n_pairs, 0, -1):
        pair = (n_seen - number) % n_all
        factor = factors[pair] - inner(changes[pair], product) / curvatures[pair]
        _add_scaled(factor, steps[pair], product)
    return product


@compiled_fast
def _add_scaled(factor, vector, out):
    for j in range(len(out)):
        out[j] += factor * vector[j]


def _norm(vector: np.ndarray) -> float:
    return math.sqrt(float(vector @ vector))


def _shorter(length: float, value: float, slope: float, found: float) -> float:
    """Return the minimum of the parabola through both values, kept between a tenth and a half."""
    best = parabola_minimum(length, value, slope, found)
    return min(max(best, 0.1 * length), 0.5 * length)
