"""The engine whose rows are on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from distributed import Future
from scipy import sparse

from skauc.engines import block, finishing
from skauc.engines.base import CandidateSlopes, Chosen, Engine, KernelMoments, Quality
from skauc.engines.cluster import passes
from skauc.engines.cluster.data import ClusterData
from skauc.engines.cluster.passes import KernelColumn, Product
from skauc.engines.cluster.pool import add_arrays
from skauc.engines.tables import Ranking, SharedStatistics, add_tables, share_statistics
from skauc.exceptions import KERNEL_OVERFLOW, InvalidDataError
from skauc.kernels import Kernel, Rows


@dataclass(frozen=True, eq=False)
class ClusterState:
    """Scores on the workers, the statistics of all pairs beside them, and their loss here.

    The gradient over the columns of the time is on its way too: it is asked for nearly always.
    """

    engine: ClusterEngine
    scores: Sequence[Future]
    shared: Future
    loss: float
    gradient: Future
    version: tuple[int, int]


class ClusterEngine(Engine):
    """Blocks of rows and columns as futures; see `skauc.engines.cluster`."""

    def __init__(self, data: ClusterData, *, capacity: int):
        self.pool = data.pool
        self.n_rows, self.n_features = data.n_rows, data.n_features
        self.size = 0
        self._data, self._capacity = data, capacity
        self._dtype = block.column_dtype(data.n_rows)
        self._block_ends = np.cumsum(data.block_rows)
        self._linear = None
        self._n_changes = 0
        self._origin = 0.0
        self._drawn: dict[int, Rows] = {}
        self.hold_out(None)
        self._columns = self._start("columns", passes.no_columns, capacity=capacity, **self._type)

    def __enter__(self) -> ClusterEngine:
        return self

    def __exit__(self, *exception) -> None:
        """Let go of what the workers keep for this engine."""
        self._columns, self.blocks, self._drawn = [], [], {}

    @property
    def precision(self) -> float:
        return float(np.finfo(self._dtype).eps)

    @property
    def _version(self) -> tuple[int, int]:
        """Changes whenever the columns do."""
        return self._n_changes, self.size

    @property
    def _type(self) -> dict:
        return {"dtype": self._dtype}

    # -- rows --------------------------------------------------------------------------------

    def hold_out(self, chosen: Chosen | None) -> None:
        self._n_changes += 1
        tasks = self.pool.each(
            "hold-out",
            passes.hold_out,
            self._data.blocks,
            chosen=chosen,
            device=self.pool.device,
        )
        self.blocks = self.pool.start(tasks)
        counts = self.pool.fetch_all(self.pool.each("count", passes.count_rows, self.blocks))
        n_counting, positive, total = zip(*counts, strict=True)
        self._counting_ends = np.cumsum(n_counting)
        self.n_counting = int(self._counting_ends[-1])
        self.positive_weight = float(sum(positive))
        self.negative_weight = float(sum(total)) - self.positive_weight

    def find(self, places: np.ndarray) -> np.ndarray:
        """Find the rows, and keep them for the question that follows."""
        indices = np.empty(len(places), np.int64)
        self._drawn = {}
        for asked, (numbers, rows) in self._ask(passes.find_rows, places, self._counting_ends):
            indices[asked] = numbers
            self._drawn.update((number, rows[[i]]) for i, number in enumerate(numbers.tolist()))
        return indices

    def rows(self, indices: np.ndarray) -> Rows:
        unknown = np.array([i for i in indices.tolist() if i not in self._drawn], np.int64)
        for places, rows in self._ask(passes.pick_rows, unknown, self._block_ends):
            numbers = unknown[places].tolist()
            self._drawn.update((number, rows[[i]]) for i, number in enumerate(numbers))
        stack = sparse.vstack if self._data.is_sparse else np.concatenate
        return stack([self._drawn[i] for i in indices.tolist()])

    def _ask(self, function, numbers: np.ndarray, ends: np.ndarray) -> list[tuple]:
        """Ask the blocks for rows by number; return which are in each answer, and the answers."""
        of_block = np.searchsorted(ends, numbers, side="right")
        asked = np.unique(of_block).tolist()
        places = [np.flatnonzero(of_block == number) for number in asked]
        starts = np.concatenate(([0], ends[:-1]))
        inside = [numbers[rows] - starts[i] for rows, i in zip(places, asked, strict=True)]
        blocks = [self.blocks[i] for i in asked]
        answers = self.pool.fetch_all(self.pool.each("rows", function, blocks, inside))
        return list(zip(places, answers, strict=True))

    # -- columns -----------------------------------------------------------------------------

    def column(self, kernel: Kernel, centre: Rows) -> KernelColumn:
        return KernelColumn(kernel, centre)

    def append(self, kernel: Kernel, centre: Rows, projection, norm: float) -> KernelColumn:
        self._columns = self._start(
            "append",
            passes.append_column,
            self._columns,
            kernel=kernel,
            centre=centre,
            projection=projection,
            norm=norm,
        )
        self.size = len(projection) + 1
        self._n_changes += 1
        return KernelColumn(kernel, centre)

    def append_linear(self, origin: np.ndarray, scale: float) -> None:
        self._linear = origin, scale
        self._columns = self._start(
            "linear",
            passes.append_linear,
            self._columns,
            size=self.size,
            origin=origin,
            scale=scale,
        )
        self.size += self.n_features
        self._n_changes += 1

    def replace(self, kernel: Kernel, centres: Rows, transform: np.ndarray, n_kept: int) -> None:
        # The old columns go first, so that workers need not hold both.
        self._columns = []
        self._columns = self._start(
            "replace",
            passes.expand,
            capacity=self._capacity,
            linear=self._linear,
            kernel=kernel,
            centres=centres,
            transform=transform,
            **self._type,
        )
        self.size = n_kept + transform.shape[1]
        self._n_changes += 1

    def resize(self, size: int) -> None:
        self.size = size

    def direction(self, weights: np.ndarray) -> Product:
        return Product(weights)

    # -- scores and pairs --------------------------------------------------------------------

    def at(self, weights: np.ndarray) -> ClusterState:
        return self._state(self._each("scores", passes.score, line=Product(weights)))

    def step(self, state: ClusterState, line, length: float) -> ClusterState:
        return self._state(
            self._each("scores", passes.step, state.scores, line=line, length=length)
        )

    def _state(self, scores: list) -> ClusterState:
        tables = self.pool.each("tables", passes.tabulate, self.blocks, scores, origin=self._origin)
        shared = self.pool.total("tables", tables, add_tables, share_statistics)
        (summary,) = self.pool.each("loss", _summarise, [shared])
        slopes = self._each("gradient", passes.gradient, scores, shared=shared, size=self.size)
        gradient = self.pool.total("gradient", slopes, add_arrays)
        *scores, shared, summary, gradient = self.pool.start([*scores, shared, summary, gradient])
        ((loss, middle),) = self.pool.values([summary])
        if not np.isfinite(loss):
            raise InvalidDataError(KERNEL_OVERFLOW)
        # Sums are most exact when they are taken around the middle of the contested range.
        self._origin = middle
        return ClusterState(self, scores, shared, loss, gradient, self._version)

    def gradient(self, state: ClusterState) -> np.ndarray:
        if state.version == self._version:
            return self.pool.values([state.gradient])[0]
        return self._total("gradient", passes.gradient, state, size=self.size)

    def hessian(self, state: ClusterState) -> np.ndarray:
        return self._total(
            "hessian",
            passes.hessian,
            state,
            finish=passes.finish_hessian,
            size=self.size,
            shift=self._shift(self.size),
        )

    def hessian_product(self, state: ClusterState, weights: np.ndarray) -> np.ndarray:
        line = Product(weights)
        tables = self._partner_tables(state, line)
        return self._total(
            "product", passes.line_product, state, line=line, tables=tables, size=self.size
        )

    def line_slopes(self, state: ClusterState, line) -> tuple[float, float]:
        tables = self._partner_tables(state, line)
        slopes = self._total("slopes", passes.slopes_along, state, line=line, tables=tables)
        return float(slopes[0]), float(slopes[1])

    def candidate_slopes(
        self,
        state: ClusterState,
        curved: ClusterState,
        kernel: Kernel,
        centres: Rows,
        n_columns: int,
    ) -> CandidateSlopes:
        return self._total(
            "candidates",
            passes.candidates,
            state,
            curved.scores,
            finish=passes.finish_candidates,
            curved=curved.shared,
            kernel=kernel,
            centres=centres,
            shift=self._shift(n_columns),
        )

    def kernel_moments(self, state: ClusterState, origin, factor, coef) -> KernelMoments:
        sums = self._total(
            "moments",
            passes.moments,
            state,
            size=self.size,
            origin=origin,
            weights=factor.T @ coef,
        )
        return finishing.finish_moments(*sums, origin, factor, coef)

    # -- summaries ---------------------------------------------------------------------------

    def quality(self, state: ClusterState) -> Quality:
        pool = self.pool
        parts = pool.each("auc", passes.rank, self.blocks, state.scores, shared=state.shared)
        sums = pool.total("auc", parts, add_arrays)
        return pool.fetch(pool.one("auc-value", _quality, sums, state.shared))

    # -- tasks -------------------------------------------------------------------------------

    def _each(self, name: str, function, *blocks, **small) -> list:
        return self.pool.each(name, function, self.blocks, self._columns, *blocks, **small)

    def _start(self, name: str, function, *blocks, **small) -> list[Future]:
        return self.pool.start(self.pool.each(name, function, self.blocks, *blocks, **small))

    def _total(self, name: str, function, state: ClusterState, *blocks, finish=None, **small):
        """Return the sum over the blocks; what ``finish`` makes of it, on a worker, is smaller."""
        parts = self._each(name, function, state.scores, *blocks, shared=state.shared, **small)
        return self.pool.fetch(self.pool.total(name, parts, add_arrays, finish))

    def _shift(self, n_columns: int):
        """Describe the constants to take off the columns: those of the first block for all."""
        first = self._columns[:1], self.blocks[:1]
        (shift,) = self.pool.each("shift", passes.find_shift, *first, size=n_columns)
        return shift

    def _partner_tables(self, state: ClusterState, line):
        sums = self._each("line", passes.line_sums, state.scores, shared=state.shared, line=line)
        return self.pool.total("line", sums, add_arrays, passes.finish_partners)


def _summarise(shared: SharedStatistics) -> tuple[float, float]:
    return shared.statistics.loss, shared.middle


def _quality(sums: np.ndarray, shared: SharedStatistics) -> Quality:
    """Return the quality from the ranks of the rows in the loss and of the rows held out."""
    training, *validation = [Ranking(shared.ranks.middles(), part) for part in sums]
    validation_auc = validation[0].auc() if validation else None
    return Quality(training.auc(), validation_auc, training.threshold())
