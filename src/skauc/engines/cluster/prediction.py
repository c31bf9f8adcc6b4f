"""Lazy predictions for dask collections. Each worker predicts the partitions that it holds."""

from __future__ import annotations

import dask.array as da
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_feature_names

from skauc.exceptions import InvalidDataError


def lazily(estimator: BaseEstimator, method: str, X, dtype) -> da.Array:
    """Return the output of an estimator's method for a dask array or dataframe, as a dask array."""
    if X.ndim != 2 or X.shape[1] != estimator.n_features_in_:
        raise InvalidDataError(
            f"`X` must have {estimator.n_features_in_} columns, as in `fit`; got a dask "
            f"collection with {X.ndim} dimensions and shape {X.shape}. Pass the same columns."
        )
    predict = _Prediction(estimator, method, np.dtype(dtype))
    if hasattr(X, "columns"):
        _check_feature_names(estimator, X._meta, reset=False)
        return X.map_partitions(predict, meta=np.empty(0, dtype))
    rows = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    return rows.map_blocks(predict, drop_axis=1, dtype=dtype, meta=np.empty(0, dtype))


class _Prediction:
    """Calls a method of an estimator on one partition, which may be empty."""

    def __init__(self, estimator: BaseEstimator, method: str, dtype: np.dtype):
        self.estimator, self.method, self.dtype = estimator, method, dtype
        self.__name__ = f"skauc-{method.replace('_', '-')}"

    def __call__(self, rows) -> np.ndarray:
        if len(rows) == 0:
            return np.empty(0, self.dtype)
        return getattr(self.estimator, self.method)(rows)
