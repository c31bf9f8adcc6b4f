"""The basis: centres, and the triangular factor that makes their kernel columns orthonormal.

With K_JJ = L L^T the columns Phi = K_.J L^-T are orthonormal in the RKHS. Then |f|^2 = |w|^2, and
no system with the nearly singular K_JJ is solved. The kernel coefficients of a model are L^-T w.

Several kernels (widths) make a direct sum of spaces: K_JJ is zero between centres of different
kernels. The linear term is one more space. Its columns are orthonormal already and come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from skauc.engines import Engine, OrthonormalColumn
from skauc.kernels import Kernel, Rows, as_rbf


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
    """Centres in the order in which they were chosen, after the columns of the linear term.

    `append` and `fill` also put the columns into an engine, so that the two agree.
    """

    def __init__(
        self, kernels: Sequence[Kernel], capacity: int, precision: float, n_linear: int = 0
    ):
        self.kernels = kernels
        self.n_linear = n_linear
        self._centres: Rows | None = None
        self.indices: list[int] = []
        self.widths: list[int] = []
        # The number of centres, the first ones, that refinement has moved away from their rows.
        self.n_moved = 0
        self._factor = np.zeros((capacity, capacity))
        # A unit column made from a relative residual rho carries an error of precision / sqrt(rho).
        self._smallest_residual = precision**0.75

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def centres(self) -> Rows:
        """The centres, in the format of the rows. An empty basis has none."""
        if self._centres is None:
            raise LookupError("The basis has no centres yet.")
        return self._centres

    def project(self, centres: Rows, width: int = 0) -> Projection:
        """Split k(., z) into its part in the span of the basis and the rest, for each z."""
        squared_lengths = self.kernels[width].diagonal(centres)
        coordinates = np.zeros((self.n_linear + len(self), centres.shape[0]))
        if len(self):
            gram = self._gram(centres, width)
            kernel_part = solve_triangular(self._lower, gram.T, lower=True, check_finite=False)
            coordinates[self.n_linear :] = kernel_part
        residuals = squared_lengths - np.einsum("jq,jq->q", coordinates, coordinates)
        independent = residuals > self._smallest_residual * squared_lengths
        norms = np.sqrt(np.maximum(residuals, 0.0))
        return Projection(coordinates, norms, squared_lengths, independent)

    def _gram(self, centres: Rows, width: int) -> np.ndarray:
        """Return the inner products of k(., z) with the centres: zero between widths."""
        gram = self.kernels[width].columns(self.centres, np.float64)(centres)
        return gram * (np.asarray(self.widths) == width)

    def append(
        self,
        engine: Engine,
        centre: Rows,
        index: int,
        coordinates: np.ndarray,
        norm: float,
        width: int = 0,
    ) -> None:
        """Add a centre with a known projection, and its column to the engine."""
        engine.append(OrthonormalColumn(self.kernels[width], centre, coordinates, norm))
        size = len(self)
        self._factor[size, :size] = coordinates[self.n_linear :]
        self._factor[size, size] = norm
        self._centres = centre if self._centres is None else _stack(self._centres, centre)
        self.indices.append(int(index))
        self.widths.append(width)

    def fill(self, engine: Engine) -> None:
        """Put the columns of all centres into an engine that holds only the linear columns.

        Columns are computed in the way in which they were first added, so that a fit that goes on
        from a checkpoint gives the same numbers.
        """
        n_moved = self.n_moved
        if n_moved:
            moved = replace(as_rbf(self.kernels[0]), gamma=self.gammas()[:n_moved])
            factor = self._factor[:n_moved, :n_moved]
            inverse = solve_triangular(factor, np.eye(n_moved), lower=True)
            engine.replace(moved, self.centres[:n_moved], inverse.T, self.n_linear)
        for place in range(n_moved, len(self)):
            projection = np.append(np.zeros(self.n_linear), self._factor[place, :place])
            norm = float(self._factor[place, place])
            kernel = self.kernels[self.widths[place]]
            engine.append(OrthonormalColumn(kernel, self.centres[[place]], projection, norm))

    def coef(self, weights: np.ndarray) -> np.ndarray:
        """Return the kernel coefficients L^-T w."""
        kernel_part = weights[self.n_linear :]
        return solve_triangular(self._lower, kernel_part, lower=True, trans="T", check_finite=False)

    def reshaped(self, kernels: Sequence[Kernel], centres: Rows, factor: np.ndarray) -> Basis:
        """Return a basis of the same size with moved centres, whose Gram matrix has this factor."""
        return self.refilled(kernels, centres, factor, self.indices, self.widths, len(self))

    def refilled(
        self,
        kernels: Sequence[Kernel],
        centres: Rows,
        factor: np.ndarray,
        indices: list[int],
        widths: list[int],
        n_moved: int,
    ) -> Basis:
        """Return a basis of the same capacity with other centres."""
        basis = Basis(kernels, len(self._factor), 0.0, self.n_linear)
        basis._smallest_residual = self._smallest_residual
        basis._factor[: len(indices), : len(indices)] = factor
        basis._centres, basis.indices, basis.widths = centres, indices, widths
        basis.n_moved = n_moved
        return basis

    def taken(self, width: int) -> list[int]:
        """Return the rows that are centres of a width. Rows of moved centres are free again."""
        rows = zip(self.indices, self.widths, strict=True)
        return [index for index, own in list(rows)[self.n_moved :] if own == width]

    @property
    def factor(self) -> np.ndarray:
        """The lower triangular factor of the Gram matrix."""
        return self._lower

    def kernel(self) -> Kernel:
        """Return one kernel for all centres, with a width per centre."""
        if len(self.kernels) == 1:
            return self.kernels[0]
        return replace(as_rbf(self.kernels[0]), gamma=self.gammas())

    def gammas(self) -> np.ndarray:
        """Return the width of each centre. Only RBF kernels have one per centre."""
        return np.array([as_rbf(self.kernels[width]).gamma for width in self.widths])

    @property
    def _lower(self) -> np.ndarray:
        return self._factor[: len(self), : len(self)]


def _stack(centres: Rows, centre: Rows) -> Rows:
    if sparse.issparse(centres):
        return sparse.vstack((centres, centre), format="csr")
    return np.vstack((centres, centre))
