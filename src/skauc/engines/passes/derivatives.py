"""The derivative pass: half the gradient and half the Hessian of the loss by the weights.

The columns are those of the basis and, if there are candidates, the columns k(., z) of their
centres, which are computed block by block and never stored. With phi a row of the columns, r the
residual and s L the curvature of a row, and the pairs counted in coarse cells,

    gradient = sum_i r_i phi_i,
    Hessian  = sum_i s_i L_i phi_i phi_i^T - (cross + cross^T),
    cross    = sum over cells c of P_c (sum of N_d over cells d above c)^T,

where P_c and N_c are the sums of s phi over the positives and the negatives in cell c. Each block
returns the sums over its rows and the sums by cell. A constant is subtracted from each column of
the Hessian first, the same in all blocks. It changes nothing in exact arithmetic, because the loss
ignores constants, and spares float32 products a cancellation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skauc.compiling import compiled_fast
from skauc.engines.passes.base import Pass, Sums, alone
from skauc.kernels import Kernel, Rows
from skauc.losses import pairs
from skauc.row_products import add_row_products, mirror

if TYPE_CHECKING:
    import torch

    from skauc.engines.blocks.cpu import CPUBlock
    from skauc.engines.blocks.gpu import GPUBlock
    from skauc.engines.passes.state import CPUState, GPUState


# Rows that are multiplied at a time. Columns of so many numbers do not compete for the same places
# in the cache, because they are no whole number of pages apart.
PACKED_ROWS = 520


@dataclass(frozen=True, eq=False)
class Centres:
    """Centres of a kernel, whose columns are computed when they are needed."""

    kernel: Kernel
    rows: Rows

    def __len__(self) -> int:
        return self.rows.shape[0]


@dataclass(frozen=True, eq=False)
class ColumnShift(Pass):
    """The constants to subtract from the columns: their means over some rows."""

    n_columns: int
    candidates: Centres | None = None
    first_block_only = True

    def cpu(self, block: CPUBlock, given, *states) -> Iterator[Sums]:
        """Take the means of the first rows."""
        first = slice(0, block.policy.shifting_rows(block.dtype))
        means = block.columns[first, : self.n_columns].mean(axis=0)
        if self.candidates is not None:
            values = block.kernel_columns(self.candidates.kernel, self.candidates.rows)
            means = np.append(means, values(block.X[first]).mean(axis=0))
        return alone(means)

    def gpu(self, block: GPUBlock, given, *states) -> Iterator[Sums]:
        """Take the means of the first rows."""
        first = slice(0, block.policy.shifting_rows(block.dtype))
        means = block.fetch(block.columns[first, : self.n_columns].mean(dim=0))
        if self.candidates is not None:
            values = block.kernel_columns(self.candidates.kernel, self.candidates.rows)
            means = np.append(means, block.fetch(values(block.X.take(first)).mean(dim=0)))
        return alone(means)


@dataclass(frozen=True, eq=False)
class Derivatives(Pass):
    """Gradient and Hessian over the first ``n_columns`` columns, followed by the candidates."""

    n_columns: int
    candidates: Centres | None = None

    @property
    def before(self) -> ColumnShift:
        return ColumnShift(self.n_columns, self.candidates)

    @property
    def _size(self) -> int:
        return self.n_columns + (0 if self.candidates is None else len(self.candidates))

    def cpu(self, block: CPUBlock, given: np.ndarray, state: CPUState) -> Iterator[Sums]:
        """Rows without a violating partner are not read."""
        size, candidates = self._size, self.candidates
        no_values = np.empty((0, 0), block.dtype)
        if candidates is not None:
            values_of = block.kernel_columns(candidates.kernel, candidates.rows)
        cells, merged = state.statistics.cells, state.merged
        shift = given.astype(block.dtype, copy=False)
        # Found by all threads together. Inside of the tasks, each thread would find it on its own.
        residual = state.residual

        def accumulate(start, stop):
            gradient, squares = np.zeros(size), np.zeros((size, size))
            sums = np.zeros((2, ((cells.n_cells - 1) >> merged) + 1, size))
            active, curvature = state.active(start, stop)
            packed = block.scratch_array("packed", -(-size // 4) * 4, PACKED_ROWS)
            # Kernel values of candidates are made for a part of the rows at a time.
            n_values = 0 if candidates is None else size
            for part in block.cache_blocks(len(active), n_values):
                rows = active[part]
                add_rows(
                    block.columns,
                    self.n_columns,
                    no_values if candidates is None else values_of(block.take(rows)),
                    rows,
                    shift,
                    curvature[part],
                    residual,
                    block.positive,
                    state.weights,
                    cells.cell,
                    merged,
                    packed,
                    gradient,
                    sums,
                    squares,
                )
            return gradient, squares, sums

        return block.run_matrix(accumulate, size)

    def gpu(self, block: GPUBlock, given: np.ndarray, state: GPUState) -> Iterator[Sums]:
        """Go over the rows in the order of their cells: sums by cell are then products."""
        from skauc.engines.gpu.sums import transposed_product

        size, segment = self._size, block.policy.gpu_segment_rows
        new_zeros, columns_of = block.weights.new_zeros, self._columns_on_gpu(block)
        shift = block.rounded(block.put(given))
        curvature = block.rounded(state.curvature(0, block.n_rows))
        gradient, squares = new_zeros((size, 1)), new_zeros((size, size))
        sums = new_zeros((2 * state.coarse.n_cells, size))
        slopes = block.rounded(state.residual)
        for part in state.order.parts(3 * size):
            columns = columns_of(part.rows)
            gradient += transposed_product(columns, slopes[part.rows, None], segment)
            columns -= shift
            members = part.members(state.weights, columns.dtype)
            sums[part.span] += transposed_product(members, columns, segment)
            squares += transposed_product(columns, columns * curvature[part.rows, None], segment)
        rest = state.order.partnerless
        rest = rest[state.residual[rest] != 0]
        for which in block.parts(len(rest), 2 * size):
            rows = rest[which]
            gradient += transposed_product(columns_of(rows), slopes[rows, None], segment)
        return alone(gradient[:, 0], (squares + squares.T) / 2, sums.unflatten(0, (2, -1)))

    def _columns_on_gpu(self, block: GPUBlock):
        """Return the function from row indices to a copy of all columns of these rows."""
        import torch

        if self.candidates is None:
            return lambda rows: block.columns[rows, : self.n_columns]
        values = block.kernel_columns(self.candidates.kernel, self.candidates.rows)

        def columns(rows: torch.Tensor) -> torch.Tensor:
            basis = block.columns[rows, : self.n_columns]
            return torch.cat((basis, block.rounded(values(block.X.take(rows)))), dim=1)

        return columns

    def finish(self, sums: Sums, given) -> tuple[np.ndarray, np.ndarray]:
        """Subtract the cross terms."""
        gradient, squares, by_cell = sums
        cross = by_cell[1].T @ sums_over_higher_cells(by_cell[0])
        squares -= cross
        squares -= cross.T
        return gradient, squares


def sums_over_higher_cells(by_cell):
    """Turn sums by cell into sums over all higher cells, for an array or a tensor."""
    if isinstance(by_cell, np.ndarray):
        return pairs.sums_above(by_cell)
    above = by_cell.new_zeros(by_cell.shape)
    above[:-1] = by_cell[1:].flip(0).cumsum(0).flip(0)
    return above


@compiled_fast
def add_rows(
    columns,
    n_columns,
    values,
    rows,
    shift,
    curvature,
    residual,
    positive,
    weights,
    cell,
    merged,
    packed,
    gradient,
    sums,
    squares,
):
    """Add rows to the gradient, to the sums of their cells, and to the squares.

    The columns of a row are ``columns[row]`` and then ``values``. The arrays ``values`` and
    ``curvature`` hold only these rows. Coarse cells are ``cell >> merged``. ``packed`` is room for
    a part of the rows at a time: the columns, each row times the root of its curvature.
    """
    n_values, n_rows, size, total = values.shape[1], packed.shape[1], len(gradient), 0.0
    row = np.empty(size, packed.dtype)
    others, shifts = row[n_columns:], shift[n_columns:]
    packed[size:] = 0.0
    # Loops with one result each become vector instructions.
    for first in range(0, len(rows), n_rows):
        n_packed = min(n_rows, len(rows) - first)
        for r in range(n_packed):
            i = rows[first + r]
            slope, weight = residual[i], weights[i]
            root = packed.dtype.type(np.sqrt(curvature[first + r]))
            target = sums[1 if positive[i] else 0, cell[i] >> merged]
            for k in range(n_columns):
                row[k] = columns[i, k] - shift[k]
            if n_values:
                own = values[first + r]
                for k in range(n_values):
                    others[k] = own[k] - shifts[k]
            for k in range(size):
                gradient[k] += slope * row[k]
            for k in range(size):
                target[k] += weight * row[k]
            for k in range(size):
                packed[k, r] = root * row[k]
            total += slope
        packed[:, n_packed:] = 0.0
        add_row_products(packed, squares)
    for k in range(size):
        gradient[k] += total * shift[k]
    mirror(squares)
