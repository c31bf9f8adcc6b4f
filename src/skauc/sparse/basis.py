"""The basis: centres, and the triangular factor that makes their kernel columns orthonormal.

With K_JJ = L L^T the columns Phi = K_.J L^-T are orthonormal in the RKHS. Then |f|^2 = |w|^2, and
no system with the nearly singular K_JJ is solved. The kernel coefficients of a model are L^-T w.

Several kernels (widths) make a direct sum of spaces: K_JJ is zero between centres of different
kernels. If centres have a metric each, K_JJ is the Gram matrix of `skauc.shaped_rbf`. The linear
term is one more space. Its columns are orthonormal already and come first.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from skauc.engines import Engine, OrthonormalColumns
from skauc.kernels import RBF, Kernel, Rows, as_rbf, stack_rows
from skauc.shaped_rbf import ShapedRBF
from skauc.solvers.triangular import inverse_lower, solve_lower, solve_upper

# In place of a width.
RIDGE = -1


@dataclass(frozen=True)
class Projection:
    """Candidates written in the basis: k(., z) = Phi coordinates + a rest of this squared norm.

    A candidate is independent of the basis if its rest is larger than ``smallest``.
    """

    coordinates: np.ndarray
    residuals: np.ndarray
    squared_lengths: np.ndarray
    smallest: np.ndarray

    def part(self, which: np.ndarray) -> Projection:
        """Return the projections of some of the candidates."""
        return Projection(
            self.coordinates[:, which],
            self.residuals[which],
            self.squared_lengths[which],
            self.smallest[which],
        )

    def joined(self, other: Projection) -> Projection:
        """Return these projections followed by others."""
        return Projection(
            np.hstack((self.coordinates, other.coordinates)),
            np.append(self.residuals, other.residuals),
            np.append(self.squared_lengths, other.squared_lengths),
            np.append(self.smallest, other.smallest),
        )


@dataclass(frozen=True)
class Added:
    """Centres to add, their rows and widths, and how they are written in the extended basis.

    Ridges have no width; theirs is `RIDGE`.

    ``coordinates`` are those in the old basis, ``factor`` the lower triangular factor of the Gram
    matrix of the rests.
    """

    kernel: Kernel
    centres: Rows
    indices: np.ndarray
    widths: np.ndarray
    coordinates: np.ndarray
    factor: np.ndarray


class Basis:
    """Centres in the order in which they were chosen, after the columns of the linear term.

    `append` and `fill` also put the columns into an engine, so that the two agree. ``kernels`` are
    those of new centres, one per width. ``n_scales`` is the number of scales of each centre, or
    None if all centres share theirs.
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        capacity: int,
        precision: float,
        n_linear: int = 0,
        n_scales: int | None = None,
    ):
        self.kernels = kernels
        self.n_linear, self.n_scales = n_linear, n_scales
        self._kernel: Kernel | None = None
        self._centres: Rows | None = None
        self.indices: list[int] = []
        self.widths: list[int] = []
        # The number of centres that were added at a time.
        self.batches: list[int] = []
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

    def project(self, kernel: Kernel, centres: Rows) -> Projection:
        """Split k(., z) into its part in the span of the basis and the rest, for each z."""
        squared_lengths = kernel.diagonal(centres)
        coordinates = np.zeros((self.n_linear + len(self), centres.shape[0]))
        if len(self):
            gram = kernel.gram(centres, self.kernel(), self.centres)
            coordinates[self.n_linear :] = solve_lower(self.factor, gram.T)
        residuals = squared_lengths - np.einsum("jq,jq->q", coordinates, coordinates)
        return Projection(
            coordinates, residuals, squared_lengths, self._smallest_residual * squared_lengths
        )

    def append(self, engine: Engine, added: Added) -> None:
        """Add centres with a known projection, and their columns to the engine."""
        size, n_added = len(self), len(added.indices)
        self._factor[size : size + n_added, :size] = added.coordinates[self.n_linear :].T
        self._factor[size : size + n_added, size : size + n_added] = added.factor
        self._centres = (
            added.centres if self._centres is None else stack_rows((self._centres, added.centres))
        )
        self._kernel = added.kernel if self._kernel is None else self._kernel.joined(added.kernel)
        self.indices += added.indices.tolist()
        self.widths += added.widths.tolist()
        self.batches.append(n_added)
        self._put(engine, size, n_added)

    def fill(self, engine: Engine) -> None:
        """Put the columns of all centres into an engine that holds only the linear columns.

        Columns are computed in the way in which they were first added, so that a fit that goes on
        from a checkpoint gives the same numbers.
        """
        size = 0
        for n_added in self.batches:
            self._put(engine, size, n_added)
            size += n_added

    def _put(self, engine: Engine, size: int, n_added: int) -> None:
        """Put the columns of a batch of centres into an engine, after the first ``size``."""
        new = slice(size, size + n_added)
        projection = np.zeros((self.n_linear + size, n_added))
        projection[self.n_linear :] = self._factor[new, :size].T
        inverse = inverse_lower(self._factor[new, new])
        kernel = self.kernel().part(new)
        engine.append(OrthonormalColumns(kernel, self.centres[new], projection, inverse.T))

    def coef(self, weights: np.ndarray) -> np.ndarray:
        """Return the kernel coefficients L^-T w."""
        return solve_upper(self.factor, weights[self.n_linear :])

    def reshaped(
        self, kernels: Sequence[Kernel], kernel: Kernel, centres: Rows, factor: np.ndarray
    ) -> Basis:
        """Return a basis of the same size with moved centres, whose Gram matrix has this factor."""
        size = len(self)
        return self.refilled(
            kernels, kernel, centres, factor, self.indices, self.widths, [size], size
        )

    def merged(self) -> Basis:
        """Return the same basis, whose columns are computed all at once.

        This is more precise on rows whose columns are kept in single precision.
        """
        basis = copy.copy(self)
        basis.batches = [len(self)]
        return basis

    def refilled(
        self,
        kernels: Sequence[Kernel],
        kernel: Kernel,
        centres: Rows,
        factor: np.ndarray,
        indices: list[int],
        widths: list[int],
        batches: list[int],
        n_moved: int,
    ) -> Basis:
        """Return a basis of the same capacity with other centres."""
        basis = Basis(kernels, len(self._factor), 0.0, self.n_linear, self.n_scales)
        basis._smallest_residual = self._smallest_residual
        basis._factor[: len(indices), : len(indices)] = factor
        basis._kernel, basis._centres = kernel, centres
        basis.indices, basis.widths = indices, widths
        basis.n_moved, basis.batches = n_moved, batches
        return basis

    def taken(self, width: int) -> list[int]:
        """Return the rows that are centres of a width. Rows of moved centres are free again."""
        rows = zip(self.indices, self.widths, strict=True)
        return [index for index, own in list(rows)[self.n_moved :] if own == width]

    @property
    def factor(self) -> np.ndarray:
        """The lower triangular factor of the Gram matrix."""
        return self._factor[: len(self), : len(self)]

    def kernel(self) -> Kernel:
        """Return one kernel for all centres. An empty basis has none."""
        if self._kernel is None:
            raise LookupError("The basis has no centres yet.")
        return self._kernel

    def kernel_of(self, widths: np.ndarray) -> Kernel:
        """Return one kernel for new centres of these widths."""
        if self.n_scales is not None:
            kernel = RBF(self.gammas(widths), as_rbf(self.kernels[0]).scales)
            return ShapedRBF.of(kernel, len(widths), self.n_scales)
        if len(self.kernels) == 1:
            return self.kernels[0]
        return replace(as_rbf(self.kernels[0]), gamma=self.gammas(widths))

    def gammas(self, widths: np.ndarray) -> np.ndarray:
        """Return the gamma of each of these widths. Only RBF kernels have several."""
        return np.array([as_rbf(kernel).gamma for kernel in self.kernels])[widths]
