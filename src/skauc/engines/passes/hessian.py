"""The Hessian pass: half the second derivative of the loss by the weights.

With phi a row of the columns, s L the curvature of a row, and the pairs counted in coarse cells,

    H = sum_i s_i L_i phi_i phi_i^T - (cross + cross^T),
    cross = sum over cells c of P_c (sum of N_d over cells d above c)^T,

where P_c and N_c are the sums of s phi over the positives and the negatives in cell c. Each block
returns the first sum and the sums by cell. A constant is subtracted from each column first, the
same in all blocks. It changes nothing in exact arithmetic, because the loss ignores constants, and
spares float32 products a cancellation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skauc.compiling import compiled
from skauc.engines.passes.base import Pass, Sums, alone
from skauc.engines.passes.state import sums_over_higher_cells

if TYPE_CHECKING:
    from skauc.engines.blocks.cpu import CPUBlock
    from skauc.engines.blocks.gpu import GPUBlock
    from skauc.engines.passes.state import CPUState, GPUState


@dataclass(frozen=True, eq=False)
class ColumnShift(Pass):
    """The constants to subtract from the first ``n_columns`` columns: means of some rows."""

    n_columns: int
    first_block_only = True

    def cpu(self, block: CPUBlock, given, *states) -> Iterator[Sums]:
        """Take the mean of the first rows."""
        first = block.columns[: block.policy.shift_rows, : self.n_columns]
        return alone(first.mean(axis=0))

    def gpu(self, block: GPUBlock, given, *states) -> Iterator[Sums]:
        """Take the mean of the first rows."""
        first = block.columns[: block.policy.shift_rows, : self.n_columns]
        return alone(block.fetch(first.mean(dim=0)))


@dataclass(frozen=True, eq=False)
class Hessian(Pass):
    """Half the Hessian by the weights of the first ``n_columns`` columns."""

    n_columns: int

    @property
    def before(self) -> ColumnShift:
        return ColumnShift(self.n_columns)

    def cpu(self, block: CPUBlock, given: np.ndarray, state: CPUState) -> Iterator[Sums]:
        """Rows without a violating partner are not read."""
        size, cells, shift = self.n_columns, state.coarse, given

        def accumulate(start, stop):
            squares, sums = np.zeros((size, size)), np.zeros((2, cells.n_cells, size))
            curvature = state.curvature(start, stop)
            active = np.flatnonzero(curvature)
            for part in block.cache_blocks(len(active), size):
                rows, roots = start + active[part], np.sqrt(curvature[active[part]])
                packed = block.scratch_array("packed", len(rows), size)
                pack(
                    block.columns,
                    rows,
                    shift,
                    roots,
                    block.positive,
                    block.weights,
                    cells.cell,
                    sums,
                    packed,
                )
                squares += packed.T @ packed
            return squares, sums

        return block.run_matrix(accumulate, size)

    def gpu(self, block: GPUBlock, given: np.ndarray, state: GPUState) -> Iterator[Sums]:
        """Go over the rows in the order of their cells: sums by cell are then products."""
        from skauc.engines.gpu.sums import transposed_product

        size, segment = self.n_columns, block.policy.gpu_segment_rows
        shift = block.rounded(block.put(given))
        curvature = block.rounded(state.curvature(0, block.n_rows))
        squares = block.weights.new_zeros((size, size))
        sums = block.weights.new_zeros((2 * state.coarse.n_cells, size))
        for part in state.order.parts(3 * size):
            basis = block.columns[part.rows, :size].sub_(shift)
            members = part.members(block.weights, basis.dtype)
            sums[part.span] += transposed_product(members, basis, segment)
            squares += transposed_product(basis, basis * curvature[part.rows, None], segment)
        block.known_sums = state, sums
        return alone((squares + squares.T) / 2, sums.unflatten(0, (2, -1)))

    def finish(self, sums: Sums, given) -> np.ndarray:
        """Subtract the cross terms."""
        squares, by_cell = sums
        cross = by_cell[1].T @ sums_over_higher_cells(by_cell[0])
        return squares - cross - cross.T


@compiled
def pack(columns, rows, shift, factors, positive, weights, cell, sums, packed):
    """Add rows of shifted columns to their cells; store each row times its factor."""
    for r in range(len(rows)):
        i = rows[r]
        target = sums[1 if positive[i] else 0, cell[i]]
        weight, factor = weights[i], factors[r]
        for k in range(len(shift)):
            value = columns[i, k] - shift[k]
            target[k] += weight * value
            packed[r, k] = factor * value
