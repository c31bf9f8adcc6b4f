"""What comes out of a file is checked before it is believed."""

from __future__ import annotations

import numpy as np

from skauc.exceptions import ModelFileError


def check(condition: bool, what: str) -> None:
    """Raise an error that names what is wrong."""
    if not condition:
        raise ModelFileError(f"its {what} are not what an estimator's can be")


def check_array(array, dtypes, shape: tuple[int, ...], what: str = "numbers") -> None:
    """Raise an error unless it is an array of that shape and of one of those types, and finite."""
    is_one = isinstance(array, np.ndarray) and array.dtype in dtypes
    check(is_one and array.shape == shape and bool(np.isfinite(array).all()), what)


def check_numbers(array, shape: tuple[int, ...], what: str = "numbers") -> None:
    """Raise an error unless it is an array of finite floats."""
    check_array(array, (np.float64, np.float32), shape, what)
