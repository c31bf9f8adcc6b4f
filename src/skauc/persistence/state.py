"""Our estimators as plain values, and back.

A file does not hold our classes as they are laid out today, but names, parameters and arrays: the
code may change and old files stay readable. Everything that comes out of a file is checked.
"""

from __future__ import annotations

import io
import json
import pickle

import numpy as np

from skauc.base import fitted_attributes, support_attributes
from skauc.exceptions import ModelFileError
from skauc.online import OAM, OILK, OPAUC, AdaOAM, SAdaOAM
from skauc.online.base import OnlineClassifier
from skauc.persistence.checks import check, check_array, check_numbers
from skauc.persistence.learners import pack_state, unpack_state
from skauc.persistence.models import pack_models, pack_records, unpack_models, unpack_records
from skauc.persistence.summary import is_own
from skauc.rank_svm import KernelRankSVM
from skauc.sparse import SparseKernelAUC, SparseKernelAUCCV
from skauc.sparse.path_classifier import PathClassifier, path_attributes
from skauc.structural import StructuralAUC

ESTIMATORS = {
    kind.__name__: kind
    for kind in (
        *(SparseKernelAUC, SparseKernelAUCCV, StructuralAUC, KernelRankSVM),
        *(OAM, OPAUC, AdaOAM, SAdaOAM, OILK),
    )
}
# What a fit went through, kept on request.
_HISTORY = {"cv_results_"}
# What SparseKernelAUCCV has besides the model it has chosen.
_TUNING = ("best_params_", "best_score_", "n_splits_", "cv_results_")

# A sparse array can claim any number of features; some attributes are as long as that.
_MOST_FEATURES = 1 << 21


class StoredEstimator:
    """A fitted estimator of ours in plain values; its deep copy is the estimator.

    ``__reduce_ex__`` says so and not ``__deepcopy__``, which wrappers that pass on unknown
    attributes, such as FrozenEstimator, would take for their own.
    """

    def __init__(self, name: str, parameters: dict, fitted: dict, learnt: dict | None):
        self.name, self.parameters = name, parameters
        self.fitted, self.learnt = fitted, learnt

    def __reduce_ex__(self, protocol):
        return _restored, (self.name, self.parameters, self.fitted, self.learnt)


class StoredStrings:
    """An array of strings as one text; its deep copy is the array."""

    def __init__(self, text: str):
        self.text = text

    def __reduce_ex__(self, protocol):
        return _strings, (self.text,)


def _strings(text: str) -> np.ndarray:
    strings = json.loads(text)
    check(isinstance(strings, list) and all(isinstance(s, str) for s in strings), "strings")
    array = np.empty(len(strings), dtype=object)
    array[:] = strings
    return array


def to_plain(model, *, history: bool):
    """Return a copy of a model in which our estimators and arrays of strings are plain values."""
    buffer = io.BytesIO()
    pickler = _Swapping(buffer, history)
    try:
        pickler.dump(model)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ModelFileError(
            f"The model holds something that cannot be stored: {error}. Use steps from "
            "scikit-learn or skauc, without functions of your own."
        ) from error
    buffer.seek(0)
    unpickler = pickle.Unpickler(buffer)
    unpickler.persistent_load = pickler.stored.__getitem__
    return unpickler.load()


class _Swapping(pickle.Pickler):
    """Copies a user's own model in memory, with other objects in the place of some."""

    def __init__(self, buffer, history: bool):
        super().__init__(buffer)
        self.history = history
        self.stored: dict[int, object] = {}

    def persistent_id(self, obj):
        if is_own(obj):
            found = _stored(obj, self.history)
        elif (
            isinstance(obj, np.ndarray) and obj.dtype == object and obj.ndim == 1 and _is_text(obj)
        ):
            found = StoredStrings(json.dumps(obj.tolist(), ensure_ascii=False))
        else:
            return None
        self.stored[len(self.stored)] = found
        return len(self.stored) - 1


def _is_text(array: np.ndarray) -> bool:
    return all(type(value) is str for value in array)


def _stored(estimator, history: bool) -> StoredEstimator:
    name = type(estimator).__name__
    if ESTIMATORS.get(name) is not type(estimator):
        raise ModelFileError(
            f"{type(estimator).__name__} is not an estimator that model files know. "
            f"They know {', '.join(ESTIMATORS)}."
        )
    fitted = fitted_attributes(estimator)
    learnt = _learnt(estimator, history) if fitted else None
    left_out = {"_model", "_models", "_state"} | (set() if history else _HISTORY)
    if fitted:
        left_out |= _what_follows(estimator)
    kept = {name: _plain(value) for name, value in fitted.items() if name not in left_out}
    if hasattr(estimator, "best_estimator_"):
        kept["best_estimator_"] = _plain_parameters(estimator.best_estimator_)
    return StoredEstimator(name, _plain_parameters(estimator), kept, learnt)


def _learnt(estimator, history: bool) -> dict:
    """Return what the estimator scores by, and what it learns on with, as arrays.

    Without history it is the one model that scores.
    """
    if isinstance(estimator, OnlineClassifier):
        return pack_state(estimator._state)
    if not isinstance(estimator, PathClassifier):
        return pack_models([estimator._model])
    models = estimator._models if history else {estimator.n_basis_: estimator._model}
    records = [record for record in estimator.path_ if record.n_basis in models]
    packed = pack_models([models[size] for size in sorted(models)])
    return {**packed, "records": pack_records(records)}


def _what_follows(estimator) -> set[str]:
    """Return the attributes that follow from what was learnt and need not be stored."""
    if isinstance(estimator, PathClassifier):
        # Without history the iterations on the way cannot be counted.
        attributes = path_attributes(estimator._models, estimator.path_, estimator.n_basis_)
        return attributes.keys() - {"n_iter_"}
    if not isinstance(estimator, OnlineClassifier):
        return set(support_attributes(estimator._model))
    # Attributes are of the parameters at their time, which may have been set anew.
    attributes = estimator._attributes(estimator._state)
    own = vars(estimator)
    return {name for name in attributes if np.array_equal(attributes[name], own[name])}


def _plain_parameters(estimator) -> dict:
    """Return the parameters; one that is an object of some other class is left at its default."""
    parameters = {}
    for name, value in estimator.get_params(deep=False).items():
        if isinstance(value, np.ndarray | np.generic):
            value = value.tolist()
        if _is_plain(value):
            parameters[name] = value
    return parameters


def _is_plain(value, depth: int = 0) -> bool:
    if isinstance(value, list | tuple):
        return depth < 3 and all(_is_plain(each, depth + 1) for each in value)
    return value is None or type(value) in (bool, int, float, str)


def _plain(value):
    """Return an attribute as skops stores it: arrays, numbers, words, lists and dictionaries."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype == object:
        return StoredStrings(json.dumps(value.tolist())) if _is_text(value) else value.tolist()
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def _restored(name: str, parameters: dict, fitted: dict, learnt: dict | None):
    """Build the estimator, checking all that it is made of."""
    check(isinstance(name, str) and name in ESTIMATORS, "estimator")
    estimator = _made(ESTIMATORS[name], parameters)
    if learnt is None:
        check(fitted == {}, "attributes")
        return estimator
    best_parameters = fitted.pop("best_estimator_", None)
    _check_fitted(fitted)
    check(len(fitted["classes_"]) == 2 or isinstance(estimator, KernelRankSVM), "classes")
    follows = _relearnt(estimator, learnt, fitted["n_features_in_"])
    _check_stored_again(estimator, follows, fitted)
    vars(estimator).update(follows | fitted)
    if best_parameters is not None:
        best = _made(SparseKernelAUC, best_parameters)
        own = fitted_attributes(estimator)
        vars(best).update({name: own[name] for name in own if name not in _TUNING})
        estimator.best_estimator_ = best
    return estimator


def _check_fitted(fitted: dict) -> None:
    """Raise an error for attributes that no fit sets, and for some that a fit sets otherwise."""
    for attribute, value in fitted.items():
        check(attribute.endswith("_") and not attribute.startswith("_"), "attributes")
        check(isinstance(value, np.ndarray | dict) or _is_plain(value), "attributes")
    n_features, classes = fitted["n_features_in_"], fitted["classes_"]
    check(type(n_features) is int and 0 < n_features <= _MOST_FEATURES, "features")
    check(isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) > 1, "classes")
    names = fitted.get("feature_names_in_")
    if names is not None:
        is_array = isinstance(names, np.ndarray) and names.shape == (n_features,)
        check(is_array and _is_text(names), "features")
    if "feature_spread_" in fitted:
        check_numbers(fitted["feature_spread_"], (n_features,))


def _relearnt(estimator, learnt: dict, n_features: int) -> dict:
    """Return what follows from what was learnt."""
    if isinstance(estimator, OnlineClassifier):
        state = unpack_state(type(estimator).__name__, learnt, n_features)
        return {**estimator._checked_attributes(state), "_state": state}
    models = unpack_models(learnt, n_features)
    if isinstance(estimator, PathClassifier):
        by_size = {len(model.coef): model for model in models}
        check(min(by_size) > 0, "sizes")
        records = unpack_records(learnt["records"], by_size)
        return path_attributes(by_size, records, max(by_size))
    check(len(models) == 1, "sizes")
    return support_attributes(models[0])


def _check_stored_again(estimator, follows: dict, fitted: dict) -> None:
    """Raise an error for an attribute that was stored, follows, and is not like what follows."""
    twice = follows.keys() & fitted.keys()
    if not isinstance(estimator, OnlineClassifier):
        check(twice <= {"n_iter_"}, "attributes")
        return
    for name in twice:
        expected = np.asarray(follows[name])
        check_array(np.asarray(fitted[name]), (expected.dtype,), expected.shape, "attributes")


def _made(kind, parameters):
    """Return an unfitted estimator with those of the parameters that it has in this version."""
    check(isinstance(parameters, dict), "parameters")
    known = kind().get_params(deep=False)
    check(all(_is_plain(value) for value in parameters.values()), "parameters")
    return kind(**{name: value for name, value in parameters.items() if name in known})
