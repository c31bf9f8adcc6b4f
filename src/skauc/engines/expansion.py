"""Kernel expansions evaluated on rows: prediction, in blocks that fit the cache."""

from __future__ import annotations

import numpy as np

from skauc.engines.threads import RowThreads
from skauc.kernels import Kernel, Rows, same_format

_BLOCK = 1 << 17
# Largest error of a score, in units of the margin, that float32 kernel values may cause.
_FLOAT32_ERROR = 1e-5


def evaluate_expansion(
    kernel: Kernel, centres: Rows, coef: np.ndarray, rows: Rows, n_jobs=None
) -> np.ndarray:
    """Return the scores sum_k coef_k k(z_k, x) of each row.

    ``coef`` may have several columns, one model each over the same centres. Kernel values are in
    the precision of the rows, but float32 only where the coefficients do not blow its error up.
    """
    columns = kernel.columns(same_format(centres, rows), _value_dtype(rows, coef))
    out = np.empty((rows.shape[0], *coef.shape[1:]))

    def fill(start, stop):
        out[start:stop] = columns(rows[start:stop]) @ coef

    block_rows = max(_BLOCK // (centres.shape[0] + rows.shape[1] + 2), 64)
    if rows.shape[0] <= block_rows:
        fill(0, rows.shape[0])
        return out
    with RowThreads(n_jobs) as threads:
        list(threads.map(fill, rows.shape[0], block_rows))
    return out


def _value_dtype(rows: Rows, coef: np.ndarray):
    if rows.dtype != np.float32:
        return np.float64
    error = np.finfo(np.float32).eps * np.abs(coef).sum(axis=0).max()
    return np.float32 if error <= _FLOAT32_ERROR else np.float64
