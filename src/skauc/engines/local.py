"""The engine of one block: what a processor and a GPU do alike with all rows in one place."""

from __future__ import annotations

import numpy as np

from skauc.data.training import TrainingData
from skauc.engines import finishing
from skauc.engines.base import CandidateSlopes, Chosen, Engine, KernelMoments, Quality
from skauc.engines.block import BlockState, RowBlock
from skauc.engines.tables import RankAxis, Ranking
from skauc.kernels import Kernel, Rows
from skauc.losses import pairs
from skauc.metrics.area import auc_of, threshold_of, weighted_auc
from skauc.metrics.sorted_scores import SortedScores, sort_scores

# Rows up to which AUC and threshold are found by sorting the scores.
MOST_SORTED = 1 << 18


class LocalEngine(Engine):
    """Passes of one block, finished here; whoever inherits it says where the block is."""

    def __init__(self, data: TrainingData, block: RowBlock):
        self.n_rows, self.n_features = data.X.shape
        self._data, self.block = data, block
        self.size = 0
        self.hold_out(None)

    @property
    def precision(self) -> float:
        return float(np.finfo(self.block.dtype).eps)

    def rows(self, indices: np.ndarray) -> Rows:
        return self._data.X[indices]

    def hold_out(self, chosen: Chosen | None) -> None:
        weights, self._held_out = self._data.weights, None
        if chosen is not None:
            held_out = chosen(self._data)
            weights, self._held_out = weights * ~held_out, np.flatnonzero(held_out)
        self.block.weigh(weights)
        self._weights = weights
        self.positive_weight = float(weights[self._data.positive].sum())
        self.negative_weight = float(weights.sum()) - self.positive_weight
        self.n_counting = int(np.count_nonzero(weights))
        is_whole = self.n_counting == self.n_rows
        self._counting = None if is_whole else np.flatnonzero(weights)

    def find(self, places: np.ndarray) -> np.ndarray:
        return places if self._counting is None else self._counting[places]

    # -- columns -----------------------------------------------------------------------------

    def column(self, kernel: Kernel, centre: Rows) -> np.ndarray:
        return self.block.column(kernel, centre)

    def append(
        self, kernel: Kernel, centre: Rows, projection: np.ndarray, norm: float
    ) -> np.ndarray:
        column = self.block.column(kernel, centre)
        self.block.set_column(column, projection, norm)
        self.size = len(projection) + 1
        return column

    def append_linear(self, origin: np.ndarray, scale: float) -> None:
        self.block.set_linear(self.size, origin, scale)
        self.size += self.n_features

    def replace(self, kernel: Kernel, centres: Rows, transform: np.ndarray, n_kept: int) -> None:
        self.block.set_expansion(n_kept, kernel, centres, transform)
        self.size = n_kept + transform.shape[1]

    def resize(self, size: int) -> None:
        self.size = size

    def direction(self, weights: np.ndarray) -> np.ndarray:
        return self.block.direction(weights)

    # -- scores and pairs --------------------------------------------------------------------

    def at(self, weights: np.ndarray) -> BlockState:
        return self.block.state(self.direction(weights))

    def step(self, state: BlockState, line: np.ndarray, length: float) -> BlockState:
        scores = length * line
        scores += state.scores
        return self.block.state(scores)

    def gradient(self, state: BlockState) -> np.ndarray:
        return self.block.transposed_product(state.residual, self.size)

    def hessian_product(self, state: BlockState, weights: np.ndarray) -> np.ndarray:
        curved = self._curve(state, self.direction(weights))
        return self.block.transposed_product(curved, self.size)

    def line_slopes(self, state: BlockState, line: np.ndarray) -> tuple[float, float]:
        return float(state.residual @ line), float(self._curve(state, line) @ line)

    def _curve(self, state: BlockState, line: np.ndarray) -> np.ndarray:
        tables = pairs.partner_sums(self.block.line_sums(state, line))
        return self.block.curve(state, line, tables)

    def hessian(self, state: BlockState) -> np.ndarray:
        block = self.block
        found = block.hessian_sums(state, self.size, block.shift(self.size))
        return block.fetch(finishing.finish_hessian(*found, sums_above=block.sums_above))

    def candidate_slopes(
        self, state: BlockState, curved: BlockState, kernel: Kernel, centres: Rows, n_columns: int
    ) -> CandidateSlopes:
        block = self.block
        found = block.candidate_sums(state, curved, kernel, centres, block.shift(n_columns))
        along = finishing.finish_candidates(*found, sums_above=block.sums_above)
        return CandidateSlopes(*map(block.fetch, vars(along).values()))

    def kernel_moments(
        self, state: BlockState, origin: np.ndarray, factor: np.ndarray, coef: np.ndarray
    ) -> KernelMoments:
        found = self.block.moment_sums(state, self.size, origin, factor.T @ coef)
        return finishing.finish_moments(*found, origin, factor, coef)

    # -- summaries ---------------------------------------------------------------------------

    def quality(self, state: BlockState) -> Quality:
        table = self._table(state.scores)
        return Quality(auc_of(table), self._validation_auc(state), threshold_of(table))

    def _validation_auc(self, state: BlockState) -> float | None:
        if self._held_out is None:
            return None
        rows, data = self._held_out, self._data
        scores = self.block.fetch(state.scores[rows])
        return weighted_auc(scores, data.positive[rows], data.weights[rows])

    def _table(self, scores) -> SortedScores:
        """Return the scores in order; of many rows, those in one place of 65,536 count as tied."""
        block = self.block
        if self.n_rows <= MOST_SORTED:
            return sort_scores(block.fetch(scores), self._data.positive, self._weights)
        axis = RankAxis.of(block.tabulate(scores, 0.0))
        return Ranking(axis.middles(), block.rank_sums(axis, scores, self._weights)).table
