"""The background rows of an estimator as arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from skauc.archive import checked_array, require
from skauc.background import Background
from skauc.model_arrays import FLOATS, Arrays

_DOUBLE = (np.dtype(np.float64),)
_INTEGERS = (np.dtype(np.int64), np.dtype(np.int32))
_WHAT = "its background is"


def background_to_arrays(background: Background, prefix: str, arrays: Arrays) -> dict[str, Any]:
    """Return a header, and add the arrays under a prefix."""
    rows = background.rows
    arrays[f"{prefix}background.weights"] = background.weights
    if not sparse.issparse(rows):
        arrays[f"{prefix}background.rows"] = rows
        return {"is_sparse": False}
    for part in ("data", "indices", "indptr"):
        arrays[f"{prefix}background.{part}"] = getattr(rows, part)
    return {"is_sparse": True}


def background_from_arrays(header: Any, prefix: str, arrays: Arrays, n_features: int) -> Background:
    """Build the background that `background_to_arrays` took apart."""
    require(isinstance(header, dict) and type(header.get("is_sparse")) is bool, _WHAT)
    own = {
        name.removeprefix(f"{prefix}background."): array
        for name, array in arrays.items()
        if name.startswith(f"{prefix}background.")
    }
    weights = own.get("weights", np.zeros(0))
    checked_array(weights, _DOUBLE, (weights.size,), _WHAT)
    require(bool((weights >= 0).all() and abs(weights.sum() - 1.0) < 1e-6), _WHAT)
    shape = (len(weights), n_features)
    if header["is_sparse"]:
        return Background(_sparse_rows(own, shape), weights)
    require("rows" in own, _WHAT)
    return Background(checked_array(own["rows"], FLOATS, shape, _WHAT), weights)


def _sparse_rows(own: Arrays, shape: tuple[int, int]) -> sparse.csr_array:
    require({"data", "indices", "indptr"} <= own.keys(), _WHAT)
    data, indices, indptr = own["data"], own["indices"], own["indptr"]
    checked_array(data, FLOATS, (data.size,), _WHAT)
    checked_array(indices, _INTEGERS, data.shape, _WHAT)
    checked_array(indptr, _INTEGERS, (shape[0] + 1,), _WHAT)
    rows = sparse.csr_array((data, indices, indptr), shape=shape)
    rows.check_format(full_check=True)
    return rows
