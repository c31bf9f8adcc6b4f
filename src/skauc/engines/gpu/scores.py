"""Scores on a device: cells, tables over them, and places; see `skauc.losses.pairs`."""

from __future__ import annotations

import torch

from skauc.engines.gpu.rows import put
from skauc.engines.gpu.sums import sums_by_key
from skauc.engines.tables import N_PLACES, RankAxis
from skauc.losses import pairs
from skauc.losses.pairs import Cells, Grid, PairStatistics, ScoreRanges


def score_ranges(scores: torch.Tensor, positive: torch.Tensor) -> ScoreRanges:
    """Return the ranges of the scores; not finite where a score is not."""
    infinity = torch.inf
    ends = (
        scores.masked_fill(positive, infinity).amin(),
        scores.masked_fill(positive, -infinity).amax(),
        scores.masked_fill(~positive, infinity).amin(),
        scores.masked_fill(~positive, -infinity).amax(),
    )
    return ScoreRanges(*torch.stack(ends).tolist())


def assign(grid: Grid, scores: torch.Tensor, positive: torch.Tensor) -> torch.Tensor:
    """Return the cell of each row: `Grid.assign`."""
    bins = torch.floor(scores * grid.bins_per_margin)
    bins -= positive * grid.bins_per_margin
    if grid.bins_per_cell > 1:
        bins = bins.div_(grid.bins_per_cell).floor_()
    return bins.sub_(grid.first).clamp_(0, grid.n_cells - 1).int()


def by_class(cell: torch.Tensor, positive: torch.Tensor, n_cells: int) -> torch.Tensor:
    """Return the place of each row in tables by class and cell."""
    return cell + positive * n_cells


def score_moments(
    grid: Grid, cell: torch.Tensor, scores, positive, weights, origin: float
) -> torch.Tensor:
    """Return the sums of (s, s f, s f^2) by class and cell, with f measured from the origin.

    What is added up is how far rows are in their cells, between 0 and 1: a sum of whole numbers
    is then as precise as those of one cell can be, however wide the scores are spread. Rows beyond
    the ends of the grid count as if they were at its ends; they have no partners.
    """
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


def statistics_of(cells: Cells, moments: torch.Tensor) -> PairStatistics:
    """Accumulate moments over the cells: `pairs.statistics_of`, its tables on the device."""
    # Rows of numbers: a scan along them adds in a fixed order, one along columns or alone may not.
    negatives, positives = (part.T.contiguous() for part in moments)
    above, below = torch.zeros_like(negatives), torch.zeros_like(positives)
    above[:, :-1] = negatives[:, 1:].flip(1).cumsum(1).flip(1)
    below[:, 1:] = positives[:, :-1].cumsum(1)
    s, sf, sff = positives
    loss = (s - 2 * sf + sff) * above[0] + 2 * (s - sf) * above[1] + s * above[2]
    return PairStatistics(cells, above.T, below.T, max(loss.sum().item(), 0.0))


def sorted_statistics(scores, positive, weights, device: str) -> PairStatistics:
    """Return the statistics of cells by rank, made on the host; their tables on the device."""
    cells = pairs.sorted_cells(scores, positive)
    return put_statistics(pairs.pair_statistics(scores, positive, weights, cells), device)


def put_statistics(statistics: PairStatistics, device: str) -> PairStatistics:
    """Take statistics to the device."""
    cells = statistics.cells
    return PairStatistics(
        Cells(put(cells.cell, device), cells.n_cells, cells.origin),
        put(statistics.negatives_above, device),
        put(statistics.positives_below, device),
        statistics.loss,
    )


def rank_sums(axis: RankAxis, scores, positive, weights) -> torch.Tensor:
    """Return the weight of each class in each place: `tables.rank_sums`."""
    device = scores.device
    ends, shares = put(axis.scores, device), put(axis.shares, device)
    cell = ((scores - axis.first) / axis.width).clamp_(0, len(ends) - 2).int()
    start, length = ends[:-1].index_select(0, cell), ends.diff().index_select(0, cell)
    inside = ((scores - start) / length).nan_to_num_(0.0).clamp_(0, 1)
    share = shares[:-1].index_select(0, cell) + inside * shares.diff().index_select(0, cell)
    place = (share * N_PLACES).int().clamp_(max=N_PLACES - 1)
    keys = by_class(place, positive, N_PLACES)
    return sums_by_key(keys, weights, 2 * N_PLACES).view(2, N_PLACES)
