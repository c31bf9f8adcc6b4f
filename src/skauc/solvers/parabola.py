"""The parabola through two values and a slope."""

from __future__ import annotations

import math


def parabola_minimum(length: float, value: float, slope: float, found: float) -> float:
    """Return the minimum of the parabola with this value and slope at 0 and ``found`` at a length.

    It is 0 if ``found`` is not finite, and infinite if the parabola is not convex.
    """
    curvature = found - value - length * slope
    if not math.isfinite(curvature):
        return 0.0
    return -0.5 * slope * length**2 / curvature if curvature > 0 else math.inf
