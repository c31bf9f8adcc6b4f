"""The moment pass: sums from which the derivatives by centres and feature scales are made.

With M_ik = r_i k(x_i, z_k) coef_k, residuals r and x relative to an origin, the answer holds

    first[k]  = sum_i M_ik x_i,    total[k] = sum_i M_ik,    second = sum_ik M_ik x_i^2.

No kernel is evaluated: the last columns of the basis are Phi = K L^-T, with L the factor of the
Gram matrix of the centres. Blocks return the sums of r phi x, r phi and r f x^2 with
f = Phi L^T coef, and finishing multiplies the first two by L.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skauc.compiling import compiled_fast
from skauc.engines.passes.base import Pass, Sums, alone

if TYPE_CHECKING:
    from skauc.engines.blocks.cpu import CPUBlock
    from skauc.engines.blocks.gpu import GPUBlock
    from skauc.engines.passes.state import CPUState, GPUState


@dataclass(frozen=True)
class KernelMoments:
    """The sums of the formula, and the origin that x is relative to."""

    origin: np.ndarray
    first: np.ndarray
    total: np.ndarray
    second: np.ndarray


@dataclass(frozen=True, eq=False)
class Moments(Pass):
    """Moments over the last columns of the first ``n_columns``, one per coefficient."""

    n_columns: int
    origin: np.ndarray
    factor: np.ndarray
    coef: np.ndarray

    def cpu(self, block: CPUBlock, given, state: CPUState) -> Iterator[Sums]:
        """Rows without a residual are not read."""
        weights, n_features = self.factor.T @ self.coef, block.n_features
        n_centres, residual = len(weights), state.residual
        first_column = self.n_columns - n_centres

        def accumulate(start, stop):
            first, total = np.zeros((n_centres, n_features)), np.zeros(n_centres)
            second = np.zeros(n_features)
            active = start + np.flatnonzero(residual[start:stop])
            for part in block.cache_blocks(len(active), n_centres + n_features):
                rows = active[part]
                packed = block.scratch_array("packed", len(rows), n_centres)
                moved = block.scratch_array("moved", len(rows), n_features)
                slopes = np.empty(len(rows))
                pack_slopes(
                    block.columns, first_column, rows, residual, weights, packed, total, slopes
                )
                pack_rows(*block.dense_rows(rows), self.origin, slopes, moved, second)
                first += packed.T @ moved
            return first, total, second

        return block.run_matrix(accumulate, n_centres + 2 * n_features)

    def gpu(self, block: GPUBlock, given, state: GPUState) -> Iterator[Sums]:
        """Two products per part of the rows."""
        import torch

        from skauc.engines.gpu.sums import transposed_product

        weights, n_features = self.factor.T @ self.coef, block.n_features
        n_centres, segment = len(weights), block.policy.gpu_segment_rows
        weights, origin = block.rounded(block.put(weights)), block.put(self.origin)
        first = block.weights.new_zeros((n_centres, n_features + 1))
        second = block.weights.new_zeros((n_features, 1))
        for rows in block.parts(block.n_rows, n_centres + 3 * n_features):
            columns = block.columns[rows, self.n_columns - n_centres : self.n_columns]
            moved = block.rounded(block.X.take(rows) - origin)
            slopes = block.rounded(state.residual[rows, None])
            with_ones = torch.cat((moved, torch.ones_like(slopes)), dim=1)
            first += transposed_product(columns * slopes, with_ones, segment)
            along = slopes * (columns @ weights)[:, None]
            second += transposed_product(moved.square_(), along, segment)
        first, second = block.fetch(first), block.fetch(second)
        return alone(first[:, :-1], first[:, -1], second[:, 0])

    def finish(self, sums: Sums, given) -> KernelMoments:
        """Turn sums over Phi into sums over K = Phi L^T."""
        first, total, second = sums
        first, total = self.factor @ first, self.factor @ total
        return KernelMoments(self.origin, first * self.coef[:, None], total * self.coef, second)


@compiled_fast
def pack_slopes(columns, first, rows, residual, weights, packed, total, slopes):
    """Store and add up columns times the residual of their row; write the residual times Phi w."""
    for r in range(len(rows)):
        i = rows[r]
        score, slope = 0.0, residual[i]
        # This sum has a loop of its own. In a loop with stores, the compiled sum of the same
        # numbers was seen to differ in its last bit between calls.
        for k in range(len(weights)):
            score += columns[i, first + k] * weights[k]
        for k in range(len(weights)):
            value = slope * columns[i, first + k]
            total[k] += value
            packed[r, k] = value
        slopes[r] = slope * score


@compiled_fast
def pack_rows(X, rows, origin, slopes, packed, second):
    """Store rows relative to an origin; add up their squares times the slope of the row."""
    for r in range(len(rows)):
        for j in range(len(origin)):
            value = X[rows[r], j] - origin[j]
            second[j] += slopes[r] * value * value
            packed[r, j] = value
