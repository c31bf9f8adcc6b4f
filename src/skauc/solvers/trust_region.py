"""Trust-region Newton method with conjugate gradients, in any inner product.

This is the method of Lin and Moré (1999) as Kuo, Lee and Lin (2014) use it for ranking, with one
addition: each step is scaled to the minimum along its line. The line search is cheap, because
scores move along a line without a kernel product. Vectors are NumPy arrays of any shape. The
problem's ``inner`` defines lengths and angles, the gradient, and the Hessian as an operator.
SciPy's "trust-ncg" supports the Euclidean inner product only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

# Ratios of the actual to the predicted decrease below which the radius shrinks, and above which it
# grows.
POOR, GOOD = 0.25, 0.75
# Factors of the radius: the smallest and the largest after a poor step, and the growth after a good
# step.
LEAST, SHRINK, GROW = 0.25, 0.5, 4.0
# How far conjugate gradients reduce the gradient, and how far the line search reduces the slope.
FORCING = 0.1
FLAT = 0.1
# Maximum numbers of products per step and of trials per line search. The last one is used: it
# decreases the objective.
MOST_PRODUCTS = 1000
MOST_TRIALS = 30
# A predicted decrease below this fraction of the value is lost in rounding.
ROUNDING = 1e-13


class EvaluatedPoint(Protocol):
    """A point that has been evaluated."""

    @property
    def vector(self) -> np.ndarray:
        """The vector at which the function was evaluated."""

    @property
    def value(self) -> float:
        """The value there."""

    @property
    def gradient(self) -> np.ndarray:
        """The gradient there."""


AnyPoint = TypeVar("AnyPoint", bound=EvaluatedPoint)


class Problem(Protocol[AnyPoint]):
    """A function to minimise, convex and piecewise twice differentiable."""

    def at(self, vector: np.ndarray) -> AnyPoint:
        """Evaluate at a vector."""

    def hessian_product(self, point: AnyPoint, vector: np.ndarray) -> np.ndarray:
        """Return the Hessian at a point, as an operator of the inner product, times a vector."""

    def inner(self, left: np.ndarray, right: np.ndarray) -> float:
        """Return the inner product."""

    def slopes(self, point: AnyPoint, direction: np.ndarray) -> tuple[float, float]:
        """Return the first and second derivatives along a direction."""


@dataclass(frozen=True)
class Step:
    """A step within the radius, and the decrease of the quadratic model along it."""

    vector: np.ndarray
    predicted: float


def iterate(problem: Problem[AnyPoint], start: np.ndarray) -> Iterator[AnyPoint]:
    """Yield the start and the result of each iteration, until a decrease is lost in rounding.

    An iteration minimises the quadratic model within the radius by conjugate gradients, searches
    along the step, and adapts the radius to the ratio of the actual to the predicted decrease. The
    first radius is the length of the gradient.
    """
    point = problem.at(start)
    yield point
    radius = _length(problem, point.gradient)
    while True:
        step = step_within(problem, point, radius)
        if step.predicted <= ROUNDING * abs(point.value):
            return
        stretch, trial = search(problem, point, step.vector)
        if trial.value >= point.value:
            return
        share = (point.value - trial.value) / step.predicted
        radius = _next_radius(radius, stretch * _length(problem, step.vector), share)
        point = trial
        yield point


def step_within(problem: Problem[AnyPoint], point: AnyPoint, radius: float) -> Step:
    """Minimise the model by conjugate gradients, until the residual is small or at the radius."""
    step = np.zeros_like(point.vector)
    residual = -point.gradient
    direction = residual
    squared = first = problem.inner(residual, residual)
    for _ in range(MOST_PRODUCTS):
        # A vector lost in rounding can have a squared length just below zero.
        if squared <= FORCING**2 * max(first, 0.0) or problem.inner(direction, direction) <= 0:
            break
        curved = problem.hessian_product(point, direction)
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
    predicted = 0.5 * (problem.inner(step, residual) - problem.inner(point.gradient, step))
    return Step(step, predicted)


def search(
    problem: Problem[AnyPoint], point: AnyPoint, direction: np.ndarray
) -> tuple[float, AnyPoint]:
    """Find the minimum along a direction by Newton's method, with secants outside the bracket.

    A direction that does not descend, because it is lost in rounding, has its minimum at zero.
    """
    low, low_slope = 0.0, problem.slopes(point, direction)[0]
    if low_slope >= 0:
        return low, point
    high, high_slope = math.inf, math.inf
    goal = FLAT * abs(low_slope)
    following = 1.0
    for _ in range(MOST_TRIALS):
        length = following
        trial = problem.at(point.vector + length * direction)
        slope, curvature = problem.slopes(trial, direction)
        if abs(slope) <= goal:
            break
        if slope < 0:
            low, low_slope = length, slope
        else:
            high, high_slope = length, slope
        following = length - slope / curvature if curvature > 0 else math.inf
        if not low < following < high:
            following = 2.0 * low
            if high < math.inf:
                following = low - low_slope * (high - low) / (high_slope - low_slope)
    return length, trial


def _length_to_edge(problem: Problem, step, direction, radius: float) -> float:
    """Solve |step + t direction| = radius for t >= 0.

    The solution does not depend on the unit of the inner product. A power of two as the unit keeps
    the squares in range and changes no digit.
    """
    squared = problem.inner(direction, direction)
    unit = math.ldexp(1.0, min(-math.frexp(squared)[1], 1023))
    cross = unit * problem.inner(step, direction)
    room = unit * max(radius**2 - problem.inner(step, step), 0.0)
    squared *= unit
    root = math.sqrt(cross**2 + squared * room)
    return room / (cross + root) if cross >= 0 else (root - cross) / squared


def _next_radius(radius: float, length: float, share: float) -> float:
    """Return the next radius, from the length of this step and its share of the prediction."""
    if share < POOR:
        return max(LEAST * radius, min(length, SHRINK * radius))
    if share > GOOD:
        return max(radius, GROW * length)
    return radius


def _length(problem: Problem, vector: np.ndarray) -> float:
    # A vector lost in rounding can have a squared length just below zero.
    return math.sqrt(max(problem.inner(vector, vector), 0.0))
