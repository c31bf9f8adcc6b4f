"""The quality pass: AUC, validation AUC and threshold of the scores.

All three are read off the weight of each class in the order of the scores (`Ranking`). One block of
up to ``SizePolicy.most_sorted`` rows sorts its scores. For more rows, and on a cluster, each block
adds its weights up in 65,536 places of an axis that holds about equally many rows per place
(`RankedQuality`), and rows in the same place count as tied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skauc.engines.passes.base import Pass, Sums, alone
from skauc.engines.passes.state import Tabulate, by_class
from skauc.engines.tables import N_PLACES, RankAxis, Ranking, rank_sums

if TYPE_CHECKING:
    import torch

    from skauc.engines.blocks.cpu import CPUBlock
    from skauc.engines.blocks.gpu import GPUBlock
    from skauc.engines.passes.state import CPUState, GPUState


@dataclass(frozen=True)
class Quality:
    """How well the scores of a state rank.

    Parameters
    ----------
    train_auc : float
        AUC of the rows that are in the loss.
    validation_auc : float or None
        AUC of the rows held out; None if no rows are held out.
    threshold : float
        Scores above it are predicted positive. It maximises the balanced accuracy of the rows
        that are in the loss.
    """

    train_auc: float
    validation_auc: float | None
    threshold: float


class FindAxis(Pass):
    """The axis: a state of several blocks has it; one block makes it from a table of its scores."""

    first_block_only = True

    def cpu(self, block: CPUBlock, given, state: CPUState) -> Iterator[Sums]:
        """Tabulate the scores if there is no axis."""
        return alone(state.ranks or RankAxis.of(Tabulate.cpu(block, state.scores, 0.0)))

    def gpu(self, block: GPUBlock, given, state: GPUState) -> Iterator[Sums]:
        """Tabulate the scores if there is no axis."""
        return alone(state.ranks or RankAxis.of(Tabulate.gpu(block, state.scores, 0.0)))


class RankedQuality(Pass):
    """The quality from ranks: blocks return the weight of each class in each place.

    The sums of the rows in the loss come first, those of the rows held out second if there are any.
    """

    @property
    def before(self) -> FindAxis:
        return FindAxis()

    def cpu(self, block: CPUBlock, given: RankAxis, state: CPUState) -> Iterator[Sums]:
        """Add up on the threads of the block."""
        rows = state.scores, block.positive
        return alone(np.stack([rank_sums(given, *rows, w, block.run) for w in block.weightings]))

    def gpu(self, block: GPUBlock, given: RankAxis, state: GPUState) -> Iterator[Sums]:
        """Add up on the device."""
        sums = [_rank_sums_on_gpu(given, block, state.scores, w) for w in block.weightings]
        return alone(np.stack([block.fetch(part) for part in sums]))

    def finish(self, sums: Sums, given: RankAxis) -> Quality:
        """Read AUC and threshold off."""
        training, *validation = [Ranking(given.middles(), part) for part in sums[0]]
        validation_auc = validation[0].auc() if validation else None
        return Quality(training.auc(), validation_auc, training.threshold())


def _rank_sums_on_gpu(
    axis: RankAxis, block: GPUBlock, scores: torch.Tensor, weights: np.ndarray
) -> torch.Tensor:
    """Return the weight of each class in each place: `tables.rank_sums`."""
    from skauc.engines.gpu.sums import sums_by_key

    ends, shares = block.put(axis.scores), block.put(axis.shares)
    cell = ((scores - axis.first) / axis.width).clamp_(0, len(ends) - 2).int()
    start, length = ends[:-1].index_select(0, cell), ends.diff().index_select(0, cell)
    inside = ((scores - start) / length).nan_to_num_(0.0).clamp_(0, 1)
    share = shares[:-1].index_select(0, cell) + inside * shares.diff().index_select(0, cell)
    place = (share * N_PLACES).int().clamp_(max=N_PLACES - 1)
    keys = by_class(place, block.positive, N_PLACES)
    return sums_by_key(keys, block.put(weights), 2 * N_PLACES).view(2, N_PLACES)
