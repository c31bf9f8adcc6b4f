"""The states of online learners as arrays, and back.

A state has buffers, counters and the state of the random numbers, so a loaded learner continues
exactly where the saved one stopped. Compiled code does not check its arrays. Shapes, types and
indices are therefore checked here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skauc.archive import checked_array, require
from skauc.model_arrays import Arrays
from skauc.online.adaoam import AdaptiveState
from skauc.online.buffers import NEW, Buffers
from skauc.online.oam import OAMState
from skauc.online.oilk import OILKState
from skauc.online.opauc import FullState, SketchState

# The states that each learner can have. Two states of one learner differ in their fields.
STATES = {
    "OAM": (OAMState,),
    "OPAUC": (FullState, SketchState),
    "AdaOAM": (AdaptiveState,),
    "SAdaOAM": (AdaptiveState,),
    "OILK": (OILKState,),
}
# Of symmetric matrices, the upper triangle is stored.
_SYMMETRIC = ("scatter", "gram")
_MOST_ROWS = 1 << 53
MEMORY, COUNTS = "its memory is", "its counts are"


def state_to_arrays(state: NamedTuple) -> Arrays:
    """Return the fields of a state and those of its buffers."""
    packed: Arrays = {}
    for name, value in state._asdict().items():
        if isinstance(value, Buffers):
            packed |= state_to_arrays(value)
        elif name in _SYMMETRIC:
            packed[name] = value[(..., *np.triu_indices(value.shape[-1]))]
        else:
            packed[name] = value
    return packed


def state_from_arrays(learner: str, packed: Arrays, n_features: int) -> NamedTuple:
    """Build the state of a learner."""
    require(learner in STATES, "its estimator is")
    matching = [kind for kind in STATES[learner] if _field_names(kind) == set(packed)]
    require(len(matching) == 1, MEMORY)
    shapes = _shapes(packed, n_features)
    for name, (dtype, shape) in shapes.items():
        if name in packed:
            checked_array(packed[name], (np.dtype(dtype),), shape, MEMORY)
    _check_counts(packed)
    sizes = {"scatter": n_features, "gram": len(packed.get("coef", ()))}
    fields = {
        name: _symmetric(value, sizes[name]) if name in _SYMMETRIC else np.ascontiguousarray(value)
        for name, value in packed.items()
    }
    return _made(matching[0], fields)


def _field_names(kind: Any) -> set[str]:
    names = set(kind._fields)
    return (names - {"buffers"}) | set(Buffers._fields) if "buffers" in names else names


def _made(kind: Any, fields: dict[str, Any]) -> NamedTuple:
    if "buffers" in kind._fields:
        fields = {**fields, "buffers": _made(Buffers, fields)}
    return kind(*(fields[name] for name in kind._fields))


def _shapes(packed: Arrays, n_features: int) -> dict[str, tuple]:
    """Return the type and the shape of each field."""
    n_slots = _length(packed, "rows")
    n_sketched = _length(packed, "sketch")
    require(n_sketched % 2 == 0, MEMORY)  # it is halved
    vector, one_per_class = (np.float64, (n_features,)), (np.int64, (2,))
    return {
        **dict.fromkeys(("weights", "average", "squares"), vector),
        **dict.fromkeys(("n_seen", "n_offered", "n_rows"), one_per_class),
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


def _length(packed: Arrays, name: str) -> int:
    """Return the length of the second axis of an array, or 0 if there is no such array."""
    if name not in packed:
        return 0
    array = packed[name]
    require(isinstance(array, np.ndarray) and array.ndim == 3 and array.shape[1] > 0, MEMORY)
    return array.shape[1]


def _check_counts(packed: Arrays) -> None:
    """Refuse numbers that are indices and lie outside of their arrays."""
    n_seen = packed["n_seen"]
    require(bool((n_seen >= 0).all() and (n_seen < _MOST_ROWS).all() and n_seen.any()), COUNTS)
    if "rows" in packed:
        n_offered, sources = packed["n_offered"], packed["sources"]
        require(bool((n_offered >= 0).all() and (n_offered <= n_seen).all()), COUNTS)
        require(bool((sources >= NEW).all() and (sources < len(sources)).all()), COUNTS)
    if "gram" in packed:
        require(bool(n_offered.any() and packed["gamma"][0] > 0), COUNTS)
    if "sketch" in packed:
        n_rows = packed["n_rows"]
        require(bool((n_rows >= 0).all() and (n_rows <= packed["sketch"].shape[1]).all()), COUNTS)


def _symmetric(triangle: np.ndarray, size: int) -> np.ndarray:
    matrix = np.empty((*triangle.shape[:-1], size, size))
    rows, columns = np.triu_indices(size)
    matrix[..., rows, columns] = triangle
    matrix[..., columns, rows] = triangle
    return matrix
