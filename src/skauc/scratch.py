"""Scratch arrays for blocks of numbers: new arrays, or arrays that a thread reuses.

Allocating a large array for every block of rows is expensive. The operating system clears its pages
each time, and threads wait for each other while it does.

The loops that prepare rows and centres for a kernel are here, too: with NumPy, so that prediction
loads no compiler, and compiled for fits.
"""

from __future__ import annotations

import math
import threading

import numpy as np

from skauc.compiling import compiled_fast
from skauc.support import quiet_overflow


class ScratchArrays:
    """New arrays, and loops of NumPy."""

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

    def centre(
        self, centres: np.ndarray, roots: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the mean m of the centres, z = roots * (centre - m), and |z|^2 for each.

        Squares that overflow are infinite.
        """
        with quiet_overflow():
            origin = centres.mean(axis=0, dtype=np.float64).astype(centres.dtype)
            moved = np.subtract(centres, origin, dtype=np.float64) * roots
            return origin, moved, np.einsum("ij,ij->i", moved, moved)

    def augment_centres(
        self, moved: np.ndarray, squares: np.ndarray, ratios: np.ndarray, out: np.ndarray
    ) -> None:
        """Write the columns ratio * [2z, -1, -|z|^2]."""
        n_features = moved.shape[1]
        with quiet_overflow():
            out[:n_features] = 2 * ratios * moved.T
            out[n_features] = -ratios
            out[n_features + 1] = -ratios * squares


class CompiledArrays(ScratchArrays):
    """New arrays, and compiled loops."""

    def augment(
        self, rows: np.ndarray, origin: np.ndarray, roots: np.ndarray, out: np.ndarray
    ) -> None:
        """Write [x, |x|^2, 1] for each row."""
        augment(rows, origin, roots, out)

    def centre(
        self, centres: np.ndarray, roots: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the mean m, z = roots * (centre - m), and |z|^2 for each."""
        origin = np.empty(centres.shape[1], centres.dtype)
        return origin, *_centre(centres, roots, origin)

    def augment_centres(
        self, moved: np.ndarray, squares: np.ndarray, ratios: np.ndarray, out: np.ndarray
    ) -> None:
        """Write the columns ratio * [2z, -1, -|z|^2]."""
        _augment_centres(moved, squares, ratios, out)


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


class CompiledScratch(ThreadScratch, CompiledArrays):
    """Arrays that each thread reuses, and compiled loops."""


@compiled_fast
def augment(rows, origin, roots, out):
    """Write [x, |x|^2, 1] with x = roots * (row - origin): `ScratchArrays.augment` in one loop."""
    n_features = rows.shape[1]
    for i in range(rows.shape[0]):
        square = out.dtype.type(0)
        for j in range(n_features):
            out[i, j] = (rows[i, j] - origin[j]) * roots[j]
        # In a loop of its own, so that the order does not depend on the memory layout of the rows.
        for j in range(n_features):
            square += out[i, j] * out[i, j]
        out[i, n_features] = square
        out[i, n_features + 1] = 1


@compiled_fast
def _centre(centres, roots, origin):
    n_centres, n_features = centres.shape
    means, moved, squares = np.zeros(n_features), np.empty(centres.shape), np.empty(n_centres)
    for k in range(n_centres):
        for j in range(n_features):
            means[j] += centres[k, j]
    for j in range(n_features):
        origin[j] = means[j] / n_centres
    for k in range(n_centres):
        square = 0.0
        for j in range(n_features):
            moved[k, j] = (np.float64(centres[k, j]) - np.float64(origin[j])) * roots[j]
        for j in range(n_features):
            square += moved[k, j] * moved[k, j]
        squares[k] = square
    return moved, squares


@compiled_fast
def _augment_centres(moved, squares, ratios, out):
    n_centres, n_features = moved.shape
    for j in range(n_features):
        for k in range(n_centres):
            out[j, k] = 2 * ratios[k] * moved[k, j]
    for k in range(n_centres):
        out[n_features, k] = -ratios[k]
        out[n_features + 1, k] = -ratios[k] * squares[k]
