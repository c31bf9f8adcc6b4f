"""Trust-region Newton with conjugate gradients, in any inner product.

The method of Lin and Moré (1999) as Kuo, Lee and Lin (2014) use it for ranking. Vectors are NumPy
arrays of any shape; lengths and angles are those of the problem's ``inner``, which also turns a
derivative into the gradient and the Hessian into an operator that is symmetric in it. SciPy's
"trust-ncg" knows the Euclidean inner product and its own radius alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

# Shares of the predicted decrease that a step must reach: to be taken, for its radius to stay,
# for its radius to grow.
TAKEN, KEPT, GROWN = 1e-4, 0.25, 0.75
# Factors of the radius: the least, the most after a poor step, the most after a good one.
LEAST, SHRINK, GROW = 0.25, 0.5, 4.0
# How far conjugate gradients reduce the gradient in one step.
FORCING = 0.1
# A step that is not done by then is taken as it is: it goes down.
MOST_PRODUCTS = 1000
# A predicted decrease below this share of the value is lost in rounding.
ROUNDING = 1e-13


class Place(Protocol):
    """A point that has been evaluated."""

    vector: np.ndarray
    value: float
    gradient: np.ndarray


class Problem(Protocol):
    """A function to minimise, piecewise twice differentiable and convex."""

    def at(self, vector: np.ndarray) -> Place:
        """Evaluate at a vector."""

    def hessian_product(self, place: Place, vector: np.ndarray) -> np.ndarray:
        """Return the Hessian at a place, an operator in the inner product, times a vector."""

    def inner(self, left: np.ndarray, right: np.ndarray) -> float:
        """Return the inner product."""


@dataclass(frozen=True)
class Step:
    """A step, its length, and how the function would change if it were its quadratic model."""

    vector: np.ndarray
    length: float
    slope: float
    predicted: float


def iterate(problem: Problem, start: np.ndarray) -> Iterator[Place]:
    """Yield the start, and the place after each iteration; end where rounding hides a decrease.

    An iteration minimises the quadratic model within the radius by conjugate gradients, takes the
    step if the function falls by a fair share of what the model says, and adapts the radius to that
    share. The first radius is the length of the gradient.
    """
    place = problem.at(start)
    yield place
    radius = _length(problem, place.gradient)
    is_first = True
    while True:
        step = _step_within(problem, place, radius)
        if step.predicted <= ROUNDING * abs(place.value):
            return
        trial = problem.at(place.vector + step.vector)
        change = trial.value - place.value
        radius = min(radius, step.length) if is_first else radius
        radius = _next_radius(radius, step, change)
        is_first = False
        if -change > TAKEN * step.predicted:
            place = trial
        yield place


def _step_within(problem: Problem, place: Place, radius: float) -> Step:
    """Minimise the model by conjugate gradients until the residual is small or the edge is met."""
    step = np.zeros_like(place.vector)
    residual = -place.gradient
    direction = residual.copy()
    squared = first = problem.inner(residual, residual)
    for _ in range(MOST_PRODUCTS):
        if squared <= FORCING**2 * first:
            break
        curved = problem.hessian_product(place, direction)
        curvature = problem.inner(direction, curved)
        edge = _length_to_edge(problem, step, direction, radius)
        is_beyond = squared >= edge * curvature
        length = edge if is_beyond else squared / curvature
        step = step + length * direction
        residual = residual - length * curved
        if is_beyond:
            break
        before, squared = squared, problem.inner(residual, residual)
        direction = residual + (squared / before) * direction
    slope = problem.inner(place.gradient, step)
    predicted = -0.5 * (slope - problem.inner(step, residual))
    return Step(step, _length(problem, step), slope, predicted)


def _length_to_edge(problem: Problem, step, direction, radius: float) -> float:
    """Solve |step + t direction| = radius for t >= 0."""
    cross = problem.inner(step, direction)
    squared = problem.inner(direction, direction)
    room = max(radius**2 - problem.inner(step, step), 0.0)
    root = math.sqrt(cross**2 + squared * room)
    return room / (cross + root) if cross >= 0 else (root - cross) / squared


def _next_radius(radius: float, step: Step, change: float) -> float:
    """Return the radius for the next step, from how far the function fell."""
    excess = change - step.slope
    scale = GROW if excess <= 0 else max(LEAST, -0.5 * step.slope / excess)
    proposed = scale * step.length
    if -change < TAKEN * step.predicted:
        return min(proposed, SHRINK * radius)
    if -change < KEPT * step.predicted:
        return max(LEAST * radius, min(proposed, SHRINK * radius))
    if -change < GROWN * step.predicted:
        return max(LEAST * radius, min(proposed, GROW * radius))
    return max(radius, min(proposed, GROW * radius))


def _length(problem: Problem, vector: np.ndarray) -> float:
    # A vector lost in rounding can have a squared length just below zero.
    return math.sqrt(max(problem.inner(vector, vector), 0.0))
