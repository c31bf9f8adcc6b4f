"""Our own estimators as JSON and arrays, and back.

A file holds the name of the class, its parameters and what was learnt. It does not hold the
objects as they are laid out today, so that later versions can read it. Everything that comes
out of a file is checked.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from skauc.archive import DOUBLES, ArchiveError, checked_array, is_integer, require
from skauc.base import RankingClassifier, fitted_attributes, support_attributes
from skauc.model_arrays import (
    Arrays,
    add_prefix,
    models_from_arrays,
    models_to_arrays,
    records_from_json,
    records_to_json,
    select_prefix,
)
from skauc.persistence.backgrounds import background_from_arrays, background_to_arrays
from skauc.persistence.calibrators import calibrator_from_json, calibrator_to_json
from skauc.persistence.values import Encoder, decode

# Where to find each class that files name.
HOMES = {
    "SparseKernelAUC": "skauc.sparse",
    "SparseKernelAUCCV": "skauc.sparse",
    "StructuralAUC": "skauc.structural",
    "KernelRankSVM": "skauc.rank_svm",
    "OAM": "skauc.online",
    "OILK": "skauc.online",
    "OPAUC": "skauc.online",
    "AdaOAM": "skauc.online",
    "SAdaOAM": "skauc.online",
}
# Our preprocessing steps. Their fitted attributes are plain values and arrays.
STEPS = {
    "ArcSinh": "skauc.preprocessing",
    "DateFeatures": "skauc.preprocessing",
    "TablePreprocessor": "skauc.preprocessing",
}
# A loaded model must not start processes or write files that its author chose.
RESET = ("n_jobs", "checkpoint")
# What a fit went through. It is kept on request.
_HISTORY = ("cv_results_",)
# What SparseKernelAUCCV has in addition to the model it has chosen.
_SEARCH = (
    *(
        "best_params_",
        "best_score_",
        "size_choices_",
        "ensemble_",
        "n_splits_",
        "cv_results_",
    ),
    *("calibrator_", "balanced_threshold_"),
)

_HIDDEN = ("_model", "_models", "_state")
_BEST = "best_estimator_"
_BACKGROUND = "background_"
_CALIBRATOR = "calibrator_"
# A sparse array can claim any number of features, and some attributes are as long as that.
_MOST_FEATURES = 1 << 24


def estimator_class(name: Any) -> type:
    """Return the class that a file names."""
    require(isinstance(name, str) and name in HOMES, "the name of its estimator is")
    return getattr(import_module(HOMES[name]), name)


def is_own(model: Any) -> bool:
    """Return whether this is an estimator of skauc, and not a preprocessing step."""
    return isinstance(model, RankingClassifier)


def is_own_step(step: Any) -> bool:
    """Return whether this is a preprocessing step of skauc."""
    home = STEPS.get(type(step).__name__)
    return home is not None and getattr(import_module(home), type(step).__name__) is type(step)


def encode_step(step: Any, prefix: str, arrays: Arrays) -> dict[str, Any]:
    """Return the header of a step, fitted or not, and add its arrays under a prefix."""
    encoder = Encoder(arrays)
    own = {name: value for name, value in vars(step).items() if name.endswith("_")}
    return {
        "class": type(step).__name__,
        "parameters": encode_parameters(step),
        "attributes": {name: encoder.encode(own[name], f"{prefix}{name}") for name in own},
        "output": vars(step).get("_sklearn_output_config", {}).get("transform"),
    }


def decode_step(header: Any, arrays: Arrays) -> Any:
    """Build the step that `encode_step` took apart."""
    require(isinstance(header, dict), "its step is")
    name, output = header.get("class"), header.get("output")
    require(isinstance(name, str) and name in STEPS, "the name of its step is")
    kind = getattr(import_module(STEPS[name]), name)
    step = _with_parameters(kind, header.get("parameters"))
    attributes = decode(header.get("attributes"), arrays)
    _check_names(attributes)
    vars(step).update(attributes)
    if output is not None:
        require(output in ("default", "pandas", "polars"), "the output of its step is")
        step.set_output(transform=output)
    return step


def encode_estimator(
    estimator: RankingClassifier, prefix: str, arrays: Arrays, *, history: bool
) -> dict[str, Any]:
    """Return the header of an estimator, fitted or not, and add its arrays under a prefix."""
    name = type(estimator).__name__
    if name not in HOMES or estimator_class(name) is not type(estimator):
        raise ArchiveError(
            f"{type(estimator).__name__} is not one of the estimators that a file can hold: "
            f"{', '.join(HOMES)}"
        )
    encoder = Encoder(arrays)
    header = {"class": name, "parameters": encode_parameters(estimator)}
    fitted = fitted_attributes(estimator)
    if not fitted:
        return header
    left_out = {*_HIDDEN, _BEST, _BACKGROUND, _CALIBRATOR, *_derived(estimator)}
    left_out |= set() if history else {*_HISTORY}
    header["attributes"] = {
        name: encoder.encode(value, f"{prefix}{name}")
        for name, value in fitted.items()
        if name not in left_out
    }
    if _BACKGROUND in fitted:
        header["background"], parts = background_to_arrays(fitted[_BACKGROUND])
        arrays |= add_prefix(f"{prefix}background.", parts)
    if _CALIBRATOR in fitted:
        header["calibration"] = calibrator_to_json(fitted[_CALIBRATOR])
    if _BEST in fitted:
        header["best_parameters"] = encode_parameters(fitted[_BEST])
    learnt, parts = _learnt(estimator, history)
    arrays |= add_prefix(f"{prefix}model.", parts)
    return {**header, **learnt}


def encode_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters without those that JSON cannot hold, such as a ``RandomState``."""
    arrays: Arrays = {}
    encoder = Encoder(arrays)
    encoded = {}
    for name, value in estimator.get_params(deep=False).items():
        value = value.tolist() if isinstance(value, np.ndarray) else value
        try:
            encoded[name] = encoder.encode(value, name)
        except ArchiveError:
            continue
    return encoded


def _learnt(estimator: Any, history: bool) -> tuple[dict[str, Any], Arrays]:
    """Return what the estimator scores by, and what it continues to learn with."""
    if hasattr(estimator, "_state"):
        from skauc.persistence.learners import state_to_arrays

        return {}, state_to_arrays(estimator._state)
    if not hasattr(estimator, "_models"):
        header, arrays = models_to_arrays([estimator._model])
        return {"model": header}, arrays
    models = estimator._models
    if not history:
        # A model between two retrainings has no record. It is stored with the one before it.
        recorded = estimator.path_[-1].n_basis
        models = {size: models[size] for size in {recorded, estimator.n_basis_}}
    header, arrays = models_to_arrays([models[size] for size in sorted(models)])
    records = [record for record in estimator.path_ if record.n_basis in models]
    return {"model": header, "path": records_to_json(records)}, arrays


def _derived(estimator: Any) -> set[str]:
    """Return the attributes that follow from what was learnt and need not be stored."""
    if hasattr(estimator, "_state"):
        # They follow from the parameters, too, which may have been set after the fit.
        attributes, own = estimator._attributes(estimator._state), vars(estimator)
        return {name for name in attributes if np.array_equal(attributes[name], own[name])}
    if not hasattr(estimator, "_models"):
        return set(support_attributes(estimator._model))
    from skauc.sparse.path_classifier import path_attributes

    # Without the history, the iterations cannot be counted.
    derived = path_attributes(estimator._models, estimator.path_, estimator.n_basis_)
    return derived.keys() - {"n_iter_"}


def decode_estimator(header: Any, prefix: str, arrays: Arrays) -> RankingClassifier:
    """Build the estimator that `encode_estimator` took apart."""
    require(isinstance(header, dict), "its estimator is")
    estimator = _with_parameters(estimator_class(header.get("class")), header.get("parameters"))
    if "attributes" not in header:
        return estimator
    attributes = decode(header["attributes"], arrays)
    _check_attributes(attributes)
    n_features = attributes["n_features_in_"]
    require(not attributes.keys() & {_BACKGROUND, _CALIBRATOR}, "the names of its attributes are")
    n_classes = len(attributes["classes_"])
    require(n_classes == 2 or type(estimator).__name__ == "KernelRankSVM", "its classes are")
    parts = select_prefix(f"{prefix}model.", arrays)
    derived = _relearnt(estimator, header, parts, n_features)
    _check_stored_again(estimator, derived, attributes)
    vars(estimator).update(derived | attributes)
    if "background" in header:  # files of earlier versions have none
        rows = select_prefix(f"{prefix}background.", arrays)
        background = background_from_arrays(header["background"], rows, n_features)
        vars(estimator)[_BACKGROUND] = background
    if "calibration" in header:  # other classifiers and files of earlier versions have none
        vars(estimator)[_CALIBRATOR] = calibrator_from_json(header["calibration"])
    if "best_parameters" in header:
        vars(estimator)[_BEST] = _best(estimator, header["best_parameters"])
    return estimator


def _with_parameters(kind: type, parameters: Any) -> Any:
    """Return an unfitted estimator with the parameters that it has in this version."""
    require(isinstance(parameters, dict), "its parameters are")
    known = kind().get_params(deep=False).keys()
    values = {name: value for name, value in decode(parameters, {}).items() if name in known}
    return kind(**{**values, **{name: None for name in RESET if name in known}})


def _best(estimator: Any, parameters: Any) -> Any:
    """Return the chosen estimator of a search, which shares its fitted attributes."""
    best = _with_parameters(estimator_class("SparseKernelAUC"), parameters)
    own = fitted_attributes(estimator)
    vars(best).update({name: own[name] for name in own if name not in _SEARCH})
    return best


def _check_attributes(attributes: Any) -> None:
    """Refuse names that no fit sets, and values that every fit sets in another way."""
    _check_names(attributes)
    n_features, classes = attributes.get("n_features_in_"), attributes.get("classes_")
    require(is_integer(n_features, 1, _MOST_FEATURES), "its number of features is")
    require(isinstance(classes, np.ndarray) and classes.ndim == 1, "its classes are")
    require(len(set(classes.tolist())) == len(classes) > 1, "its classes are")
    names = attributes.get("feature_names_in_")
    if names is not None:
        is_array = isinstance(names, np.ndarray) and names.shape == (n_features,)
        require(is_array and all(type(name) is str for name in names), "its feature names are")
    if "feature_spread_" in attributes:
        spread = attributes["feature_spread_"]
        checked_array(spread, DOUBLES, (n_features,), "the spread of its features is")


def _check_names(attributes: Any) -> None:
    require(isinstance(attributes, dict), "its attributes are")
    for name in attributes:
        is_name = isinstance(name, str) and name.isidentifier() and name.endswith("_")
        require(is_name and not name.startswith("_"), "the names of its attributes are")


def _relearnt(estimator: Any, header: dict, arrays: Arrays, n_features: int) -> dict[str, Any]:
    """Return the attributes that follow from what was learnt."""
    if "model" not in header:
        from skauc.persistence.learners import state_from_arrays

        state = state_from_arrays(type(estimator).__name__, arrays, n_features)
        return {**estimator._checked_attributes(state), "_state": state}
    models = models_from_arrays(header["model"], arrays, n_features)
    if "path" not in header:
        require(len(models) == 1 and not hasattr(type(estimator), "truncate"), "its sizes are")
        return support_attributes(models[0])
    from skauc.sparse.path_classifier import PathClassifier, path_attributes

    require(isinstance(estimator, PathClassifier), "its path is")
    by_size = {len(model.coef): model for model in models}
    require(min(by_size) > 0, "its sizes are")
    records = records_from_json(header["path"], by_size)
    require(len(records) > 0, "its path is")
    return path_attributes(by_size, records, max(by_size))


def _check_stored_again(estimator: Any, derived: dict, attributes: dict) -> None:
    """Refuse an attribute that was stored, can be derived, and has another type than derived."""
    twice = derived.keys() & attributes.keys()
    if "_state" not in derived:
        require(twice <= {"n_iter_"}, "the names of its attributes are")
        return
    for name in twice:
        expected, found = np.asarray(derived[name]), np.asarray(attributes[name])
        checked_array(found, (expected.dtype,), expected.shape, f"its attribute {name} is")
