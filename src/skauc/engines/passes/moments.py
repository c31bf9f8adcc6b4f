"""The moment pass: sums from which the derivatives by centres and metric are made.

With M_ik = r_i k(x_i, z_k) coef_k, residuals r and x relative to an origin, the answer holds

    first[k] = sum_i M_ik x_i,    total[k] = sum_i M_ik,    second[k] = sum_i M_ik x_i^2.

For ridges M_ik has the factor u_ik = m_k.x_i - b_k besides. No kernel is evaluated: the last
columns of the basis are Phi = K L^-T, with L the factor of the Gram matrix of the centres. Blocks
return the sums of r phi [x, x^2, 1], and finishing multiplies them by L. L does not mix ridges with
other centres.
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
    """The sums of the formula."""

    first: np.ndarray
    total: np.ndarray
    second: np.ndarray


@dataclass(frozen=True, eq=False)
class Ridges:
    """Which of the centres are ridges, and their u = directions.x - offsets."""

    places: np.ndarray
    directions: np.ndarray
    offsets: np.ndarray

    def cast(self, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the places, the directions as columns, and the offsets, in some precision."""
        return self.places, self.directions.T.astype(dtype), self.offsets.astype(dtype)


NO_RIDGES = Ridges(np.empty(0, np.int64), np.empty((0, 0)), np.empty(0))


@dataclass(frozen=True, eq=False)
class Moments(Pass):
    """Moments over the last columns of the first ``n_columns``, one per coefficient."""

    n_columns: int
    origin: np.ndarray
    factor: np.ndarray
    coef: np.ndarray
    ridges: Ridges = NO_RIDGES

    def cpu(self, block: CPUBlock, given, state: CPUState) -> Iterator[Sums]:
        """Rows without a residual are not read."""
        n_centres, n_features, residual = len(self.coef), block.n_features, state.residual
        slopes = residual.astype(block.dtype, copy=False)
        places, directions, offsets = self.ridges.cast(block.dtype)

        def accumulate(start, stop):
            sums = np.zeros((n_centres, 2 * n_features + 1))
            active = start + np.flatnonzero(residual[start:stop])
            for part in block.cache_blocks(len(active), n_centres + 2 * n_features + 1):
                rows = active[part]
                packed = block.scratch_array("packed", len(rows), n_centres)
                powers = block.scratch_array("moved", len(rows), 2 * n_features + 1)
                pack_powers(*block.dense_rows(rows), self.origin, powers)
                pack_slopes(block.columns, self.n_columns - n_centres, rows, slopes, packed)
                if len(places):
                    packed[:, places] *= powers[:, :n_features] @ directions - offsets
                sums += packed.T @ powers
            return (sums,)

        return block.run_matrix(accumulate, n_centres + 2 * n_features)

    def gpu(self, block: GPUBlock, given, state: GPUState) -> Iterator[Sums]:
        """Two products per part of the rows."""
        import torch

        from skauc.engines.gpu.sums import transposed_product

        n_centres, n_features = len(self.coef), block.n_features
        segment, origin = block.policy.gpu_segment_rows, block.put(self.origin)
        places = torch.as_tensor(self.ridges.places, device=block.device)
        directions = block.rounded(block.put(self.ridges.directions.T.copy()))
        offsets = block.rounded(block.put(self.ridges.offsets))
        sums = block.weights.new_zeros((n_centres, 2 * n_features + 1))
        for rows in block.parts(block.n_rows, 2 * n_centres + 4 * n_features):
            columns = block.columns[rows, self.n_columns - n_centres : self.n_columns]
            moved = block.rounded(block.X.take(rows) - origin)
            slopes = columns * block.rounded(state.residual[rows, None])
            if len(places):
                slopes[:, places] *= moved @ directions - offsets
            right = torch.cat((moved, moved.square(), torch.ones_like(moved[:, :1])), dim=1)
            sums += transposed_product(slopes, right, segment)
        return alone(block.fetch(sums))

    def finish(self, sums: Sums, given) -> KernelMoments:
        """Turn sums over Phi into sums over K = Phi L^T."""
        moments = (self.coef[:, None] * self.factor) @ sums[0]
        n_features = len(self.origin)
        first, second = moments[:, :n_features], moments[:, n_features:-1]
        return KernelMoments(first, moments[:, -1], second)


@compiled_fast
def pack_slopes(columns, first, rows, residual, packed):
    """Store columns times the residual of their row."""
    for r in range(len(rows)):
        i = rows[r]
        for k in range(packed.shape[1]):
            packed[r, k] = residual[i] * columns[i, first + k]


@compiled_fast
def pack_powers(X, rows, origin, powers):
    """Store x, x^2 and 1 for each row, with x relative to an origin."""
    n_features = len(origin)
    for r in range(len(rows)):
        for j in range(n_features):
            powers[r, j] = X[rows[r], j] - origin[j]
        for j in range(n_features):
            powers[r, n_features + j] = powers[r, j] * powers[r, j]
        powers[r, 2 * n_features] = 1
