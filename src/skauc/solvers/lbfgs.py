"""L-BFGS for a few dozen steps of a smooth function."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
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


def descend(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    n_steps: int,
    report: Callable[[np.ndarray], object] = lambda x: None,
) -> int:
    """Take at most ``n_steps`` steps, and return how many were taken.

    ``function`` returns a value and its gradient. ``report`` is called with the point after every
    step; it is the point at which the function was evaluated last.
    """
    x = start
    value, gradient = function(x)
    pairs: deque[Pair] = deque(maxlen=N_PAIRS)
    for n_taken in range(n_steps):
        direction = _direction(gradient, pairs)
        slope = float(gradient @ direction)
        # Not >=, so that a slope that is not a number ends the descent too.
        if not slope < 0:
            return n_taken
        length = 1.0
        for _ in range(_MOST_TRIALS):
            trial = x + length * direction
            found, found_gradient = function(trial)
            if found <= value + _SUFFICIENT_DECREASE * length * slope:
                break
            length = _shorter(length, value, slope, found)
        else:
            return n_taken
        step, change = trial - x, found_gradient - gradient
        curvature = float(step @ change)
        if curvature > LEAST_CURVATURE * np.linalg.norm(step) * np.linalg.norm(change):
            pairs.append(Pair(step, change, curvature))
        x, value, gradient = trial, found, found_gradient
        report(x)
    return n_steps


def _direction(gradient: np.ndarray, pairs: deque[Pair]) -> np.ndarray:
    """Return minus the approximate inverse Hessian times the gradient: two loops over the pairs."""
    direction = -gradient
    if not pairs:
        return direction / max(float(np.linalg.norm(gradient)), 1.0)
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


def _shorter(length: float, value: float, slope: float, found: float) -> float:
    """Return the minimum of the parabola through both values, kept between a tenth and a half."""
    best = parabola_minimum(length, value, slope, found)
    return min(max(best, 0.1 * length), 0.5 * length)
