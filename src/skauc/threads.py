"""One ``n_jobs`` for BLAS and numba: threads over fixed blocks of rows.

BLAS and OpenMP are limited to one thread, and compiled functions are serial and release the GIL.
The only parallelism is over blocks. Blocks depend on the data alone and their results come back in
order, so results are bit-identical for any ``n_jobs``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from typing import TypeVar

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import LibController, ThreadpoolController

from skauc.support import quiet_overflow

_Result = TypeVar("_Result")


class SharedSetting:
    """A setting of the process that several threads need at the same time.

    The first user changes it and the last one restores it. Restored any earlier it would change
    under the others: a product that BLAS shares between threads differs in its last bits.
    ``change`` makes the change and returns the function that undoes it.
    """

    def __init__(self, change: Callable[[], Callable[[], object]]):
        self._change = change
        self._restore: Callable[[], object] | None = None
        self._lock = threading.Lock()
        # How often each thread uses the setting.
        self._users: dict[int, int] = {}
        if hasattr(os, "register_at_fork"):
            # A fork waits until no thread is changing the setting.
            os.register_at_fork(
                before=self._lock.acquire,
                after_in_parent=self._lock.release,
                after_in_child=self._forget_other_threads,
            )

    def __enter__(self) -> SharedSetting:
        with self._lock:
            if not self._users:
                self._restore = self._change()
            thread = threading.get_ident()
            self._users[thread] = self._users.get(thread, 0) + 1
        return self

    def __exit__(self, *exception) -> None:
        with self._lock:
            thread = threading.get_ident()
            self._users[thread] -= 1
            if not self._users[thread]:
                del self._users[thread]
            self._restore_if_unused()

    def _restore_if_unused(self) -> None:
        if not self._users and self._restore is not None:
            restore, self._restore = self._restore, None
            restore()

    def _forget_other_threads(self) -> None:
        """Forget the users that do not exist in a forked process."""
        thread = threading.get_ident()
        self._users = {user: n for user, n in self._users.items() if user == thread}
        self._restore_if_unused()
        self._lock.release()


@cache
def _libraries() -> tuple[list[LibController], list[LibController]]:
    """Return the libraries with one limit per process, and those with one limit per thread.

    OpenMP, and a BLAS that uses it, has a limit per thread. To find the libraries takes
    milliseconds.
    """
    found = ThreadpoolController().lib_controllers
    per_thread = [
        "openmp" in (library.user_api, getattr(library, "threading_layer", None))
        for library in found
    ]
    return (
        [library for library, is_own in zip(found, per_thread, strict=True) if not is_own],
        [library for library, is_own in zip(found, per_thread, strict=True) if is_own],
    )


def _limit(libraries: list[LibController]) -> Callable[[], object]:
    """Limit libraries to one thread, and return the function that undoes it."""
    before = [library.num_threads for library in libraries]
    for library in libraries:
        _set_threads(library, 1)
    return lambda: list(map(_set_threads, libraries, before))


def _set_threads(library: LibController, n_threads: int) -> None:
    """Set the limit of a library from any thread.

    threadpoolctl lets one thread at a time control OpenBLAS and ignores the others. Who uses the
    limit, here, is counted by `SharedSetting`.
    """
    release = getattr(library, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)
    library.set_num_threads(n_threads)
    if release is not None:
        release(force=True)


SERIAL_BLAS = SharedSetting(lambda: _limit(_libraries()[0]))


class RowThreads:
    """Run tasks over blocks of rows on ``n_jobs`` threads, inside a ``with`` statement.

    Overflow gives no warning there: the caller looks for numbers that are not finite in the sums.
    """

    def __init__(self, n_jobs=None):
        self.n_threads = effective_n_jobs(n_jobs)
        self._pool: ThreadPoolExecutor | None = None
        self._owner: int | None = None
        self._stack = ExitStack()

    def __enter__(self) -> RowThreads:
        stack = self._stack
        stack.enter_context(SERIAL_BLAS)
        stack.callback(_limit(_libraries()[1]))
        stack.enter_context(quiet_overflow())
        self._owner = threading.get_ident()
        if self.n_threads > 1:
            pool = ThreadPoolExecutor(self.n_threads, initializer=_prepare_thread)
            self._pool = stack.enter_context(pool)
        return self

    def __exit__(self, *exception) -> None:
        self._pool = None
        self._stack.close()

    def map(self, task: Callable[[int, int], object], n_rows: int, block_rows: int) -> Iterator:
        """Yield ``task(start, stop)`` for each block, in the order of the rows.

        A task that calls `map` itself runs in its own thread: waiting for the pool from inside of
        the pool would never end.
        """
        if 0 < n_rows <= block_rows:
            return map(task, (0,), (n_rows,))
        starts = range(0, n_rows, block_rows)
        stops = [min(start + block_rows, n_rows) for start in starts]
        if self._pool is None or threading.get_ident() != self._owner:
            return map(task, starts, stops)
        return self._pool.map(task, starts, stops)


def _prepare_thread() -> None:
    """Prepare a thread of the pool, which inherits neither limits nor NumPy's error state."""
    _limit(_libraries()[1])
    np.seterr(over="ignore", invalid="ignore")


def map_blocks(
    task: Callable[[int, int], _Result], n_items: int, block: int, n_jobs: int | None
) -> list[_Result]:
    """Return ``task(start, stop)`` for each block of items, on threads if there are several."""
    if n_items <= block:
        return [task(0, n_items)]
    with RowThreads(n_jobs) as threads:
        return list(threads.map(task, n_items, block))
