"""The candidate pass: derivatives of the loss along the columns of many candidates at once.

For each candidate centre z, with k_i = k(x_i, z), residuals r, curvatures s L and H half the
Hessian of the loss by the scores:

    slope       r.k
    curvature   k.H k = sum_i s_i L_i k_i^2 - 2 sum over cells c of P_c * (N above c)
    cross terms Phi^T H k, with the same correction by cells

P_c and N_c are the sums of s k over the positives and the negatives in coarse cell c. The columns
k(., z) are computed block by block and never stored. Slopes are those of one state, curvatures and
cross terms those of the pairs that violate in another. `skauc.engines.passes.hessian` says why a
constant is subtracted from the columns of the basis.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skauc.compiling import compiled, compiled_fast
from skauc.engines.passes.base import Pass, Sums, alone
from skauc.engines.passes.hessian import ColumnShift, pack
from skauc.engines.passes.state import sums_over_higher_cells
from skauc.kernels import Kernel, Rows
from skauc.support import row_slices

if TYPE_CHECKING:
    import torch

    from skauc.engines.blocks.cpu import CPUBlock
    from skauc.engines.blocks.gpu import GPUBlock
    from skauc.engines.passes.state import CPUState, GPUState

# The part of a screening sample that is drawn with equal probabilities, so that no weight is huge.
EVEN_SHARE = 0.3


@dataclass(frozen=True)
class CandidateSlopes:
    """Half the first and second derivatives of the loss along the columns of candidates."""

    slopes: np.ndarray
    curvatures: np.ndarray
    cross: np.ndarray


@dataclass(frozen=True, eq=False)
class CandidateGains(Pass):
    """Slopes, curvatures, and cross terms with the first ``n_columns`` columns of the basis.

    The first state gives the slopes, the second one the curvatures and cross terms.
    """

    kernel: Kernel
    centres: Rows
    n_columns: int

    @property
    def before(self) -> ColumnShift:
        return ColumnShift(self.n_columns)

    def cpu(
        self, block: CPUBlock, given: np.ndarray, state: CPUState, curved: CPUState
    ) -> Iterator[Sums]:
        """Rows with neither a residual nor a violating partner are not read."""
        n_centres, n_columns = self.centres.shape[0], self.n_columns
        cells, residual, shift = curved.coarse, state.residual, given
        columns = self.kernel.columns(self.centres, block.dtype, block.scratch)
        width = n_centres + n_columns + block.n_features + 2

        def accumulate(start, stop):
            sums = np.zeros((2, cells.n_cells, n_centres))
            basis_sums = np.zeros((2, cells.n_cells, n_columns))
            slopes, squares = np.zeros(n_centres), np.zeros(n_centres)
            cross = np.zeros((n_columns, n_centres))
            curvature = curved.curvature(start, stop)
            active = np.flatnonzero((residual[start:stop] != 0) | (curvature != 0))
            of_rows = block.positive, block.weights, cells.cell
            for part in block.cache_blocks(len(active), width):
                rows, curves = start + active[part], curvature[active[part]]
                values = columns(block.take(rows))
                add_candidates(values, rows, *of_rows, residual, curves, sums, slopes, squares)
                if n_columns:
                    basis = block.scratch_array("packed", len(rows), n_columns)
                    pack(block.columns, rows, shift, curves, *of_rows, basis_sums, basis)
                    cross += basis.T @ values
            return sums, basis_sums, slopes, squares, cross

        return block.run_matrix(accumulate, width)

    def gpu(
        self, block: GPUBlock, given: np.ndarray, state: GPUState, curved: GPUState
    ) -> Iterator[Sums]:
        """Go over the rows in the order of their cells: sums by cell are then products."""
        import torch

        from skauc.engines.gpu.sums import transposed_product

        n_centres, n_columns = self.centres.shape[0], self.n_columns
        new_zeros, segment = block.weights.new_zeros, block.policy.gpu_segment_rows
        columns = block.kernel_columns(self.kernel, self.centres)
        shift = block.rounded(block.put(given))
        curvature = curved.curvature(0, block.n_rows)
        sums = new_zeros((2 * curved.coarse.n_cells, n_centres))
        cross, squares = new_zeros((n_columns, n_centres)), new_zeros(n_centres)
        slopes = _slopes_without_partners(block, state, curved, columns, n_centres)
        for part in curved.order.parts(3 * n_centres + n_columns + block.n_features):
            values = columns(block.X.take(part.rows))
            curves, steepness = (
                each[part.rows, None].to(values.dtype) for each in (curvature, state.residual)
            )
            members = part.members(block.weights, values.dtype)
            found = transposed_product(torch.cat((members, steepness), dim=1), values, segment)
            sums[part.span] += found[:-1]
            slopes += found[-1]
            weighted = values * curves
            if n_columns:
                basis = block.columns[part.rows, :n_columns].sub_(shift).to(values.dtype)
                cross += transposed_product(basis, weighted, segment)
            squares += weighted.mul_(values).sum(0, dtype=torch.float64)
        basis_sums = _column_sums(block, curved, n_columns, shift)
        by_cell = (each.unflatten(0, (2, -1)) for each in (sums, basis_sums))
        return alone(*by_cell, slopes, squares, cross)

    def finish(self, sums: Sums, given) -> CandidateSlopes:
        """Subtract, by cells, the pairs that do not violate."""
        by_cell, basis_by_cell, slopes, squares, cross = sums
        above, basis_above = (
            sums_over_higher_cells(by_cell[0]),
            sums_over_higher_cells(basis_by_cell[0]),
        )
        squares = squares - 2 * (by_cell[1] * above).sum(0)
        cross = cross - basis_by_cell[1].T @ above - basis_above.T @ by_cell[1]
        return CandidateSlopes(slopes, squares.clip(0.0), cross)


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


def _column_sums(
    block: GPUBlock, state: GPUState, n_columns: int, shift: torch.Tensor
) -> torch.Tensor:
    """Return the sums of columns by cell. Those known from the same state are not added again."""
    import torch

    from skauc.engines.gpu.sums import transposed_product

    n_keys = 2 * state.coarse.n_cells
    known = block.weights.new_zeros((n_keys, 0))
    if block.known_sums is not None and block.known_sums[0] is state:
        known = block.known_sums[1]
    new = slice(known.shape[1], n_columns)
    if new.start < new.stop:
        sums = block.weights.new_zeros((n_keys, new.stop - new.start))
        for part in state.order.parts(2 * sums.shape[1]):
            basis = block.columns[part.rows, new].sub_(shift[new])
            members = part.members(block.weights, basis.dtype)
            sums[part.span] += transposed_product(members, basis, block.policy.gpu_segment_rows)
        known = torch.cat((known, sums), dim=1)
        block.known_sums = state, known
    return known[:, :n_columns]


def _slopes_without_partners(
    block: GPUBlock, state: GPUState, curved: GPUState, columns, n_centres: int
) -> torch.Tensor:
    """Return the part of the slopes of rows that have partners only in the first state."""
    from skauc.engines.gpu.sums import transposed_product

    rows = curved.order.partnerless
    rows = rows[state.residual[rows] != 0]
    slopes = block.weights.new_zeros((n_centres, 1))
    for part in block.parts(len(rows), n_centres + block.n_features):
        values = columns(block.X.take(rows[part]))
        steepness = state.residual[rows[part], None].to(values.dtype)
        slopes += transposed_product(values, steepness, block.policy.gpu_segment_rows)
    return slopes[:, 0]


# -- screening -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ScreenedGains(CandidateGains):
    """About the same sums, from a sample of the rows of a CPU block.

    The sample has about ``screening_rows`` rows, half of each class if there are enough. The
    probability of a row is a mixture of its share in the derivative of the loss and of an equal
    share. Its weight is divided by the probability, so that the sums are right on average.
    """

    def cpu(
        self, block: CPUBlock, given: np.ndarray, state: CPUState, curved: CPUState
    ) -> Iterator[Sums]:
        """Draw the sample and run the pass on it."""
        rows, weights = draw_sample(block, state)
        sample = block.part(rows, weights, self.n_columns)
        states = (one.part(sample, rows) for one in (state, curved))
        return super().cpu(sample, given, *states)


def draw_sample(block: CPUBlock, state: CPUState) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows for a screening; return them and their weights."""
    of_class = block.positive.view(np.int8)
    steepness, n_counting = _steepness(state.residual, block.positive, block.weights)
    size = block.policy.screening_rows // 2
    least = EVEN_SHARE * size / np.maximum(n_counting, 1)
    growth = (1 - EVEN_SHARE) * size / np.maximum(steepness, np.finfo(np.float64).tiny)
    drawn, chances = [], []
    for part in row_slices(block.n_rows, block.policy.vector_block):
        each = growth[of_class[part]] * np.abs(state.residual[part]) + least[of_class[part]]
        each *= block.weights[part] > 0
        rows = np.flatnonzero(block.random_state.random_sample(len(each)) < each)
        drawn.append(part.start + rows)
        chances.append(np.minimum(each[rows], 1.0))
    rows = np.concatenate(drawn)
    return rows, block.weights[rows] / np.concatenate(chances)


@compiled
def _steepness(residual, positive, weights):
    """Return, by class, the sum of the absolute residuals and the number of rows that count."""
    totals, counts = np.zeros(2), np.zeros(2)
    for i in range(len(residual)):
        side = 1 if positive[i] else 0
        if weights[i] > 0:
            totals[side] += abs(residual[i])
            counts[side] += 1
    return totals, counts
