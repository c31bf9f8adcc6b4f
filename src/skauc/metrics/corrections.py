"""P-values corrected for many comparisons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number by Holm's method.

    References
    ----------
    Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of
    Statistics 6, 65-70.
    """
    order = np.argsort(p_values, kind="stable")
    factors = len(p_values) - np.arange(len(p_values))
    corrected = np.maximum.accumulate(np.asarray(p_values)[order] * factors)
    result = np.empty(len(p_values))
    result[order] = np.minimum(corrected, 1.0)
    return result.tolist()
