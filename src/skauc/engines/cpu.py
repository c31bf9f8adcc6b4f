"""The CPU engine: columns in memory, numba for the pairs, BLAS for the products."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from sklearn.utils.random import sample_without_replacement

from skauc import pairs
from skauc.engines.base import KERNEL_OVERFLOW, CandidateSlopes, Engine, KernelMoments
from skauc.engines.threads import RowThreads
from skauc.exceptions import InvalidDataError
from skauc.kernels import Kernel, Rows
from skauc.metrics import best_threshold, weighted_auc
from skauc.validation import TrainingData

# Up to here float64 columns and sorted pairs cost next to nothing and are exact.
EXACT_ROWS = 10_000
# Resolution of the Hessian and of candidates' curvatures: enough for a Newton direction.
COARSE_CELLS = 512
# Rows of one pass over vectors, and numbers in one block of a pass over matrices (L2 cache).
VECTOR_BLOCK = 65_536
MATRIX_BLOCK = 1 << 18
MOST_TASKS = 64


@dataclass(frozen=True)
class CPUState:
    """Scores with their pair statistics; what only some callers need is made when asked for."""

    engine: CPUEngine
    scores: np.ndarray
    statistics: pairs.PairStatistics

    @property
    def loss(self) -> float:
        return self.statistics.loss

    @cached_property
    def residual(self) -> np.ndarray:
        engine = self.engine
        return pairs.residual(
            self.statistics, self.scores, engine.positive, engine.weights, engine.run
        )

    @cached_property
    def coarse(self) -> pairs.Cells:
        return self.statistics.cells.coarsen(COARSE_CELLS)

    @cached_property
    def curvature(self) -> np.ndarray:
        engine = self.engine
        return pairs.partner_weights(self.coarse, engine.positive, engine.weights, engine.run)


class CPUEngine(Engine):
    """Rows stay where the user has them; columns are kept row by row in one array."""

    def __init__(self, data: TrainingData, *, capacity: int, n_jobs=None):
        self.X = data.X
        self.positive = data.positive
        self.n_rows, self.n_features = data.X.shape
        self._all_weights = data.weights
        self.hold_out(None)
        self.exact = self.n_rows <= EXACT_ROWS
        self.columns = np.empty((self.n_rows, capacity), np.float64 if self.exact else np.float32)
        self.size = 0
        self.threads = RowThreads(n_jobs)

    def __enter__(self) -> CPUEngine:
        self.threads.__enter__()
        return self

    def __exit__(self, *exception) -> None:
        self.threads.__exit__(*exception)

    @property
    def precision(self) -> float:
        return float(np.finfo(self.columns.dtype).eps)

    def run(self, task: pairs.Task, n_rows: int) -> Iterator:
        """Run a pass over vectors as long as the data."""
        return self.threads.map(task, n_rows, VECTOR_BLOCK)

    def run_matrix(self, task: pairs.Task, width: int) -> Iterator:
        """Run a pass over ``width`` numbers a row."""
        # A task's result can be a table over the cells: keep it small against the task's rows.
        task_rows = max(MATRIX_BLOCK // max(width, 1), 8192, self.n_rows // MOST_TASKS)
        return self.threads.map(task, self.n_rows, task_rows)

    def rows(self, indices: np.ndarray) -> Rows:
        return self.X[indices]

    def hold_out(self, rows: np.ndarray | None) -> None:
        self._held_out = rows
        self.weights = self._all_weights if rows is None else self._all_weights * ~rows
        self.positive_weight = float(self.weights[self.positive].sum())
        self.negative_weight = float(self.weights.sum()) - self.positive_weight
        self.n_counting = int(np.count_nonzero(self.weights))
        is_whole = self.n_counting == self.n_rows
        self._counting = None if is_whole else np.flatnonzero(self.weights)

    def draw(self, n_rows: int, taken, random_state) -> np.ndarray:
        n_drawn = n_rows + len(taken)
        if n_drawn >= self.n_counting:
            drawn = np.arange(self.n_counting)
        else:
            drawn = sample_without_replacement(self.n_counting, n_drawn, random_state=random_state)
        indices = drawn if self._counting is None else self._counting[drawn]
        return np.sort(indices[~np.isin(indices, taken)][:n_rows])

    # -- columns -----------------------------------------------------------------------------

    def column(self, kernel: Kernel, centre: Rows) -> np.ndarray:
        out = np.empty(self.n_rows)
        columns = kernel.columns(centre, self.columns.dtype)
        width = self.n_features + 2

        def fill(start, stop):
            for rows in _cache_blocks(start, stop, width):
                out[rows] = columns(self.X[rows])[:, 0]

        list(self.run_matrix(fill, width))
        return out

    def append(
        self, kernel: Kernel, centre: Rows, projection: np.ndarray, norm: float
    ) -> np.ndarray:
        column = self.column(kernel, centre)
        size = self.size

        def orthonormalise(start, stop):
            for rows in _cache_blocks(start, stop, size + 1):
                explained = self.columns[rows, :size] @ projection
                self.columns[rows, size] = (column[rows] - explained) / norm

        list(self.run_matrix(orthonormalise, size + 1))
        self.size = size + 1
        return column

    def append_linear(self, origin: np.ndarray, scale: float) -> None:
        first, last = self.size, self.size + self.n_features

        def fill(start, stop):
            for rows in _cache_blocks(start, stop, self.n_features):
                block = self.X[rows]
                block = block.toarray() if sparse.issparse(block) else block
                self.columns[rows, first:last] = (block - origin) * scale

        list(self.run_matrix(fill, self.n_features))
        self.size = last

    def replace(self, kernel: Kernel, centres: Rows, transform: np.ndarray, n_kept: int) -> None:
        size = n_kept + transform.shape[1]
        columns = kernel.columns(centres, self.columns.dtype)
        transform = transform.astype(self.columns.dtype)
        width = self.n_features + 2 * transform.shape[1]

        def fill(start, stop):
            for rows in _cache_blocks(start, stop, width):
                self.columns[rows, n_kept:size] = columns(self.X[rows]) @ transform

        list(self.run_matrix(fill, width))
        self.size = size

    def resize(self, size: int) -> None:
        self.size = size

    def direction(self, weights: np.ndarray) -> np.ndarray:
        out = np.empty(self.n_rows)

        def multiply(start, stop):
            for rows in _cache_blocks(start, stop, len(weights)):
                out[rows] = self.columns[rows, : len(weights)] @ weights

        list(self.run_matrix(multiply, len(weights)))
        return out

    def _transposed_product(self, values: np.ndarray) -> np.ndarray:
        def multiply(start, stop):
            blocks = _cache_blocks(start, stop, self.size)
            return sum(values[rows] @ self.columns[rows, : self.size] for rows in blocks)

        return sum(self.run_matrix(multiply, self.size))

    # -- scores and pairs --------------------------------------------------------------------

    def at(self, weights: np.ndarray) -> CPUState:
        return self._state(self.direction(weights))

    def step(self, state: CPUState, line: np.ndarray, length: float) -> CPUState:
        return self._state(state.scores + length * line)

    def _state(self, scores: np.ndarray) -> CPUState:
        if not np.isfinite(scores).all():
            raise InvalidDataError(KERNEL_OVERFLOW)
        if self.exact:
            cells = pairs.sorted_cells(scores, self.positive)
        else:
            cells = pairs.binned_cells(scores, self.positive, run=self.run)
        statistics = pairs.pair_statistics(scores, self.positive, self.weights, cells, self.run)
        return CPUState(self, scores, statistics)

    def gradient(self, state: CPUState) -> np.ndarray:
        return self._transposed_product(state.residual)

    def hessian_product(self, state: CPUState, weights: np.ndarray) -> np.ndarray:
        line = self.direction(weights)
        return self._transposed_product(self._curve(state, line))

    def line_slopes(self, state: CPUState, line: np.ndarray) -> tuple[float, float]:
        line = line.astype(np.float64, copy=False)
        return float(state.residual @ line), float(self._curve(state, line) @ line)

    def _curve(self, state: CPUState, line: np.ndarray) -> np.ndarray:
        return pairs.hessian_product(
            state.coarse, self.positive, self.weights, state.curvature, line[:, None], self.run
        )[:, 0]

    def hessian(self, state: CPUState) -> np.ndarray:
        """Sum L phi phi^T over the rows that violate, less the cross terms by cells."""
        cells, curvature = state.coarse, state.curvature
        shift = self._column_shift(self.size)

        def accumulate(start, stop):
            rows = start + np.flatnonzero(curvature[start:stop])
            block = self.columns[rows, : self.size]
            block -= shift
            sums = np.zeros((2, cells.n_cells, self.size))
            self._add_to_cells(sums, block, rows, cells)
            block *= np.sqrt(curvature[rows], dtype=block.dtype)[:, None]
            return (block.T @ block).astype(np.float64), sums

        squares, sums = _add_up(self.run_matrix(accumulate, self.size))
        cross = sums[1].T @ pairs.sums_above(sums[0])
        return squares - cross - cross.T

    def candidate_slopes(
        self, state: CPUState, curved: CPUState, kernel: Kernel, centres: Rows, n_columns: int
    ) -> CandidateSlopes:
        """Stream the candidates' columns once; rows without a violating partner are not visited."""
        n_centres, cells = centres.shape[0], curved.coarse
        columns = kernel.columns(centres, self.columns.dtype)
        shift = self._column_shift(n_columns)
        residual, curvature = state.residual, curved.curvature
        width = n_centres + n_columns + self.n_features + 2

        def accumulate(start, stop):
            sums = np.zeros((2, cells.n_cells, n_centres))
            basis_sums = np.zeros((2, cells.n_cells, n_columns))
            slopes, squares = np.zeros(n_centres), np.zeros(n_centres)
            cross = np.zeros((n_columns, n_centres))
            active = (residual[start:stop] != 0) | (curvature[start:stop] != 0)
            active = start + np.flatnonzero(active)
            for part in _cache_blocks(0, len(active), width):
                rows = active[part]
                block = columns(self.X[rows])
                pairs.add_candidates(
                    block,
                    self.positive[rows],
                    self.weights[rows],
                    cells.cell[rows],
                    residual[rows],
                    curvature[rows],
                    sums,
                    slopes,
                    squares,
                )
                if n_columns:
                    basis = self.columns[rows, :n_columns]
                    basis -= shift
                    self._add_to_cells(basis_sums, basis, rows, cells)
                    basis *= curvature[rows, None].astype(basis.dtype)
                    cross += basis.T @ block
            return sums, basis_sums, slopes, squares, cross

        totals = _add_up(self.run_matrix(accumulate, width))
        sums, basis_sums, slopes, squares, cross = totals
        above, basis_above = pairs.sums_above(sums[0]), pairs.sums_above(basis_sums[0])
        squares -= 2 * np.einsum("cq,cq->q", sums[1], above)
        cross -= basis_sums[1].T @ above + basis_above.T @ sums[1]
        return CandidateSlopes(slopes, np.maximum(squares, 0.0), cross)

    def _column_shift(self, n_columns: int) -> np.ndarray:
        """Return a constant to take off each column.

        It changes nothing in exact arithmetic, because the loss ignores constants, and spares
        float32 products a cancellation.
        """
        return self.columns[:1024, :n_columns].mean(axis=0)

    def _add_to_cells(self, sums, block: np.ndarray, rows: np.ndarray, cells: pairs.Cells):
        pairs.add_by_cell(block, self.positive[rows], self.weights[rows], cells.cell[rows], sums)

    def kernel_moments(
        self, state: CPUState, origin: np.ndarray, factor: np.ndarray, coef: np.ndarray
    ) -> KernelMoments:
        """K = Phi L^T: sums over Phi are taken to sums over K in the end."""
        dtype, n_centres, n_features = self.columns.dtype, len(factor), self.n_features
        columns = self.columns[:, self.size - n_centres : self.size]
        weights = (factor.T @ coef).astype(dtype)
        residual = state.residual

        def accumulate(start, stop):
            first, total = np.zeros((n_centres, n_features)), np.zeros(n_centres)
            second = np.zeros(n_features)
            active = start + np.flatnonzero(residual[start:stop])
            for part in _cache_blocks(0, len(active), n_centres + 2 * n_features):
                rows = active[part]
                block = columns[rows]
                slopes = residual[rows].astype(dtype)
                moved = self.X[rows]
                moved = moved.toarray() if sparse.issparse(moved) else moved
                moved = (moved - origin).astype(dtype, copy=False)
                scores = block @ weights
                block *= slopes[:, None]
                first += block.T @ moved
                total += block.sum(axis=0, dtype=np.float64)
                second += (scores * slopes) @ np.square(moved, out=moved)
            return first, total, second

        first, total, second = _add_up(self.run_matrix(accumulate, n_centres + 2 * n_features))
        first, total = factor @ first, factor @ total
        return KernelMoments(origin, first * coef[:, None], total * coef, second)

    # -- summaries ---------------------------------------------------------------------------

    def auc(self, state: CPUState) -> float:
        return weighted_auc(state.scores, self.positive, self.weights)

    def validation_auc(self, state: CPUState) -> float | None:
        if self._held_out is None:
            return None
        weights = self._all_weights * self._held_out
        return weighted_auc(state.scores, self.positive, weights)

    def threshold(self, state: CPUState) -> float:
        return best_threshold(state.scores, self.positive, self.weights)


def _cache_blocks(start: int, stop: int, width: int) -> Iterator[slice]:
    """Cut a range of rows into slices whose blocks of ``width`` numbers fit the L2 cache."""
    block_rows = max(MATRIX_BLOCK // (2 * max(width, 1)), 64)
    for first in range(start, stop, block_rows):
        yield slice(first, min(first + block_rows, stop))


def _add_up(parts: Iterator[tuple[np.ndarray, ...]]) -> list[np.ndarray]:
    """Add the arrays of all tasks up, place by place and in order."""
    totals = list(next(parts))
    for part in parts:
        for total, array in zip(totals, part, strict=True):
            total += array
    return totals
