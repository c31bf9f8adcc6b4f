"""The basis: centres, and the triangular factor that makes their kernel columns orthonormal.

With K_JJ = L L^T the columns Phi = K_.J L^-T are orthonormal in the RKHS, so |f|^2 = |w|^2 and
nothing is ever solved with the nearly singular K_JJ itself. The kernel coefficients of a model
are L^-T w.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from skauc.kernels import Kernel, Rows


@dataclass(frozen=True)
class Projection:
    """Candidates written in the basis: k(., z) = Phi coordinates + norm * (a new unit column)."""

    coordinates: np.ndarray
    norms: np.ndarray
    squared_lengths: np.ndarray
    independent: np.ndarray

    def part(self, which: np.ndarray) -> Projection:
        """Return the projections of some of the candidates."""
        return Projection(
            self.coordinates[:, which],
            self.norms[which],
            self.squared_lengths[which],
            self.independent[which],
        )


class Basis:
    """Centres in the order in which they were chosen."""

    def __init__(self, kernel: Kernel, capacity: int, precision: float):
        self.kernel = kernel
        self.centres: Rows | None = None
        self.indices: list[int] = []
        self._factor = np.zeros((capacity, capacity))
        # A unit column made from a relative residual rho carries an error of precision / sqrt(rho).
        self._smallest_residual = precision**0.75

    def __len__(self) -> int:
        return len(self.indices)

    def project(self, centres: Rows) -> Projection:
        """Split k(., z) into its part in the span of the basis and the rest, for each z."""
        squared_lengths = self.kernel.diagonal(centres)
        coordinates = np.zeros((0, centres.shape[0]))
        if len(self):
            gram = self.kernel.columns(self.centres, np.float64)(centres)
            coordinates = solve_triangular(self._lower, gram.T, lower=True, check_finite=False)
        residuals = squared_lengths - np.einsum("jq,jq->q", coordinates, coordinates)
        independent = residuals > self._smallest_residual * squared_lengths
        norms = np.sqrt(np.maximum(residuals, 0.0))
        return Projection(coordinates, norms, squared_lengths, independent)

    def append(self, centre: Rows, index: int, coordinates: np.ndarray, norm: float) -> None:
        """Take in a centre whose projection is known."""
        size = len(self)
        self._factor[size, :size] = coordinates
        self._factor[size, size] = norm
        self.centres = centre if self.centres is None else _stack(self.centres, centre)
        self.indices.append(int(index))

    def pop(self) -> None:
        """Forget the centre that was taken in last."""
        self.indices.pop()
        self.centres = self.centres[: len(self)] if len(self) else None

    def coef(self, weights: np.ndarray) -> np.ndarray:
        """Return the kernel coefficients L^-T w."""
        return solve_triangular(self._lower, weights, lower=True, trans="T", check_finite=False)

    @property
    def _lower(self) -> np.ndarray:
        return self._factor[: len(self), : len(self)]


def _stack(centres: Rows, centre: Rows) -> Rows:
    if sparse.issparse(centres):
        return sparse.vstack((centres, centre), format="csr")
    return np.vstack((centres, centre))
