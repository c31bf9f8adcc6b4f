"""The linear part of a model: its columns, and their principal axes if there are many features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from skauc.data.axes import leading_axes
from skauc.data.statistics import feature_statistics, rounded
from skauc.data.training import TrainingData

# Most columns of the linear term; wider data are reduced to this many principal axes.
MOST_LINEAR = 256
# Principal axes of the rows of a fold by scaling and rotation, in single precision.
KnownAxes: TypeAlias = dict[tuple[str | None, bool], np.ndarray]


@dataclass(frozen=True, eq=False)
class LinearTerm:
    """The columns of the linear part, scale * (x - origin) axes, of about unit length together.

    If there are many features, ``axes`` are the leading principal axes of the rows; otherwise they
    are None, and the columns are the features.
    """

    origin: np.ndarray
    scale: float
    axes: np.ndarray | None = None

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.origin) if self.axes is None else self.axes.shape[1]

    def coef(self, weights: np.ndarray) -> np.ndarray:
        """Return the coefficients of the features."""
        return self.scale * (weights if self.axes is None else self.axes @ weights)

    def weights(self, coef: np.ndarray) -> np.ndarray:
        """Return the weights of the columns for coefficients of the features."""
        return (coef if self.axes is None else self.axes.T @ coef) / self.scale

    @classmethod
    def of(cls, data: TrainingData, axes: np.ndarray | None = None) -> LinearTerm:
        """Return the linear term for these rows, along the axes if there are some."""
        mean, variance = feature_statistics(data)
        total = variance.sum()
        total = float(rounded(total, total))
        # The loss ignores a constant, so the origin may be rounded, also of constant features.
        origin = rounded(mean, np.maximum(np.sqrt(variance), np.abs(mean)))
        return cls(origin, 1.0 / np.sqrt(total) if total > 0 else 1.0, axes)


def linear_term(rows: TrainingData, key: tuple[str | None, bool], known: KnownAxes) -> LinearTerm:
    """Return the linear term, along principal axes if there are many features.

    ``key`` names the scaling and the rotation of the rows.
    """
    if rows.n_features <= MOST_LINEAR:
        return LinearTerm.of(rows)
    if key not in known:
        known[key] = leading_axes(rows, MOST_LINEAR).astype(np.float32)
    return LinearTerm.of(rows, known[key].astype(np.float64))
