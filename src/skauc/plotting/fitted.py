"""The fitted estimator that a display is about: its scores, and its classifier without wrappers."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from skauc.exceptions import InvalidParameterError
from skauc.plotting.axes import import_pyplot
from skauc.unwrapping import UnwrappedModel, ranking_scores, unwrap


def scored_rows(estimator, X, y) -> dict[str, Any]:
    """Score rows with a fitted classifier; return arguments for ``from_predictions``."""
    import_pyplot()  # a missing package is reported before the rows are scored
    check_is_fitted(estimator)
    return {
        "y_true": y,
        "y_score": ranking_scores(estimator, X),
        "pos_label": estimator.classes_[1],
    }


def unwrap_fitted(estimator, *attributes: str, example: str) -> UnwrappedModel:
    """Unwrap a fitted estimator and check that its classifier has these attributes."""
    check_is_fitted(estimator)
    unwrapped = unwrap(estimator)
    classifier = unwrapped.classifier
    if classifier is None:
        raise InvalidParameterError(
            f"`estimator` must contain a single classifier; {type(estimator).__name__} averages "
            "several. Pass a classifier, a pipeline, or a calibration with ensemble=False."
        )
    missing = [name for name in attributes if not hasattr(classifier, name)]
    if missing:
        raise InvalidParameterError(
            f"`estimator` must be, or contain, a classifier with {' and '.join(attributes)}, such "
            f"as {example}; got {type(classifier).__name__}."
        )
    return unwrapped


def classifier_name(estimator) -> str:
    """Return the class of the classifier, or that of an estimator with several classifiers."""
    classifier = unwrap(estimator).classifier
    return type(estimator if classifier is None else classifier).__name__
