"""Global importance: the mean size of the contributions of each column, with intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from skauc.exceptions import InvalidDataError
from skauc.explain.explanation import Explanation
from skauc.validation import check_fraction


@dataclass(frozen=True)
class ColumnImportance:
    """Mean absolute contribution of a column, with confidence limits."""

    name: str
    importance: float
    low: float
    high: float


def column_importances(
    explanation: Explanation, *, confidence_level: float = 0.95
) -> list[ColumnImportance]:
    """Return the mean absolute contribution of each column, the largest first.

    The limits say how much the mean would change with other rows. For sampled values they include
    the sampling errors.

    Parameters
    ----------
    explanation : Explanation
        The explanation of a random sample of rows, at least two.
    confidence_level : float, default=0.95
        Confidence level of the limits, between 0 and 1.

    Returns
    -------
    importances : list of ColumnImportance
        With ``name``, ``importance``, ``low`` and ``high``.
    """
    level = check_fraction("confidence_level", confidence_level, "Use 0.95 for 95 % limits.")
    sizes = np.abs(np.atleast_2d(explanation.values))
    if len(sizes) < 2:
        raise InvalidDataError(
            f"An importance needs the explanation of at least two rows; got {len(sizes)}."
        )
    means = sizes.mean(axis=0)
    errors = sizes.std(axis=0, ddof=1) / np.sqrt(len(sizes))
    margins = -ndtri((1 - level) / 2) * errors
    order = np.argsort(-means, kind="stable")
    return [
        ColumnImportance(
            explanation.feature_names[i],
            float(means[i]),
            float(max(means[i] - margins[i], 0.0)),
            float(means[i] + margins[i]),
        )
        for i in order
    ]
