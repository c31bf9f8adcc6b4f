"""What a model file says about itself: versions, columns, size and quality of the model."""

from __future__ import annotations

import json
import math
import platform
from importlib import metadata
from typing import Any

import numpy as np
import sklearn

import skauc
from skauc.archive import ArchiveError, is_integer, require
from skauc.exceptions import InvalidParameterError
from skauc.persistence.estimators import is_own
from skauc.preprocessing import TablePreprocessor
from skauc.unwrapping import first_step, layers_of

FORMAT = "skauc model"
FORMAT_VERSION = 1
KEYS = ("format_version", "versions", "estimator", "columns", "training", "summary")
# Columns without names are listed up to this number.
_MOST_UNNAMED = 10_000


def make_manifest(model: Any, summary: dict | None, *, has_shell: bool) -> dict[str, Any]:
    """Return what the file of a fitted model says."""
    summary = {} if summary is None else summary
    try:
        json.dumps(summary, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"`summary` must be a dictionary that JSON can hold; {error}. Use strings, finite "
            "numbers, lists and dictionaries."
        ) from error
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "versions": _versions(has_shell),
        "estimator": type(model).__name__,
        "columns": _columns(model),
        "training": _training(model),
        "summary": summary,
    }


def check_manifest(header: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest in a header, or raise an error for one that `make_manifest` never made.

    The format must be known by now.
    """
    missing = [key for key in KEYS if key not in header]
    if missing:
        raise ArchiveError(f"its header lacks {', '.join(missing)}")
    versions, columns, training = header["versions"], header["columns"], header["training"]
    require(isinstance(versions, dict), "its versions are")
    require(all(isinstance(version, str) for version in versions.values()), "its versions are")
    require(isinstance(header["estimator"], str), "the name of its estimator is")
    require(isinstance(columns, list) and all(map(_is_column, columns)), "its columns are")
    require(isinstance(training, dict), "its training is")
    require(isinstance(training.get("classes"), list), "its classes are")
    require(all(isinstance(label, str) for label in training["classes"]), "its classes are")
    require(is_integer(training.get("n_features"), 1, 1 << 53), "its number of features is")
    require(isinstance(header["summary"], dict), "its summary is")
    return {key: header[key] for key in KEYS}


def _is_column(column: Any) -> bool:
    if not isinstance(column, dict) or column.keys() - {"form"} != {"name", "kind"}:
        return False
    is_named = isinstance(column["name"], str) and isinstance(column["kind"], str)
    return is_named and isinstance(column.get("form"), str | None)


def final_estimator(model: Any) -> Any:
    """Return the estimator of skauc at the end of a pipeline or inside of wrappers."""
    for layer in layers_of(model):
        if is_own(layer):
            return layer
    raise ArchiveError(
        f"{type(layer).__name__} does not end in an estimator of skauc, such as SparseKernelAUC"
    )


def _versions(has_shell: bool) -> dict[str, str]:
    versions = {
        "skauc": skauc.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    return {**versions, "skops": metadata.version("skops")} if has_shell else versions


def _columns(model: Any) -> list[dict[str, str | None]]:
    """Return the names and kinds of the columns that the model takes."""
    step = first_step(model)
    if isinstance(step, TablePreprocessor):
        return [
            {"name": str(name), "kind": kind, "form": step.forms_.get(name)}
            for name, kind in step.columns_.items()
        ]
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        n_features = getattr(model, "n_features_in_", 0)
        names = [f"x{i}" for i in range(n_features if n_features <= _MOST_UNNAMED else 0)]
    return [{"name": str(name), "kind": "numeric", "form": None} for name in names]


def _training(model: Any) -> dict[str, Any]:
    """Return how large the model is and how its training ended."""
    estimator = final_estimator(model)
    training = {
        "estimator": type(estimator).__name__,
        "classes": [str(label) for label in getattr(estimator, "classes_", [])],
        "n_features": int(estimator.n_features_in_),
        "n_basis": len(estimator._model.coef),
    }
    if hasattr(estimator, "n_samples_seen_"):
        training["n_samples_seen"] = estimator.n_samples_seen_
    if hasattr(estimator, "path_"):
        last = estimator.path_[-1]
        training["train_auc"] = _finite(last.train_auc)
        training["validation_auc"] = _finite(last.validation_auc)
    if hasattr(estimator, "best_params_"):
        training["best_params"] = {
            name: _plain(value) for name, value in estimator.best_params_.items()
        }
        training["best_score"] = _finite(estimator.best_score_)
        training["ensemble"] = [
            {**member, "params": {name: _plain(value) for name, value in member["params"].items()}}
            for member in getattr(estimator, "ensemble_", [])
        ]
    return training


def _finite(value: Any) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _plain(value: Any) -> Any:
    """Return a parameter as JSON can hold it."""
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return str(value)
    return value
