"""Kernel expansions evaluated on rows: prediction, in blocks that fit the cache."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skauc.engines.threads import RowThreads
from skauc.kernels import PLAIN, Columns, Kernel, Rows, same_format
from skauc.scratch import ThreadBench

_BLOCK = 1 << 17
# Largest error of a score, in units of the margin, that float32 kernel values may cause.
_FLOAT32_ERROR = 1e-5
# What the blocks of many rows are made in, an array of each name for each thread.
BENCH = ThreadBench()


def evaluate_expansion(
    kernel: Kernel, centres: Rows, coef: np.ndarray, rows: Rows, n_jobs=None
) -> np.ndarray:
    """Return the scores sum_k coef_k k(z_k, x) of each row; see `make_expansion`."""
    expansion = make_expansion(kernel, centres, coef, rows)
    return map_rows(expansion, rows, centres.shape[0], coef.shape[1:], n_jobs)


def make_expansion(kernel: Kernel, centres: Rows, coef: np.ndarray, like: Rows) -> Columns:
    """Prepare the centres, and return the function that scores a block of rows.

    ``coef`` may have several columns, one model each over the same centres. The function is for
    rows in the format and precision of ``like``. Kernel values are in that precision too, but
    float32 only where the coefficients do not blow its error up.
    """
    dtype = _value_dtype(like, coef)
    bench = PLAIN if like.shape[0] <= _block_rows(*centres.shape) else BENCH
    columns = kernel.columns(same_format(centres, like), dtype, bench)
    rounded = coef.astype(dtype, copy=False)

    def expansion(rows: Rows) -> np.ndarray:
        values = columns(rows)
        return values @ (rounded if values.dtype == dtype else coef)

    return expansion


def map_rows(
    score: Callable[[Rows], np.ndarray], rows: Rows, n_centres: int, shape: tuple, n_jobs=None
) -> np.ndarray:
    """Return what ``score`` makes of each row, an array of that shape, block by block.

    Rows are read one block at a time: a memory-mapped array need not fit into memory.
    """
    n_rows = rows.shape[0]
    block_rows = _block_rows(n_centres, rows.shape[1])
    out = np.empty((n_rows, *shape))
    if n_rows <= block_rows:
        out[:] = score(rows)
        return out

    def fill(start, stop):
        out[start:stop] = score(rows[start:stop])

    with RowThreads(n_jobs) as threads:
        list(threads.map(fill, n_rows, block_rows))
    return out


def _block_rows(n_centres: int, n_features: int) -> int:
    """Return how many rows make a block that fits the cache."""
    return max(_BLOCK // (n_centres + n_features + 2), 64)


def _value_dtype(rows: Rows, coef: np.ndarray):
    if rows.dtype != np.float32:
        return np.float64
    error = np.finfo(np.float32).eps * np.abs(coef).sum(axis=0).max()
    return np.float32 if error <= _FLOAT32_ERROR else np.float64
