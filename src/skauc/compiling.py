"""Functions compiled by numba. This is the only module that imports it.

Numba is imported by the first call of a compiled function, so that prediction and the import of
the package do not wait for it. Machine code is cached on disk where that is possible. Where numba
finds no place that it can write to (read-only site-packages and no writable home), functions are
compiled in every process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial, update_wrapper
from typing import Any


class compiled:  # noqa: N801 - a decorator
    """Compile a function of numbers and arrays when it is first called; it releases the GIL.

    Compiled functions can call each other: numba asks a global for its ``_numba_type_``, and the
    function is handed over then. Write loops over numbers: expressions over arrays take several
    times as long to compile.
    """

    # `update_wrapper` sets it.
    __name__: str

    def __init__(self, function: Callable, **options):
        self._function, self._options = function, _DEFAULTS | options
        self._dispatcher: Any = None
        update_wrapper(self, function)

    @property
    def dispatcher(self) -> Any:
        """The function as numba has it."""
        if self._dispatcher is None:
            self._dispatcher = _compile(self._function, self._options)
            # Later calls from the same module go straight to numba.
            names = self._function.__globals__
            if names.get(self.__name__) is self:
                names[self.__name__] = self._dispatcher
        return self._dispatcher

    @property
    def _numba_type_(self):
        return self.dispatcher._numba_type_

    def __call__(self, *arguments):
        """Call the compiled function."""
        return self.dispatcher(*arguments)


# Called once, when a function is compiled because it is not in the cache.
_notices: list[Callable[[], None]] = []


def when_compiling(notice: Callable[[], None]) -> None:
    """Call a function as soon as this process has to compile: it takes many seconds.

    Machine code that is loaded from the cache does not count. Notices are called at most once.
    """
    _notices.append(notice)


# The compiler may reorder sums to use vector instructions.
compiled_fast = partial(compiled, fastmath={"contract", "reassoc"})
# A division by zero gives infinity. Options that are not given would be those of the first caller
# to be compiled, so that the last digits of a result would depend on what a process called before,
# and on what the cache holds.
_DEFAULTS = {"fastmath": False, "error_model": "numpy"}


def _compile(function: Callable, options: dict) -> Any:
    from numba import njit

    _listen()
    try:
        return njit(cache=True, nogil=True, **options)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        return njit(nogil=True, **options)(function)


@cache
def _listen() -> None:
    """Have numba tell when it compiles."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            while _notices:
                _notices.pop()()

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())
