"""Scratch arrays for blocks of numbers: new arrays, or arrays that a thread reuses.

Allocating a large array for every block of rows is expensive. The operating system clears its pages
each time, and threads wait for each other while it does.
"""

from __future__ import annotations

import math
import threading

import numpy as np


class ScratchArrays:
    """New arrays. Rows are augmented with NumPy alone, so that prediction loads no compiler."""

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


class ThreadScratch(ScratchArrays, threading.local):
    """Scratch arrays that each thread keeps by name and reuses if they are large enough.

    The caller must no longer need the previous array of the same name. Every engine, and every call
    that scores rows, has its own object of this class. The arrays are freed with it.
    """

    def __init__(self):
        self._arrays: dict[tuple, np.ndarray] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype) -> np.ndarray:
        """Return an array with arbitrary values. The next call with this name overwrites it."""
        key, size = (name, np.dtype(dtype)), math.prod(shape)
        held = self._arrays.get(key)
        if held is None or held.size < size:
            held = self._arrays[key] = np.empty(size, dtype)
        return held[:size].reshape(shape)
