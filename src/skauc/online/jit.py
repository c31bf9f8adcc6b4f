"""Numba, loaded by the first row that is learnt and not by the import of a learner."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper


class compiled:  # noqa: N801 - a decorator
    """``njit(cache=True)`` that waits for the first call.

    Compiled functions can call each other: numba asks a value for its ``_numba_type_``, and only
    then is the function handed over. Sums may be reordered, so that they use vector instructions.
    What is compiled here is written in loops over numbers: expressions over arrays would
    take several times as long to compile.
    """

    def __init__(self, function: Callable):
        self.function = function
        update_wrapper(self, function)

    @cached_property
    def dispatcher(self):
        """The function as numba has it."""
        from numba import njit

        options = {"nogil": True, "fastmath": {"contract", "reassoc"}, "error_model": "numpy"}
        return njit(cache=True, **options)(self.function)

    @property
    def _numba_type_(self):
        return self.dispatcher._numba_type_

    def __call__(self, *arguments):
        """Call the compiled function."""
        return self.dispatcher(*arguments)
