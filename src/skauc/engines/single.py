"""The engine with all rows in one block, on the CPU or on a GPU."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np

from skauc.data.training import TrainingData
from skauc.engines.base import Chosen, Engine
from skauc.engines.blocks.base import Block, Line, NewColumns
from skauc.engines.few_rows import FewRows
from skauc.engines.passes.base import Pass
from skauc.engines.passes.quality import Quality, RankedQuality
from skauc.engines.passes.state import BlockState, FindState, version
from skauc.engines.policy import SizePolicy
from skauc.exceptions import InvalidParameterError
from skauc.kernels import Rows
from skauc.losses.focus import Focus
from skauc.metrics.area import auc_of, threshold_of, weighted_auc
from skauc.metrics.sorted_scores import sort_scores
from skauc.threads import RowThreads


class SingleEngine(Engine[BlockState]):
    """Runs passes on its block and finishes them."""

    def __init__(self, data: TrainingData, block: Block, threads: RowThreads, focus: Focus):
        self.n_rows, self.n_features = data.X.shape
        self._data, self.block, self._threads, self._focus = data, block, threads, focus
        self._find_state = version(FindState, block)
        self._stack = ExitStack()
        self.precision = float(np.finfo(block.dtype).eps)
        self.n_threads = threads.n_threads
        self.hold_out(None)

    def __enter__(self) -> SingleEngine:
        self._stack.enter_context(self._threads)
        if self.block.kind == "gpu":
            from skauc.engines.gpu.devices import PRECISE_PRODUCTS

            self._stack.enter_context(PRECISE_PRODUCTS)
        return self

    def __exit__(self, *exception) -> None:
        self._stack.close()

    # -- rows --------------------------------------------------------------------------------

    def find(self, of_class: int, ranks: np.ndarray) -> tuple[np.ndarray, Rows]:
        places = self._counting[of_class][ranks]
        return self._data.row_numbers[places], self._data.X[places]

    def hold_out(self, chosen: Chosen | None) -> None:
        weights, self._held_out = self._data.weights, None
        if chosen is not None:
            held_out = chosen(self._data)
            weights, self._held_out = weights * ~held_out, np.flatnonzero(held_out)
        self.block.weigh(weights)
        self._weights = weights
        # Summed one by one: a difference from the total loses a class of tiny weight.
        self.negative_weight, self.positive_weight = self._focus.counted(
            float(weights[~self._data.positive].sum()), float(weights[self._data.positive].sum())
        )
        counts = weights > 0
        self._counting = tuple(
            np.flatnonzero(counts & side) for side in (~self._data.positive, self._data.positive)
        )
        self.class_counts = len(self._counting[0]), len(self._counting[1])
        self._few_rows = self.block.few_rows() if self._focus.is_whole else None

    @property
    def few_rows(self) -> FewRows | None:
        return self._few_rows

    # -- columns and scores ------------------------------------------------------------------

    def append(self, columns: NewColumns) -> None:
        columns.write(self.block)
        if self._few_rows is not None:
            self._few_rows.replace_columns(columns.n_before)

    def line(self, line: Line) -> Any:
        return line.values(self.block)

    def step(self, state: BlockState | None, line: Any, length: float) -> BlockState:
        scores = length * line
        if state is not None:
            scores += state.scores
        return self._find_state(self.block, scores, self._focus)

    # -- passes ------------------------------------------------------------------------------

    def ask(self, question: Pass, *states: BlockState) -> Any:
        block, before = self.block, question.before
        given = None if before is None else self.ask(before, *states)
        parts = version(question, block)(block, given, *states)
        # The tasks of a pass run in this loop.
        totals = next(parts)
        for part in parts:
            question.add(totals, part)
        return block.fetch(question.finish(totals, given))

    def quality(self, state: BlockState) -> Quality:
        data, block = self._data, self.block
        validation_auc = None
        if self._held_out is not None:
            rows = self._held_out
            scores = block.fetch(state.scores[rows])
            validation_auc = weighted_auc(scores, data.positive[rows], data.weights[rows])
        if self.n_rows > block.policy.most_sorted:
            ranked = self.ask(RankedQuality(), state)
            return Quality(ranked.train_auc, validation_auc, ranked.threshold)
        table = sort_scores(block.fetch(state.scores), data.positive, self._weights)
        return Quality(auc_of(table), validation_auc, threshold_of(table))


def open_cpu(
    data: TrainingData, *, capacity: int, n_jobs, policy: SizePolicy, focus: Focus
) -> SingleEngine:
    """Return an engine on the CPU."""
    from skauc.engines.blocks.cpu import CPUBlock

    threads = RowThreads(n_jobs)
    block = CPUBlock(data.X, data.positive, data.weights, threads=threads, policy=policy)
    columns = block.no_columns(capacity, policy.column_dtype(data.n_rows))
    return SingleEngine(data, block.with_columns(columns), threads, focus)


def open_gpu(
    data: TrainingData, *, capacity: int, policy: SizePolicy, focus: Focus
) -> SingleEngine:
    """Return an engine on the device that the data name."""
    from skauc.engines.blocks.gpu import GPUBlock

    dtype = policy.column_dtype(data.n_rows)
    try:
        block = GPUBlock(data, data.weights, device=str(data.device), policy=policy)
        block = block.with_columns(block.no_columns(capacity, dtype))
    except RuntimeError as error:
        gigabytes = data.n_rows * capacity * dtype.itemsize / 1e9
        raise InvalidParameterError(
            f"{data.device} cannot hold {data.n_rows} rows and {capacity} columns of the basis, "
            f"{gigabytes:.1f} GB ({str(error).splitlines()[0]}). Use a smaller `n_basis`, "
            "engine='cpu', or engine='cluster' with several GPUs."
        ) from error
    # The work on the CPU is small: many threads would wait for each other.
    return SingleEngine(data, block, RowThreads(1), focus)
