"""The CPU engine: one block of rows in memory, numba for the pairs, BLAS for the products."""

from __future__ import annotations

import numpy as np

from skauc import pairs
from skauc.engines import block, tables
from skauc.engines.base import KERNEL_OVERFLOW, CandidateSlopes, Chosen, Engine, KernelMoments
from skauc.engines.block import BlockState, RowBlock
from skauc.engines.tables import RankAxis, Ranking, rank_sums
from skauc.engines.threads import RowThreads
from skauc.exceptions import InvalidDataError
from skauc.kernels import Kernel, Rows
from skauc.metrics import ScoreTable, auc_of, score_table, threshold_of, weighted_auc
from skauc.validation import TrainingData

# Rows up to which AUC and threshold are found by sorting the scores.
MOST_SORTED = 1 << 18


class CPUEngine(Engine):
    """Rows stay where the user has them; columns are kept row by row in one array."""

    def __init__(
        self, data: TrainingData, *, capacity: int, n_jobs=None, n_whole: int | None = None
    ):
        self.n_rows, self.n_features = data.X.shape
        self._data = data
        self.threads = RowThreads(n_jobs)
        dtype = block.column_dtype(self.n_rows if n_whole is None else n_whole)
        columns = np.empty((self.n_rows, capacity), dtype)
        self.block = RowBlock(data.X, data.positive, data.weights, columns, self.threads)
        self.exact = columns.dtype == np.float64
        self.size = 0
        self._random_state = np.random.RandomState(0)
        self.hold_out(None)

    def __enter__(self) -> CPUEngine:
        self.threads.__enter__()
        return self

    def __exit__(self, *exception) -> None:
        self.threads.__exit__(*exception)

    @property
    def precision(self) -> float:
        return float(np.finfo(self.block.columns.dtype).eps)

    def rows(self, indices: np.ndarray) -> Rows:
        return self.block.X[indices]

    def hold_out(self, chosen: Chosen | None) -> None:
        weights, self._held_out = self._data.weights, None
        if chosen is not None:
            held_out = chosen(self._data)
            weights, self._held_out = weights * ~held_out, np.flatnonzero(held_out)
        self.block.weights = weights
        self._sorted: tuple[BlockState, ScoreTable] | None = None
        self.positive_weight = float(weights[self.block.positive].sum())
        self.negative_weight = float(weights.sum()) - self.positive_weight
        self.n_counting = int(np.count_nonzero(weights))
        is_whole = self.n_counting == self.n_rows
        self._counting = None if is_whole else np.flatnonzero(weights)

    def find(self, places: np.ndarray) -> np.ndarray:
        return places if self._counting is None else self._counting[places]

    @property
    def screens(self) -> bool:
        return self.n_counting > 10 * block.SCREENING_ROWS

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
        return self._state(self.direction(weights))

    def step(self, state: BlockState, line: np.ndarray, length: float) -> BlockState:
        scores = length * line
        scores += state.scores
        return self._state(scores)

    def _state(self, scores: np.ndarray) -> BlockState:
        if not np.isfinite(scores).all():
            raise InvalidDataError(KERNEL_OVERFLOW)
        positive, weights, run = self.block.positive, self.block.weights, self.block.run
        if self.exact:
            cells = pairs.sorted_cells(scores, positive)
        else:
            cells = pairs.binned_cells(scores, positive, run=run)
        statistics = pairs.pair_statistics(scores, positive, weights, cells, run)
        return BlockState(self.block, scores, statistics)

    def gradient(self, state: BlockState) -> np.ndarray:
        return self.block.transposed_product(state.residual, self.size)

    def hessian_product(self, state: BlockState, weights: np.ndarray) -> np.ndarray:
        curved = self._curve(state, self.direction(weights))
        return self.block.transposed_product(curved, self.size)

    def line_slopes(self, state: BlockState, line: np.ndarray) -> tuple[float, float]:
        line = line.astype(np.float64, copy=False)
        return float(state.residual @ line), float(self._curve(state, line) @ line)

    def _curve(self, state: BlockState, line: np.ndarray) -> np.ndarray:
        tables = pairs.partner_sums(self.block.line_sums(state, line))
        return self.block.curve(state, line, tables)

    def hessian(self, state: BlockState) -> np.ndarray:
        sums = self.block.hessian_sums(state, self.size, self.block.shift(self.size))
        return block.finish_hessian(*sums)

    def candidate_slopes(
        self, state: BlockState, curved: BlockState, kernel: Kernel, centres: Rows, n_columns: int
    ) -> CandidateSlopes:
        shift = self.block.shift(n_columns)
        sums = self.block.candidate_sums(state, curved, kernel, centres, shift)
        return block.finish_candidates(*sums)

    def screening_slopes(
        self, state: BlockState, curved: BlockState, kernel: Kernel, centres: Rows, n_columns: int
    ) -> CandidateSlopes:
        rows, weights = self.block.sample(state, self._random_state)
        sample = self.block.part(rows, weights, n_columns)
        states = (one.part(sample, rows) for one in (state, curved))
        shift = self.block.shift(n_columns)
        return block.finish_candidates(*sample.candidate_sums(*states, kernel, centres, shift))

    def kernel_moments(
        self, state: BlockState, origin: np.ndarray, factor: np.ndarray, coef: np.ndarray
    ) -> KernelMoments:
        sums = self.block.moment_sums(state, self.size, origin, factor.T @ coef)
        return block.finish_moments(*sums, origin, factor, coef)

    # -- summaries ---------------------------------------------------------------------------

    def auc(self, state: BlockState) -> float:
        return auc_of(self._table(state))

    def validation_auc(self, state: BlockState) -> float | None:
        if self._held_out is None:
            return None
        rows = self._held_out
        return weighted_auc(state.scores[rows], self.block.positive[rows], self._data.weights[rows])

    def threshold(self, state: BlockState) -> float:
        return threshold_of(self._table(state))

    def _make_table(self, scores: np.ndarray) -> ScoreTable:
        """Return the scores in order; of many rows, those in one place of 65,536 count as tied."""
        rows = self.block.positive, self.block.weights
        if self.n_rows <= MOST_SORTED:
            return score_table(scores, *rows)
        axis = RankAxis.of(tables.score_table(scores, *rows, 0.0, self.block.run))
        sums = rank_sums(axis, scores, *rows, self.block.run)
        return Ranking(axis.middles(), sums).table

    def _table(self, state: BlockState) -> ScoreTable:
        """Return the ordered scores of a state; for the second of two questions, from memory.

        Kept any longer they, and the state, would be as large as a dozen columns.
        """
        if self._sorted is not None and self._sorted[0] is state:
            table, self._sorted = self._sorted[1], None
        else:
            table = self._make_table(state.scores)
            self._sorted = state, table
        return table
