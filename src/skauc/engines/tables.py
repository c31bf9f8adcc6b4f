"""Tables of scores that several blocks of rows fill and that are then added up.

All blocks cut the score axis at the same points, counted from zero. Their tables can be added
whatever the range of each of them: one reduction gives the loss, and no score leaves its block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skauc.compiling import compiled
from skauc.losses import pairs
from skauc.losses.cells import (
    BINS_PER_MARGIN,
    WIDEST_RANGE,
    Cells,
    Grid,
    ScoreRanges,
    contested_grid,
    score_ranges,
    serially,
)
from skauc.losses.focus import WHOLE, Focus
from skauc.losses.pairs import PairStatistics
from skauc.metrics.area import auc_of, threshold_of
from skauc.metrics.sorted_scores import SortedScores
from skauc.support import cached_property

# Longest table of a block. Above it neighbouring bins are merged.
MOST_CELLS = WIDEST_RANGE * BINS_PER_MARGIN
# Places over which the rows are spread, as evenly as possible, to find AUC and threshold.
N_PLACES = 1 << 16


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """The `pairs.score_moments` of some rows over a grid that covers them all."""

    grid: Grid
    origin: float
    ranges: ScoreRanges
    moments: np.ndarray
    is_finite: bool = True

    def coarsened(self, bins_per_cell: int) -> ScoreTable:
        """Return the table with that many bins in a cell."""
        n_merged = bins_per_cell // self.grid.bins_per_cell
        if n_merged == 1:
            return self
        first = np.floor(self.grid.first / n_merged)
        target = np.arange(self.grid.n_cells) + int(self.grid.first - first * n_merged)
        target //= n_merged
        moments = np.zeros((2, int(target[-1]) + 1, 3))
        _add_at(moments, target, self.moments)
        grid = replace(
            self.grid, bins_per_cell=bins_per_cell, first=float(first), n_cells=moments.shape[1]
        )
        return replace(self, grid=grid, moments=moments)


def score_table(scores, positive, weights, origin: float, run=serially) -> ScoreTable:
    """Return the table of the rows of a block."""
    ranges = score_ranges(scores, positive, run)
    if not np.isfinite(scores).all():
        return table_of_no_number(ranges, origin)
    grid = covering_grid(ranges)
    cells = Cells(grid.assign(scores, positive, run), grid.n_cells, origin)
    moments = sum(pairs.score_moments(scores, positive, weights, cells, run))
    return ScoreTable(grid, origin, ranges, np.asarray(moments))


def _add_at(moments: np.ndarray, target: np.ndarray, added: np.ndarray) -> None:
    """Add moments to those of the target cells; a cell may be the target of several."""
    cells: Any = (slice(None), target)  # NumPy's annotations know of no tuples here
    np.add.at(moments, cells, added)


def table_of_no_number(ranges: ScoreRanges, origin: float) -> ScoreTable:
    """Return the table of rows with a score that is not finite."""
    grid = Grid(BINS_PER_MARGIN, 1, 0.0, 1)
    return ScoreTable(grid, origin, ranges, np.zeros((2, 1, 3)), is_finite=False)


def covering_grid(ranges: ScoreRanges) -> Grid:
    """Return cells for all rows, of one bin each unless there are too many."""
    lowest = min(ranges.lowest_negative, ranges.lowest_positive - 1.0)
    highest = max(ranges.highest_negative, ranges.highest_positive - 1.0)
    first, last = np.floor(lowest * BINS_PER_MARGIN), np.floor(highest * BINS_PER_MARGIN)
    bins_per_cell = 1
    while np.floor(last / bins_per_cell) - np.floor(first / bins_per_cell) >= MOST_CELLS:
        bins_per_cell *= 2
    # One more cell at either end, because f - 1 and the bin of f are rounded separately.
    first, last = np.floor(first / bins_per_cell) - 1, np.floor(last / bins_per_cell) + 1
    return Grid(BINS_PER_MARGIN, bins_per_cell, float(first), int(last - first) + 1)


def add_tables(tables: Sequence[ScoreTable]) -> ScoreTable:
    """Add the tables of several blocks, which have the same origin."""
    tables = _alike(tables)
    first = min(table.grid.first for table in tables)
    ends = [table.grid.first - first + table.grid.n_cells for table in tables]
    moments = np.zeros((2, int(max(ends)), 3))
    for table, end in zip(tables, ends, strict=True):
        moments[:, int(end) - table.grid.n_cells : int(end)] += table.moments
    ranges = [table.ranges for table in tables]
    return replace(
        tables[0],
        grid=replace(tables[0].grid, first=first, n_cells=moments.shape[1]),
        ranges=ScoreRanges(
            min(r.lowest_negative for r in ranges),
            max(r.highest_negative for r in ranges),
            min(r.lowest_positive for r in ranges),
            max(r.highest_positive for r in ranges),
        ),
        moments=moments,
        is_finite=all(table.is_finite for table in tables),
    )


def _alike(tables: Sequence[ScoreTable]) -> list[ScoreTable]:
    """Return the tables with the same number of bins per cell, so that one table holds them all."""
    bins_per_cell = max(table.grid.bins_per_cell for table in tables)
    while True:
        tables = [table.coarsened(bins_per_cell) for table in tables]
        first = min(table.grid.first for table in tables)
        last = max(table.grid.first + table.grid.n_cells for table in tables)
        if last - first <= MOST_CELLS + 2:
            return tables
        bins_per_cell *= 2


@dataclass(frozen=True, eq=False)
class SharedStatistics:
    """The pair statistics of the rows of all blocks, without the cells of the rows."""

    grid: Grid
    statistics: PairStatistics
    ranks: RankAxis
    middle: float

    def of_block(self, scores: np.ndarray, positive: np.ndarray, run) -> PairStatistics:
        """Return the statistics with the cells of a block's rows."""
        cell = self.grid.assign(scores, positive, run)
        return replace(self.statistics, cells=replace(self.statistics.cells, cell=cell))


def share_statistics(table: ScoreTable, focus: Focus = WHOLE) -> SharedStatistics:
    """Return the statistics of the contested part of a table of all rows.

    The loss is infinite if a score is not finite.
    """
    if not table.is_finite:
        cells = Cells(np.empty(0, np.int32), 1, table.origin)
        statistics = PairStatistics(cells, np.zeros((1, 3)), np.zeros((1, 3)), np.inf)
        return SharedStatistics(
            table.grid, statistics, RankAxis(0.0, 1.0, np.zeros(2), np.arange(2.0)), 0.0
        )
    grid = contested_grid(table.ranges, BINS_PER_MARGIN, table.grid.bins_per_cell)
    shift = int(table.grid.first - grid.first)
    target = np.clip(np.arange(table.grid.n_cells) + shift, 0, grid.n_cells - 1)
    moments = np.zeros((2, grid.n_cells, 3))
    _add_at(moments, target, table.moments)
    cells = Cells(np.empty(0, np.int32), grid.n_cells, table.origin)
    statistics = pairs.statistics_of(cells, moments, focus)
    return SharedStatistics(grid, statistics, RankAxis.of(table), table.ranges.middle)


@dataclass(frozen=True, eq=False)
class RankAxis:
    """A piecewise linear map from scores to the share of the weight below them.

    Equal parts of this axis hold about equally many rows, however unevenly scores are spread.
    """

    first: float
    width: float
    scores: np.ndarray
    shares: np.ndarray

    @classmethod
    def of(cls, table: ScoreTable) -> RankAxis:
        """Return the axis of the rows in a table."""
        grid, ranges = table.grid, table.ranges
        margin = grid.bins_per_margin // grid.bins_per_cell
        negatives, positives = table.moments[:, :, 0]
        # A positive is in the cell of its score less the margin.
        by_cell = np.zeros(grid.n_cells + margin + 1)
        by_cell[: grid.n_cells] = negatives / max(negatives.sum(), np.finfo(float).tiny)
        by_cell[margin : margin + grid.n_cells] += positives / max(
            positives.sum(), np.finfo(float).tiny
        )
        ends = (np.arange(len(by_cell) + 1) + grid.first) * grid.bins_per_cell
        ends = ends / grid.bins_per_margin
        lowest = min(ranges.lowest_negative, ranges.lowest_positive)
        highest = max(ranges.highest_negative, ranges.highest_positive)
        shares = np.concatenate(([0.0], np.cumsum(by_cell)))
        # Half by rank and half by score, so that an interval without rows is not a single point.
        spread = max(highest - lowest, np.finfo(float).tiny)
        first, width = float(ends[0]), grid.bins_per_cell / grid.bins_per_margin
        ends = np.clip(ends, lowest, highest)
        shares = shares / max(shares[-1], 1e-300) / 2 + (ends - lowest) / spread / 2
        return cls(first, width, ends, shares)

    def middles(self) -> np.ndarray:
        """Return the score in the middle of each place."""
        return np.interp((np.arange(N_PLACES) + 0.5) / N_PLACES, self.shares, self.scores)


def rank_sums(axis: RankAxis, scores, positive, weights, run=serially) -> np.ndarray:
    """Return the weight of each class in each place."""
    cells = axis.first, axis.width, axis.scores, axis.shares

    def in_places(start, stop):
        sums = np.zeros((2, N_PLACES))
        rows = scores[start:stop], positive[start:stop], weights[start:stop]
        _add_to_places(*rows, *cells, sums)
        return sums

    return sum(run(in_places, len(scores)))


@compiled
def _add_to_places(scores, positive, weights, first, width, ends, shares, sums):
    n_places = sums.shape[1]
    for i in range(len(scores)):
        # The cell of a score, and its position inside. The ends of the range cut cells short.
        cell = int(min(max((scores[i] - first) / width, 0.0), len(ends) - 2.0))
        length = ends[cell + 1] - ends[cell]
        inside = (scores[i] - ends[cell]) / length if length > 0 else 0.0
        share = shares[cell] + min(max(inside, 0.0), 1.0) * (shares[cell + 1] - shares[cell])
        place = min(int(share * n_places), n_places - 1)
        sums[1 if positive[i] else 0, place] += weights[i]


@dataclass(frozen=True, eq=False)
class Ranking:
    """The weight of each class in places that are in the order of the scores."""

    middles: np.ndarray
    sums: np.ndarray

    @cached_property
    def table(self) -> SortedScores:
        """The places that are not empty. Rows in the same place count as tied.

        The error of the AUC is 1e-7 for normally distributed scores, and less than 1e-4 for scores
        over six decades.
        """
        negatives, positives = self.sums
        filled = (negatives > 0) | (positives > 0)
        return SortedScores(self.middles[filled], positives[filled], negatives[filled])

    def auc(self) -> float:
        """Return the AUC."""
        return auc_of(self.table)

    def threshold(self) -> float:
        """Return the threshold with the best balanced accuracy."""
        return threshold_of(self.table)
