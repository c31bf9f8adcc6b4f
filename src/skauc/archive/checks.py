"""Checks of values that come from a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from skauc.archive.container import ArchiveError

# Types for `checked_array`.
DOUBLES = (np.dtype(np.float64),)
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
INTEGERS = (np.dtype(np.int64), np.dtype(np.int32))


def require(condition: bool, what: str) -> None:
    """Raise an error that names the part of the file that is wrong."""
    if not condition:
        raise ArchiveError(f"{what} not valid")


def checked_array(array: Any, dtypes: tuple, shape: tuple[int, ...], what: str) -> np.ndarray:
    """Return an array if it has this shape and one of these types and is finite."""
    is_valid = isinstance(array, np.ndarray) and array.dtype in dtypes and array.shape == shape
    require(is_valid and bool(np.isfinite(array).all()), what)
    return array


def checked_csr(
    data: Any, indices: Any, indptr: Any, shape: tuple[int, int], what: str
) -> sparse.csr_array:
    """Return a sparse array of floats if its parts are valid and agree with the shape."""
    checked_array(data, FLOATS, (data.size,), what)
    checked_array(indices, INTEGERS, data.shape, what)
    checked_array(indptr, INTEGERS, (shape[0] + 1,), what)
    rows = sparse.csr_array((data, indices, indptr), shape=shape)
    rows.check_format(full_check=True)
    return rows


def brief_error(error: Exception) -> str:
    """Return the type of an error and the first line of its message, cut short."""
    return f"{type(error).__name__}: {error}".partition("\n")[0][:200]


def is_integer(value: Any, least: int, most: int) -> bool:
    """Return whether a value of JSON is an integer between two bounds, both included."""
    return type(value) is int and least <= value <= most
