"""C="auto": C, estimated from the coefficients of a fit with C = 1.

The objective is that of Bayesian regression: coefficients w with independent normal distributions
of variance t, and residuals of rows with variance s. For classes of equal weight the best C is
2 t / s. A pair has the residuals of two rows, so s is half of the mean loss of the pairs, m. With
H the Hessian of the objective, the data determine each coefficient to a part f, an eigenvalue of
I - H^-1, and

    expected |w|^2 = t sum f^2 + s C/2 sum f (1 - f).

This gives t (compare MacKay, 1992). The estimate 4 t / m is large if the classes can be told apart,
and small if there is much noise. It is too large, because the centres were chosen and refined on
the same rows, and this matters most where there is much noise. So a power law corrects it. Its two
constants were chosen on development tables.
"""

from __future__ import annotations

import numpy as np

from skauc.solvers.newton import factorise
from skauc.solvers.triangular import inverse_lower
from skauc.sparse.objective import Objective

# The C with which centres are chosen and refined before C is estimated.
FIRST_C = 1.0
# The ratio for which the estimate is 1, and the power that it is raised to.
_RATIO = 6.0
_POWER = 2.0
LEAST_C, MOST_C = 0.1, 10.0


def estimated_loss_weight(objective: Objective, weights: np.ndarray) -> float:
    """Return the C for later coefficients, from weights that minimise the objective.

    If the objective has another C than `FIRST_C`, the coefficients for `FIRST_C` are approximated
    by the quadratic model of the loss at ``weights``.
    """
    point, engine = objective.at(weights), objective.engine
    p, n = engine.positive_weight, engine.negative_weight
    C = objective.C_pair * (p + n)
    gradient, hessian = objective.derivatives(point)
    identity = np.eye(len(weights))
    slope, curvature = (gradient - weights) / C, (hessian - identity) / C
    root = inverse_lower(factorise(identity + FIRST_C * curvature))
    inverse = root.T @ root
    first = inverse @ (FIRST_C * (curvature @ weights - slope))
    step = first - weights
    # The loss is p n / (p + n) / 2 times the mean loss of the pairs.
    gain = float(slope @ step + step @ curvature @ step / 2)
    mean_loss = point.state.loss / (p * n) + 2 * gain * (p + n) / (p * n)
    sum_f = len(inverse) - inverse.trace()
    sum_f2 = sum_f - inverse.trace() + np.sum(inverse**2)
    if sum_f2 <= 0.0:  # the data tell nothing
        return FIRST_C
    if mean_loss <= 0.0:
        return MOST_C
    explained = float(first @ first) - mean_loss / 4 * FIRST_C * (sum_f - sum_f2)
    ratio = 4 * max(explained, 0.0) / (sum_f2 * mean_loss)
    C = np.clip((ratio / _RATIO) ** _POWER, LEAST_C, MOST_C)
    # Two digits, so that engines agree on it although they round differently.
    return float(f"{C:.2g}")
