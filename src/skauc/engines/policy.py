"""Sizes at which engines change the way they compute, in one table.

Results depend on some of these numbers in their last digits. Tests pass a policy of their own, to
run the code for many rows on few.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SizePolicy:
    """Row thresholds and block sizes.

    Parameters
    ----------
    exact_rows : int
        Up to this many rows, columns are float64 and pairs are sorted. It costs next to nothing
        and is exact. Above it columns are float32 and pairs are counted in bins.
    coarse_cells : int
        Resolution of the Hessian and of the curvatures of candidates. 512 cells are enough for a
        Newton direction.
    most_sorted : int
        Up to this many rows, AUC and threshold are found by sorting the scores.
    few_rows, few_numbers : int
        Up to this many dense rows of this many numbers, whole optimisations are one compiled call
        each. It copies the numbers several times.
    vector_block : int
        Rows per task of a pass over vectors.
    matrix_block : int
        Numbers per block of a pass over matrices; it fits the L2 cache.
    most_tasks, task_rows, least_task_rows : int
        A pass over matrices has at most ``most_tasks`` tasks of about ``task_rows`` rows. Two
        tasks may be as small as ``least_task_rows``.
    shift_rows : int
        The mean of this many rows is subtracted from float32 columns. From float64 columns, one
        row is subtracted, which is precise enough.
    prediction_block : int
        Numbers per block of rows in prediction.
    float64_block : int
        Numbers per block of rows that online learners and the linear `StructuralAUC` convert to
        float64 at a time: one megabyte.
    gram_exact_rows, gram_block_rows, gram_most_tasks : int
        The kernel matrix of all rows is float64 up to ``gram_exact_rows``. Its blocks have
        ``gram_block_rows`` rows. The tasks of a product return a vector of the length of the data
        each, so there are at most ``gram_most_tasks``.
    gpu_part_numbers : int
        Numbers per part of a pass on a GPU. Temporary arrays are a few times as large.
    gpu_segment_rows : int
        Rows over which float32 products are added up in float32 on a GPU.
    """

    exact_rows: int = 10_000
    coarse_cells: int = 512
    most_sorted: int = 1 << 18
    few_rows: int = 5_000
    few_numbers: int = 1 << 21
    vector_block: int = 32_768
    matrix_block: int = 1 << 18
    most_tasks: int = 64
    task_rows: int = 8192
    least_task_rows: int = 3072
    shift_rows: int = 256
    prediction_block: int = 1 << 17
    float64_block: int = 1 << 17
    gram_exact_rows: int = 5_000
    gram_block_rows: int = 128
    gram_most_tasks: int = 64
    gpu_part_numbers: int = 1 << 26
    gpu_segment_rows: int = 2048

    def column_dtype(self, n_rows: int) -> np.dtype:
        """Return the type of the columns for this many rows in all blocks together."""
        return np.dtype(np.float64 if n_rows <= self.exact_rows else np.float32)

    def shifting_rows(self, dtype: np.dtype) -> int:
        """Return how many rows have the mean that is subtracted from columns of this type."""
        return 1 if dtype == np.float64 else self.shift_rows

    def n_tasks(self, n_rows: int) -> int:
        """Return the number of tasks of a pass over matrices: 1 or an even number.

        The result of a task can be a table over the cells. It has to be small compared with the
        rows of the task, and two small tasks are worth it.
        """
        n_tasks = max(n_rows // self.task_rows, min(n_rows // self.least_task_rows, 2), 1)
        return min(n_tasks - n_tasks % 2 if n_tasks > 1 else 1, self.most_tasks)


_DEFAULT = SizePolicy()
_current: ContextVar[SizePolicy] = ContextVar("skauc_size_policy")


def current_policy() -> SizePolicy:
    """Return the policy of engines that are opened without one."""
    return _current.get(_DEFAULT)


@contextmanager
def size_policy(policy: SizePolicy) -> Iterator[SizePolicy]:
    """Make a policy the current one in this thread, inside a ``with`` statement."""
    token = _current.set(policy)
    try:
        yield policy
    finally:
        _current.reset(token)
