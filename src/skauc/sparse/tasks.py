"""Tasks in threads that end together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")


class Cancellation:
    """Tells tasks in other threads that their results are not wanted any more."""

    def __init__(self):
        self._event = threading.Event()

    @property
    def is_set(self) -> bool:
        """Whether the tasks are to end."""
        return self._event.is_set()

    def set(self) -> None:
        """Tell the tasks to end."""
        self._event.set()

    def check(self) -> None:
        """Raise KeyboardInterrupt if the task that calls is to end."""
        if self.is_set:
            raise KeyboardInterrupt


@contextmanager
def running(
    tasks: Sequence[Callable[[], Result]], n_threads: int, cancellation: Cancellation
) -> Iterator[Iterator[Result]]:
    """Run tasks, and give their results in the order of the tasks.

    With one thread, a task runs when its result is asked for, in this thread. After an error or an
    interrupt, the other tasks are told to end, and their threads are waited for.
    """
    if n_threads == 1:
        yield (task() for task in tasks)
        return

    def watch(future: Future) -> None:
        if future.exception() is not None:
            cancellation.set()

    with ThreadPoolExecutor(n_threads) as pool:
        try:
            futures = [pool.submit(task) for task in tasks]
            for future in futures:
                future.add_done_callback(watch)
            yield (future.result() for future in futures)
        except BaseException:
            cancellation.set()
            raise
