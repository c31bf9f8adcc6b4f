"""Kernel expansions evaluated on rows: prediction, in blocks that fit the cache."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from skauc.engines.policy import current_policy
from skauc.feature_map import FeatureMap
from skauc.kernels import NEW_ARRAYS, Kernel, Linear, Rows, centred_rbf, same_format
from skauc.rbf_columns import write_scores
from skauc.scratch import ThreadScratch
from skauc.support import rows_per_block
from skauc.threads import RowThreads, map_blocks

# Largest error of a score, in units of the margin, that float32 kernel values may cause.
_FLOAT32_ERROR = 1e-5


class Scorer:
    """Scores blocks of rows: sum_k coef_k k(z_k, x) + linear_coef.x + intercept.

    Centres are prepared once. Rows must have the format and the precision of ``like``. ``scaling``
    is applied to them first, and makes them dense. Coefficients may have several columns, one model
    each over the same centres. Kernel values have the precision of the rows, but float32 is used
    only if the coefficients do not magnify its error.
    """

    def __init__(
        self,
        kernel: Kernel,
        centres: Rows,
        coef: np.ndarray,
        like: Rows,
        *,
        linear_coef: np.ndarray | None = None,
        intercept: float | np.ndarray = 0.0,
        scaling: FeatureMap | None = None,
    ):
        if isinstance(kernel, Linear) and len(coef):
            # sum_k coef_k z_k.x = w.x takes one product per feature instead of one per centre. It
            # also keeps the ranking exact far from zero, where the products z_k.x cancel.
            slopes = safe_sparse_dot(centres.T, coef, dense_output=True)
            linear_coef = slopes if linear_coef is None else slopes + linear_coef
            coef = coef[:0]
        n_rows = like.shape[0]
        if scaling is not None:
            like = scaling.transform(like[:1])
        self._linear_coef, self._intercept, self._scaling = linear_coef, intercept, scaling
        self._columns, self._coef = None, coef
        if len(coef):
            self._dtype = _value_dtype(like, coef)
            is_one_block = n_rows <= _block_rows(*centres.shape)
            scratch = NEW_ARRAYS if is_one_block else ThreadScratch()
            self._columns = kernel.columns(same_format(centres, like), self._dtype, scratch)
            self._rounded = coef.astype(self._dtype, copy=False)

    def __call__(self, rows: Rows) -> np.ndarray:
        """Return the scores of a block of rows."""
        if self._scaling is not None:
            rows = self._scaling.transform(rows)
        if self._columns is None:
            return self._linear_part(rows) + self._intercept
        values = self._columns(rows)
        scores = values @ (self._rounded if values.dtype == self._dtype else self._coef)
        if self._linear_coef is not None:
            scores = scores + safe_sparse_dot(rows, self._linear_coef)
        return scores + self._intercept

    def _linear_part(self, rows: Rows) -> np.ndarray:
        """Return the linear part of the scores; zeros for a model without any coefficient."""
        if self._linear_coef is None:
            return np.zeros((rows.shape[0], *self._coef.shape[1:]))
        return safe_sparse_dot(rows, self._linear_coef)


def evaluate_expansion(
    kernel: Kernel, centres: Rows, coef: np.ndarray, rows: Rows, n_jobs=None
) -> np.ndarray:
    """Return the scores sum_k coef_k k(z_k, x) of all rows; see `Scorer`."""
    score = Scorer(kernel, centres, coef, rows)
    return map_rows(score, rows, centres.shape[0], coef.shape[1:], n_jobs)


def score_in_fit(
    kernel: Kernel,
    centres: Rows,
    coef: np.ndarray,
    rows: Rows,
    *,
    linear_coef: np.ndarray | None,
    intercept: float,
    n_jobs,
) -> np.ndarray:
    """Return the scores of many rows, in one compiled call per task if the kernel allows it.

    Prediction uses `Scorer`, because it should not load the compiler.
    """
    centred = centred_rbf(kernel, centres, rows, NEW_ARRAYS)
    if centred is None:
        score = Scorer(kernel, centres, coef, rows, linear_coef=linear_coef, intercept=intercept)
        return map_rows(score, rows, len(coef), (), n_jobs)
    policy, scratch, out = current_policy(), ThreadScratch(), np.empty(rows.shape[0])
    linear = np.zeros(0) if linear_coef is None else linear_coef
    assert centred.right is not None  # or `centred` would be None
    n_block, width = _block_rows(*centres.shape), sum(centred.right.shape)

    def fill(start, stop):
        n_rows = min(n_block, stop - start)
        room = scratch.array("block", (n_rows * width,), np.float64)
        write_scores(
            rows,
            start,
            stop,
            n_rows,
            centred.origin,
            centred.roots,
            centred.right,
            coef,
            linear,
            float(intercept),
            room,
            out,
        )

    map_blocks(fill, rows.shape[0], policy.task_rows, n_jobs)
    return out


def map_rows(
    score: Callable[[Rows], np.ndarray], rows: Rows, n_centres: int, shape: tuple, n_jobs=None
) -> np.ndarray:
    """Return ``score`` of all rows, an array of this shape per row, block by block.

    Rows are read one block at a time: a memory-mapped array need not fit into memory.
    """
    n_rows = rows.shape[0]
    size = _block_rows(n_centres, rows.shape[1])
    out = np.empty((n_rows, *shape))
    if n_rows <= size:
        out[:] = score(rows)
        return out

    def fill(start, stop):
        out[start:stop] = score(rows[start:stop])

    with RowThreads(n_jobs) as threads:
        list(threads.map(fill, n_rows, size))
    return out


def _block_rows(n_centres: int, n_features: int) -> int:
    """Return how many rows make a block that fits the cache."""
    return rows_per_block(n_centres + n_features + 2, current_policy().prediction_block)


def _value_dtype(rows: Rows, coef: np.ndarray):
    if rows.dtype != np.float32:
        return np.float64
    error = np.finfo(np.float32).eps * np.abs(coef).sum(axis=0).max()
    return np.float32 if error <= _FLOAT32_ERROR else np.float64
