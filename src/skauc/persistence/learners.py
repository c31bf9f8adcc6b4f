"""What online learners remember, as arrays in a dictionary, and back.

A learner that was loaded goes on as the one that was saved would: its buffers, counters and random
numbers are all there. Compiled code trusts its arrays, so that shapes, types and everything that
is an index are checked here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skauc.online.adaoam import AdaptiveState
from skauc.online.buffers import NEW, Buffers
from skauc.online.oam import OAMState
from skauc.online.oilk import OILKState
from skauc.online.opauc import FullState, SketchState
from skauc.persistence.checks import check, check_array

# The states that each learner can have; no two of one learner have the same fields.
STATES = {
    "OAM": (OAMState,),
    "OPAUC": (FullState, SketchState),
    "AdaOAM": (AdaptiveState,),
    "SAdaOAM": (AdaptiveState,),
    "OILK": (OILKState,),
}
# Symmetric matrices, of which the upper triangle is stored.
_SYMMETRIC = ("scatter", "gram")
_MOST_ROWS = 1 << 53


def pack_state(state: NamedTuple) -> dict[str, np.ndarray]:
    """Return the fields, those of buffers among the others."""
    packed = {}
    for name, value in state._asdict().items():
        if isinstance(value, Buffers):
            packed |= pack_state(value)
        elif name in _SYMMETRIC:
            packed[name] = value[(..., *np.triu_indices(value.shape[-1]))]
        else:
            packed[name] = value
    return packed


def unpack_state(learner: str, packed: dict[str, np.ndarray], n_features: int) -> NamedTuple:
    """Build the state of a learner of that name, checking all that it is made of."""
    fitting = [kind for kind in STATES[learner] if _field_names(kind) == set(packed)]
    check(len(fitting) == 1, "memories")
    shapes = _shapes(packed, n_features)
    for name, (dtype, shape) in shapes.items():
        if name in packed:
            check_array(packed[name], (dtype,), shape, "memories")
    _check_counts(packed)
    sizes = {"scatter": n_features, "gram": len(packed.get("coef", ()))}
    fields = {
        name: _symmetric(value, sizes[name]) if name in _SYMMETRIC else np.ascontiguousarray(value)
        for name, value in packed.items()
    }
    return _made(fitting[0], fields)


def _field_names(kind) -> set[str]:
    names = set(kind._fields)
    return (names - {"buffers"}) | set(Buffers._fields) if "buffers" in names else names


def _made(kind, fields: dict[str, np.ndarray]) -> NamedTuple:
    if "buffers" in kind._fields:
        fields = {**fields, "buffers": _made(Buffers, fields)}
    return kind(*(fields[name] for name in kind._fields))


def _shapes(packed: dict, n_features: int) -> dict[str, tuple]:
    """Return the type and the shape that each field must have."""
    n_slots = _length(packed, "rows")
    n_sketched = _length(packed, "sketch")
    check(n_sketched % 2 == 0, "memories")  # it is halved
    vector, one_a_class = (np.float64, (n_features,)), (np.int64, (2,))
    return {
        **dict.fromkeys(("weights", "average", "squares"), vector),
        **dict.fromkeys(("n_seen", "n_offered", "n_rows"), one_a_class),
        "means": (np.float64, (2, n_features)),
        "traces": (np.float64, (2,)),
        "scatter": (np.float64, (2, n_features * (n_features + 1) // 2)),
        "sketch": (np.float64, (2, n_sketched, n_features)),
        "rows": (np.float64, (2, n_slots, n_features)),
        "sources": (np.int64, (n_slots,)),
        "random": (np.uint64, (1,)),
        "coef": (np.float64, (2 * n_slots,)),
        "gram": (np.float64, (n_slots * (2 * n_slots + 1),)),
        "gamma": (np.float64, (1,)),
    }


def _length(packed: dict, name: str) -> int:
    """Return the length of an array's second axis, 0 where it is not there."""
    if name not in packed:
        return 0
    array = packed[name]
    check(isinstance(array, np.ndarray) and array.ndim == 3 and array.shape[1] > 0, "memories")
    return array.shape[1]


def _check_counts(packed: dict) -> None:
    """Raise an error for a number that would lead out of an array."""
    n_seen = packed["n_seen"]
    check(bool((n_seen >= 0).all() and (n_seen < _MOST_ROWS).all() and n_seen.any()), "counts")
    if "rows" in packed:
        n_offered, sources = packed["n_offered"], packed["sources"]
        check(bool((n_offered >= 0).all() and (n_offered <= n_seen).all()), "counts")
        check(bool((sources >= NEW).all() and (sources < len(sources)).all()), "counts")
    if "gram" in packed:
        check(bool(n_offered.any() and packed["gamma"][0] > 0), "counts")
    if "sketch" in packed:
        n_rows = packed["n_rows"]
        check(bool((n_rows >= 0).all() and (n_rows <= packed["sketch"].shape[1]).all()), "counts")


def _symmetric(triangle: np.ndarray, size: int) -> np.ndarray:
    matrix = np.empty((*triangle.shape[:-1], size, size))
    rows, columns = np.triu_indices(size)
    matrix[..., rows, columns] = triangle
    matrix[..., columns, rows] = triangle
    return matrix
