"""What workers do: functions of values that dask keeps.

A value is not changed once a task has returned it, with two exceptions that nobody sees: a buffer
of columns has room for more, and scores remember what was derived from them.
"""

from __future__ import annotations

import copy
import ctypes
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from dask.sizeof import sizeof
from scipy import sparse

from skauc.data.training import TrainingData
from skauc.engines import gpu_engine
from skauc.engines.blocks.base import Block, Line, NewColumns
from skauc.engines.passes.base import Pass
from skauc.engines.passes.state import BlockState, ShareState, Tabulate, version
from skauc.engines.policy import SizePolicy
from skauc.engines.tables import ScoreTable, SharedStatistics
from skauc.kernels import Rows
from skauc.support import cached_property, quiet_overflow
from skauc.threads import RowThreads

# Workers run one block per thread.
ONE_THREAD = RowThreads(1)
# The numbers of these options in glibc's mallopt.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


@dataclass(frozen=True, eq=False)
class BlockRows:
    """The rows of a block, with the weights of those in the loss and of those held out.

    ``device`` is the device that workers take their blocks to, None for the CPU.
    """

    data: TrainingData
    policy: SizePolicy
    weights: np.ndarray
    held_out: np.ndarray | None
    device: str | None = None

    def __reduce__(self):
        return BlockRows, (self.data, self.policy, self.weights, self.held_out, self.device)

    @cached_property
    def block(self) -> Block:
        """The block of these rows without columns, on the device."""
        _keep_freed_memory()
        weightings = (self.weights,) if self.held_out is None else (self.weights, self.held_out)
        if self.device is None:
            from skauc.engines.blocks.cpu import CPUBlock

            rows = self.data.X, self.data.positive
            return CPUBlock(*rows, *weightings, threads=ONE_THREAD, policy=self.policy)
        gpu_engine().keep_products_precise()
        from skauc.engines.blocks.gpu import GPUBlock

        return GPUBlock(self.data, *weightings, device=self.device, policy=self.policy)

    def with_columns(self, columns: Columns) -> Block:
        """Return the block with its columns."""
        return self.block.with_columns(columns.array)


class Buffer:
    """Room for the columns of a block, and how many of them are in use.

    The array is a NumPy array, or a tensor if blocks are on devices.
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

        Columns that others use are not overwritten: all columns are copied instead.
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
class BlockScores:
    """The scores of a block, and the last state that was made of them."""

    values: Any
    _states: dict = field(default_factory=dict, repr=False)

    def __reduce__(self):
        return BlockScores, (self.values,)

    def state(self, rows: BlockRows, shared: SharedStatistics) -> BlockState:
        """Return the state, from memory if it was the last one asked for."""
        known = self._states.get("state")
        if known is not None and known[0] is rows and known[1] is shared:
            return known[2]
        # Its block has no columns: they would be kept as long as the scores are.
        state = version(ShareState, rows.block)(rows.block, self.values, shared)
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


@sizeof.register(BlockScores)
def _size_of_scores(scores: BlockScores) -> int:
    return scores.values.nbytes


@sizeof.register(ScoreTable)
def _size_of_table(table: ScoreTable) -> int:
    return table.moments.nbytes


@sizeof.register(SharedStatistics)
def _size_of_statistics(shared: SharedStatistics) -> int:
    statistics = shared.statistics
    tables = statistics.negatives_above, statistics.positives_below, shared.ranks.scores
    return sum(table.nbytes for table in tables)


@sizeof.register((Pass, Line, NewColumns))
def _size_of_description(description) -> int:
    return sum(map(sizeof, vars(description).values()))


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
    """Return the rows with weight zero for the chosen ones. The ranks of rows stay as they are."""
    return replace(data, weights=data.weights * ~chosen(data), numbering=data.numbers)


def with_held_out(
    data: TrainingData, *, chosen: Callable | None, device: str | None, policy: SizePolicy
) -> BlockRows:
    """Return the rows, with separate weights for those held out."""
    if chosen is None:
        return BlockRows(data, policy, data.weights, None, device)
    held_out = chosen(data)
    return BlockRows(data, policy, data.weights * ~held_out, data.weights * held_out, device)


def row_counts(rows: BlockRows) -> tuple[int, int, float, float]:
    """Return how many negative and positive rows are in the loss, and their weights."""
    sides = [_of_class(rows, of_class) for of_class in (0, 1)]
    negative, positive = (float(rows.weights[side].sum()) for side in sides)
    return len(sides[0]), len(sides[1]), negative, positive


def find_rows(rows: BlockRows, ranks: np.ndarray, *, of_class: int) -> tuple[np.ndarray, Rows]:
    """Return the rows with these ranks among those of a class in the loss, and their numbers."""
    found = _of_class(rows, of_class)[ranks]
    return rows.data.row_numbers[found], rows.data.X[found]


def _of_class(rows: BlockRows, of_class: int) -> np.ndarray:
    """Return the places of the rows of a class in the loss."""
    return np.flatnonzero((rows.weights > 0) & (rows.data.positive == bool(of_class)))


# -- columns ---------------------------------------------------------------------------------


def no_columns(rows: BlockRows, *, capacity: int, dtype) -> Columns:
    """Return room for columns."""
    return Columns.empty(rows, capacity, dtype)


def append_columns(rows: BlockRows, columns: Columns, *, new: NewColumns) -> Columns:
    """Return the columns with more of them."""
    extended = columns.extended(rows, new.n_before, new.count(rows.data.n_features))
    new.write(rows.with_columns(extended))
    return extended


# -- scores and passes -----------------------------------------------------------------------


def score(rows: BlockRows, columns: Columns, *, line: Line, length: float) -> BlockScores:
    """Return the scores along a line from zero."""
    with quiet_overflow():
        return BlockScores(length * line.values(rows.with_columns(columns)))


def step(
    rows: BlockRows, columns: Columns, scores: BlockScores, *, line: Line, length: float
) -> BlockScores:
    """Return the scores moved along a line."""
    with quiet_overflow():
        return BlockScores(scores.values + length * line.values(rows.with_columns(columns)))


def tabulate(rows: BlockRows, scores: BlockScores, *, origin: float) -> ScoreTable:
    """Return the table of the scores of a block."""
    with quiet_overflow():
        return version(Tabulate, rows.block)(rows.block, scores.values, origin)


def ask(rows: BlockRows, columns: Columns, *states, question: Pass, given=None) -> tuple:
    """Return the sums of a pass over a block; scores and shared statistics of states alternate."""
    block = rows.with_columns(columns)
    known = [
        scores.state(rows, shared) for scores, shared in zip(states[::2], states[1::2], strict=True)
    ]
    with quiet_overflow():
        parts = version(question, block)(block, given, *known)
        totals = next(parts)
        for part in parts:
            question.add(totals, part)
    return tuple(map(block.fetch, totals))


def add_answers(kind: type[Pass], answers: list[tuple]) -> tuple:
    """Add the sums of several blocks. Values that dask keeps are not changed."""
    totals = copy.deepcopy(answers[0])
    for part in answers[1:]:
        kind.add(totals, part)
    return totals


@cache
def _keep_freed_memory() -> None:
    """Let the C library of a worker keep freed blocks of up to some megabytes for the next pass.

    dask starts workers with MALLOC_TRIM_THRESHOLD_. Every such block then goes back to the system
    and comes again page by page, which is half of the time of a pass. The 64 MB kept are little
    compared with the columns. Other libraries than glibc are left as they are.
    """
    with suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, 16 << 20)
        library.mallopt(_TRIM_THRESHOLD, 64 << 20)
