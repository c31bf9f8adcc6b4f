"""The kernel matrix of all rows with themselves, kept as far as memory allows.

The matrix is symmetric, and only its upper triangle is used, in blocks of rows. A block holds
k(row, column) for its rows and all columns from its first row on. Blocks are kept until the memory
given is used up. The others are computed again for every product. Kept or not, the numbers of a
block are the same, and sums are float64 in a fixed order, so products depend neither on the memory
nor on ``n_jobs``.
"""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs

from skauc.compiling import compiled_fast
from skauc.engines.policy import SizePolicy, current_policy
from skauc.exceptions import KERNEL_OVERFLOW, InvalidDataError, InvalidParameterError
from skauc.kernels import Kernel, Rows
from skauc.row_products import inner
from skauc.threads import RowThreads

MEGABYTE = 1 << 20


class GramMatrix:
    """Products with the kernel matrix of some rows, inside a ``with`` statement.

    ``cache_size`` is the memory for blocks in MB. It has to hold the blocks that are kept and one
    block per thread.
    """

    def __init__(
        self,
        kernel: Kernel,
        rows: Rows,
        *,
        cache_size: float,
        n_jobs=None,
        policy: SizePolicy | None = None,
    ):
        self._kernel, self._rows = kernel, rows
        self._policy = current_policy() if policy is None else policy
        self._block_rows = self._policy.gram_block_rows
        self.n_rows = rows.shape[0]
        self.dtype = np.dtype(
            np.float64 if self.n_rows <= self._policy.gram_exact_rows else np.float32
        )
        starts = range(0, self.n_rows, self._block_rows)
        sizes = [self._block_bytes(start) for start in starts]
        self._kept: dict[int, np.ndarray | None] = dict.fromkeys(
            _kept_starts(starts, sizes, cache_size * MEGABYTE, effective_n_jobs(n_jobs))
        )
        is_whole = len(self._kept) == len(sizes)
        n_held = len(sizes) if is_whole else int(cache_size * MEGABYTE // sizes[0])
        self._threads = RowThreads(min(effective_n_jobs(n_jobs), n_held))

    def __enter__(self) -> GramMatrix:
        self._threads.__enter__()
        return self

    def __exit__(self, *exception) -> None:
        self._threads.__exit__(*exception)

    @property
    def kept_bytes(self) -> int:
        """The memory that kept blocks take."""
        return sum(map(self._block_bytes, self._kept))

    def product(self, vector: np.ndarray) -> np.ndarray:
        """Return the kernel matrix times a vector."""

        def multiply(first, last):
            out = np.zeros(self.n_rows)
            for start in range(first, last, self._block_rows):
                _add_product(self._block(start), vector[start:], out[start:])
            return out

        n_blocks = -(-self.n_rows // self._block_rows)
        task_rows = self._block_rows * -(-n_blocks // self._policy.gram_most_tasks)
        out = sum(self._threads.map(multiply, self.n_rows, task_rows))
        if not np.isfinite(out).all():
            raise InvalidDataError(KERNEL_OVERFLOW)
        return out

    def _block(self, start: int) -> np.ndarray:
        block = self._kept.get(start)
        if block is not None:
            return block
        columns = self._kernel.columns(self._rows[start:], self.dtype)
        block = columns(self._rows[start : start + self._block_rows])
        block = np.ascontiguousarray(block, self.dtype)
        if start in self._kept:
            self._kept[start] = block
        return block

    def _block_bytes(self, start: int) -> int:
        n_columns = self.n_rows - start
        return min(self._block_rows, n_columns) * n_columns * self.dtype.itemsize


def _kept_starts(starts, sizes: list[int], memory: float, n_threads: int) -> list[int]:
    """Return which blocks to keep: all, or as many as leave room for one block per thread."""
    if sum(sizes) <= memory:
        return list(starts)
    n_working = min(n_threads, int(memory // sizes[0]))
    if memory < 2 * sizes[0]:
        raise InvalidParameterError(
            f"`cache_size` must hold two blocks of the kernel matrix, {_megabytes(2 * sizes[0])} "
            f"MB for these rows; got {memory / MEGABYTE:g}. Raise it: whatever it holds beyond "
            f"two blocks need not be computed again, and {_megabytes(sum(sizes))} MB hold all."
        )
    left = memory - n_working * sizes[0]
    ends = np.cumsum(sizes)
    return list(starts)[: int(np.searchsorted(ends, left, side="right"))]


def _megabytes(size: int) -> str:
    """Return a number of bytes in MB, with three digits."""
    return np.format_float_positional(size / MEGABYTE, 3, fractional=False, trim="-")


@compiled_fast
def _add_product(block, vector, out):
    """Add the products with a block and with its transpose; four rows share a loop over ``out``."""
    n = block.shape[0]
    for i in range(n):
        # Only the upper triangle of the square on the diagonal is read, too.
        row = block[i][i:n]
        out[i] += inner(row, vector[i:n])
        out[i + 1 : n] += row[1:] * vector[i]
    n_fours = n - n % 4
    for i in range(0, n_fours, 4):
        # Index rows first and columns second, or the compiler does not see contiguous numbers.
        out[i : i + 4] += _add_four(
            block[i][n:],
            block[i + 1][n:],
            block[i + 2][n:],
            block[i + 3][n:],
            vector[i : i + 4],
            vector[n:],
            out[n:],
        )
    for i in range(n_fours, n):
        row = block[i][n:]
        out[i] += inner(row, vector[n:])
        out[n:] += row * vector[i]


@compiled_fast
def _add_four(row0, row1, row2, row3, factors, vector, out):
    """Return the products of four rows with ``vector``; add the rows times factors to ``out``."""
    factor0, factor1, factor2, factor3 = factors[0], factors[1], factors[2], factors[3]
    total0, total1, total2, total3 = 0.0, 0.0, 0.0, 0.0
    for j in range(len(vector)):
        value0, value1 = np.float64(row0[j]), np.float64(row1[j])
        value2, value3 = np.float64(row2[j]), np.float64(row3[j])
        total0 += value0 * vector[j]
        total1 += value1 * vector[j]
        total2 += value2 * vector[j]
        total3 += value3 * vector[j]
        out[j] += value0 * factor0 + value1 * factor1 + value2 * factor2 + value3 * factor3
    return np.array([total0, total1, total2, total3])
