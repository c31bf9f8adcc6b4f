"""The pairwise squared hinge: loss, residual and Hessian products without visiting the pairs.

The loss is the sum of (1 - f_i + f_j)^2 over the violating pairs of a positive i and a negative j,
times both weights. Every row has a cell (`skauc.losses.cells`) such that i and j violate if and
only if cell[i] < cell[j]. Any sum over the violating partners of a row is then a table look-up: sum
the other class by cell, accumulate the sums over the cells, and read the entry of the row's own
cell.

A Hessian made from coarse cells stays positive semi-definite.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skauc.compiling import compiled
from skauc.losses.cells import Cells, Run, assign_ranks, serially
from skauc.losses.focus import WHOLE, Focus


@dataclass(frozen=True)
class PairStatistics:
    """Sums over the violating pairs, in tables over the cells.

    ``negatives_above[c]`` holds the sums of (s, s f, s f^2) over negatives in cells above c, and
    ``positives_below[c]`` over positives in cells below c. Scores f are relative to the origin: the
    loss ignores a constant, and subtracting it keeps (1 - f_i + f_j)^2 from cancelling. With a
    focus, ``shares`` holds the share of the weights that counts, by class and cell.
    """

    cells: Cells
    negatives_above: np.ndarray
    positives_below: np.ndarray
    loss: float
    shares: Any = None

    @classmethod
    def of_ranks(cls, cell, above, below, loss: float, origin: float) -> PairStatistics:
        """Return what `statistics_by_rank` found, as `pair_statistics` with `sorted_cells` does."""
        return cls(Cells(cell, len(above), origin, are_ranks=True), above, below, loss)


@compiled
def statistics_by_rank(scores, positive, weights):
    """Return the cells, the sums above and below them, the loss, and the origin."""
    cell = np.empty(len(scores), np.int32)
    n_positive, origin = assign_ranks(scores, positive, cell)
    moments = np.zeros((2, n_positive + 1, 3))
    _add_moments(scores, origin, positive, weights, cell, 0, len(scores), moments)
    above, below, loss = _accumulate(moments)
    return cell, above, below, max(loss, 0.0), origin


def pair_statistics(
    scores: np.ndarray,
    positive: np.ndarray,
    weights: np.ndarray,
    cells: Cells,
    run: Run = serially,
) -> PairStatistics:
    """Sum weights, scores and squared scores by cell; the loss follows from the tables."""
    moments = score_moments(scores, positive, weights, cells, run)
    return statistics_of(cells, np.asarray(sum(moments)))


def score_moments(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray, cells: Cells, run: Run = serially
) -> Iterable[np.ndarray]:
    """Yield for each block the sums of (s, s f, s f^2) by class and cell, f from the origin."""

    def moments(start, stop):
        sums = np.zeros((2, cells.n_cells, 3))
        _add_moments(scores, cells.origin, positive, weights, cells.cell, start, stop, sums)
        return sums

    return run(moments, len(scores))


def statistics_of(cells: Cells, moments: np.ndarray, focus: Focus = WHOLE) -> PairStatistics:
    """Accumulate the sum of the `score_moments` over the cells, multiplied by the shares."""
    shares = None
    if not focus.is_whole:
        shares = focus.of_cells(moments[:, :, 0])
        moments = moments * shares[:, :, None]
    above, below, loss = _accumulate(moments)
    return PairStatistics(cells, above, below, max(loss, 0.0), shares)


def focused_weights(
    statistics: PairStatistics, positive: np.ndarray, weights: np.ndarray, run: Run = serially
) -> np.ndarray:
    """Return weights times the shares of their cells; the same array if all pairs count."""
    if statistics.shares is None:
        return weights
    return look_up_partners(statistics.shares, statistics.cells, positive, run) * weights


@compiled
def _accumulate(moments):
    """Return the sums over negatives above and positives below each cell, and the loss."""
    negatives, positives = moments[0], moments[1]
    above, below = sums_above(negatives), sums_below(positives)
    loss = 0.0
    for c in range(len(positives)):
        s, sf, sff = positives[c, 0], positives[c, 1], positives[c, 2]
        loss += (s - 2 * sf + sff) * above[c, 0] + 2 * (s - sf) * above[c, 1] + s * above[c, 2]
    return above, below, loss


@compiled
def _add_moments(scores, origin, positive, weights, cell, start, stop, sums):
    for i in range(start, stop):
        side = 1 if positive[i] else 0
        f = scores[i] - origin
        weighted = weights[i] * f
        sums[side, cell[i], 0] += weights[i]
        sums[side, cell[i], 1] += weighted
        sums[side, cell[i], 2] += weighted * f


@compiled
def sums_above(by_cell):
    """Turn sums by cell into sums over all higher cells."""
    above = np.zeros_like(by_cell)
    for c in range(len(by_cell) - 2, -1, -1):
        for k in range(by_cell.shape[1]):
            above[c, k] = above[c + 1, k] + by_cell[c + 1, k]
    return above


@compiled
def sums_below(by_cell):
    """Turn sums by cell into sums over all lower cells."""
    below = np.zeros_like(by_cell)
    for c in range(1, len(by_cell)):
        for k in range(by_cell.shape[1]):
            below[c, k] = below[c - 1, k] + by_cell[c - 1, k]
    return below


def residual(
    statistics: PairStatistics,
    scores: np.ndarray,
    positive: np.ndarray,
    weights: np.ndarray,
    run: Run = serially,
) -> np.ndarray:
    """Return half the derivative of the loss with respect to the scores."""
    out = np.empty(len(scores))

    def look_up(start, stop):
        _look_up_residual(
            scores,
            statistics.cells.origin,
            positive,
            weights,
            statistics.cells.cell,
            statistics.negatives_above,
            statistics.positives_below,
            start,
            stop,
            out,
        )

    list(run(look_up, len(scores)))
    return out


@compiled
def _look_up_residual(
    scores, origin, positive, weights, cell, negatives_above, positives_below, start, stop, out
):
    for i in range(start, stop):
        f = scores[i] - origin
        c = cell[i]
        if positive[i]:
            value = -(negatives_above[c, 0] * (1.0 - f) + negatives_above[c, 1])
        else:
            value = positives_below[c, 0] * (1.0 + f) - positives_below[c, 1]
        out[i] = weights[i] * value


@compiled
def residuals(scores, origin, positive, weights, cell, negatives_above, positives_below):
    """Return half the derivative of the loss with respect to the scores."""
    out, n_rows = np.empty(len(scores)), len(scores)
    tables = negatives_above, positives_below
    _look_up_residual(scores, origin, positive, weights, cell, *tables, 0, n_rows, out)
    return out


@compiled
def curvatures(cell, merged, negatives_above, positives_below, positive, weights, start, stop):
    """Return each row's weight times the weight of its violating partners, by coarse cells.

    Coarse cells are ``cell >> merged``. Rows in the same coarse cell do not violate.
    """
    out, n_cells = np.empty(stop - start), len(negatives_above)
    for i in range(start, stop):
        first = cell[i] >> merged << merged
        if positive[i]:
            partners = negatives_above[min(first + (1 << merged), n_cells) - 1, 0]
        else:
            partners = positives_below[first, 0]
        out[i - start] = weights[i] * partners
    return out


def partner_weights(
    cells: Cells, positive: np.ndarray, weights: np.ndarray, run: Run = serially
) -> np.ndarray:
    """Return s_i L_i: each row's weight times the total weight of its violating partners."""
    sums = sums_by_cell(cells, positive, weights, np.ones((len(weights), 1)), run)
    totals = look_up_partners(partner_sums(sums), cells, positive, run)[:, 0]
    totals *= weights
    return totals


def finish_product(
    tables: np.ndarray, cells: Cells, positive, weights, curvature, columns, run: Run
) -> np.ndarray:
    """Return s (L x - G(x)), given the `partner_sums` of the columns x."""
    product = look_up_partners(tables, cells, positive, run)
    product *= -weights[:, None]
    product += curvature[:, None] * columns
    return product


def sums_by_cell(
    cells: Cells, positive: np.ndarray, weights: np.ndarray, columns: np.ndarray, run: Run
) -> np.ndarray:
    """Return the weighted sums of columns by class and cell."""

    def by_cell(start, stop):
        sums = np.zeros((2, cells.n_cells, columns.shape[1]))
        add_by_cell(
            columns[start:stop],
            positive[start:stop],
            weights[start:stop],
            cells.cell[start:stop],
            sums,
        )
        return sums

    return sum(run(by_cell, len(weights)))


def partner_sums(by_cell: np.ndarray) -> np.ndarray:
    """Turn sums by class and cell into sums over the violating partners of a row."""
    negatives, positives = by_cell
    return np.stack((sums_below(positives), sums_above(negatives)))


def look_up_partners(tables: np.ndarray, cells: Cells, positive: np.ndarray, run: Run):
    """Return each row's entry of tables by class and cell."""
    out = np.empty((len(positive), *tables.shape[2:]))

    def look_up(start, stop):
        out[start:stop] = tables[positive[start:stop].view(np.int8), cells.cell[start:stop]]

    list(run(look_up, len(positive)))
    return out


@compiled
def add_by_cell(block, positive, weights, cell, sums):
    """Add weighted rows to ``sums[class, cell]``."""
    for i in range(block.shape[0]):
        target = sums[1 if positive[i] else 0, cell[i]]
        weight = weights[i]
        for k in range(block.shape[1]):
            target[k] += weight * block[i, k]
