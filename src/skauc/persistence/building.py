"""Build objects from an audited tree of nodes, in the protocol that skops writes.

skops itself looks through all of scikit-learn and SciPy when it is imported, which takes longer
than everything else that a short command does, and reads more kinds of nodes than models have.
"""

from __future__ import annotations

import importlib
import io
import json
from collections import OrderedDict
from collections.abc import Mapping

import numpy as np
from sklearn.base import BaseEstimator

from skauc.exceptions import ModelFileError

# By which TunedThresholdClassifierCV may have tuned.
_METRICS = (
    *("accuracy_score", "balanced_accuracy_score", "f1_score", "fbeta_score", "precision_score"),
    *("recall_score", "jaccard_score", "matthews_corrcoef", "cohen_kappa_score"),
)
_TRUSTED_FUNCTIONS = {f"sklearn.metrics._classification.{metric}" for metric in _METRICS}
# Our own types, and the parts of scikit-learn's wrappers that are no estimators.
_TRUSTED_OBJECTS = {
    "skauc.persistence.state.StoredEstimator",
    "skauc.persistence.state.StoredStrings",
    "skauc.preprocessing.steps.ArcSinh",
    "skauc.preprocessing.steps.DateFeatures",
    "skauc.preprocessing.table.TablePreprocessor",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.calibration._TemperatureScaling",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.metrics._scorer._CurveScorer",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.metrics._scorer._Scorer",
    "sklearn.model_selection._classification_threshold._CurveScorer",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.RepeatedStratifiedKFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
}
# Parts of scikit-learn that hold no estimators, or change the library when they are imported.
_NO_ESTIMATORS = {"tests", "externals", "conftest", "experimental", "estimator_checks"}
_UFUNC_MODULES = {
    *("numpy", "numpy._core._multiarray_umath", "numpy.core._multiarray_umath"),
    *("scipy.special", "scipy.special._ufuncs", "scipy.special._special_ufuncs"),
}


def is_trusted_object(module: str, name: str) -> bool:
    """Tell whether objects of that class may be built: ours, and scikit-learn's estimators."""
    parts = module.split(".")
    is_sklearn = parts[0] == "sklearn" and len(parts) > 1 and _NO_ESTIMATORS.isdisjoint(parts)
    is_public = is_sklearn and name.isidentifier() and not name.startswith("_")
    return is_public or f"{module}.{name}" in _TRUSTED_OBJECTS


def is_trusted_function(module: str, name: str) -> bool:
    """Tell whether a file may name that function: one of numbers, or a metric."""
    return module in _UFUNC_MODULES or f"{module}.{name}" in _TRUSTED_FUNCTIONS


def build(node: Mapping, arrays: Mapping[str, bytes]):
    """Return the object of an audited node."""
    return _BUILD[node["__loader__"]](node, arrays)


def _found(node: Mapping):
    return getattr(importlib.import_module(node["__module__"]), node["__class__"])


def _json(node, arrays):
    return json.loads(node["content"])


def _list(node, arrays) -> list:
    return [build(value, arrays) for value in node["content"]]


def _tuple(node, arrays) -> tuple:
    return tuple(_list(node, arrays))


def _dict(node, arrays) -> dict:
    made = OrderedDict() if node["__class__"] == "OrderedDict" else {}
    kinds = build(node["key_types"], arrays)
    for kind, (key, value) in zip(kinds, node["content"].items(), strict=True):
        made[kind(key)] = build(value, arrays)
    return made


def _slice(node, arrays) -> slice:
    bounds = [node["content"][name] for name in ("start", "stop", "step")]
    if not all(bound is None or type(bound) is int for bound in bounds):
        raise ModelFileError("it holds a slice that is none")
    return slice(*bounds)


def _type(node, arrays) -> type:
    return type(None) if node["__class__"] == "NoneType" else _found(node)


def _array(node, arrays):
    if node["type"] == "json":
        return _array_of_objects(node, arrays)
    array = np.load(io.BytesIO(arrays[node["file"]]), allow_pickle=False)
    return array if node["__class__"] == "ndarray" else _found(node)(array)


def _array_of_objects(node, arrays) -> np.ndarray:
    values, shape = _list(node, arrays), build(node["shape"], arrays)
    if len(shape) != 1:
        return np.array(values, dtype=object)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _dtype(node, arrays) -> np.dtype:
    return build(node["content"], arrays).dtype


def _random_state(node, arrays) -> np.random.RandomState:
    random_state = np.random.RandomState()
    random_state.set_state(build(node["content"], arrays))
    return random_state


def _function(node, arrays):
    function = _found(node)
    name = f"{node['__module__']}.{node['__class__']}"
    if not isinstance(function, np.ufunc) and name not in _TRUSTED_FUNCTIONS:
        raise ModelFileError(f"it holds a function that is not trusted: {name[:80]!r}")
    return function


def _object(node, arrays):
    """Make an object without calling its constructor, as unpickling does."""
    kind, name = _found(node), f"{node['__module__']}.{node['__class__']}"
    is_estimator = isinstance(kind, type) and issubclass(kind, BaseEstimator)
    if not is_estimator and name not in _TRUSTED_OBJECTS:
        raise ModelFileError(f"it holds a type that is not trusted: {name[:80]!r}")
    made = kind.__new__(kind)
    state = None if node.get("content") is None else build(node["content"], arrays)
    if state is None:
        return made
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
    else:
        made.__dict__.update(state)
    return made


_BUILD = {
    "DTypeNode": _dtype,
    "DictNode": _dict,
    "FunctionNode": _function,
    "JsonNode": _json,
    "ListNode": _list,
    "NdArrayNode": _array,
    "ObjectNode": _object,
    "RandomStateNode": _random_state,
    "SliceNode": _slice,
    "TupleNode": _tuple,
    "TypeNode": _type,
}
