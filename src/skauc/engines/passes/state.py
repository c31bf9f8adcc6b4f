"""The state pass: from scores to the pairs that they violate.

The tables of `skauc.losses.pairs.PairStatistics` hold, for each cell of the score axis, the sums of
(s, s f, s f^2) over the negatives above it and over the positives below it, where s are weights and
f scores. The loss follows from the tables alone:

    loss = sum over positives i, violating negatives j of s_i s_j (1 - f_i + f_j)^2.

Half its derivative by the score of a row, with L and G the sums of s and s f over the row's
violating partners, is

    r_i =  s_i (L_i (1 + f_i) - G_i)    for a negative row,
    r_i = -s_i (L_i (1 - f_i) + G_i)    for a positive row,

and half the second derivative times a vector x is s_i (L_i x_i - G_i(x)), with G(x) the sum of s x
over the partners. The product s_i L_i is called the *curvature* of a row.

One block finds its cells itself (`FindState`): by rank for float64 columns, by bins for float32.
Several blocks each make a table of their scores (`Tabulate`). The tables are added up, and each
block looks its rows up in the statistics of all (`ShareState`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from skauc.compiling import compiled
from skauc.engines import tables
from skauc.exceptions import KERNEL_OVERFLOW, InvalidDataError
from skauc.losses import pairs
from skauc.losses.cells import (
    BINS_PER_MARGIN,
    WIDEST_RANGE,
    Cells,
    Grid,
    ScoreRanges,
    binned_cells,
    coarsening,
    contested_grid,
    sorted_cells,
)
from skauc.losses.focus import WHOLE, Focus
from skauc.losses.pairs import PairStatistics
from skauc.support import cached_property

if TYPE_CHECKING:
    import torch

    from skauc.engines.blocks.base import Block
    from skauc.engines.blocks.cpu import CPUBlock
    from skauc.engines.blocks.gpu import GPUBlock
    from skauc.engines.gpu.order import Order


@dataclass(frozen=True, eq=False)
class BlockState:
    """Scores of the rows of a block, and the pairs that they violate with the rows of all blocks.

    What only some passes need is computed when it is first used.
    """

    block: Any
    scores: Any
    statistics: PairStatistics
    # The weights of the rows, times their shares if there is a focus.
    weights: Any
    ranks: tables.RankAxis | None = None

    @property
    def loss(self) -> float:
        """The loss of all blocks."""
        return self.statistics.loss

    @property
    def merged(self) -> int:
        """How often pairs of cells are merged to coarse cells."""
        return coarsening(self.statistics.cells.n_cells, self.block.policy.coarse_cells)


class CPUState(BlockState):
    """A state with NumPy arrays."""

    @cached_property
    def residual(self) -> np.ndarray:
        """Half the derivative of the loss by each score."""
        block = self.block
        return pairs.residual(self.statistics, self.scores, block.positive, self.weights, block.run)

    @cached_property
    def coarse(self) -> Cells:
        """Cells for the Hessian, few enough for two bytes per row."""
        cells = self.statistics.cells.coarsen(self.block.policy.coarse_cells)
        return replace(cells, cell=cells.cell.astype(np.int16))

    def curvature(self, start: int, stop: int) -> np.ndarray:
        """Return the curvature of a range of rows, by the coarse cells."""
        statistics = self.statistics
        return pairs.curvatures(
            statistics.cells.cell,
            self.merged,
            statistics.negatives_above,
            statistics.positives_below,
            self.block.positive,
            self.weights,
            start,
            stop,
        )

    def active(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of a range that have a residual or a curvature, and their curvature."""
        return _active(self.curvature(start, stop), self.residual, start)


@compiled
def _active(curvature, residual, start):
    rows, curvatures, n = np.empty(len(curvature), np.int64), np.empty(len(curvature)), 0
    for i in range(len(curvature)):
        if curvature[i] != 0.0 or residual[start + i] != 0.0:
            rows[n], curvatures[n] = start + i, curvature[i]
            n += 1
    return rows[:n], curvatures[:n]


class GPUState(BlockState):
    """A state with tensors."""

    @cached_property
    def residual(self) -> torch.Tensor:
        """Half the derivative of the loss by each score."""
        import torch

        block, statistics = self.block, self.statistics
        cells = statistics.cells
        keys = by_class(cells.cell, block.positive, cells.n_cells)
        sums = torch.cat((statistics.positives_below, statistics.negatives_above))
        slopes = (self.scores - cells.origin).add_(block.signs)
        slopes *= sums[:, 0].contiguous().index_select(0, keys)
        slopes -= sums[:, 1].contiguous().index_select(0, keys)
        return slopes.mul_(self.weights)

    @cached_property
    def coarse(self) -> Cells:
        """Cells for the Hessian."""
        return self.statistics.cells.coarsen(self.block.policy.coarse_cells)

    @cached_property
    def keys(self) -> torch.Tensor:
        """The index of each row in tables by class and coarse cell."""
        return by_class(self.coarse.cell, self.block.positive, self.coarse.n_cells)

    @cached_property
    def _partners(self) -> torch.Tensor:
        """The weight of the violating partners of a row, by its class and coarse cell."""
        import torch

        n_cells, statistics = self.statistics.cells.n_cells, self.statistics
        first = torch.arange(self.coarse.n_cells, device=self.scores.device) << self.merged
        last = (first + (1 << self.merged)).clamp_(max=n_cells) - 1
        return torch.cat(
            (statistics.positives_below[first, 0], statistics.negatives_above[last, 0])
        )

    def curvature(self, start: int, stop: int) -> torch.Tensor:
        """Return the curvature of a range of rows, by the coarse cells."""
        partners = self._partners.index_select(0, self.keys[start:stop])
        return partners.mul_(self.weights[start:stop])

    @cached_property
    def order(self) -> Order:
        """The rows by class and coarse cell; rows without a violating partner come last."""
        import torch

        from skauc.engines.gpu.order import Order

        n_keys = 2 * self.coarse.n_cells
        partnerless = self.curvature(0, len(self.scores)) == 0
        keys, rows = self.keys.masked_fill(partnerless, n_keys).short().sort(stable=True)
        each = torch.arange(1, n_keys + 1, dtype=keys.dtype, device=keys.device)
        ends = torch.searchsorted(keys, each).cpu().numpy()
        return Order(rows, keys, ends, self.block.policy.gpu_part_numbers)


# -- the versions ----------------------------------------------------------------------------


class FindState:
    """The state of scores, for a block that holds all rows."""

    @staticmethod
    def cpu(block: CPUBlock, scores: np.ndarray, focus: Focus) -> CPUState:
        """Find the cells, sum by cell on the threads of the block, accumulate over the cells.

        With cells by rank, the shares of a focus are found from the scores. With bins, they are
        found from the sums.
        """
        if not np.isfinite(scores).all():
            raise InvalidDataError(KERNEL_OVERFLOW)
        weights, positive = block.weights, block.positive
        if block.dtype == np.float64:
            weights = focus.of_rows(scores, positive, weights)
            found = pairs.statistics_by_rank(scores, positive, weights)
            return CPUState(block, scores, PairStatistics.of_ranks(*found), weights)
        cells = binned_cells(scores, positive, run=block.run)
        if cells.are_ranks:
            weights, focus = focus.of_rows(scores, positive, weights), WHOLE
        moments = pairs.score_moments(scores, positive, weights, cells, block.run)
        statistics = pairs.statistics_of(cells, np.asarray(sum(moments)), focus)
        weights = pairs.focused_weights(statistics, positive, weights, block.run)
        return CPUState(block, scores, statistics, weights)

    @staticmethod
    def gpu(block: GPUBlock, scores: torch.Tensor, focus: Focus) -> GPUState:
        """Do the same on the device. Cells by rank are found on the host."""
        ranges = _ranges_on_gpu(scores, block.positive)
        if not np.isfinite(list(vars(ranges).values())).all():
            raise InvalidDataError(KERNEL_OVERFLOW)
        grid = contested_grid(ranges, BINS_PER_MARGIN)
        if block.dtype == np.float64 or grid.n_cells > WIDEST_RANGE * BINS_PER_MARGIN:
            return _find_on_host(block, scores, focus)
        cells = Cells(_assign_on_gpu(grid, scores, block.positive), grid.n_cells, ranges.middle)
        moments = _moments_on_gpu(block, grid, cells.cell, scores, cells.origin)
        statistics = _accumulate_on_gpu(cells, moments, focus)
        return GPUState(block, scores, statistics, _focus_on_gpu(statistics, block))


class ShareState:
    """The state of scores against the rows of all blocks."""

    @staticmethod
    def cpu(block: CPUBlock, scores: np.ndarray, shared: tables.SharedStatistics) -> CPUState:
        """Look the cells of the rows up."""
        statistics = shared.of_block(scores, block.positive, block.run)
        weights = pairs.focused_weights(statistics, block.positive, block.weights, block.run)
        return CPUState(block, scores, statistics, weights, shared.ranks)

    @staticmethod
    def gpu(block: GPUBlock, scores: torch.Tensor, shared: tables.SharedStatistics) -> GPUState:
        """Take the statistics to the device and look the cells of the rows up."""
        statistics = _put_statistics(shared.statistics, block.device)
        cell = _assign_on_gpu(shared.grid, scores, block.positive)
        statistics = replace(statistics, cells=replace(statistics.cells, cell=cell))
        weights = _focus_on_gpu(statistics, block)
        return GPUState(block, scores, statistics, weights, shared.ranks)


class Tabulate:
    """The table of the scores of a block, to be added to those of other blocks."""

    @staticmethod
    def cpu(block: CPUBlock, scores: np.ndarray, origin: float) -> tables.ScoreTable:
        """Tabulate on the threads of the block."""
        return tables.score_table(scores, block.positive, block.weights, origin, block.run)

    @staticmethod
    def gpu(block: GPUBlock, scores: torch.Tensor, origin: float) -> tables.ScoreTable:
        """Tabulate on the device."""
        import torch

        ranges = _ranges_on_gpu(scores, block.positive)
        if not torch.isfinite(scores).all():
            return tables.table_of_no_number(ranges, origin)
        grid = tables.covering_grid(ranges)
        cell = _assign_on_gpu(grid, scores, block.positive)
        moments = _moments_on_gpu(block, grid, cell, scores, origin)
        return tables.ScoreTable(grid, origin, ranges, block.fetch(moments))


def version(operation, block: Block):
    """Return the version of an operation for this kind of block."""
    return getattr(operation, block.kind)


# -- on a GPU --------------------------------------------------------------------------------


def _ranges_on_gpu(scores: torch.Tensor, positive: torch.Tensor) -> ScoreRanges:
    """Return the ranges of the scores. They are not finite if a score is not."""
    import torch

    infinity = torch.inf
    ends = (
        scores.masked_fill(positive, infinity).amin(),
        scores.masked_fill(positive, -infinity).amax(),
        scores.masked_fill(~positive, infinity).amin(),
        scores.masked_fill(~positive, -infinity).amax(),
    )
    return ScoreRanges(*torch.stack(ends).tolist())


def _assign_on_gpu(grid: Grid, scores: torch.Tensor, positive: torch.Tensor) -> torch.Tensor:
    """Return the cell of each row: `Grid.assign`."""
    import torch

    bins = torch.floor(scores * grid.bins_per_margin)
    bins -= positive * grid.bins_per_margin
    if grid.bins_per_cell > 1:
        bins = bins.div_(grid.bins_per_cell).floor_()
    return bins.sub_(grid.first).clamp_(0, grid.n_cells - 1).int()


def by_class(cell: torch.Tensor, positive: torch.Tensor, n_cells: int) -> torch.Tensor:
    """Return the index of each row in tables by class and cell."""
    return cell + positive * n_cells


def _moments_on_gpu(
    block: GPUBlock, grid: Grid, cell: torch.Tensor, scores: torch.Tensor, origin: float
) -> torch.Tensor:
    """Return the sums of (s, s f, s f^2) by class and cell, with f relative to the origin.

    The numbers added up are positions inside of a cell, between 0 and 1. A sum of integers is then
    as precise as the sums of one cell can be, however wide the scores are spread. Rows beyond the
    ends of the grid count as if they were at its ends; they have no partners.
    """
    import torch

    from skauc.engines.gpu.sums import sums_by_key

    positive, weights = block.positive, block.weights
    width = grid.bins_per_cell / grid.bins_per_margin
    inside = scores / width
    inside -= cell + grid.first
    inside -= positive / width
    inside.clamp_(0, 1)
    keys = by_class(cell, positive, grid.n_cells)
    values = torch.stack((weights, weights * inside, weights * inside.square()), dim=1)
    s, first, second = sums_by_key(keys, values, 2 * grid.n_cells).T.unflatten(1, (2, -1))
    start = torch.arange(grid.n_cells, dtype=torch.float64, device=cell.device)
    start = (start + grid.first) * width - origin
    start = torch.stack((start, start + 1))
    sf = s * start + first * width
    sff = s * start.square() + 2 * width * start * first + width**2 * second
    return torch.stack((s, sf, sff), dim=-1)


def _accumulate_on_gpu(cells: Cells, moments: torch.Tensor, focus: Focus) -> PairStatistics:
    """Accumulate moments over the cells: `pairs.statistics_of`, with tables on the device."""
    import torch

    shares = None
    if not focus.is_whole:
        shares = _shares_on_gpu(focus, moments[:, :, 0])
        moments = moments * shares[:, :, None]
    # A scan along rows adds in a fixed order. A scan along columns, or of one vector, may not.
    negatives, positives = (part.T.contiguous() for part in moments)
    above, below = torch.zeros_like(negatives), torch.zeros_like(positives)
    above[:, :-1] = negatives[:, 1:].flip(1).cumsum(1).flip(1)
    below[:, 1:] = positives[:, :-1].cumsum(1)
    s, sf, sff = positives
    loss = (s - 2 * sf + sff) * above[0] + 2 * (s - sf) * above[1] + s * above[2]
    return PairStatistics(cells, above.T, below.T, max(loss.sum().item(), 0.0), shares)


def _shares_on_gpu(focus: Focus, weights: torch.Tensor) -> torch.Tensor:
    """Return the shares of the rows, by class and cell: `Focus.of_cells`."""
    import torch

    # The hardest rows first: the highest negatives and the lowest positives.
    ordered = torch.stack((weights[0].flip(0), weights[1]))
    until = ordered.cumsum(1)
    before = until - ordered
    full = ordered.new_tensor(focus.fractions)[:, None] * until[:, -1:]
    outside = 2 * full.sqrt() / (before.sqrt() + until.sqrt())
    across = (2 * (full * until).sqrt() - full - before) / ordered
    shares = torch.where(before >= full, outside, torch.where(until <= full, 1.0, across))
    return torch.stack((shares[0].flip(0), shares[1]))


def _focus_on_gpu(statistics: PairStatistics, block: GPUBlock) -> torch.Tensor:
    """Return the weights of the rows that count: `pairs.focused_weights`."""
    if statistics.shares is None:
        return block.weights
    cells = statistics.cells
    keys = by_class(cells.cell, block.positive, cells.n_cells)
    return statistics.shares.view(-1).index_select(0, keys).mul_(block.weights)


def _find_on_host(block: GPUBlock, scores: torch.Tensor, focus: Focus) -> GPUState:
    """Find the cells by rank, and the statistics, on the host."""
    rows = block.fetch(scores), block.host_positive
    weights = focus.of_rows(*rows, block.host_weights)
    statistics = pairs.pair_statistics(*rows, weights, sorted_cells(*rows))
    on_device = block.weights if focus.is_whole else block.put(weights)
    return GPUState(block, scores, _put_statistics(statistics, block.device), on_device)


def _put_statistics(statistics: PairStatistics, device: str) -> PairStatistics:
    """Take statistics to the device."""
    from skauc.engines.gpu.rows import put

    cells, shares = statistics.cells, statistics.shares
    return PairStatistics(
        Cells(put(cells.cell, device), cells.n_cells, cells.origin),
        put(statistics.negatives_above, device),
        put(statistics.positives_below, device),
        statistics.loss,
        None if shares is None else put(shares, device),
    )
