"""What workers do: the passes of `RowBlock`, as functions of values that dask keeps.

A value is never changed once a task has returned it, with two exceptions that nobody sees: a
buffer of columns has room for more, and scores remember what was derived from them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

import numpy as np
from dask.sizeof import sizeof
from scipy import sparse

from skauc.data.training import TrainingData
from skauc.engines import finishing, gpu_engine
from skauc.engines.base import CandidateSlopes
from skauc.engines.block import BlockState, RowBlock
from skauc.engines.finishing import Sums
from skauc.engines.tables import ScoreTable, SharedStatistics
from skauc.engines.threads import RowThreads
from skauc.kernels import Kernel, Rows
from skauc.losses import pairs

# Workers run one block a thread.
ONE_THREAD = RowThreads(1)
# The numbers of glibc's mallopt for these.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


@dataclass(frozen=True, eq=False)
class BlockRows:
    """The rows of a block; the weights of those in the loss, and of those held out.

    ``device`` is where workers take their blocks; None: nowhere.
    """

    data: TrainingData
    weights: np.ndarray
    held_out: np.ndarray | None
    device: str | None = None

    def __reduce__(self):
        return BlockRows, (self.data, self.weights, self.held_out, self.device)

    @property
    def counting(self) -> np.ndarray:
        """The rows that are in the loss."""
        return np.flatnonzero(self.weights)

    @cached_property
    def block(self) -> RowBlock:
        """The block of these rows without columns, where it is worked on."""
        _keep_freed_memory()
        if self.device is None:
            return RowBlock(self.data.X, self.data.positive, self.weights, None, ONE_THREAD)
        gpu = gpu_engine()
        gpu.multiply_precisely()
        return gpu.DeviceBlock(self.data, self.weights, self.device)

    def with_columns(self, columns: Columns) -> RowBlock:
        """Return the block with its columns."""
        return self.block.with_columns(columns.array)


class Buffer:
    """Room for the columns of a block, and how many of them are in use.

    The array is one of NumPy's, or a tensor where blocks are on devices.
    """

    def __init__(self, array, n_used: int):
        self.array, self.n_used = array, n_used


@dataclass(frozen=True, eq=False)
class Columns:
    """The first ``size`` columns of a buffer, which may be shared with longer ones."""

    buffer: Buffer
    size: int

    @classmethod
    def empty(cls, rows: BlockRows, capacity: int, dtype) -> Columns:
        """Return no columns, and room for some."""
        return cls(Buffer(rows.block.no_columns(capacity, dtype), 0), 0)

    @property
    def array(self):
        """The columns, and the room after them."""
        return self.buffer.array

    def extended(self, rows: BlockRows, size: int, n_more: int) -> Columns:
        """Return the first ``size`` columns with room for more, which then are in use.

        Columns that others use are left alone: where they stand in the way, all are copied.
        """
        buffer = self.buffer
        if buffer.n_used != size or buffer.array.shape[1] < size + n_more:
            room = max(buffer.array.shape[1], size + n_more)
            array = rows.block.no_columns(room, rows.with_columns(self).dtype)
            array[:, :size] = buffer.array[:, :size]
            buffer = Buffer(array, size)
        buffer.n_used = size + n_more
        return Columns(buffer, size + n_more)


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of a block, and the states that were made of them."""

    values: np.ndarray
    _states: dict = field(default_factory=dict, repr=False)

    def __reduce__(self):
        return Scores, (self.values,)

    def state(self, rows: BlockRows, shared: SharedStatistics) -> BlockState:
        """Return the state, from memory if it was asked for before."""
        known = self._states.get("state")
        if known is not None and known[0] is rows and known[1] is shared:
            return known[2]
        # Without its columns, which would be kept as long as the scores are.
        state = rows.block.shared_state(self.values, shared)
        self._states["state"] = rows, shared, state
        return state


@sizeof.register(sparse.csr_array)
def _size_of_sparse(rows: sparse.csr_array) -> int:
    return rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes


@sizeof.register(TrainingData)
def _size_of_data(data: TrainingData) -> int:
    return sizeof(data.X) + sizeof(data.positive) + sizeof(data.weights) + sizeof(data.numbering)


@sizeof.register(BlockRows)
def _size_of_rows(rows: BlockRows) -> int:
    return sizeof(rows.data) + sizeof(rows.weights)


@sizeof.register(Columns)
def _size_of_columns(columns: Columns) -> int:
    return columns.array.nbytes


@sizeof.register(Scores)
def _size_of_scores(scores: Scores) -> int:
    return scores.values.nbytes


@sizeof.register(ScoreTable)
def _size_of_table(table: ScoreTable) -> int:
    return table.moments.nbytes


@sizeof.register(SharedStatistics)
def _size_of_statistics(shared: SharedStatistics) -> int:
    statistics = shared.statistics
    tables = statistics.negatives_above, statistics.positives_below, shared.ranks.scores
    return sum(table.nbytes for table in tables)


# -- rows ------------------------------------------------------------------------------------


def apply(data: TrainingData, *, function: Callable, arguments: tuple):
    """Return ``function(data, *arguments)``."""
    return function(data, *arguments)


def transform(data: TrainingData, *, function: Callable) -> TrainingData:
    """Return the rows with other features."""
    return data.transformed(function)


def take(data: TrainingData, *, chosen: Callable) -> TrainingData:
    """Return some rows."""
    return data.take(chosen)


def without(data: TrainingData, *, chosen: Callable) -> TrainingData:
    """Return the rows with no weight for those chosen; places stay what they were."""
    return replace(data, weights=data.weights * ~chosen(data), numbering=data.numbers)


def hold_out(data: TrainingData, *, chosen: Callable | None, device: str | None) -> BlockRows:
    """Return the rows with those held out set apart."""
    if chosen is None:
        return BlockRows(data, data.weights, None, device)
    held_out = chosen(data)
    return BlockRows(data, data.weights * ~held_out, data.weights * held_out, device)


def count_rows(rows: BlockRows) -> tuple[int, float, float]:
    """Return how many rows are in the loss, and what the positives and all of them weigh."""
    positive = float(rows.weights[rows.data.positive].sum())
    return len(rows.counting), positive, float(rows.weights.sum())


def find_rows(rows: BlockRows, places: np.ndarray) -> tuple[np.ndarray, Rows]:
    """Return the numbers of the rows in these places among those in the loss, and the rows."""
    found = rows.counting[places]
    return rows.data.row_numbers[found], rows.data.X[found]


def pick_rows(rows: BlockRows, places: np.ndarray) -> Rows:
    """Return the rows in these places of the block."""
    return rows.data.X[places]


# -- columns ---------------------------------------------------------------------------------


def no_columns(rows: BlockRows, *, capacity: int, dtype) -> Columns:
    """Return room for columns."""
    return Columns.empty(rows, capacity, dtype)


def append_column(
    rows: BlockRows, columns: Columns, *, kernel: Kernel, centre: Rows, projection, norm: float
) -> Columns:
    """Return the columns with one more."""
    extended = columns.extended(rows, len(projection), 1)
    block = rows.with_columns(extended)
    block.set_column(block.column(kernel, centre), projection, norm)
    return extended


def append_linear(rows: BlockRows, columns: Columns, *, size: int, origin, scale) -> Columns:
    """Return the columns with those of the linear term."""
    extended = columns.extended(rows, size, rows.data.n_features)
    rows.with_columns(extended).set_linear(size, origin, scale)
    return extended


def expand(
    rows: BlockRows, *, capacity: int, dtype, linear, kernel: Kernel, centres: Rows, transform
) -> Columns:
    """Return the columns of the linear term, if any, and after them K_.Z transform."""
    columns = Columns.empty(rows, capacity, dtype)
    if linear is not None:
        columns = append_linear(rows, columns, size=0, origin=linear[0], scale=linear[1])
    extended = columns.extended(rows, columns.size, transform.shape[1])
    rows.with_columns(extended).set_expansion(columns.size, kernel, centres, transform)
    return extended


def find_shift(columns: Columns, rows: BlockRows, *, size: int) -> np.ndarray:
    """Return the constants to take off the columns."""
    return rows.with_columns(columns).shift(size)


# -- lines and scores ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Product:
    """The line Phi w."""

    weights: np.ndarray

    def values(self, block: RowBlock) -> np.ndarray:
        """Return it for the rows of a block."""
        return block.direction(self.weights)


@dataclass(frozen=True, eq=False)
class KernelColumn:
    """The line k(., centre)."""

    kernel: Kernel
    centre: Rows

    def values(self, block: RowBlock) -> np.ndarray:
        """Return it for the rows of a block."""
        return block.column(self.kernel, self.centre)


def score(rows: BlockRows, columns: Columns, *, line) -> Scores:
    """Return the scores along a line from zero."""
    return Scores(line.values(rows.with_columns(columns)))


def step(rows: BlockRows, columns: Columns, scores: Scores, *, line, length: float) -> Scores:
    """Return the scores moved along a line."""
    return Scores(scores.values + length * line.values(rows.with_columns(columns)))


def tabulate(rows: BlockRows, scores: Scores, *, origin: float) -> ScoreTable:
    """Return the table of a block's scores."""
    with np.errstate(over="ignore", invalid="ignore"):
        return rows.block.tabulate(scores.values, origin)


def rank(rows: BlockRows, scores: Scores, *, shared: SharedStatistics) -> np.ndarray:
    """Return the weight by place of the rows in the loss and, after it, of those held out."""
    parts = [rows.weights] if rows.held_out is None else [rows.weights, rows.held_out]
    return np.stack([rows.block.rank_sums(shared.ranks, scores.values, part) for part in parts])


# -- derivatives -----------------------------------------------------------------------------


def gradient(
    rows: BlockRows, columns: Columns, scores: Scores, *, shared: SharedStatistics, size: int
) -> np.ndarray:
    """Return the sums Phi^T r."""
    block = rows.with_columns(columns)
    return block.transposed_product(scores.state(rows, shared).residual, size)


def hessian(
    rows: BlockRows, columns: Columns, scores: Scores, *, shared: SharedStatistics, size, shift
) -> Sums:
    """Return the sums of `RowBlock.hessian_sums`."""
    block = rows.with_columns(columns)
    return _fetched(block, block.hessian_sums(scores.state(rows, shared), size, shift))


def line_sums(
    rows: BlockRows, columns: Columns, scores: Scores, *, shared: SharedStatistics, line
) -> np.ndarray:
    """Return the sums of a line by class and coarse cell."""
    block = rows.with_columns(columns)
    return block.line_sums(scores.state(rows, shared), line.values(block))


def line_product(
    rows: BlockRows,
    columns: Columns,
    scores: Scores,
    *,
    shared: SharedStatistics,
    line,
    tables: np.ndarray,
    size: int,
) -> np.ndarray:
    """Return the sums Phi^T H line, with H half the Hessian by the scores."""
    block = rows.with_columns(columns)
    curved = block.curve(scores.state(rows, shared), line.values(block), tables)
    return block.transposed_product(curved, size)


def slopes_along(
    rows: BlockRows,
    columns: Columns,
    scores: Scores,
    *,
    shared: SharedStatistics,
    line,
    tables: np.ndarray,
) -> np.ndarray:
    """Return half the slope and half the curvature along a line."""
    block = rows.with_columns(columns)
    state, values = scores.state(rows, shared), line.values(block)
    curved = block.curve(state, values, tables)
    return np.array([float(state.residual @ values), float(curved @ values)])


def candidates(
    rows: BlockRows,
    columns: Columns,
    scores: Scores,
    curved_scores: Scores,
    *,
    shared: SharedStatistics,
    curved: SharedStatistics,
    kernel: Kernel,
    centres: Rows,
    shift: np.ndarray,
) -> Sums:
    """Return the sums of `RowBlock.candidate_sums`."""
    block = rows.with_columns(columns)
    states = scores.state(rows, shared), curved_scores.state(rows, curved)
    return _fetched(block, block.candidate_sums(*states, kernel, centres, shift))


def moments(
    rows: BlockRows,
    columns: Columns,
    scores: Scores,
    *,
    shared: SharedStatistics,
    size: int,
    origin: np.ndarray,
    weights: np.ndarray,
) -> Sums:
    """Return the sums of `RowBlock.moment_sums`."""
    block = rows.with_columns(columns)
    return block.moment_sums(scores.state(rows, shared), size, origin, weights)


def _fetched(block: RowBlock, sums: tuple) -> Sums:
    return tuple(map(block.fetch, sums))


def finish_hessian(sums: Sums) -> np.ndarray:
    """Return half the Hessian, from the sums of all blocks."""
    return finishing.finish_hessian(*sums)


def finish_candidates(sums: Sums) -> CandidateSlopes:
    """Return slopes and curvatures, from the sums of all blocks."""
    return finishing.finish_candidates(*sums)


def finish_partners(sums: np.ndarray) -> np.ndarray:
    """Return the tables in which rows look their partners up."""
    return pairs.partner_sums(sums)


@cache
def _keep_freed_memory() -> None:
    """Let the C library of a worker keep freed blocks of up to some megabytes for the next pass.

    dask starts workers with MALLOC_TRIM_THRESHOLD_, by which every such block goes back to the
    system and comes again page by page: half of the time of a pass. The 64 MB kept are little
    against the columns. Where the library is not glibc there is nothing to do.
    """
    with suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, 16 << 20)
        library.mallopt(_TRIM_THRESHOLD, 64 << 20)
