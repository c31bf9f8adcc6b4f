"""What a fitted model is made of, in the units of the table it was trained on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skauc.exceptions import InvalidParameterError
from skauc.preprocessing import TablePreprocessor
from skauc.unwrapping import UnwrappedModel, as_dense, unwrap

TABLE_UNITS = "units of the table"
INNER_UNITS = "units that the classifier sees, for the steps before it cannot be undone"


@dataclass(frozen=True, eq=False)
class ModelParts:
    """The parts of a model.

    Attributes
    ----------
    estimator : str
        The class of the classifier.
    n_basis : int
        Number of centres.
    n_numbers : int
        Numbers that the classifier keeps: centres, coefficients, scales, linear part, intercept.
    parameters : dict
        The settings of the classifier, those that were chosen for it included.
    features : list of str
        What the classifier sees.
    length_scales : ndarray of shape (n_features,)
        Distances along each feature count over its length scale.
    relevance : ndarray of shape (n_features,) or None
        How far the training rows spread along each feature, in length scales.
    linear_coef : ndarray of shape (n_features,)
        The linear part, zeros without one.
    coef : ndarray of shape (n_basis,)
        The coefficients of the centres.
    centres : dict of str to list
        The values of the centres, a column at a time.
    units : str
        What these values are in.
    """

    estimator: str
    n_basis: int
    n_numbers: int
    parameters: dict
    features: list[str]
    length_scales: np.ndarray
    relevance: np.ndarray | None
    linear_coef: np.ndarray
    coef: np.ndarray
    centres: dict[str, list]
    units: str


def describe_model(model) -> ModelParts:
    """Take a model apart.

    Parameters
    ----------
    model : estimator
        A fitted model with an estimator of skauc's at its end.

    Returns
    -------
    parts : ModelParts
        Its parts; a model without centres, or of several models, has none.
    """
    opened = unwrap(model)
    classifier = opened.classifier
    if classifier is None:
        none = np.zeros(0)
        return ModelParts("ensemble", 0, 0, {}, [], none, None, none, none, {}, "")
    if opened.model is None:
        raise InvalidParameterError(
            "`model` must have an estimator of skauc's at its end; got "
            f"{type(classifier).__name__}."
        )
    n_features = classifier.n_features_in_
    coef = np.ravel(getattr(classifier, "dual_coef_", np.zeros(0)))
    centres = getattr(classifier, "basis_vectors_", np.zeros((0, n_features)))
    linear_coef = getattr(classifier, "coef_", np.zeros(n_features))
    linear_coef = np.ravel(getattr(classifier, "linear_coef_", linear_coef))
    length_scales = getattr(classifier, "length_scales_", np.ones(n_features))
    scaling = getattr(classifier, "scaling_", None)
    if scaling is not None:
        length_scales = 1.0 / scaling.along_features(1.0 / length_scales)
        linear_coef = scaling.slopes_by_feature(linear_coef)
    values, units = _in_original_units(opened, as_dense(centres))
    return ModelParts(
        estimator=type(classifier).__name__,
        n_basis=len(coef),
        n_numbers=opened.model.n_numbers,
        parameters=_parameters(classifier),
        features=opened.feature_names(),
        length_scales=length_scales,
        relevance=getattr(classifier, "feature_relevance_", None),
        linear_coef=linear_coef,
        coef=coef,
        centres=values,
        units=units,
    )


def _parameters(classifier) -> dict:
    names = ("n_basis", "C", "kernel", "gamma", "linear_term", "scaling", "rotate", "refine")
    chosen = getattr(classifier, "best_params_", {})
    settings = classifier.get_params(deep=False) | chosen
    shown = {name: settings[name] for name in names if name in settings}
    return shown | {"gamma": np.unique(getattr(classifier, "gamma_", np.nan)).tolist()}


def _in_original_units(opened: UnwrappedModel, centres: np.ndarray) -> tuple[dict[str, list], str]:
    """Return the columns of the centres, and the units they are in."""
    scaling, steps = getattr(opened.classifier, "scaling_", None), opened.steps
    if scaling is not None:
        centres = scaling.inverse(centres)
    if len(steps) == 1 and isinstance(steps[0], TablePreprocessor) and len(centres):
        frame = steps[0].inverse_transform(centres)
        return {str(name): frame[name].tolist() for name in frame.columns}, TABLE_UNITS
    undone = opened.inverse_transform(centres) if steps and len(centres) else centres
    values, units = (centres, INNER_UNITS) if undone is None else (undone, TABLE_UNITS)
    return dict(zip(opened.feature_names(), values.T.tolist(), strict=True)), units
