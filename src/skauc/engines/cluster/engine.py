"""The engine whose rows are on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from dask.delayed import Delayed
from distributed import Future
from scipy import sparse

from skauc.engines.base import Chosen, Engine
from skauc.engines.blocks.base import Line, NewColumns, Product
from skauc.engines.cluster import tasks
from skauc.engines.cluster.data import ClusterData
from skauc.engines.passes.base import Pass
from skauc.engines.passes.products import Gradient
from skauc.engines.passes.quality import Quality, RankedQuality
from skauc.engines.policy import SizePolicy
from skauc.engines.tables import SharedStatistics, add_tables, share_statistics
from skauc.exceptions import KERNEL_OVERFLOW, InvalidDataError
from skauc.kernels import Rows
from skauc.losses.focus import Focus


@dataclass(frozen=True, eq=False)
class ClusterState:
    """Scores and the statistics of all pairs on the workers, and the loss.

    The gradient over the ``n_columns`` columns of the scores is being computed, because nearly
    every state is asked for it.
    """

    engine: ClusterEngine
    scores: Sequence[Future]
    shared: Future
    loss: float
    n_columns: int
    gradient: Future
    n_changes: int


class ClusterEngine(Engine[ClusterState]):
    """Blocks of rows and columns as futures; see `skauc.engines.cluster`."""

    def __init__(self, data: ClusterData, *, capacity: int, policy: SizePolicy, focus: Focus):
        self.pool = data.pool
        self.n_rows, self.n_features = data.n_rows, data.n_features
        self._data, self._policy, self._focus = data, policy, focus
        dtype = policy.column_dtype(data.n_rows)
        self.precision = float(np.finfo(dtype).eps)
        self._room = {"capacity": capacity, "dtype": dtype}
        # Counts changes of columns and weights: a gradient on its way is of no use after one.
        self._n_changes = 0
        self._origin = 0.0
        self.blocks: list[Future] = []
        self.hold_out(None)
        self._columns = self._start("columns", tasks.no_columns, **self._room)

    def __enter__(self) -> ClusterEngine:
        return self

    def __exit__(self, *exception) -> None:
        """Release what the workers keep for this engine."""
        self._columns, self.blocks = [], []

    # -- rows --------------------------------------------------------------------------------

    def hold_out(self, chosen: Chosen | None) -> None:
        self._n_changes += 1
        held = {"chosen": chosen, "device": self.pool.device, "policy": self._policy}
        parts = self.pool.each("hold-out", tasks.with_held_out, self._data.blocks, **held)
        self.blocks = self.pool.start(parts)
        counts = self.pool.fetch_all(self.pool.each("count", tasks.row_counts, self.blocks))
        n_negative, n_positive, negative, positive = zip(*counts, strict=True)
        self._counting_ends = np.cumsum(n_negative), np.cumsum(n_positive)
        self.class_counts = sum(n_negative), sum(n_positive)
        self.negative_weight, self.positive_weight = self._focus.counted(
            float(sum(negative)), float(sum(positive))
        )

    def find(self, of_class: int, ranks: np.ndarray) -> tuple[np.ndarray, Rows]:
        ends = self._counting_ends[of_class]
        of_block = np.searchsorted(ends, ranks, side="right")
        asked = np.unique(of_block).tolist()
        starts = np.concatenate(([0], ends[:-1]))
        inside = [ranks[of_block == number] - starts[number] for number in asked]
        blocks = [self.blocks[number] for number in asked]
        found = self.pool.each("rows", tasks.find_rows, blocks, inside, of_class=of_class)
        numbers, rows = [np.empty(0, np.int64)], []
        for part, of_part in self.pool.fetch_all(found):
            numbers.append(part)
            rows.append(of_part)
        return np.concatenate(numbers), self._stack(rows)

    def _stack(self, rows: list[Rows]) -> Rows:
        if not rows:
            empty = np.empty((0, self.n_features))
            return sparse.csr_array(empty) if self._data.is_sparse else empty
        return (sparse.vstack if self._data.is_sparse else np.concatenate)(rows)

    # -- columns and scores ------------------------------------------------------------------

    def append(self, columns: NewColumns) -> None:
        self._columns = self._start("append", tasks.append_columns, self._columns, new=columns)
        self._n_changes += 1

    def line(self, line: Line) -> Line:
        return line

    def step(self, state: ClusterState | None, line: Line, length: float) -> ClusterState:
        move = {"line": line, "length": length}
        if state is None:
            scores = self._each("scores", tasks.score, **move)
        else:
            scores = self._each("scores", tasks.step, state.scores, **move)
        n_columns = len(line.weights) if isinstance(line, Product) else 0
        return self._state(scores, n_columns or (0 if state is None else state.n_columns))

    def _state(self, scores: list, n_columns: int) -> ClusterState:
        pool = self.pool
        parts = pool.each("tables", tasks.tabulate, self.blocks, scores, origin=self._origin)
        shared = pool.total("tables", parts, add_tables, share_statistics, focus=self._focus)
        summary = pool.one("loss", _summarise, shared)
        gradient = self._answer(Gradient(n_columns), (scores, shared))
        *scores, shared, summary, gradient = pool.start([*scores, shared, summary, gradient])
        ((loss, middle),) = pool.values([summary])
        if not np.isfinite(loss):
            raise InvalidDataError(KERNEL_OVERFLOW)
        # Sums are most exact when they are taken around the middle of the contested range.
        self._origin = middle
        return ClusterState(self, scores, shared, loss, n_columns, gradient, self._n_changes)

    # -- passes ------------------------------------------------------------------------------

    def ask(self, question: Pass, *states: ClusterState) -> Any:
        if isinstance(question, Gradient):
            (state,) = states
            if (state.n_columns, state.n_changes) == (question.n_columns, self._n_changes):
                return self.pool.values([state.gradient])[0]
        return self.pool.fetch(
            self._answer(question, *((state.scores, state.shared) for state in states))
        )

    def quality(self, state: ClusterState) -> Quality:
        return self.ask(RankedQuality(), state)

    def _answer(self, question: Pass, *states: tuple[Sequence, Any]) -> Delayed:
        """Describe the answer: the pass on every block, the sum, and what is made of it."""
        given = None if question.before is None else self._answer(question.before, *states)
        name, described = type(question).__name__.lower(), self.pool.argument(question)
        last = 1 if question.first_block_only else len(self.blocks)
        blocks: list[Sequence] = [self.blocks, self._columns]
        for scores, shared in states:
            blocks += [scores, [shared] * len(self.blocks)]
        parts = self.pool.each(
            name, tasks.ask, *(part[:last] for part in blocks), question=described, given=given
        )
        add = partial(tasks.add_answers, type(question))
        return self.pool.total(name, parts, add, _finish, question=described, given=given)

    def _each(self, name: str, function, *blocks, **small) -> list:
        return self.pool.each(name, function, self.blocks, self._columns, *blocks, **small)

    def _start(self, name: str, function, *blocks, **small) -> list[Future]:
        return self.pool.start(self.pool.each(name, function, self.blocks, *blocks, **small))


def _finish(sums: tuple, *, question: Pass, given) -> Any:
    return question.finish(sums, given)


def _summarise(shared: SharedStatistics) -> tuple[float, float]:
    return shared.statistics.loss, shared.middle
