"""The plain hinge over all pairs, and its most violated constraint, with one sort.

The mean hinge of scores f over the pairs of a positive i and a negative j, with weights s,

    R(f) = sum s_i s_j max(0, 1 - f_i + f_j) / sum s_i s_j,

is the maximum of the planes sum c_ij s_i s_j (1 - f_i + f_j) / sum s_i s_j over all c in {0, 1}.
The maximum has c_ij = 1 for the violating pairs, f_j > f_i - 1. Only the sums of c over each row's
partners are needed. They are the `partner_weights` of the sorted cells in `pairs`: the total weight
of the negatives above f_i - 1, and of the positives below f_j + 1. Joachims sorts f - 1/2 of the
positives together with f + 1/2 of the negatives for the same purpose. A pair exactly at the margin
adds nothing to the value of the plane, so it may be counted or not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skauc.losses.cells import sorted_cells
from skauc.losses.pairs import partner_weights


@dataclass(frozen=True, eq=False)
class Cut:
    """The largest plane at given scores, and the risk there.

    The plane is offset - sum_i coef_i f_i as a function of the scores f.
    """

    coef: np.ndarray
    offset: float
    risk: float


class ROCArea:
    """The mean hinge over the pairs of two classes; a call returns its plane at given scores."""

    def __init__(self, positive: np.ndarray, weights: np.ndarray):
        self._positive = positive
        # Weights as fractions of their class: their products sum to one over all pairs.
        self._shares = weights / np.where(
            positive, weights[positive].sum(), weights[~positive].sum()
        )

    def __call__(self, scores: np.ndarray) -> Cut:
        """Return the most violated constraint and the mean hinge; O(l log l) for l rows."""
        cells = sorted_cells(scores, self._positive)
        reach = partner_weights(cells, self._positive, self._shares)
        offset = float(reach[self._positive].sum())
        coef = np.where(self._positive, reach, -reach)
        # The coefficients sum to zero, so scores can be shifted. Near zero they do not cancel.
        risk = offset - float(coef @ (scores - cells.origin))
        return Cut(coef, offset, max(risk, 0.0))
