"""Tasks in threads that end together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")


@contextmanager
def running(
    tasks: Sequence[Callable[[], Result]], n_threads: int, cancel: Callable[[], object]
) -> Iterator[Iterator[Result]]:
    """Run tasks, and give their results in the order of the tasks.

    With one thread, a task runs when its result is asked for, in this thread. After an error or an
    interrupt, ``cancel`` is called, which is to end the other tasks, and the threads are waited
    for.
    """
    if n_threads == 1:
        yield (task() for task in tasks)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        futures = [pool.submit(task) for task in tasks]
        try:
            yield (future.result() for future in futures)
        except BaseException:
            cancel()
            raise
