"""Gradient, Hessian-vector product, and slopes along a line.

With Phi the columns, r the residuals and H half the Hessian of the loss by the scores (see
`skauc.engines.passes.state`):

    gradient        Phi^T r
    Hessian product Phi^T H x
    line slopes     r.x and x.H x

for a line x, a vector with one number per row. The product H x = s (L x - G(x)) needs the sums of x
by class and cell of all rows first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skauc.engines.passes.base import Pass, Sums, alone
from skauc.losses import pairs

if TYPE_CHECKING:
    import torch

    from skauc.engines.blocks.base import Block
    from skauc.engines.blocks.cpu import CPUBlock
    from skauc.engines.blocks.gpu import GPUBlock
    from skauc.engines.passes.state import CPUState, GPUState


@dataclass(frozen=True, eq=False)
class Gradient(Pass):
    """Half the gradient of the loss by the weights of the first ``n_columns`` columns."""

    n_columns: int

    def cpu(self, block: CPUBlock, given, state: CPUState) -> Iterator[Sums]:
        """Rows without a residual are not read."""
        return block.transposed_products(state.residual, self.n_columns)

    def gpu(self, block: GPUBlock, given, state: GPUState) -> Iterator[Sums]:
        """One product per part of the rows."""
        return block.transposed_products(state.residual, self.n_columns)


@dataclass(frozen=True, eq=False)
class PartnerTables(Pass):
    """Sums of a line over the violating partners of a row, by its class and coarse cell."""

    line: Any

    def cpu(self, block: CPUBlock, given, state: CPUState) -> Iterator[Sums]:
        """Sum by cell on the threads of the block."""
        line = block.values(self.line)
        yield (
            pairs.sums_by_cell(
                state.coarse, block.positive, state.weights, line[:, None], block.run
            ),
        )

    def gpu(self, block: GPUBlock, given, state: GPUState) -> Iterator[Sums]:
        """Sum by key."""
        from skauc.engines.gpu.sums import sums_by_key

        n_cells, line = state.coarse.n_cells, block.values(self.line)
        sums = sums_by_key(state.keys, line * state.weights, 2 * n_cells)
        yield (block.fetch(sums.view(2, n_cells, 1)),)

    def finish(self, sums: Sums, given) -> np.ndarray:
        """Accumulate over the cells."""
        return pairs.partner_sums(sums[0])


class _AlongLine(Pass):
    """A pass that needs H x of a line x."""

    line: Any

    @property
    def before(self) -> PartnerTables:
        return PartnerTables(self.line)

    def cpu(self, block: CPUBlock, given: np.ndarray, state: CPUState) -> Iterator[Sums]:
        """Look the partners of each row up."""
        line = block.values(self.line)
        curved = pairs.finish_product(
            given,
            state.coarse,
            block.positive,
            state.weights,
            state.curvature(0, block.n_rows),
            line[:, None],
            block.run,
        )[:, 0]
        return self.sums(block, state, line, curved)

    def gpu(self, block: GPUBlock, given: np.ndarray, state: GPUState) -> Iterator[Sums]:
        """Look the partners of each row up."""
        line = block.values(self.line)
        partners = block.put(given).view(-1).index_select(0, state.keys)
        curved: torch.Tensor = state.curvature(0, block.n_rows).mul_(line)
        curved.sub_(partners.mul_(state.weights))
        return self.sums(block, state, line, curved)

    def sums(self, block: Block, state, line, curved) -> Iterator[Sums]:
        """Yield the sums, given H x."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class HessianProduct(_AlongLine):
    """Half the Hessian of the loss by the weights, times the weights of a line."""

    line: Any
    n_columns: int

    def sums(self, block: Block, state, line, curved) -> Iterator[Sums]:
        """Multiply by the columns."""
        return block.transposed_products(curved, self.n_columns)


@dataclass(frozen=True, eq=False)
class LineSlopes(_AlongLine):
    """Half the slope and half the curvature of the loss along a line."""

    line: Any

    def sums(self, block: Block, state, line, curved) -> Iterator[Sums]:
        """Multiply by the line."""
        return alone(np.array([float(state.residual @ line), float(curved @ line)]))

    def finish(self, sums: Sums, given) -> tuple[float, float]:
        """Return two numbers."""
        slope, curvature = sums[0].tolist()
        return slope, curvature
