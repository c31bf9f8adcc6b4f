"""Unwrap a fitted model: the preprocessing steps, the classifier inside, and its scores.

A model is often a classifier inside a pipeline, a calibration, a threshold or a search. Reports,
displays and model files need the classifier itself and the steps before it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

from skauc.base import RankingClassifier
from skauc.exceptions import InvalidParameterError
from skauc.kernels import as_dense
from skauc.model import Model
from skauc.validation import check_rows

# Wrappers that set a threshold, and wrappers that change neither the scores nor the threshold.
THRESHOLDED = (FixedThresholdClassifier, TunedThresholdClassifierCV)
TRANSPARENT = (FrozenEstimator, BaseSearchCV)


@dataclass(frozen=True, eq=False)
class UnwrappedModel:
    """A classifier without its wrappers.

    Attributes
    ----------
    steps : tuple of transformers
        The fitted steps before the classifier.
    classifier : estimator or None
        The classifier. None if the model averages several classifiers or calibrates twice.
    calibrator : object or None
        Maps the scores of the classifier to probabilities.
    threshold : float or None
        Threshold for the probabilities if there is a calibrator, for the scores otherwise. None if
        no wrapper sets a threshold.
    """

    steps: tuple[Any, ...]
    classifier: Any
    calibrator: Any = None
    threshold: float | None = None

    @property
    def model(self) -> Model | None:
        """The kernel expansion of a skauc classifier, None for classifiers of other libraries."""
        is_own = isinstance(self.classifier, RankingClassifier)
        return self.classifier._model if is_own else None

    @property
    def n_averaged(self) -> int:
        """The number of models with different centres that were averaged, 1 if it is one model."""
        return max(len(getattr(self.classifier, "ensemble_", [])), 1)

    @property
    def averaged_Cs(self) -> list[float]:  # noqa: N802 - named like C
        """The Cs whose coefficients were averaged, none for one C or for several models."""
        ensemble = getattr(self.classifier, "ensemble_", [])
        Cs = ensemble[0]["Cs"] if len(ensemble) == 1 else []
        return list(Cs) if len(Cs) > 1 else []

    @property
    def average(self) -> str | None:
        """What the model is the average of, in words; None if it is a single model."""
        if self.n_averaged > 1:
            return f"the average of {self.n_averaged} models"
        return f"the average of {len(self.averaged_Cs)} values of C" if self.averaged_Cs else None

    @property
    def C(self) -> float | list[float] | None:  # noqa: N802 - named like the parameter
        """The C of the coefficients, a list if several were averaged, None if it is unknown."""
        return self.averaged_Cs or getattr(self.classifier, "C_", None)

    @property
    def train_auc(self) -> float | None:
        """AUC on the training rows, None if the classifier does not record it."""
        path = getattr(self.classifier, "path_", None)
        return float(path[-1].train_auc) if path else None

    @property
    def limits(self) -> dict[str, float | None]:
        """The limits of the part of the ROC curve that the classifier was fitted for."""
        names = ("max_fpr", "min_tpr")
        return {name: getattr(self.classifier, name, None) for name in names}

    def scaled(self, X):
        """Return the rows that the kernel is evaluated on."""
        return self.classifier._model.scaled(check_rows(self.classifier, self.transform(X)))

    def transform(self, X):
        """Apply the steps before the classifier."""
        for step in self.steps:
            X = step.transform(X)
        return X

    def scores(self, X) -> np.ndarray:
        """Apply the steps, and return the scores of the classifier."""
        return np.asarray(self.classifier.decision_function(self.transform(X)))

    def inverse_transform(self, rows: np.ndarray) -> np.ndarray | None:
        """Undo the steps before the classifier, or return None if that is not possible.

        It is possible if each step has an inverse and keeps the number of features, and if
        transforming the result gives the rows again.
        """
        undone = rows
        # The rows have no column names here, so warnings about names do not apply.
        with warnings.catch_warnings(action="ignore"):
            try:
                for step in reversed(self.steps):
                    undone = as_dense(step.inverse_transform(undone))
                    if undone.shape != rows.shape:
                        return None
                again = as_dense(self.transform(undone))
            except Exception:  # any error means that the step has no usable inverse
                return None
        return undone if np.allclose(again, rows, rtol=1e-4, atol=1e-6) else None

    def input_names(self, model: Any) -> list[str]:
        """Return the columns that the wrapped model takes, x0, x1 and so on if they have no names.

        A pipeline that begins with "passthrough" does not know its columns, but its next step does.
        """
        first = self.steps[0] if self.steps else self.classifier
        named = getattr(model, "feature_names_in_", getattr(first, "feature_names_in_", None))
        n_columns = first.n_features_in_
        return [f"x{i}" for i in range(n_columns)] if named is None else list(map(str, named))

    def feature_names(self) -> list[str]:
        """Return the feature names of the classifier."""
        n_features = self.classifier.n_features_in_
        named = getattr(self.classifier, "feature_names_in_", None)
        if named is None and self.steps:
            named = _names_out(self.steps)
        if named is None or len(named) != n_features:
            named = [f"x{i}" for i in range(n_features)]
        return _without_prefixes([str(name) for name in named])


def layers_of(model) -> Iterator:
    """Yield a model, the estimator that it wraps, and so on down to the classifier.

    The layer inside a pipeline is its last step. The layer inside several calibrated classifiers
    is the first of them.
    """
    while model is not None:
        yield model
        model = _inside(model)


def _inside(model):
    """Return the fitted estimator inside a wrapper, None if the model is not a wrapper."""
    if isinstance(model, Pipeline):
        return model.steps[-1][1]
    if isinstance(model, FrozenEstimator):  # it forwards all attributes of its estimator
        return model.estimator
    if hasattr(model, "calibrated_classifiers_"):
        return model.calibrated_classifiers_[0].estimator
    if isinstance(model, RankingClassifier):  # SparseKernelAUCCV has a best estimator too
        return None
    for name in ("best_estimator_", "estimator_", "estimator"):
        inner = getattr(model, name, None)
        if isinstance(inner, BaseEstimator):
            return inner
    return None


def first_step(model):
    """Return the first step that the rows go through and that does something."""
    for layer in layers_of(model):
        if isinstance(layer, Pipeline):
            return first_step(_active_steps(layer)[0])
    return layer


def _active_steps(pipeline: Pipeline) -> list[Any]:
    """Return the steps of a pipeline that do something, with the classifier at the end."""
    return [step for _, step in pipeline.steps if step not in (None, "passthrough")]


def unwrap(model) -> UnwrappedModel:
    """Unwrap pipelines, calibrations, thresholds, searches and frozen estimators."""
    steps, calibrator, thresholded = [], None, None
    for layer in layers_of(model):
        if isinstance(layer, Pipeline):
            steps += _active_steps(layer)[:-1]
        elif isinstance(layer, CalibratedClassifierCV):
            if calibrator is not None or len(layer.calibrated_classifiers_) != 1:
                return UnwrappedModel(tuple(steps), None)
            calibrator = layer.calibrated_classifiers_[0].calibrators[0]
        elif isinstance(layer, THRESHOLDED):
            # An outer wrapper decides, and a threshold below a calibration is not used.
            if thresholded is None and calibrator is None:
                thresholded = layer
        elif not isinstance(layer, TRANSPARENT):
            break
    if calibrator is None:
        calibrator = getattr(layer, "calibrator_", None)  # SparseKernelAUCCV has one of its own
    threshold = None if thresholded is None else _threshold(thresholded, calibrator)
    return UnwrappedModel(tuple(steps), layer, calibrator, threshold)


def _threshold(wrapper, calibrator) -> float:
    """Return the threshold of a wrapper, for probabilities if there are any."""
    threshold: Any = getattr(wrapper, "best_threshold_", getattr(wrapper, "threshold", None))
    if threshold == "auto":
        return 0.0 if calibrator is None else 0.5
    if calibrator is not None and wrapper.response_method == "decision_function":
        return float(calibrator.predict(np.array([threshold]))[0])
    return float(threshold)


def unwrap_single(model, done: str, advice: str) -> UnwrappedModel:
    """Unwrap a model that is one formula: one skauc classifier, at most one calibration.

    Parameters
    ----------
    model : estimator
        The fitted model.
    done : str
        What is to be done with it, for error messages, such as "exported".
    advice : str
        What to do with a model of another library.
    """
    for layer in layers_of(model):
        if isinstance(layer, RankingClassifier):
            break
        if isinstance(layer, CalibratedClassifierCV):
            _check_single(layer, done)
        elif isinstance(layer, THRESHOLDED):
            _check_positive(layer, done)
        elif not isinstance(layer, (Pipeline, *TRANSPARENT)):
            raise InvalidParameterError(
                f"{type(layer).__name__} does not hold an estimator of skauc at its end, or wraps "
                f"it in a way that cannot be {done}. {advice}"
            )
    unwrapped = unwrap(model)
    if unwrapped.classifier is None:
        raise InvalidParameterError(
            f"A calibration of calibrated scores cannot be {done}. Calibrate once."
        )
    return unwrapped


def _check_single(model: CalibratedClassifierCV, done: str) -> None:
    n_members = len(model.calibrated_classifiers_)
    if n_members != 1:
        raise InvalidParameterError(
            f"The mean of {n_members} calibrated models cannot be {done}. Fit "
            "CalibratedClassifierCV with ensemble=False."
        )


def _check_positive(model, done: str) -> None:
    if getattr(model, "pos_label", None) not in (None, model.classes_[1]):
        raise InvalidParameterError(
            f"pos_label={model.pos_label!r} cannot be {done}. Use the larger label, "
            f"{str(model.classes_[1])!r}."
        )


def _without_prefixes(names: list[str]) -> list[str]:
    """Remove the prefixes of `ColumnTransformer` if the names stay distinct."""
    short = [name.rpartition("__")[2] for name in names]
    return short if len(set(short)) == len(names) else names


def _names_out(steps) -> np.ndarray | None:
    named_steps = [(str(number), step) for number, step in enumerate(steps)]
    try:
        return Pipeline(named_steps).get_feature_names_out()
    except (AttributeError, ValueError):  # a step without names
        return None


def ranking_scores(model, X) -> np.ndarray:
    """Return `decision_function`, or the probability of the second class if there is none."""
    has_scores = hasattr(model, "decision_function")
    scores = model.decision_function(X) if has_scores else positive_probabilities(model, X)
    if scores is None or np.ndim(scores) != 1:
        raise InvalidParameterError(
            "`model` must be a binary classifier with `decision_function` or `predict_proba`; got "
            f"{type(model).__name__}."
        )
    return np.asarray(scores)


def positive_probabilities(model, X) -> np.ndarray | None:
    """Return the probability of the second class, None if the model has no `predict_proba`."""
    if not hasattr(model, "predict_proba"):
        return None
    return np.asarray(model.predict_proba(X))[:, 1]
