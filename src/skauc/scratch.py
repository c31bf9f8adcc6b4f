"""Arrays for blocks of numbers: new ones, or scratch arrays that a thread uses again.

A large array that is made and thrown away for every block of rows costs more than it looks. The
system clears its pages each time, and threads wait for each other while it does.
"""

from __future__ import annotations

import math
import threading

import numpy as np


class Workbench:
    """Returns new arrays, and augments rows with NumPy alone: prediction loads no compiler."""

    def array(self, name: str, shape: tuple[int, ...], dtype) -> np.ndarray:
        """Return an array with arbitrary values."""
        return np.empty(shape, dtype)

    def augment(
        self, rows: np.ndarray, origin: np.ndarray, roots: np.ndarray, out: np.ndarray
    ) -> None:
        """Write [x, |x|^2, 1] with x = roots * (row - origin) for each row."""
        n_features = rows.shape[1]
        scaled = out[:, :n_features]
        np.subtract(rows, origin, out=scaled, casting="same_kind")
        scaled *= roots
        np.einsum("ij,ij->i", scaled, scaled, out=out[:, n_features])
        out[:, n_features + 1] = 1


class ThreadBench(Workbench, threading.local):
    """Returns the array that the thread had under this name before, if it is large enough.

    The caller must be done with the last array of this name. An engine, and a call that scores
    rows, has a bench of its own, and so the arrays are freed with it.
    """

    def __init__(self):
        self._arrays: dict[tuple, np.ndarray] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype) -> np.ndarray:
        """Return an array with arbitrary values; it lasts until the next one of this name."""
        key, size = (name, np.dtype(dtype)), math.prod(shape)
        held = self._arrays.get(key)
        if held is None or held.size < size:
            held = self._arrays[key] = np.empty(size, dtype)
        return held[:size].reshape(shape)
