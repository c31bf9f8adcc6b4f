"""A model taken apart: the preprocessing that rows go through, and the classifier at its heart."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

from skauc.base import RankingClassifier
from skauc.exceptions import InvalidParameterError
from skauc.model import Model
from skauc.validation import check_rows

# Wrappers that choose where a row is flagged, and wrappers that leave the scores as they are.
THRESHOLDED = (FixedThresholdClassifier, TunedThresholdClassifierCV)
TRANSPARENT = (FrozenEstimator, BaseSearchCV)


@dataclass(frozen=True, eq=False)
class OpenedModel:
    """The fitted steps before a classifier, the classifier, and what wrappers do with its score.

    The classifier is None for an ensemble of several, and for scores that are calibrated twice.
    The calibrator makes probabilities of its scores; the threshold is one for probabilities where
    there are some, for scores otherwise.
    """

    steps: tuple
    classifier: object | None
    calibrator: object | None = None
    threshold: float | None = None

    @property
    def model(self) -> Model | None:
        """What the classifier scores by, None for one of another library."""
        is_own = isinstance(self.classifier, RankingClassifier)
        return self.classifier._model if is_own else None

    @property
    def train_auc(self) -> float | None:
        """The AUC on the training rows, where the classifier remembers it."""
        path = getattr(self.classifier, "path_", None)
        return float(path[-1].train_auc) if path else None

    def scaled(self, X):
        """Return rows as the kernel sees them."""
        return self.model.scaled(check_rows(self.classifier, self.transform(X)))

    def transform(self, X):
        """Return rows as the classifier sees them."""
        for step in self.steps:
            X = step.transform(X)
        return X

    def inverse_transform(self, rows: np.ndarray) -> np.ndarray | None:
        """Return rows as they were before the steps, or None where they cannot be undone.

        They can where each step keeps the number of features, has an inverse, and the steps take
        what it returns back to the rows.
        """
        undone = rows
        # Names that rows no longer have are nothing to warn of here.
        with warnings.catch_warnings(action="ignore"):
            try:
                for step in reversed(self.steps):
                    undone = as_dense(step.inverse_transform(undone))
                    if undone.shape != rows.shape:
                        return None
                again = as_dense(self.transform(undone))
            except Exception:  # whatever it was, the step cannot undo itself
                return None
        return undone if np.allclose(again, rows, rtol=1e-4, atol=1e-6) else None

    def feature_names(self) -> list[str]:
        """Return the names of the classifier's features."""
        n_features = self.classifier.n_features_in_
        named = getattr(self.classifier, "feature_names_in_", None)
        if named is None and self.steps:
            named = _names_out(self.steps)
        if named is None or len(named) != n_features:
            named = [f"x{i}" for i in range(n_features)]
        return _without_prefixes([str(name) for name in named])


def as_dense(rows) -> np.ndarray:
    """Return rows as an array of floats."""
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=float)


def layers_of(model) -> Iterator:
    """Yield a model, what it wraps, what that wraps, down to the classifier at its heart.

    Of a pipeline it is the last step, of an ensemble of calibrated models the first of them.
    """
    while model is not None:
        yield model
        model = _inside(model)


def _inside(model):
    """Return the fitted estimator that a wrapper holds, None for what is no wrapper."""
    if isinstance(model, Pipeline):
        return model.steps[-1][1]
    if isinstance(model, FrozenEstimator):  # which has all attributes of what it holds
        return model.estimator
    if hasattr(model, "calibrated_classifiers_"):
        return model.calibrated_classifiers_[0].estimator
    if isinstance(model, RankingClassifier):  # a search of ours holds what it has found, too
        return None
    for name in ("best_estimator_", "estimator_", "estimator"):
        inner = getattr(model, name, None)
        if isinstance(inner, BaseEstimator):
            return inner
    return None


def first_step(model):
    """Return the step that meets the rows first."""
    for layer in layers_of(model):
        if isinstance(layer, Pipeline):
            return first_step(layer.steps[0][1])
    return layer


def open_model(model) -> OpenedModel:
    """Take wrappers off: pipelines, calibration, thresholds, searches and frozen estimators."""
    steps, calibrator, threshold = [], None, None
    for layer in layers_of(model):
        if isinstance(layer, Pipeline):
            steps += [step for _, step in layer.steps[:-1] if step not in (None, "passthrough")]
        elif isinstance(layer, CalibratedClassifierCV):
            if calibrator is not None or len(layer.calibrated_classifiers_) != 1:
                return OpenedModel(tuple(steps), None)
            calibrator = layer.calibrated_classifiers_[0].calibrators[0]
        elif isinstance(layer, THRESHOLDED):
            if threshold is not None or calibrator is not None:
                continue  # wrappers further out do not look at labels
            threshold = getattr(layer, "best_threshold_", getattr(layer, "threshold", None))
        elif not isinstance(layer, TRANSPARENT):
            break
    if threshold == "auto":
        threshold = 0.0 if calibrator is None else 0.5
    return OpenedModel(tuple(steps), layer, calibrator, threshold)


def _without_prefixes(names: list[str]) -> list[str]:
    """Return names without what `ColumnTransformer` puts before them, if they stay different."""
    short = [name.rpartition("__")[2] for name in names]
    return short if len(set(short)) == len(names) else names


def _names_out(steps) -> np.ndarray | None:
    named_steps = [(str(number), step) for number, step in enumerate(steps)]
    try:
        return Pipeline(named_steps).get_feature_names_out()
    except (AttributeError, ValueError):  # a step that does not tell, or has seen no names
        return None


def ranking_scores(model, X) -> np.ndarray:
    """Return `decision_function` or, where there is none, the probability of the second class."""
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X))
    else:
        scores = positive_probabilities(model, X)
    if scores is None or scores.ndim != 1:
        raise InvalidParameterError(
            f"`model` must be a binary classifier with `decision_function` or `predict_proba`; got "
            f"{type(model).__name__}. Pass a fitted classifier of two classes."
        )
    return scores


def positive_probabilities(model, X) -> np.ndarray | None:
    """Return the probability of the second class, or None where the model gives none."""
    if not hasattr(model, "predict_proba"):
        return None
    return np.asarray(model.predict_proba(X))[:, 1]
