"""The CPU engine: one block of rows in memory, numba for the pairs, BLAS for the products."""

from __future__ import annotations

import numpy as np

from skauc.data.training import TrainingData
from skauc.engines import block, finishing
from skauc.engines.base import CandidateSlopes
from skauc.engines.block import BlockState, RowBlock
from skauc.engines.local import LocalEngine
from skauc.engines.threads import RowThreads
from skauc.kernels import Kernel, Rows


class CPUEngine(LocalEngine):
    """Rows stay where the user has them; columns are kept row by row in one array."""

    def __init__(
        self, data: TrainingData, *, capacity: int, n_jobs=None, n_whole: int | None = None
    ):
        self.threads = RowThreads(n_jobs)
        dtype = block.column_dtype(data.n_rows if n_whole is None else n_whole)
        rows = RowBlock(data.X, data.positive, data.weights, None, self.threads)
        self._random_state = np.random.RandomState(0)
        super().__init__(data, rows.with_columns(rows.no_columns(capacity, dtype)))

    def __enter__(self) -> CPUEngine:
        self.threads.__enter__()
        return self

    def __exit__(self, *exception) -> None:
        self.threads.__exit__(*exception)

    @property
    def screens(self) -> bool:
        return self.n_counting > 10 * block.SCREENING_ROWS

    def screening_slopes(
        self, state: BlockState, curved: BlockState, kernel: Kernel, centres: Rows, n_columns: int
    ) -> CandidateSlopes:
        rows, weights = self.block.sample(state, self._random_state)
        sample = self.block.part(rows, weights, n_columns)
        states = (one.part(sample, rows) for one in (state, curved))
        shift = self.block.shift(n_columns)
        return finishing.finish_candidates(*sample.candidate_sums(*states, kernel, centres, shift))
