"""One ``n_jobs`` for BLAS and numba alike: threads over fixed blocks of rows.

BLAS and OpenMP are held to one thread and the numba kernels are serial and release the GIL, so the
only parallelism is over blocks. Blocks depend on the data alone and their results come back in
order: the outcome is the same, to the last bit, for any ``n_jobs``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache, partial
from threading import get_ident

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    """Return what holds BLAS and OpenMP back; to look for them takes milliseconds."""
    return ThreadpoolController()


class RowThreads:
    """Run tasks over blocks of rows on ``n_jobs`` threads, inside a ``with`` statement."""

    def __init__(self, n_jobs=None):
        self._n_threads = effective_n_jobs(n_jobs)
        self._pool = None
        self._owner = None
        self._stack = ExitStack()

    def __enter__(self) -> RowThreads:
        self._stack.enter_context(_controller().limit(limits=1))
        self._owner = get_ident()
        if self._n_threads > 1:
            # OpenMP's limit holds for one thread, so every thread sets its own.
            limit = partial(_controller().limit, limits=1, user_api="openmp")
            pool = ThreadPoolExecutor(self._n_threads, initializer=limit)
            self._pool = self._stack.enter_context(pool)
        return self

    def __exit__(self, *exception) -> None:
        self._pool = None
        self._stack.close()

    def map(self, task: Callable[[int, int], object], n_rows: int, block_rows: int) -> Iterator:
        """Yield ``task(start, stop)`` for each block, in the order of the rows.

        Overflow is no warning here: what is infinite shows in the sums, where it is looked for.
        A task that maps in its turn does so in its own thread: waiting for the pool from inside
        it would never end.
        """

        def quietly(start: int, stop: int):
            with np.errstate(over="ignore", invalid="ignore"):
                return task(start, stop)

        starts = range(0, n_rows, block_rows)
        stops = [min(start + block_rows, n_rows) for start in starts]
        if self._pool is None or len(stops) == 1 or get_ident() != self._owner:
            return map(quietly, starts, stops)
        return self._pool.map(quietly, starts, stops)
