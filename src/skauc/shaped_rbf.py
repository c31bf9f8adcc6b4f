"""The kernel of centres with a metric each: round centres with their own scales, and ridges.

Every centre z_k has a row m_k of numbers, one per feature, and is one of two shapes:

    round    k(x, z_k) = exp(-sum_j (m_kj (x_j - z_kj))^2)
    ridge    k(x, z_k) = exp(-(sum_j m_kj (x_j - z_kj))^2)

A round centre with the same numbers in every row is an `RBF` centre. A ridge depends on one
direction only and sees differences, sums and equality of features. The inner product of two round
centres is the kernel of Gibbs,

    prod_j sqrt(2 s_j t_j / (s_j^2 + t_j^2)) * exp(-2 s_j^2 t_j^2 / (s_j^2 + t_j^2) d_j^2)

for rows s and t and the difference d of the centres. It is positive definite, and for equal rows it
is the RBF kernel. Ridges are orthogonal to all other centres.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from skauc.compiling import compiled, compiled_fast
from skauc.kernels import (
    FLOAT32_REACH,
    FLOAT64_REACH,
    NEW_ARRAYS,
    RBF,
    Kernel,
    KernelColumns,
    Rows,
    as_dense,
    is_sparse,
)
from skauc.scratch import ScratchArrays
from skauc.support import quiet_overflow

# The scale of a feature that no centre uses, relative to the largest.
_LEAST_SCALE = 1e-6


@dataclass(frozen=True, eq=False)
class ShapedRBF:
    """The kernel of some centres: the rows m_k, and which of the centres are ridges."""

    metric: np.ndarray
    is_ridge: np.ndarray
    # The rows hold the widths.
    gamma: ClassVar[float] = 1.0

    @classmethod
    def of(cls, kernel: RBF, n_centres: int, n_features: int) -> ShapedRBF:
        """Return the same kernel with one row per centre."""
        scales = np.ones(n_features) if kernel.scales is None else kernel.scales
        roots = np.sqrt(np.broadcast_to(kernel.gamma, n_centres))
        return cls(roots[:, None] * scales, np.zeros(n_centres, bool))

    def columns(self, centres: Rows, dtype, scratch: ScratchArrays = NEW_ARRAYS) -> KernelColumns:
        """Prepare the centres for one or two matrix products per block of rows."""
        if is_sparse(centres):
            return _sparse_columns(self, centres, dtype)
        return _dense_columns(self, centres, dtype, scratch)

    def diagonal(self, centres: Rows) -> np.ndarray:
        """Return ones."""
        return np.ones(centres.shape[0])

    def part(self, which) -> ShapedRBF:
        """Return the kernel of some of the centres."""
        return ShapedRBF(self.metric[which], self.is_ridge[which])

    def joined(self, other: Kernel) -> ShapedRBF:
        """Return the kernel of these centres and others."""
        other = as_shaped(other)
        return ShapedRBF(
            np.vstack((self.metric, other.metric)), np.append(self.is_ridge, other.is_ridge)
        )

    def gram(self, centres: Rows, other: Kernel, others: Rows) -> np.ndarray:
        """Return the inner products of these centres with others of the same kind of kernel."""
        other = as_shaped(other)
        gram = np.zeros((len(self.metric), len(other.metric)))
        own, their = np.flatnonzero(~self.is_ridge), np.flatnonzero(~other.is_ridge)
        gram[np.ix_(own, their)] = _gibbs(
            self.metric[own], as_dense(centres[own]), other.metric[their], as_dense(others[their])
        )
        own, their = np.flatnonzero(self.is_ridge), np.flatnonzero(other.is_ridge)
        gram[np.ix_(own, their)] = _same_ridges(
            self.metric[own], as_dense(centres[own]), other.metric[their], as_dense(others[their])
        )
        return gram

    @property
    def n_numbers(self) -> int:
        """The number of numbers of metric and centres. Ridges have one per feature they use."""
        n_ridge = 2 * np.count_nonzero(self.metric[self.is_ridge])
        return int(2 * self.metric[~self.is_ridge].size + n_ridge + len(self.metric))

    @property
    def scales(self) -> np.ndarray:
        """One scale per feature: the root mean square over the centres, and not zero."""
        if not len(self.metric):
            return np.ones(self.metric.shape[1])
        squares = np.square(self.metric).mean(axis=0)
        return np.sqrt(np.maximum(squares, _LEAST_SCALE**2 * squares.max()))


@dataclass(frozen=True, eq=False)
class CentredShapes:
    """Centres prepared for products with rows, relative to an origin.

    For round centres -|m * (x - z)|^2 = [x, x^2, 1] [2 m^2 z, -m^2, -|m z|^2]^T, and for ridges
    m.(x - z) = x.m - m.z. ``right`` is the second factor of the first product, in a type that is
    precise enough. It is None if only the differences x - z are precise enough.
    """

    origin: np.ndarray
    centres: np.ndarray
    round_ones: np.ndarray
    ridges: np.ndarray
    right: np.ndarray | None
    directions: np.ndarray
    offsets: np.ndarray

    @classmethod
    @quiet_overflow()  # the reach is checked
    def of(cls, kernel: ShapedRBF, centres: np.ndarray, dtype) -> CentredShapes:
        """Shift the centres, for kernel values of the given type."""
        round_ones, ridges = np.flatnonzero(~kernel.is_ridge), np.flatnonzero(kernel.is_ridge)
        origin = centres[round_ones if len(round_ones) else ridges].mean(axis=0, dtype=np.float64)
        moved = np.subtract(centres, origin, dtype=np.float64)
        metric = kernel.metric
        directions = metric[ridges].T
        offsets = np.einsum("kj,kj->k", metric[ridges], moved[ridges])
        squares = metric[round_ones] ** 2
        lengths = np.einsum("kj,kj->k", squares, moved[round_ones] ** 2)
        reach = max(lengths.max(initial=0.0), np.square(offsets).max(initial=0.0))
        dtype = np.dtype(np.float64 if not reach <= FLOAT32_REACH else dtype)
        right = None
        if reach <= FLOAT64_REACH or dtype != np.float64:
            right = np.vstack((2 * (squares * moved[round_ones]).T, -squares.T, -lengths))
            right = right.astype(dtype)
        return cls(origin, moved, round_ones, ridges, right, directions, offsets)


def _dense_columns(
    kernel: ShapedRBF, centres: np.ndarray, dtype, scratch: ScratchArrays
) -> KernelColumns:
    centred = CentredShapes.of(kernel, centres, dtype)
    if centred.right is None:
        return lambda rows: _by_differences(kernel, centred, rows)
    right, n_features, n_centres = centred.right, centres.shape[1], len(centres)
    dtype = right.dtype
    directions, offsets = centred.directions.astype(dtype), centred.offsets.astype(dtype)
    round_ones, ridges = centred.round_ones, centred.ridges
    origin = centred.origin.astype(np.result_type(centres.dtype, dtype))

    def block(rows: np.ndarray) -> np.ndarray:
        left = scratch.array("augmented", (len(rows), 2 * n_features + 1), dtype)
        moved = left[:, :n_features]
        np.subtract(rows, origin, out=moved, casting="same_kind")
        np.multiply(moved, moved, out=left[:, n_features : 2 * n_features])
        left[:, 2 * n_features] = 1
        exponent = scratch.array("kernel", (len(rows), n_centres), dtype)
        if not len(ridges):
            np.matmul(left, right, out=exponent)
            return np.exp(exponent, out=exponent)
        if len(round_ones):
            exponent[:, round_ones] = left @ right
        _put_ridges(moved @ directions, offsets, ridges, exponent)
        return np.exp(exponent, out=exponent)

    return block


@compiled_fast
def _put_ridges(along, offsets, places, exponent):
    """Write the exponents of ridges to their places among the centres."""
    for i in range(len(along)):
        for k in range(len(places)):
            u = along[i, k] - offsets[k]
            exponent[i, places[k]] = -u * u


def _by_differences(kernel: ShapedRBF, centred: CentredShapes, rows: np.ndarray) -> np.ndarray:
    """Return the columns from differences, for data in units that products cannot hold."""
    exponent = np.empty((len(rows), len(kernel.metric)))
    moved = np.subtract(rows, centred.origin, dtype=np.float64, order="C")
    _fill_exponents(moved, centred.centres, kernel.metric, kernel.is_ridge, exponent)
    return np.exp(exponent, out=exponent)


@compiled
def _fill_exponents(rows, centres, metric, is_ridge, exponent):
    """Write -|m * (x - z)|^2 for round centres, and -(m.(x - z))^2 for ridges."""
    for k in range(len(metric)):
        used = np.flatnonzero(metric[k])
        for i in range(len(rows)):
            total = 0.0
            for j in used:
                term = (rows[i, j] - centres[k, j]) * metric[k, j]
                total += term if is_ridge[k] else term * term
            exponent[i, k] = -total * total if is_ridge[k] else -total


def _sparse_columns(kernel: ShapedRBF, centres: sparse.csr_array, dtype) -> KernelColumns:
    """Compute products in float64, because sparse rows are not shifted."""
    is_ridge, metric = kernel.is_ridge, kernel.metric
    dense = centres.toarray().astype(np.float64)
    squares = metric[~is_ridge] ** 2
    right = 2 * (squares * dense[~is_ridge]).T
    lengths = np.einsum("kj,kj->k", squares, dense[~is_ridge] ** 2)
    offsets = np.einsum("kj,kj->k", metric[is_ridge], dense[is_ridge])

    def block(rows: sparse.csr_array) -> np.ndarray:
        rows = rows.astype(np.float64, copy=False)
        exponent = np.empty((rows.shape[0], len(metric)))
        distances = rows @ right - rows.multiply(rows) @ squares.T - lengths
        exponent[:, ~is_ridge] = np.minimum(distances, 0, out=distances)
        exponent[:, is_ridge] = -np.square(rows @ metric[is_ridge].T - offsets)
        return np.exp(exponent, out=exponent).astype(dtype, copy=False)

    return block


def _gibbs(
    metric: np.ndarray, centres: np.ndarray, other_metric: np.ndarray, others: np.ndarray
) -> np.ndarray:
    """Return the kernel of Gibbs between round centres."""
    gram = np.empty((len(metric), len(other_metric)))
    if gram.size:
        _fill_gibbs(metric, centres, other_metric, others, gram)
    return gram


@compiled
def _fill_gibbs(metric, centres, other_metric, others, gram):
    for i in range(len(metric)):
        for k in range(len(other_metric)):
            overlap, distance = 1.0, 0.0
            if _are_equal(metric[i], other_metric[k]):
                for j in range(metric.shape[1]):
                    distance += (metric[i, j] * (centres[i, j] - others[k, j])) ** 2
                gram[i, k] = np.exp(-distance)
                continue
            for j in range(metric.shape[1]):
                s, t = metric[i, j], other_metric[k, j]
                # 2 s t / (s^2 + t^2) by ratios: squares of tiny scales underflow.
                shared = 2 / (s / t + t / s)
                apart = centres[i, j] - others[k, j]
                overlap *= shared
                distance += shared * (s * apart) * (t * apart)
            gram[i, k] = np.sqrt(overlap) * np.exp(-distance)


@compiled_fast
def add_norm_derivatives(metric, centres, coef, gram, by_centre, by_log_metric):
    """Add the derivatives of 1/2 sum_ik coef_i coef_k gram_ik by round centres and log metric.

    ``gram`` holds the kernel of Gibbs, or zero where centres are orthogonal by definition. With the
    ratio r = s / t of two rows, 2 s t / (s^2 + t^2) is 2 r / (1 + r^2). If all rows are equal,
    `skauc.sparse.few_refinement.add_shared_norm_derivatives` does the same by a product.
    """
    for i in range(len(metric)):
        for k in range(i):
            product = coef[i] * coef[k] * gram[i, k]
            if product == 0.0:
                continue
            for j in range(metric.shape[1]):
                s, t = metric[i, j], metric[k, j]
                ratio = s / t
                part = 1 / (1 + ratio * ratio)
                apart = centres[i, j] - centres[k, j]
                slope = 4 * product * ratio * part * s * (t * apart)
                by_centre[i, j] -= slope
                by_centre[k, j] += slope
                overlap = 0.5 * product * part * (1 - ratio * ratio)
                by_log_metric[i, j] += overlap - part * slope * apart
                by_log_metric[k, j] -= overlap + (1 - part) * slope * apart


@compiled
def _are_equal(row, other):
    """Return whether two rows have the same numbers."""
    for j in range(len(row)):  # noqa: SIM110 - compiled
        if row[j] != other[j]:
            return False
    return True


def _same_ridges(
    metric: np.ndarray, centres: np.ndarray, other_metric: np.ndarray, others: np.ndarray
) -> np.ndarray:
    """Return ones where two ridges are the same function, zeros elsewhere."""
    same = np.zeros((len(metric), len(other_metric)))
    if same.size:
        offsets = np.einsum("kj,kj->k", metric, centres)
        _mark_equal(
            metric, offsets, other_metric, np.einsum("kj,kj->k", other_metric, others), same
        )
    return same


@compiled
def _mark_equal(metric, offsets, other_metric, other_offsets, same):
    """Write ones where rows and offsets are equal."""
    for i in range(len(metric)):
        for k in range(len(other_metric)):
            if offsets[i] == other_offsets[k] and _are_equal(metric[i], other_metric[k]):
                same[i, k] = 1.0


def as_shaped(kernel: Kernel) -> ShapedRBF:
    """Return the kernel of a basis whose centres have a metric each."""
    if not isinstance(kernel, ShapedRBF):
        raise TypeError(f"Centres with a metric each need a ShapedRBF kernel; got {kernel!r}.")
    return kernel
