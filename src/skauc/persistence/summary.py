"""What a fitted model can tell about itself: its columns, its size, how well it was trained."""

from __future__ import annotations

import math

from sklearn.base import BaseEstimator

from skauc.exceptions import ModelFileError
from skauc.preprocessing import TablePreprocessor
from skauc.unwrapping import first_step, layers_of


def is_own(model) -> bool:
    """Tell whether this is an estimator of ours, and not a step before one."""
    own = ("skauc.sparse.", "skauc.rank_svm.", "skauc.structural.", "skauc.online.")
    return isinstance(model, BaseEstimator) and type(model).__module__.startswith(own)


def final_estimator(model):
    """Return the estimator of ours at the end of a pipeline and inside of wrappers."""
    for layer in layers_of(model):
        if is_own(layer):
            return layer
    raise ModelFileError(
        f"{type(layer).__name__} does not hold an estimator of skauc, such as "
        "SparseKernelAUC, at its end"
    )


def columns_of(model) -> list[dict[str, str | None]]:
    """Return the names and kinds of the columns that the model takes."""
    step = first_step(model)
    if isinstance(step, TablePreprocessor):
        return [
            {"name": str(name), "kind": kind, "form": step.forms_.get(name)}
            for name, kind in step.columns_.items()
        ]
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"x{i}" for i in range(model.n_features_in_)]
    return [{"name": str(name), "kind": "numeric", "form": None} for name in names]


def summary_of(model) -> dict:
    """Return how large the model is and how its training ended."""
    estimator = final_estimator(model)
    summary = {
        "estimator": type(estimator).__name__,
        "classes": [str(label) for label in getattr(estimator, "classes_", [])],
        "n_features": int(estimator.n_features_in_),
    }
    if hasattr(estimator, "_model"):
        summary["n_basis"] = len(estimator._model.coef)
    if hasattr(estimator, "n_samples_seen_"):
        summary["n_samples_seen"] = estimator.n_samples_seen_
    if hasattr(estimator, "path_"):
        last = estimator.path_[-1]
        summary |= {
            "train_auc": _finite(last.train_auc),
            "validation_auc": _finite(last.validation_auc),
        }
    if hasattr(estimator, "best_params_"):
        summary["best_params"] = estimator.best_params_
        summary["best_score"] = _finite(estimator.best_score_)
    return summary


def _finite(value) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None
