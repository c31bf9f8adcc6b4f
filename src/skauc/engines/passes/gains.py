"""The candidate pass: derivatives of the loss along the columns of many candidates, one by one.

For each candidate centre z, with k_i = k(x_i, z), residuals r, curvatures s L and H half the
Hessian of the loss by the scores:

    slope       r.k
    curvature   k.H k = sum_i s_i L_i k_i^2 - 2 sum over cells c of P_c * (N above c)

P_c and N_c are the sums of s k over the positives and the negatives in coarse cell c. The columns
k(., z) are computed block by block and never stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skauc.compiling import compiled_fast
from skauc.engines.passes.base import Pass, Sums, alone
from skauc.engines.passes.derivatives import Centres, sums_over_higher_cells

if TYPE_CHECKING:
    import torch

    from skauc.engines.blocks.cpu import CPUBlock
    from skauc.engines.blocks.gpu import GPUBlock
    from skauc.engines.passes.state import CPUState, GPUState


@dataclass(frozen=True)
class CandidateSlopes:
    """Half the first and second derivatives of the loss along the columns of candidates."""

    slopes: np.ndarray
    curvatures: np.ndarray


@dataclass(frozen=True, eq=False)
class CandidateGains(Pass):
    """Slopes and curvatures along the columns of the candidates."""

    candidates: Centres

    def cpu(self, block: CPUBlock, given, state: CPUState) -> Iterator[Sums]:
        """Rows without a violating partner are not read."""
        n_centres, residual, cells = len(self.candidates), state.residual, state.coarse
        columns = block.kernel_columns(self.candidates.kernel, self.candidates.rows)

        def accumulate(start, stop):
            sums = np.zeros((2, cells.n_cells, n_centres))
            slopes, squares = np.zeros(n_centres), np.zeros(n_centres)
            active, curvature = state.active(start, stop)
            of_rows = block.positive, state.weights, cells.cell
            for part in block.cache_blocks(len(active), n_centres + block.n_features):
                rows, curves = active[part], curvature[part]
                values = columns(block.take(rows))
                add_candidates(values, rows, *of_rows, residual, curves, sums, slopes, squares)
            return sums, slopes, squares

        return block.run_matrix(accumulate, n_centres + block.n_features)

    def gpu(self, block: GPUBlock, given, state: GPUState) -> Iterator[Sums]:
        """Go over the rows in the order of their cells: sums by cell are then products."""
        import torch

        from skauc.engines.gpu.sums import transposed_product

        n_centres, segment = len(self.candidates), block.policy.gpu_segment_rows
        columns = block.kernel_columns(self.candidates.kernel, self.candidates.rows)
        curvature = state.curvature(0, block.n_rows)
        sums = block.weights.new_zeros((2 * state.coarse.n_cells, n_centres))
        squares = block.weights.new_zeros(n_centres)
        slopes = _slopes_without_partners(block, state, columns, n_centres)
        for part in state.order.parts(3 * n_centres + block.n_features):
            values = columns(block.X.take(part.rows))
            curves, steepness = (
                each[part.rows, None].to(values.dtype) for each in (curvature, state.residual)
            )
            members = part.members(state.weights, values.dtype)
            found = transposed_product(torch.cat((members, steepness), dim=1), values, segment)
            sums[part.span] += found[:-1]
            slopes += found[-1]
            squares += (values * curves).mul_(values).sum(0, dtype=torch.float64)
        return alone(sums.unflatten(0, (2, -1)), slopes, squares)

    def finish(self, sums: Sums, given) -> CandidateSlopes:
        """Subtract, by cells, the pairs that do not violate."""
        by_cell, slopes, squares = sums
        squares = squares - 2 * (by_cell[1] * sums_over_higher_cells(by_cell[0])).sum(0)
        return CandidateSlopes(slopes, squares.clip(0.0))


@compiled_fast
def add_candidates(
    values, rows, positive, weights, cell, residual, curvature, sums, slopes, squares
):
    """Add a block of candidate columns to sums by cell, slopes and squares.

    ``curvature`` holds only the rows of the block.
    """
    for r in range(len(rows)):
        i = rows[r]
        target = sums[1 if positive[i] else 0, cell[i]]
        weight, slope, curve = weights[i], residual[i], curvature[r]
        for k in range(values.shape[1]):
            value = np.float64(values[r, k])
            target[k] += weight * value
            slopes[k] += slope * value
            squares[k] += curve * value * value


def _slopes_without_partners(
    block: GPUBlock, state: GPUState, columns, n_centres: int
) -> torch.Tensor:
    """Return the part of the slopes of rows that have partners only by the fine cells."""
    from skauc.engines.gpu.sums import transposed_product

    rows = state.order.partnerless
    rows = rows[state.residual[rows] != 0]
    slopes = block.weights.new_zeros((n_centres, 1))
    for part in block.parts(len(rows), n_centres + block.n_features):
        values = columns(block.X.take(rows[part]))
        steepness = state.residual[rows[part], None].to(values.dtype)
        slopes += transposed_product(values, steepness, block.policy.gpu_segment_rows)
    return slopes[:, 0]
