"""The background rows of an estimator as arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from skauc.archive import DOUBLES, FLOATS, checked_array, checked_csr, require
from skauc.background import Background
from skauc.kernels import is_sparse
from skauc.model_arrays import Arrays

_WHAT = "its background is"


def background_to_arrays(background: Background) -> tuple[dict[str, Any], Arrays]:
    """Return a header and the arrays."""
    rows, weights = background.rows, background.weights
    if not is_sparse(rows):
        return {"is_sparse": False}, {"weights": weights, "rows": rows}
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}
    return {"is_sparse": True}, {"weights": weights, **parts}


def background_from_arrays(header: Any, arrays: Arrays, n_features: int) -> Background:
    """Build the background that `background_to_arrays` took apart."""
    require(isinstance(header, dict) and type(header.get("is_sparse")) is bool, _WHAT)
    weights = arrays.get("weights", np.zeros(0))
    checked_array(weights, DOUBLES, (weights.size,), _WHAT)
    require(bool((weights >= 0).all() and abs(weights.sum() - 1.0) < 1e-6), _WHAT)
    shape = (len(weights), n_features)
    if header["is_sparse"]:
        return Background(_sparse_rows(arrays, shape), weights)
    require("rows" in arrays, _WHAT)
    return Background(checked_array(arrays["rows"], FLOATS, shape, _WHAT), weights)


def _sparse_rows(arrays: Arrays, shape: tuple[int, int]) -> sparse.csr_array:
    require({"data", "indices", "indptr"} <= arrays.keys(), _WHAT)
    return checked_csr(arrays["data"], arrays["indices"], arrays["indptr"], shape, _WHAT)
