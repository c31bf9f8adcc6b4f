"""Small helpers: blocks of rows, quiet overflow, cells and text, a hash, cached properties."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar, overload

import numpy as np

_Value = TypeVar("_Value")

# The increment of SplitMix64.
GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)


def row_slices(n_rows: int, block_rows: int, start: int = 0) -> Iterator[slice]:
    """Cut the rows from ``start`` to ``n_rows`` into slices of at most ``block_rows`` rows."""
    for first in range(start, n_rows, block_rows):
        yield slice(first, min(first + block_rows, n_rows))


def rows_per_block(width: int, numbers: int, least: int = 64) -> int:
    """Return how many rows of ``width`` numbers fit into a block of ``numbers`` numbers."""
    return max(numbers // max(width, 1), least)


def quiet_overflow() -> np.errstate:
    """Return a context in which overflow gives infinity without a warning.

    Use it where the caller looks for numbers that are not finite in the result.
    """
    return np.errstate(over="ignore", invalid="ignore")


def is_missing(cell: Any) -> bool:
    """Tell whether a cell of a table is missing: None, NaN, NaT, `pandas.NA` or empty text."""
    try:
        return bool(cell is None or cell != cell or cell == "")
    except TypeError:  # a comparison with pandas.NA is neither true nor false
        return True


def date_text(seconds: float) -> str:
    """Return the date of a time in seconds since 1970-01-01, as YYYY-MM-DD."""
    return str(np.datetime64(round(seconds), "s"))[:10]


def cut_short(text: str, longest: int) -> str:
    """Return a text, or its beginning and an ellipsis if it is longer than that."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def spread(values: np.ndarray) -> np.ndarray:
    """Multiply integers by the golden ratio of SplitMix64, so that neighbours are far apart."""
    return values * GOLDEN_RATIO


def mix_bits(bits):
    """Return the output function of SplitMix64 (Steele, Lea and Flood 2014).

    ``bits`` is an array of uint64, or a number inside of compiled code.
    """
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


class cached_property(Generic[_Value]):  # noqa: N801 - a decorator
    """`functools.cached_property` without the lock that it has before Python 3.12.

    That lock is shared by all instances of a class. It makes fits in several threads wait for each
    other, and a process that is forked while another thread holds it never gets it. Without the
    lock two threads may compute the same value twice.
    """

    def __init__(self, function: Callable[[Any], _Value]):
        self.function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> cached_property[_Value]: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> _Value: ...

    def __get__(self, instance, owner=None):
        """Compute the value and store it in the instance, where it is found from then on."""
        if instance is None:
            return self
        value = vars(instance)[self.name] = self.function(instance)
        return value
