"""The state of scores on a device, and its rows in the order of their cells."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from skauc.engines.block import COARSE_CELLS, BlockState
from skauc.engines.gpu.scores import by_class
from skauc.losses.pairs import Cells, coarsening

# Numbers in one part of a pass: its temporary arrays are a few times as large.
PART_NUMBERS = 1 << 26


@dataclass(frozen=True, eq=False)
class DeviceState(BlockState):
    """`BlockState` with tensors for arrays; ``block`` is a `DeviceBlock`."""

    @cached_property
    def residual(self) -> torch.Tensor:
        """Half the derivative of the loss by each score."""
        block, statistics = self.block, self.statistics
        cells = statistics.cells
        keys = by_class(cells.cell, block.positive, cells.n_cells)
        tables = torch.cat((statistics.positives_below, statistics.negatives_above))
        # With L and G the sums of partners' weights and scores: L (1 + f) - G for a negative row,
        # -(L (1 - f) + G) for a positive one.
        slopes = (self.scores - cells.origin).add_(block.signs)
        slopes *= tables[:, 0].contiguous().index_select(0, keys)
        slopes -= tables[:, 1].contiguous().index_select(0, keys)
        return slopes.mul_(block.weights)

    @cached_property
    def coarse(self) -> Cells:
        """Cells for the Hessian."""
        return self.statistics.cells.coarsen(COARSE_CELLS)

    @cached_property
    def keys(self) -> torch.Tensor:
        """The place of each row in tables by class and coarse cell."""
        return by_class(self.coarse.cell, self.block.positive, self.coarse.n_cells)

    @cached_property
    def _partners(self) -> torch.Tensor:
        """`PairStatistics.partner_weights`."""
        n_cells = self.statistics.cells.n_cells
        shift = coarsening(n_cells, COARSE_CELLS)
        first = torch.arange(self.coarse.n_cells, device=self.scores.device) << shift
        last = (first + (1 << shift)).clamp_(max=n_cells) - 1
        statistics = self.statistics
        return torch.cat(
            (statistics.positives_below[first, 0], statistics.negatives_above[last, 0])
        )

    def curvature(self, start: int, stop: int) -> torch.Tensor:
        """Return each row's weight times that of its violating partners, by the coarse cells."""
        partners = self._partners.index_select(0, self.keys[start:stop])
        return partners.mul_(self.block.weights[start:stop])

    @cached_property
    def order(self) -> Order:
        """The rows by class and coarse cell, those without a violating partner after them."""
        n_keys = 2 * self.coarse.n_cells
        partnerless = self.curvature(0, len(self.scores)) == 0
        keys, rows = self.keys.masked_fill(partnerless, n_keys).short().sort(stable=True)
        each = torch.arange(1, n_keys + 1, dtype=keys.dtype, device=keys.device)
        return Order(rows, keys, torch.searchsorted(keys, each).cpu().numpy())


@dataclass(frozen=True, eq=False)
class Order:
    """Numbers of rows in ascending order of their keys, and where the rows of each key end."""

    rows: torch.Tensor
    keys: torch.Tensor
    ends: np.ndarray

    @property
    def n_partnered(self) -> int:
        """How many rows have a violating partner; they come first."""
        return int(self.ends[-1])

    @property
    def partnerless(self) -> torch.Tensor:
        """The rows without one."""
        return self.rows[self.n_partnered :]

    def parts(self, width: int) -> Iterator[Part]:
        """Cut the rows with partners into parts of ``width`` numbers a row."""
        n_rows = self.n_partnered
        # A part of m rows has about m / n_rows of the keys, and a number for each of them a row.
        most = math.isqrt(PART_NUMBERS * n_rows // len(self.ends))
        for rows in cut(n_rows, width, most):
            first = int(np.searchsorted(self.ends, rows.start, side="right"))
            last = int(np.searchsorted(self.ends, rows.stop, side="left"))
            yield Part(self.rows[rows], self.keys[rows], slice(first, last + 1))


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows in the order of their keys, and which keys these are."""

    rows: torch.Tensor
    keys: torch.Tensor
    span: slice

    def members(self, weights: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """Return a matrix with the weight of each row in the column of its key."""
        shape = len(self.rows), self.span.stop - self.span.start
        columns = self.keys.long() - self.span.start
        own = weights[self.rows, None].to(dtype)
        return weights.new_zeros(shape, dtype=dtype).scatter_(1, columns[:, None], own)


def cut(n_rows: int, width: int, most: int | None = None) -> Iterator[slice]:
    """Cut rows of ``width`` numbers each into parts, of at most that many rows."""
    part_rows = max(min(PART_NUMBERS // max(width, 1), most or n_rows), 1)
    for start in range(0, n_rows, part_rows):
        yield slice(start, min(start + part_rows, n_rows))
