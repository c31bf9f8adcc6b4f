"""A block of rows: every pass over them, as sums that add up with those of other blocks.

One machine holds one block, which its threads share; a cluster holds many. What a pass returns is
either as long as the block and stays with it, or a tuple of small arrays. Tuples of several blocks
are added up place by place, and `skauc.engines.finishing` makes of the totals what was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from skauc.engines import passes, tables
from skauc.engines.finishing import Sums, add_up
from skauc.engines.threads import RowThreads
from skauc.exceptions import KERNEL_OVERFLOW, InvalidDataError
from skauc.kernels import Kernel, Rows
from skauc.losses import pairs
from skauc.scratch import ThreadBench

# Up to here float64 columns and sorted pairs cost next to nothing and are exact.
EXACT_ROWS = 10_000
# Resolution of the Hessian and of candidates' curvatures: enough for a Newton direction.
COARSE_CELLS = 512
# Rows of one pass over vectors, and numbers in one block of a pass over matrices (L2 cache).
VECTOR_BLOCK = 65_536
MATRIX_BLOCK = 1 << 18
MOST_TASKS = 64
TASK_ROWS = 8192
LEAST_TASK_ROWS = 3072
# Rows on which candidates are screened before the best of them are judged on all rows.
SCREENING_ROWS = 10_000
EVEN_SHARE = 0.3
# Rows whose mean is taken off the columns.
SHIFT_ROWS = 1024


class CompiledBench(ThreadBench):
    """Augments rows in one compiled pass."""

    augment = staticmethod(passes.augment)


# What tasks work in, an array of each name for each thread.
BENCH = CompiledBench()


def column_dtype(n_rows: int) -> np.dtype:
    """Return the type of the columns of that many rows, all blocks together."""
    return np.dtype(np.float64 if n_rows <= EXACT_ROWS else np.float32)


@dataclass(frozen=True, eq=False)
class BlockState:
    """Scores of a block's rows, and the pairs that they violate with the rows of all blocks.

    What only some callers need is made when asked for.
    """

    block: RowBlock
    scores: np.ndarray
    statistics: pairs.PairStatistics

    @property
    def loss(self) -> float:
        """The loss of all blocks."""
        return self.statistics.loss

    @cached_property
    def residual(self) -> np.ndarray:
        """Half the derivative of the loss by each score."""
        block = self.block
        return pairs.residual(
            self.statistics, self.scores, block.positive, block.weights, block.run
        )

    @cached_property
    def coarse(self) -> pairs.Cells:
        """Cells for the Hessian, few enough for two bytes a row."""
        cells = self.statistics.cells.coarsen(COARSE_CELLS)
        return replace(cells, cell=cells.cell.astype(np.int16))

    @cached_property
    def _partners(self) -> np.ndarray:
        return self.statistics.partner_weights(COARSE_CELLS)

    def curvature(self, start: int, stop: int) -> np.ndarray:
        """Return each row's weight times that of its violating partners, by the coarse cells."""
        block = self.block
        return passes.curvatures(
            self._partners, self.coarse.cell, block.positive, block.weights, start, stop
        )

    def part(self, block: RowBlock, rows: np.ndarray) -> BlockState:
        """Return the state of some of the rows, against the same pairs."""
        cells = self.statistics.cells
        cells = replace(cells, cell=cells.cell[rows])
        return BlockState(block, self.scores[rows], replace(self.statistics, cells=cells))


class RowBlock:
    """Rows, which of them are positive, what each counts, and their columns of the basis."""

    sums_above = staticmethod(pairs.sums_above)

    def __init__(
        self,
        X: Rows,
        positive: np.ndarray,
        weights: np.ndarray,
        columns: np.ndarray,
        threads: RowThreads,
    ):
        self.X, self.positive, self.weights = X, positive, weights
        self.n_rows, self.n_features = X.shape
        self.columns, self.threads = columns, threads

    def with_columns(self, columns: np.ndarray | None) -> RowBlock:
        """Return the same rows with other columns."""
        return RowBlock(self.X, self.positive, self.weights, columns, self.threads)

    def no_columns(self, capacity: int, dtype) -> np.ndarray:
        """Return room for columns."""
        return np.empty((self.n_rows, capacity), dtype)

    @property
    def dtype(self) -> np.dtype:
        """The type of the columns."""
        return self.columns.dtype

    def weigh(self, weights: np.ndarray) -> None:
        """Let rows count what these weights say."""
        self.weights = weights

    def fetch(self, values: np.ndarray) -> np.ndarray:
        """Return numbers of rows where the program that asks can read them."""
        return values

    def run(self, task: pairs.Task, n_rows: int) -> Iterator:
        """Run a pass over vectors as long as the block."""
        return self.threads.map(task, n_rows, VECTOR_BLOCK)

    def run_matrix(self, task: pairs.Task, width: int) -> Iterator:
        """Run a pass over ``width`` numbers a row."""
        n_tasks = min(_n_tasks(self.n_rows), -(-self.n_rows * max(width, 1) // MATRIX_BLOCK))
        return self.threads.map(task, self.n_rows, -(-self.n_rows // n_tasks))

    def sample(self, state: BlockState, random_state) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows that have part in the loss; return them, and weights that make up for it.

        About `SCREENING_ROWS`, as even between the classes as may be. The chance of a row is a
        mixture of its part in the derivative of the loss and of one that is the same for all.
        """
        of_class = self.positive.view(np.int8)
        steepness, n_counting = passes.steepness(state.residual, self.positive, self.weights)
        size = SCREENING_ROWS // 2
        least = EVEN_SHARE * size / np.maximum(n_counting, 1)
        growth = (1 - EVEN_SHARE) * size / np.maximum(steepness, np.finfo(np.float64).tiny)
        drawn, chances = [], []
        for start in range(0, self.n_rows, VECTOR_BLOCK):
            part = slice(start, start + VECTOR_BLOCK)
            each = growth[of_class[part]] * np.abs(state.residual[part]) + least[of_class[part]]
            each *= self.weights[part] > 0
            rows = np.flatnonzero(random_state.random_sample(len(each)) < each)
            drawn.append(start + rows)
            chances.append(np.minimum(each[rows], 1.0))
        rows = np.concatenate(drawn)
        return rows, self.weights[rows] / np.concatenate(chances)

    def part(self, rows: np.ndarray, weights: np.ndarray, n_columns: int) -> RowBlock:
        """Return some rows, with weights of their own and a copy of their first columns."""
        columns = np.ascontiguousarray(self.columns[rows, :n_columns])
        return RowBlock(self.X[rows], self.positive[rows], weights, columns, self.threads)

    # -- columns -----------------------------------------------------------------------------

    def column(self, kernel: Kernel, centre: Rows) -> np.ndarray:
        """Return k(., centre)."""
        out = np.empty(self.n_rows)
        columns = kernel.columns(centre, self.columns.dtype, BENCH)
        width = self.n_features + 2

        def fill(start, stop):
            for rows in _cache_blocks(start, stop, width):
                out[rows] = columns(self.X[rows])[:, 0]

        list(self.run_matrix(fill, width))
        return out

    def set_column(self, column: np.ndarray, projection: np.ndarray, norm: float) -> None:
        """Make the column after those of the projection (column - Phi projection) / norm."""
        size = len(projection)

        def orthonormalise(start, stop):
            explained = np.empty(stop - start)
            passes.multiply(self.columns[start:stop], projection, 0, stop - start, explained)
            self.columns[start:stop, size] = (column[start:stop] - explained) / norm

        list(self.run_matrix(orthonormalise, size + 1))

    def set_linear(self, first: int, origin: np.ndarray, scale: float) -> None:
        """Make as many columns as features, from the given one on, scale * (x - origin)."""
        last = first + self.n_features

        def fill(start, stop):
            for rows in _cache_blocks(start, stop, self.n_features):
                self.columns[rows, first:last] = (_dense(self.X[rows]) - origin) * scale

        list(self.run_matrix(fill, self.n_features))

    def set_expansion(
        self, first: int, kernel: Kernel, centres: Rows, transform: np.ndarray
    ) -> None:
        """Make the columns from the given one on K_.Z transform."""
        last = first + transform.shape[1]
        columns = kernel.columns(centres, self.columns.dtype, BENCH)
        transform = transform.astype(self.columns.dtype)
        width = self.n_features + 2 * transform.shape[1]

        def fill(start, stop):
            for rows in _cache_blocks(start, stop, width):
                np.matmul(columns(self.X[rows]), transform, out=self.columns[rows, first:last])

        list(self.run_matrix(fill, width))

    def shift(self, n_columns: int) -> np.ndarray:
        """Return a constant to take off each column, in the sums of all blocks the same.

        It changes nothing in exact arithmetic, because the loss ignores constants, and spares
        float32 products a cancellation.
        """
        return self.columns[:SHIFT_ROWS, :n_columns].mean(axis=0)

    # -- scores ------------------------------------------------------------------------------

    def state(self, scores: np.ndarray) -> BlockState:
        """Return the state of scores, where this block holds all rows."""
        if not np.isfinite(scores).all():
            raise InvalidDataError(KERNEL_OVERFLOW)
        if self.dtype == np.float64:
            cells = pairs.sorted_cells(scores, self.positive)
        else:
            cells = pairs.binned_cells(scores, self.positive, run=self.run)
        statistics = pairs.pair_statistics(scores, self.positive, self.weights, cells, self.run)
        return BlockState(self, scores, statistics)

    def shared_state(self, scores: np.ndarray, shared: tables.SharedStatistics) -> BlockState:
        """Return the state of scores against the rows of all blocks."""
        return BlockState(self, scores, shared.of_block(scores, self.positive, self.run))

    def tabulate(self, scores: np.ndarray, origin: float) -> tables.ScoreTable:
        """Return the table of the scores, to be added to those of other blocks."""
        return tables.score_table(scores, self.positive, self.weights, origin, self.run)

    def rank_sums(self, axis: tables.RankAxis, scores: np.ndarray, weights) -> np.ndarray:
        """Return the weight of each class in each place of an axis."""
        return tables.rank_sums(axis, scores, self.positive, weights, self.run)

    # -- products ----------------------------------------------------------------------------

    def direction(self, weights: np.ndarray) -> np.ndarray:
        """Return Phi w."""
        out = np.empty(self.n_rows)

        def multiply(start, stop):
            passes.multiply(self.columns, weights, start, stop, out)

        list(self.run_matrix(multiply, len(weights)))
        return out

    def transposed_product(self, values: np.ndarray, size: int) -> np.ndarray:
        """Return the sums Phi^T values over the first ``size`` columns."""

        def multiply(start, stop):
            out = np.zeros(size)
            passes.add_transposed(self.columns, values, start, stop, out)
            return out

        return sum(self.run_matrix(multiply, size))

    def line_sums(self, state: BlockState, line: np.ndarray) -> np.ndarray:
        """Return the sums of a line by class and coarse cell."""
        return pairs.sums_by_cell(
            state.coarse, self.positive, self.weights, line[:, None], self.run
        )

    def curve(self, state: BlockState, line: np.ndarray, tables: np.ndarray) -> np.ndarray:
        """Return half the Hessian times a line, given its `pairs.partner_sums`."""
        return pairs.finish_product(
            tables,
            state.coarse,
            self.positive,
            self.weights,
            state.curvature(0, self.n_rows),
            line[:, None],
            self.run,
        )[:, 0]

    # -- sums for the derivatives ------------------------------------------------------------

    def hessian_sums(self, state: BlockState, size: int, shift: np.ndarray) -> Sums:
        """Return the sums of L phi phi^T over the rows that violate, and of phi by cell."""
        cells = state.coarse

        def accumulate(start, stop):
            squares, sums = np.zeros((size, size)), np.zeros((2, cells.n_cells, size))
            curvature = state.curvature(start, stop)
            active = np.flatnonzero(curvature)
            for part in _cache_blocks(0, len(active), size):
                rows, roots = start + active[part], np.sqrt(curvature[active[part]])
                block = self._packed(rows, shift, roots, cells, sums)
                squares += block.T @ block
            return squares, sums

        return add_up(self.run_matrix(accumulate, size))

    def candidate_sums(
        self,
        state: BlockState,
        curved: BlockState,
        kernel: Kernel,
        centres: Rows,
        shift: np.ndarray,
    ) -> Sums:
        """Stream the candidates' columns once; rows without a violating partner are not visited."""
        n_centres, n_columns, cells = centres.shape[0], len(shift), curved.coarse
        columns = kernel.columns(centres, self.columns.dtype, BENCH)
        residual = state.residual
        width = n_centres + n_columns + self.n_features + 2

        def accumulate(start, stop):
            sums = np.zeros((2, cells.n_cells, n_centres))
            basis_sums = np.zeros((2, cells.n_cells, n_columns))
            slopes, squares = np.zeros(n_centres), np.zeros(n_centres)
            cross = np.zeros((n_columns, n_centres))
            curvature = curved.curvature(start, stop)
            active = np.flatnonzero((residual[start:stop] != 0) | (curvature != 0))
            for part in _cache_blocks(0, len(active), width):
                rows, curves = start + active[part], curvature[active[part]]
                block = columns(self._take(rows))
                passes.add_candidates(
                    block,
                    rows,
                    self.positive,
                    self.weights,
                    cells.cell,
                    residual,
                    curves,
                    sums,
                    slopes,
                    squares,
                )
                if n_columns:
                    basis = self._packed(rows, shift, curves, cells, basis_sums)
                    cross += basis.T @ block
            return sums, basis_sums, slopes, squares, cross

        return add_up(self.run_matrix(accumulate, width))

    def _packed(self, rows, shift, factors, cells: pairs.Cells, sums) -> np.ndarray:
        """Return the columns of some rows, less a shift and times factors; add them to cells."""
        packed = self._array("packed", len(rows), len(shift))
        passes.pack(
            self.columns,
            rows,
            shift,
            factors,
            self.positive,
            self.weights,
            cells.cell,
            sums,
            packed,
        )
        return packed

    def moment_sums(
        self, state: BlockState, size: int, origin: np.ndarray, weights: np.ndarray
    ) -> Sums:
        """Return the sums of r phi x, r phi and r f x^2, with f = phi w, x measured from origin.

        Only as many columns count as there are weights, the last of the first ``size``.
        """
        n_centres, n_features = len(weights), self.n_features
        residual = state.residual

        def accumulate(start, stop):
            first, total = np.zeros((n_centres, n_features)), np.zeros(n_centres)
            second = np.zeros(n_features)
            active = start + np.flatnonzero(residual[start:stop])
            for part in _cache_blocks(0, len(active), n_centres + n_features):
                rows = active[part]
                block = self._array("packed", len(rows), n_centres)
                moved = self._array("moved", len(rows), n_features)
                slopes = np.empty(len(rows))
                passes.pack_slopes(
                    self.columns, size - n_centres, rows, residual, weights, block, total, slopes
                )
                passes.pack_rows(*self._readable(rows), origin, slopes, moved, second)
                first += block.T @ moved
            return first, total, second

        return add_up(self.run_matrix(accumulate, n_centres + 2 * n_features))

    def _array(self, name: str, n_rows: int, width: int) -> np.ndarray:
        """Return an array for a part of a task, which lasts until the next of its name."""
        return BENCH.array(name, (n_rows, width), self.columns.dtype)

    def _take(self, rows: np.ndarray) -> Rows:
        """Return some rows; they last until the next are taken."""
        if sparse.issparse(self.X):
            return self.X[rows]
        taken = BENCH.array("rows", (len(rows), self.n_features), self.X.dtype)
        # NumPy's own would first copy all rows where they are not contiguous.
        passes.take(self.X, rows, taken)
        return taken

    def _readable(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a dense array and where in it the rows are."""
        if sparse.issparse(self.X):
            return self.X[rows].toarray(), np.arange(len(rows))
        return self.X, rows


def _n_tasks(n_rows: int) -> int:
    """Return into how many tasks a pass over that many rows is cut, an even number or one.

    The result of a task can be a table over the cells: it is to be small against the task's rows,
    and two small tasks are worth it.
    """
    n_tasks = max(n_rows // TASK_ROWS, min(n_rows // LEAST_TASK_ROWS, 2), 1)
    return min(n_tasks - n_tasks % 2 if n_tasks > 1 else 1, MOST_TASKS)


def _cache_blocks(start: int, stop: int, width: int) -> Iterator[slice]:
    """Cut a range of rows into slices whose blocks of ``width`` numbers fit the L2 cache."""
    block_rows = max(MATRIX_BLOCK // (2 * max(width, 1)), 64)
    for first in range(start, stop, block_rows):
        yield slice(first, min(first + block_rows, stop))


def _dense(rows: Rows) -> np.ndarray:
    return rows.toarray() if sparse.issparse(rows) else rows
