"""The score range pass: the lowest and the highest score of each class.

    lowest[c] = min f_i,    highest[c] = max f_i    over the rows i of class c that are in the loss

The negative class comes first. A class without rows in the loss has the range (inf, -inf).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skauc.compiling import compiled
from skauc.engines.passes.base import Pass, Sums, alone

if TYPE_CHECKING:
    from skauc.engines.blocks.cpu import CPUBlock
    from skauc.engines.blocks.gpu import GPUBlock
    from skauc.engines.passes.state import CPUState, GPUState


@dataclass(frozen=True)
class ScoreRange:
    """The lowest and the highest score of the negative and of the positive class."""

    lowest: np.ndarray
    highest: np.ndarray


class FindScoreRange(Pass):
    """The range of the scores of each class, over the rows in the loss."""

    def cpu(self, block: CPUBlock, given, state: CPUState) -> Iterator[Sums]:
        """One loop per task."""

        def find(start, stop):
            ends = np.full(2, np.inf), np.full(2, -np.inf)
            _extend(state.scores, block.positive, block.weights, start, stop, *ends)
            return ends

        return block.run(find, block.n_rows)

    def gpu(self, block: GPUBlock, given, state: GPUState) -> Iterator[Sums]:
        """Mask the other rows."""
        lowest, highest = [], []
        for of_class in (~block.positive, block.positive):
            others = ~of_class | (block.weights == 0)
            lowest.append(state.scores.masked_fill(others, np.inf).amin().item())
            highest.append(state.scores.masked_fill(others, -np.inf).amax().item())
        return alone(np.array(lowest), np.array(highest))

    @staticmethod
    def add(totals: Sums, part: Sums) -> None:
        """Extend the ranges."""
        np.minimum(totals[0], part[0], out=totals[0])
        np.maximum(totals[1], part[1], out=totals[1])

    def finish(self, sums: Sums, given) -> ScoreRange:
        """Name the two."""
        return ScoreRange(*sums)


@compiled
def _extend(scores, positive, weights, start, stop, lowest, highest):
    for i in range(start, stop):
        if weights[i] > 0:
            side = 1 if positive[i] else 0
            lowest[side] = min(lowest[side], scores[i])
            highest[side] = max(highest[side], scores[i])
