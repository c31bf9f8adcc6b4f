"""Parameters and fitted attributes as JSON and arrays, and back.

Values that JSON does not have are objects with one key that begins with ``$``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np

from skauc.archive import ArchiveError, require

_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_DEEPEST = 20
_KEYS = (str, int, float, bool, type(None))
# Shorter arrays are kept in the header: each array in a file takes some hundred bytes.
_SHORT = 16
# Dataclasses that these packages export can be values of parameters.
_PACKAGES = ("skauc.sparse", "skauc.rank_svm", "skauc.structural", "skauc.online")


class Encoder:
    """Turns values into JSON and collects their arrays.

    Parameters
    ----------
    arrays : dict of str to ndarray
        Where to put the arrays.
    """

    def __init__(self, arrays: dict[str, np.ndarray]):
        self.arrays = arrays

    def encode(self, value: Any, name: str) -> Any:
        """Return a value for JSON; arrays get names that begin with ``name``."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or type(value) in (bool, int, str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$float": str(float(value))}
        if isinstance(value, np.ndarray):
            return self._array(value, name)
        if type(value) in (list, tuple):
            items = [self.encode(each, f"{name}.{i}") for i, each in enumerate(value)]
            return items if type(value) is list else {"$tuple": items}
        if type(value) is dict:
            return self._fields(value, name)
        if is_parameter_type(type(value)):
            values = {field.name: getattr(value, field.name) for field in fields(value)}
            return {"$type": type(value).__name__, "fields": self._fields(values, name)}
        raise ArchiveError(f"{name} is of type {type(value).__name__}, which cannot be stored")

    def _array(self, array: np.ndarray, name: str) -> dict:
        if array.dtype == object and array.ndim == 1:
            return {"$objects": [self.encode(each, name) for each in array.tolist()]}
        if array.dtype.kind == "U" and array.ndim == 1 and _is_dense(array.tolist()):
            return {"$strings": array.tolist()}
        if array.dtype == np.float64 and array.ndim == 1 and len(array) <= _SHORT:
            return {"$floats": [self.encode(each, name) for each in array.tolist()]}
        if array.dtype == object:
            raise ArchiveError(f"{name} is an array of objects, which cannot be stored")
        self.arrays[name] = array
        return {"$array": name}

    def _fields(self, values: dict, name: str) -> dict:
        items = list(values.items())
        encoded = [self.encode(value, f"{name}.{i}") for i, (_, value) in enumerate(items)]
        if all(type(key) is str and not key.startswith("$") for key in values):
            return dict(zip(values, encoded, strict=True))
        keys = [self.encode(key, name) for key in values]
        return {"$dict": [list(pair) for pair in zip(keys, encoded, strict=True)]}


def _is_dense(strings: list[str]) -> bool:
    """Return whether an array of strings takes little more memory than its characters."""
    longest = max(map(len, strings), default=0)
    return len(strings) * longest <= 16 * sum(map(len, strings)) + 10_000


def decode(value: Any, arrays: dict[str, np.ndarray], depth: int = 0) -> Any:
    """Return the value that `Encoder` turned into JSON."""
    require(depth < _DEEPEST, "the depth of its values is")
    if isinstance(value, list):
        return [decode(each, arrays, depth + 1) for each in value]
    if not isinstance(value, dict):
        return value
    special = [key for key in value if key.startswith("$")]
    if not special:
        return {key: decode(each, arrays, depth + 1) for key, each in value.items()}
    content = value[special[0]]
    if special == ["$type"]:
        return _parameter_object(content, decode(value.get("fields"), arrays, depth + 1))
    require(len(value) == 1, "the form of its values is")
    if special == ["$float"]:
        require(isinstance(content, str) and content in _NON_FINITE, "a number is")
        return _NON_FINITE[content]
    if special == ["$array"]:
        require(isinstance(content, str) and content in arrays, "the name of an array is")
        return arrays[content]
    require(special[0] in _FROM_LIST and isinstance(content, list), "a value is")
    return _FROM_LIST[special[0]]([decode(each, arrays, depth + 1) for each in content])


def _objects(items: list) -> np.ndarray:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _strings(items: list) -> np.ndarray:
    require(all(type(each) is str for each in items) and _is_dense(items), "a list of words is")
    return np.array(items, dtype=str)


def _floats(items: list) -> np.ndarray:
    require(all(type(each) is float for each in items), "a list of numbers is")
    return np.array(items, dtype=np.float64)


def _dictionary(pairs: list) -> dict:
    require(all(type(pair) is list and len(pair) == 2 for pair in pairs), "a dictionary is")
    require(all(type(key) in _KEYS for key, _ in pairs), "the key of a dictionary is")
    return dict(pairs)


_FROM_LIST: dict[str, Callable[[list], Any]] = {
    "$tuple": tuple,
    "$objects": _objects,
    "$strings": _strings,
    "$floats": _floats,
    "$dict": _dictionary,
}


def is_parameter_type(kind: type) -> bool:
    """Return whether objects of this type can be stored as the value of a parameter."""
    return _parameter_types().get(kind.__name__) is kind


def _parameter_types() -> dict[str, type]:
    packages = [import_module(name) for name in _PACKAGES]
    exported = [getattr(package, name) for package in packages for name in package.__all__]
    return {
        each.__name__: each for each in exported if isinstance(each, type) and is_dataclass(each)
    }


def _parameter_object(name: Any, values: Any) -> Any:
    """Build an object from those of its fields that it has in this version."""
    kinds = _parameter_types()
    require(isinstance(name, str) and name in kinds, "the type of a parameter is")
    require(isinstance(values, dict), "the fields of a parameter are")
    known = {field.name for field in fields(kinds[name]) if field.init}
    return kinds[name](**{key: value for key, value in values.items() if key in known})
