"""Kernels: their parameters, their formulas, and blocks of their values.

``kernel.columns(centres, dtype)`` prepares the centres once and returns a function that maps a
block of rows to the dense matrix k(row, centre). Only that function tells sparse rows from dense
ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, TypeGuard

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from skauc.exceptions import InvalidParameterError
from skauc.scratch import CompiledArrays, ScratchArrays
from skauc.support import quiet_overflow

Rows: TypeAlias = np.ndarray | sparse.csr_array
KernelColumns: TypeAlias = Callable[[Rows], np.ndarray]

# Makes new arrays, with NumPy only.
NEW_ARRAYS = ScratchArrays()
# For Gram matrices, which only fits need.
COMPILED_ARRAYS = CompiledArrays()

# Above this squared distance between a centre and the origin of a block, in units of 1/gamma, the
# exponent of the augmented product loses more than 5 of the 7 digits of float32: use float64.
FLOAT32_REACH = 256.0
# Above this one, even float64 cannot tell a copy of a centre from a neighbour: use differences.
FLOAT64_REACH = 1024.0


class Kernel(Protocol):
    """The interface of a kernel."""

    def columns(self, centres: Rows, dtype, scratch: ScratchArrays = NEW_ARRAYS) -> KernelColumns:
        """Return the function that maps rows to the block k(row, centre).

        Values have the given type if that is precise enough, and float64 otherwise. They may be in
        an array of ``scratch``, which the next call in the same thread overwrites.
        """

    def diagonal(self, centres: Rows) -> np.ndarray:
        """Return k(z, z) for each centre."""

    def part(self, which) -> Kernel:
        """Return the kernel of some of the centres."""

    def joined(self, other: Kernel) -> Kernel:
        """Return the kernel of these centres followed by others."""

    def gram(self, centres: Rows, other: Kernel, others: Rows) -> np.ndarray:
        """Return the inner products of these centres with those of another part of the basis."""


class SameForAll:
    """A kernel without numbers of single centres."""

    def part(self, which) -> Any:
        """Return the kernel itself."""
        return self

    def joined(self, other: Kernel) -> Any:
        """Return the kernel itself."""
        return self

    def gram(self: Any, centres: Rows, other: Kernel, others: Rows) -> np.ndarray:
        """Return the kernel values."""
        return self.columns(others, np.float64)(centres)


@dataclass(frozen=True, eq=False)
class RBF:
    """k(x, z) = exp(-gamma |s * (x - z)|^2), with s one scale per feature, or 1.

    ``gamma`` may be an array: one width per centre.
    """

    gamma: float | np.ndarray
    scales: np.ndarray | None = None

    def columns(self, centres: Rows, dtype, scratch: ScratchArrays = NEW_ARRAYS) -> KernelColumns:
        """Prepare the centres for one matrix product and one exponential per block of rows."""
        if sparse.issparse(centres):
            return _sparse_rbf(self.gamma, self.scales, centres, dtype)
        return _dense_rbf(self, centres, dtype, scratch)

    def diagonal(self, centres: Rows) -> np.ndarray:
        """Return ones."""
        return np.ones(centres.shape[0])

    def part(self, which) -> RBF:
        """Return the kernel of some of the centres."""
        if not isinstance(self.gamma, np.ndarray):
            return self
        return RBF(self.gamma[which], self.scales)

    def joined(self, other: Kernel) -> RBF:
        """Return the kernel of these centres followed by others of the same scales."""
        if not isinstance(self.gamma, np.ndarray):
            return self
        return RBF(np.append(self.gamma, as_rbf(other).gamma), self.scales)

    def gram(self, centres: Rows, other: Kernel, others: Rows) -> np.ndarray:
        """Return the kernel values; centres of different widths are orthogonal."""
        values = other.columns(others, np.float64, COMPILED_ARRAYS)(centres)
        own, their = self.gamma, as_rbf(other).gamma
        if isinstance(own, np.ndarray) or isinstance(their, np.ndarray) or own != their:
            values *= np.equal.outer(
                np.broadcast_to(own, centres.shape[0]), np.broadcast_to(their, others.shape[0])
            )
        return values


@dataclass(frozen=True, eq=False)
class CentredRBF:
    """Centres prepared for one product: -gamma |x - z|^2 = [x, |x|^2, 1] [2z, -1, -|z|^2]^T.

    ``origin`` is subtracted from rows and centres, and the result is multiplied by ``roots``, so
    that values neither overflow nor cancel, whatever the units of the features. If the centres have
    different gammas, ``roots`` contain the largest and ``ratios`` the ratio of each to it.
    ``right`` is the second factor, in a type that is precise enough. It is None if only the
    differences x - z are precise enough.
    """

    origin: np.ndarray
    roots: np.ndarray
    ratios: np.ndarray
    centres: np.ndarray
    right: np.ndarray | None

    @classmethod
    def of(
        cls, kernel: RBF, centres: np.ndarray, dtype, scratch: ScratchArrays = NEW_ARRAYS
    ) -> CentredRBF:
        """Shift and scale the centres, for kernel values of the given type."""
        n_centres, n_features = centres.shape
        gamma, scales = kernel.gamma, kernel.scales
        largest = float(gamma.max()) if isinstance(gamma, np.ndarray) else gamma
        ratios = np.full(n_centres, gamma / largest)
        root = math.sqrt(largest)
        roots = np.full(n_features, root) if scales is None else root * scales
        origin, moved, squares = scratch.centre(centres, roots)
        reach = squares.max(initial=0.0)
        if not reach <= FLOAT64_REACH and dtype == np.float64:
            origin = _nearest_to_zero(centres)
            with quiet_overflow():
                moved = np.subtract(centres, origin, dtype=np.float64) * roots
            return cls(origin, roots, ratios, moved, None)
        right = np.empty(
            (n_features + 2, n_centres), np.float64 if reach > FLOAT32_REACH else dtype
        )
        scratch.augment_centres(moved, squares, ratios, right)
        return cls(origin, roots, ratios, moved, right)


def centred_rbf(
    kernel: Kernel, centres: Rows, rows: Rows, scratch: ScratchArrays
) -> CentredRBF | None:
    """Return the centres of an RBF kernel, prepared for products with dense rows as doubles.

    None if the kernel, the rows or the distances need something else.
    """
    if not isinstance(kernel, RBF) or is_sparse(centres) or is_sparse(rows):
        return None
    centred = CentredRBF.of(kernel, centres, np.float64, scratch)
    if centred.right is None:
        return None
    return replace(centred, origin=centred.origin.astype(np.float64))


def _nearest_to_zero(centres: np.ndarray) -> np.ndarray:
    """Return the value of least magnitude of each feature.

    Shifted by it, no centre is more than twice as far from zero as before. So differences between
    small values keep all of their digits next to a centre of 1e20. Shifted by the mean, they would
    lose them.
    """
    nearest = np.abs(centres).argmin(axis=0)
    return centres[nearest, np.arange(centres.shape[1])]


def _dense_rbf(kernel: RBF, centres: np.ndarray, dtype, scratch: ScratchArrays) -> KernelColumns:
    centred = CentredRBF.of(kernel, centres, dtype, scratch)
    origin, roots, right = centred.origin, centred.roots, centred.right
    if right is None:
        return lambda rows: np.exp(
            -centred.ratios
            * cdist(
                np.subtract(rows, origin, dtype=np.float64) * roots, centred.centres, "sqeuclidean"
            )
        )
    dtype, n_features = right.dtype, centres.shape[1]
    origin = origin.astype(np.result_type(origin, dtype), copy=False)
    roots = roots.astype(origin.dtype, copy=False)

    def block(rows: np.ndarray) -> np.ndarray:
        left = scratch.array("augmented", (len(rows), n_features + 2), dtype)
        scratch.augment(rows, origin, roots, left)
        # Rounding can leave an exponent just above zero. Clipping it would take as long as the
        # exponentials and would not make the values more precise.
        exponent = scratch.array("kernel", (len(rows), right.shape[1]), dtype)
        np.matmul(left, right, out=exponent)
        return np.exp(exponent, out=exponent)

    return block


def _sparse_rbf(gamma, scales, centres: sparse.csr_array, dtype) -> KernelColumns:
    """Compute products in float64, because sparse rows are not shifted."""

    def scaled(rows):
        rows = rows.astype(np.float64, copy=False)
        return rows if scales is None else rows.multiply(scales).tocsr()

    centres = scaled(centres)
    squares = row_norms(centres, squared=True)

    def block(rows: sparse.csr_array) -> np.ndarray:
        rows = scaled(rows)
        distances = safe_sparse_dot(rows, centres.T, dense_output=True)
        distances *= -2
        distances += row_norms(rows, squared=True)[:, None]
        distances += squares
        np.maximum(distances, 0, out=distances)
        distances *= -gamma
        return np.exp(distances, out=distances).astype(dtype, copy=False)

    return block


def _city_blocks(rows: np.ndarray, centres: np.ndarray) -> np.ndarray:
    return cdist(rows, centres, "cityblock")


@dataclass(frozen=True)
class Laplacian(SameForAll):
    """k(x, z) = exp(-gamma |x - z|_1)."""

    gamma: float

    def columns(self, centres: Rows, dtype, scratch: ScratchArrays = NEW_ARRAYS) -> KernelColumns:
        """Return a function of the city-block distances."""
        # cdist takes rows that overflowed in a scaling. Their scores are refused by name later.
        distance = manhattan_distances if is_sparse(centres) else _city_blocks

        def block(rows: Rows) -> np.ndarray:
            distances = distance(
                rows.astype(np.float64, copy=False), centres.astype(np.float64, copy=False)
            )
            distances *= -self.gamma
            return np.exp(distances, out=distances).astype(dtype, copy=False)

        return block

    def diagonal(self, centres: Rows) -> np.ndarray:
        """Return ones."""
        return np.ones(centres.shape[0])


@dataclass(frozen=True)
class Polynomial(SameForAll):
    """k(x, z) = (gamma x.z + coef0)^degree."""

    gamma: float
    degree: int
    coef0: float

    def columns(self, centres: Rows, dtype, scratch: ScratchArrays = NEW_ARRAYS) -> KernelColumns:
        """Return a function of inner products, in float64 because values have any magnitude."""
        return lambda rows: self._power(_inner(rows, centres))

    def diagonal(self, centres: Rows) -> np.ndarray:
        """Return (gamma |z|^2 + coef0)^degree."""
        return self._power(_squared_norms(centres))

    def _power(self, products: np.ndarray) -> np.ndarray:
        products *= self.gamma
        products += self.coef0
        return products**self.degree


@dataclass(frozen=True)
class Linear(SameForAll):
    """k(x, z) = x.z."""

    def columns(self, centres: Rows, dtype, scratch: ScratchArrays = NEW_ARRAYS) -> KernelColumns:
        """Return a function of inner products, in float64 because values have any magnitude."""
        return lambda rows: _inner(rows, centres)

    def diagonal(self, centres: Rows) -> np.ndarray:
        """Return |z|^2."""
        return _squared_norms(centres)


def _inner(rows: Rows, centres: Rows) -> np.ndarray:
    return safe_sparse_dot(
        rows.astype(np.float64, copy=False),
        centres.astype(np.float64, copy=False).T,
        dense_output=True,
    )


def _squared_norms(centres: Rows) -> np.ndarray:
    return row_norms(centres.astype(np.float64, copy=False), squared=True)


@dataclass(frozen=True)
class CallableKernel(SameForAll):
    """A kernel given as ``function(rows, centres) -> matrix``, as in scikit-learn's SVC."""

    function: Callable

    def columns(self, centres: Rows, dtype, scratch: ScratchArrays = NEW_ARRAYS) -> KernelColumns:
        """Return the function with fixed centres and a check of the result."""
        return lambda rows: self._checked(rows, centres)

    def diagonal(self, centres: Rows) -> np.ndarray:
        """Return k(z, z), with one call per centre."""
        each = (centres[[i]] for i in range(centres.shape[0]))
        return np.array([self._checked(centre, centre)[0, 0] for centre in each])

    def _checked(self, rows: Rows, centres: Rows) -> np.ndarray:
        values = np.asarray(self.function(rows, centres), dtype=np.float64)
        shape = (rows.shape[0], centres.shape[0])
        if values.shape != shape:
            raise InvalidParameterError(
                f"The `kernel` function must return a matrix of shape {shape}, rows by centres; "
                f"got {values.shape}. Compare with sklearn.metrics.pairwise.rbf_kernel."
            )
        if not np.isfinite(values).all():
            raise InvalidParameterError(
                "The `kernel` function returned NaN or infinity. Scale the features or fix it."
            )
        return values


def is_sparse(rows: Rows) -> TypeGuard[sparse.csr_array]:
    """Return whether the rows are sparse, in a form that type checkers understand."""
    return sparse.issparse(rows)


def densified(rows: Rows) -> np.ndarray:
    """Return rows as a dense array."""
    return rows.toarray() if is_sparse(rows) else rows


def as_dense(rows) -> np.ndarray:
    """Convert rows to a dense array of floats."""
    return np.asarray(densified(rows), dtype=float)


def same_format(centres: Rows, rows: Rows) -> Rows:
    """Return the centres in the format of the rows, dense or sparse."""
    if is_sparse(centres):
        return centres if is_sparse(rows) else centres.toarray()
    return sparse.csr_array(centres) if is_sparse(rows) else centres


def stack_rows(parts: Sequence[Rows]) -> Rows:
    """Return rows one below the other, all dense or all sparse."""
    return sparse.vstack(parts, format="csr") if is_sparse(parts[0]) else np.vstack(parts)


def as_rbf(kernel: Kernel) -> RBF:
    """Return a kernel of a basis that has several widths or is refined: always an RBF kernel."""
    if not isinstance(kernel, RBF):
        raise TypeError(f"Several widths and refinement need an RBF kernel; got {kernel!r}.")
    return kernel
