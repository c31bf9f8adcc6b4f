"""Pipelines of our own steps, as `skauc fit` makes them. They are stored without skops.

Such a pipeline may be inside of a `FixedThresholdClassifier`. A file holds the names of the steps
and the parameters of the threshold; the steps are parts of the file.
"""

from __future__ import annotations

import math
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline

from skauc.archive import ArchiveError, require
from skauc.persistence.estimators import encode_parameters, is_own, is_own_step
from skauc.persistence.probe import check_scores

_FLAGGED_BY = ("threshold", "response_method", "pos_label")
_RESERVED = ("steps", "transform_input", "memory", "verbose")


def own_steps(model: Any) -> list[Any] | None:
    """Return the steps of a pipeline of ours, or None for any other model."""
    if type(model) is FixedThresholdClassifier:
        pipeline = getattr(model, "estimator_", None)
        steps = own_steps(pipeline) if _is_clone(model.estimator, pipeline) else None
        return steps if all(map(_is_plain, _flagging(model).values())) else None
    if type(model) is not Pipeline:
        return None
    *steps, last = (step for _, step in model.steps)
    is_usual = not model.verbose and getattr(model, "transform_input", None) is None
    is_ours = is_usual and is_own(last) and all(map(is_own_step, steps))
    return [*steps, last] if is_ours else None


def pipeline_to_json(model: Any) -> dict[str, Any]:
    """Return what a file says of a model that has `own_steps`, besides the steps."""
    if isinstance(model, FixedThresholdClassifier):
        return {**pipeline_to_json(model.estimator_), "flagging": _flagging(model)}
    return {"names": [name for name, _ in model.steps]}


def pipeline_from_json(header: Any, steps: list[Any]) -> Any:
    """Return the model of these steps. All comes from a file, and is checked."""
    require(isinstance(header, dict), "its pipeline is")
    names, flagging = header.get("names"), header.get("flagging")
    require(isinstance(names, list) and len(names) == len(steps) > 0, "the names of its steps are")
    are_names = all(map(_is_name, names)) and len(set(names)) == len(names)
    require(are_names, "the names of its steps are")
    model: Any = Pipeline(list(zip(names, steps, strict=True)))
    is_fitted = all(hasattr(step, "n_features_in_") for step in steps)
    require(own_steps(model) is not None and is_fitted, "its steps are")
    if flagging is not None:
        model = _with_threshold(model, flagging)
    check_scores(model)
    return model


def _with_threshold(pipeline: Pipeline, flagging: Any) -> FixedThresholdClassifier:
    is_complete = isinstance(flagging, dict) and flagging.keys() == set(_FLAGGED_BY)
    require(is_complete and all(map(_is_plain, flagging.values())), "its threshold is")
    model = FixedThresholdClassifier(clone(pipeline), **flagging)
    try:
        model._validate_params()
    except ValueError as error:
        raise ArchiveError("its threshold is not valid") from error
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(pipeline, name):
            setattr(model, name, getattr(pipeline, name))
    model.estimator_ = pipeline
    return model


def _flagging(model: FixedThresholdClassifier) -> dict[str, Any]:
    return {name: getattr(model, name) for name in _FLAGGED_BY}


def _is_clone(parameter: Any, pipeline: Any) -> bool:
    """Return whether an unfitted pipeline has the names and parameters of a fitted one."""
    if own_steps(pipeline) is None or own_steps(parameter) is None:
        return False
    return _described(parameter) == _described(pipeline)


def _described(pipeline: Pipeline) -> list[tuple[str, type, dict]]:
    return [(name, type(step), encode_parameters(step)) for name, step in pipeline.steps]


def _is_plain(value: Any) -> bool:
    """Return whether JSON gives a value back as it was."""
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) in (bool, int, str)


def _is_name(name: Any) -> bool:
    """Return whether scikit-learn takes the name of a step."""
    return isinstance(name, str) and "__" not in name and name not in _RESERVED
