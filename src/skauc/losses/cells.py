"""Cells: an integer for each row that says which pairs violate.

A positive i and a negative j *violate* when f_j > f_i - 1. Every row gets an integer, its *cell*,
such that

    i and j violate  <=>  cell[i] < cell[j].

Any sum over the violating partners of a row is then a table look-up, see `skauc.losses.pairs`.
There are two ways to assign cells:

- *sorted*: the rank among the positives. Exact, O(l log l).
- *binned*: the score axis cut into bins of width 1/M, M a power of two, so that the margin is
  exactly M bins. A pair counts if its bins violate for every score inside of them; the pairs left
  out have a hinge below 1/M. O(l), and only the tables would cross a network.

Cells can be merged by dropping their low bits (`Cells.coarsen`). The relation keeps its form.

Functions over rows take ``run(task, n_rows)``, which runs a task on blocks of rows and yields the
results in order. Engines pass their threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from skauc.compiling import compiled
from skauc.losses.buckets import bucket_of, sort_by_buckets

BINS_PER_MARGIN = 1024
# If the lowest positive and the highest negative are further apart than this many margins, ranks
# make better cells. Tables over the bins would dwarf the data, and coarse bins would hide most
# violating pairs.
WIDEST_RANGE = 128

Task = Callable[[int, int], object]
Run = Callable[[Task, int], Iterable]


def serially(task: Task, n_rows: int) -> list:
    """Run a task on all rows at once."""
    return [task(0, n_rows)]


@dataclass(frozen=True)
class Cells:
    """The cell of every row, the number of cells, and a score in the contested range.

    ``are_ranks`` tells cells by rank, in which negatives of different scores can be together.
    """

    cell: np.ndarray
    n_cells: int
    origin: float
    are_ranks: bool = False

    def coarsen(self, most: int) -> Cells:
        """Merge pairs of neighbouring cells until there are at most ``most``."""
        shift = coarsening(self.n_cells, most)
        if shift == 0:
            return self
        return replace(self, cell=self.cell >> shift, n_cells=((self.n_cells - 1) >> shift) + 1)


def coarsening(n_cells: int, most: int) -> int:
    """Return how many times pairs of cells are merged until there are at most ``most``."""
    return max(0, (n_cells - 1) // most).bit_length()


def sorted_cells(scores: np.ndarray, positive: np.ndarray) -> Cells:
    """Assign cells by rank.

    The cell of a positive is its rank; that of a negative is how many positives it violates.
    """
    cell = np.empty(len(scores), np.int32)
    n_positive, origin = assign_ranks(scores, positive, cell)
    return Cells(cell, n_positive + 1, origin, are_ranks=True)


@compiled
def assign_ranks(scores, positive, cell):
    """Write the cells by rank; return the number of positives and the origin.

    A negative finds its place among the sorted positives by bisection in its bucket.
    """
    rows, margins, n = np.empty(len(scores), np.int32), np.empty(len(scores)), 0
    lowest, highest, highest_negative = np.inf, -np.inf, -np.inf
    for i in range(len(scores)):
        if positive[i]:
            # Both comparisons use the same rounded f_i - 1, or ties would disagree.
            rows[n], margins[n] = i, scores[i] - 1.0
            n += 1
            lowest, highest = min(lowest, scores[i]), max(highest, scores[i])
        else:
            highest_negative = max(highest_negative, scores[i])
    origin = 0.5 * (lowest + highest_negative)
    lowest -= 1.0
    order, ascending, ends, scale = sort_by_buckets(margins[:n], lowest, highest - 1.0)
    for rank in range(n):
        cell[rows[order[rank]]] = rank
    for i in range(len(scores)):
        if not positive[i]:
            bucket = bucket_of(scores[i], lowest, scale, n)
            low, high = ends[bucket], ends[bucket + 1]
            while low < high:
                middle = (low + high) // 2
                if ascending[middle] < scores[i]:
                    low = middle + 1
                else:
                    high = middle
            cell[i] = low
    return n, origin


def binned_cells(
    scores: np.ndarray,
    positive: np.ndarray,
    bins_per_margin: int = BINS_PER_MARGIN,
    run: Run = serially,
) -> Cells:
    """Assign cells by uniform bins of the contested part of the score axis.

    Positives that no negative violates share the last cell, and negatives that violate no positive
    the first one.
    """
    ranges = score_ranges(scores, positive, run)
    grid = contested_grid(ranges, bins_per_margin)
    if grid.n_cells > WIDEST_RANGE * bins_per_margin:
        return sorted_cells(scores, positive)
    return Cells(grid.assign(scores, positive, run), grid.n_cells, ranges.middle)


@dataclass(frozen=True)
class ScoreRanges:
    """The lowest and the highest score of each class; infinite for a class without rows."""

    lowest_negative: float
    highest_negative: float
    lowest_positive: float
    highest_positive: float

    @property
    def middle(self) -> float:
        """The middle of the range in which pairs can violate."""
        return 0.5 * (self.lowest_positive + self.highest_negative)


def score_ranges(scores: np.ndarray, positive: np.ndarray, run: Run) -> ScoreRanges:
    """Return the ranges of the scores."""
    ranges = run(lambda start, stop: _ranges(scores, positive, start, stop), len(scores))
    low_n, high_n, low_p, high_p = zip(*ranges, strict=True)
    return ScoreRanges(min(low_n), max(high_n), min(low_p), max(high_p))


@compiled
def _ranges(scores, positive, start, stop):
    lowest_negative, highest_negative = np.inf, -np.inf
    lowest_positive, highest_positive = np.inf, -np.inf
    for i in range(start, stop):
        if positive[i]:
            lowest_positive = min(lowest_positive, scores[i])
            highest_positive = max(highest_positive, scores[i])
        else:
            lowest_negative = min(lowest_negative, scores[i])
            highest_negative = max(highest_negative, scores[i])
    return lowest_negative, highest_negative, lowest_positive, highest_positive


@dataclass(frozen=True)
class Grid:
    """Cells of ``bins_per_cell`` bins each, a power of two, counted from the score zero.

    The first cell has the number ``first``. Rows beyond either end are in the cells at the ends.
    """

    bins_per_margin: int
    bins_per_cell: int
    first: float
    n_cells: int

    def assign(self, scores: np.ndarray, positive: np.ndarray, run: Run = serially) -> np.ndarray:
        """Return the cell of each row."""
        cell = np.empty(len(scores), np.int32)
        steps = float(self.bins_per_margin), float(self.bins_per_cell)

        def assign(start, stop):
            ends = self.first, float(self.n_cells - 1)
            _assign_bins(scores, positive, *steps, *ends, start, stop, cell)

        list(run(assign, len(scores)))
        return cell


def contested_grid(ranges: ScoreRanges, bins_per_margin: int, bins_per_cell: int = 1) -> Grid:
    """Return the cells from the lowest positive to the highest negative.

    Other rows have no violating partner and share the cells at the ends.
    """
    first = np.floor(ranges.lowest_positive * bins_per_margin) - bins_per_margin
    first = np.floor(first / bins_per_cell)
    last = np.floor(np.floor(ranges.highest_negative * bins_per_margin) / bins_per_cell)
    return Grid(bins_per_margin, bins_per_cell, float(first), int(max(last - first, 0.0)) + 1)


@compiled
def _assign_bins(scores, positive, bins_per_margin, bins_per_cell, first, last, start, stop, cell):
    for i in range(start, stop):
        bin_ = np.floor(scores[i] * bins_per_margin)
        if positive[i]:
            bin_ -= bins_per_margin
        number = np.floor(bin_ / bins_per_cell) - first
        cell[i] = np.int32(min(max(number, 0.0), last))
