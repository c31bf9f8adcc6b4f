"""Our estimators as plain values, and back.

A file does not hold our classes as they are laid out today, but names, parameters and arrays: the
code may change and old files stay readable. Everything that comes out of a file is checked.
"""

from __future__ import annotations

import io
import json
import pickle
from dataclasses import replace

import numpy as np
from scipy import sparse

from skauc.classifier import fitted_attributes
from skauc.estimators import SparseKernelAUC, SparseKernelAUCCV
from skauc.estimators._classifier import KernelClassifier, model_attributes
from skauc.exceptions import ModelFileError
from skauc.kernels import RBF, Kernel, Laplacian, Linear, Polynomial
from skauc.model import Model, PathRecord
from skauc.persistence.summary import is_own
from skauc.validation import is_number

ESTIMATORS = {"SparseKernelAUC": SparseKernelAUC, "SparseKernelAUCCV": SparseKernelAUCCV}
KERNELS = {"rbf": RBF, "laplacian": Laplacian, "polynomial": Polynomial, "linear": Linear}
# What `model_attributes` derives from the models, and what the models are packed into.
_DERIVED = {
    *("n_basis_", "basis_vectors_", "basis_indices_", "dual_coef_", "linear_coef_", "intercept_"),
    *("gamma_", "length_scales_", "path_", "_models", "best_estimator_"),
}
# What a fit went through, kept on request.
_HISTORY = {"cv_results_"}
_RECORD_FIELDS = (
    *("n_basis", "objective", "train_auc", "validation_auc", "seconds", "n_iter", "is_refined"),
)

# A sparse array can claim any number of features; some attributes are as long as that.
_MOST_FEATURES = 1 << 21


class StoredEstimator:
    """A fitted estimator of ours in plain values; its deep copy is the estimator.

    ``__reduce_ex__`` says so and not ``__deepcopy__``, which wrappers that pass on unknown
    attributes, such as FrozenEstimator, would take for their own.
    """

    def __init__(self, name: str, parameters: dict, fitted: dict, models: dict | None):
        self.name, self.parameters = name, parameters
        self.fitted, self.models = fitted, models

    def __reduce_ex__(self, protocol):
        return _restored, (self.name, self.parameters, self.fitted, self.models)


class StoredStrings:
    """An array of strings as one text; its deep copy is the array."""

    def __init__(self, text: str):
        self.text = text

    def __reduce_ex__(self, protocol):
        return _strings, (self.text,)


def _strings(text: str) -> np.ndarray:
    strings = json.loads(text)
    _check(isinstance(strings, list) and all(isinstance(s, str) for s in strings), "strings")
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
    left_out = _DERIVED if history else _DERIVED | _HISTORY
    fitted = {
        name: _plain(value)
        for name, value in fitted_attributes(estimator).items()
        if name not in left_out
    }
    if hasattr(estimator, "best_estimator_"):
        fitted["best_estimator_"] = _plain_parameters(estimator.best_estimator_)
    models = _packed(estimator, history) if hasattr(estimator, "_models") else None
    return StoredEstimator(name, _plain_parameters(estimator), fitted, models)


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


def _packed(estimator: KernelClassifier, history: bool) -> dict:
    """Return the models as a few arrays; those of one generation share their centres.

    Without history it is the one model that scores.
    """
    models = estimator._models if history else {estimator.n_basis_: _final(estimator)}
    sizes = sorted(models)
    generations = sorted({model.generation for model in models.values()})
    linear = [models[size].linear_coef for size in sizes]
    records = [record for record in estimator.path_ if record.n_basis in models]
    return {
        "sizes": sizes,
        "generations": [generations.index(models[size].generation) for size in sizes],
        "intercepts": np.array([models[size].intercept for size in sizes]),
        "coef": np.concatenate([models[size].coef for size in sizes]),
        "linear_coef": None if linear[0] is None else np.array(linear),
        "bases": [_packed_basis(models, generation) for generation in generations],
        "records": [[getattr(record, name) for name in _RECORD_FIELDS] for record in records],
    }


def _final(estimator: KernelClassifier) -> Model:
    return estimator._models[estimator.n_basis_]


def _packed_basis(models: dict[int, Model], generation: int) -> dict:
    """Return the kernel and the centres of the largest model of a generation."""
    members = [model for model in models.values() if model.generation == generation]
    widest = max(members, key=lambda model: len(model.coef))
    return {
        "kernel": _packed_kernel(widest.kernel),
        "centres": _packed_rows(widest.centres),
        "indices": widest.indices,
    }


def _packed_kernel(kernel: Kernel) -> dict:
    for name, kind in KERNELS.items():
        if type(kernel) is kind:
            return {"name": name, **vars(kernel)}
    raise ModelFileError(
        "A model with a kernel of your own cannot be stored: its function is code, which a model "
        f"file never holds. Use one of the kernels {', '.join(KERNELS)}."
    )


def _packed_rows(rows) -> dict:
    if not sparse.issparse(rows):
        return {"dense": rows}
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}
    return {**parts, "n_features": rows.shape[1]}


def _restored(name: str, parameters: dict, fitted: dict, models: dict | None):
    """Build the estimator, checking all that it is made of."""
    _check(isinstance(name, str) and name in ESTIMATORS, "estimator")
    estimator = _made(ESTIMATORS[name], parameters)
    best_parameters = fitted.pop("best_estimator_", None)
    for attribute, value in fitted.items():
        _check(attribute.endswith("_") and not attribute.startswith("_"), "attributes")
        _check(isinstance(value, np.ndarray | dict) or _is_plain(value), "attributes")
    classes = fitted.get("classes_", np.zeros(2))
    _check(isinstance(classes, np.ndarray) and classes.shape == (2,), "classes")
    if models is not None:
        n_iter = fitted["n_iter_"]
        by_size, records = _unpacked(models, fitted)
        fitted |= model_attributes(by_size, records, max(by_size))
        fitted["n_iter_"] = n_iter
    vars(estimator).update(fitted)
    if best_parameters is not None:
        best = _made(SparseKernelAUC, best_parameters)
        own = ("best_params_", "best_score_", "n_splits_", "cv_results_")
        vars(best).update({name: fitted[name] for name in fitted if name not in own})
        estimator.best_estimator_ = best
    return estimator


def _made(kind, parameters):
    """Return an unfitted estimator with those of the parameters that it has in this version."""
    _check(isinstance(parameters, dict), "parameters")
    known = kind().get_params(deep=False)
    _check(all(_is_plain(value) for value in parameters.values()), "parameters")
    return kind(**{name: value for name, value in parameters.items() if name in known})


def _unpacked(packed: dict, fitted: dict) -> tuple[dict[int, Model], list[PathRecord]]:
    n_features = fitted["n_features_in_"]
    _check(type(n_features) is int and 0 < n_features <= _MOST_FEATURES, "features")
    sizes = packed["sizes"]
    _check(sizes == sorted(set(sizes)) and all(type(n) is int and n > 0 for n in sizes), "sizes")
    bases = [_unpacked_basis(basis, n_features) for basis in packed["bases"]]
    _check(len(packed["coef"]) == sum(sizes), "coefficients")
    coefs = np.split(packed["coef"], np.cumsum(sizes)[:-1])
    linear = packed["linear_coef"]
    if linear is None:
        linear = [None] * len(sizes)
    else:
        _check_numbers(linear, (len(sizes), n_features))
    _check_numbers(packed["intercepts"], (len(sizes),))
    parts = zip(packed["generations"], coefs, linear, packed["intercepts"], strict=True)
    models = {}
    for generation, coef, linear_coef, intercept in parts:
        _check_numbers(coef, coef.shape)
        widest = bases[generation]
        _check(len(coef) <= len(widest.indices), "coefficients")
        part = _first(widest, len(coef))
        models[len(coef)] = replace(
            part,
            coef=coef,
            linear_coef=linear_coef,
            intercept=float(intercept),
            generation=generation,
        )
    return models, [_unpacked_record(record, models) for record in packed["records"]]


def _unpacked_basis(packed: dict, n_features: int) -> Model:
    """Return a model without coefficients."""
    indices = packed["indices"]
    _check(isinstance(indices, np.ndarray) and indices.ndim == 1 and len(indices) > 0, "indices")
    centres = _unpacked_rows(packed["centres"], (len(indices), n_features))
    kernel = _unpacked_kernel(packed["kernel"], len(indices), n_features)
    return Model(kernel, centres, indices, None, None, 0.0, 0)


def _unpacked_kernel(packed: dict, n_centres: int, n_features: int) -> Kernel:
    packed = dict(packed)
    kind = KERNELS[packed.pop("name")]
    for name, value in packed.items():
        if isinstance(value, np.ndarray):
            _check_numbers(value, (n_features,) if name == "scales" else (n_centres,))
        else:
            _check(value is None or is_number(value), "kernel")
    return kind(**packed)


def _unpacked_rows(packed: dict, shape: tuple[int, int]):
    if "dense" in packed:
        _check_numbers(packed["dense"], shape)
        return packed["dense"]
    _check(packed["n_features"] == shape[1], "centres")
    parts = tuple(packed[name] for name in ("data", "indices", "indptr"))
    _check(all(isinstance(part, np.ndarray) and part.ndim == 1 for part in parts), "centres")
    _check_numbers(parts[0], parts[0].shape)
    rows = sparse.csr_array(parts, shape=shape)
    rows.check_format(full_check=True)
    return rows


def _unpacked_record(values: list, models: dict[int, Model]) -> PathRecord:
    _check(
        all(value is None or is_number(value) or isinstance(value, bool) for value in values),
        "path",
    )
    fields = dict(zip(_RECORD_FIELDS, values, strict=True))
    return PathRecord(**fields, model=models[fields["n_basis"]])


def _first(model: Model, size: int) -> Model:
    """Return the part of a model with its first centres."""
    kernel = model.kernel
    gamma = getattr(kernel, "gamma", None)
    if isinstance(gamma, np.ndarray):
        kernel = replace(kernel, gamma=gamma[:size])
    return replace(model, kernel=kernel, centres=model.centres[:size], indices=model.indices[:size])


def _check_numbers(array, shape: tuple[int, ...]) -> None:
    is_real = isinstance(array, np.ndarray) and array.dtype in (np.float64, np.float32)
    _check(is_real and array.shape == shape and bool(np.isfinite(array).all()), "numbers")


def _check(condition: bool, what: str) -> None:
    if not condition:
        raise _broken(what)


def _broken(what: str) -> ModelFileError:
    return ModelFileError(f"its {what} are not what an estimator's can be")
