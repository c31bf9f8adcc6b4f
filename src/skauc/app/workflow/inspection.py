"""The parts of a fitted model, in the units of the table it was trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skauc.exceptions import InvalidParameterError
from skauc.explain.relevance import columns_of_features, sizes_of_columns
from skauc.explain.sources import sources_of_steps
from skauc.kernels import as_dense
from skauc.model import Model
from skauc.preprocessing import TablePreprocessor
from skauc.shaped_rbf import ShapedRBF
from skauc.sparse.parameters import n_steps
from skauc.unwrapping import UnwrappedModel, unwrap

TABLE_UNITS = "units of the table"
TOO_MANY = "classifier, which has too many values to list"
# Sparse centres of a small file can have any number of features.
_MOST_LISTED = 10_000_000
INNER_UNITS = "units of the classifier, because the steps before it cannot be undone"


@dataclass(frozen=True)
class ColumnPart:
    """What a model makes of a column, all of its features taken together.

    Attributes
    ----------
    name : str
        The column.
    relevance : float
        The spread of the training rows along the column, in length scales of the kernel.
    linear : float
        The spread of the linear part along the column. Both are roots of the sum of squares over
        the features.
    """

    name: str
    relevance: float
    linear: float


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
        Numbers that a score needs: centres, coefficients, scales, linear part, intercept.
    parameters : dict
        The parameters of the classifier, including those that a search chose.
    columns : list of ColumnPart
        The columns of the table that the model uses; the features of the classifier if they are
        computed from several columns.
    features : list of str
        The features of the classifier.
    length_scales : ndarray of shape (n_features,)
        Distances along each feature are divided by its length scale.
    linear_coef : ndarray of shape (n_features,)
        The coefficients of the linear part; zeros without one.
    coef : ndarray of shape (n_basis,)
        The coefficients of the centres.
    centres : dict of str to list
        The values of the centres, by column. A ridge has None in the columns that it does not use.
    units : str
        The units of these values.
    average : str or None
        What the model is the average of, in words; None if it is a single model. The parameters
        are those of the model with the largest weight.
    """

    estimator: str
    n_basis: int
    n_numbers: int
    parameters: dict
    columns: list[ColumnPart]
    features: list[str]
    length_scales: np.ndarray
    linear_coef: np.ndarray
    coef: np.ndarray
    centres: dict[str, list]
    units: str
    average: str | None = None


def describe_model(model) -> ModelParts:
    """Return the parts of a model.

    Parameters
    ----------
    model : estimator
        A fitted estimator of skauc, or a pipeline or wrapper around one.

    Returns
    -------
    parts : ModelParts
        Its parts. A model without centres, and an ensemble of several models, has none.
    """
    opened = unwrap(model)
    classifier = opened.classifier
    if classifier is None:
        none = np.zeros(0)
        return ModelParts("ensemble", 0, 0, {}, [], [], none, none, none, {}, "")
    if opened.model is None:
        raise InvalidParameterError(
            f"`model` must end with an estimator of skauc; got {type(classifier).__name__}."
        )
    length_scales, linear_coef = _along_features(classifier, opened.model)
    values: dict[str, list]
    if opened.model.centres.shape[0] * opened.model.centres.shape[1] > _MOST_LISTED:
        values, units = {}, TOO_MANY
    else:
        values, units = _in_original_units(opened, opened.model)
        values = _used_by_ridges(opened, opened.model, values)
    return ModelParts(
        estimator=type(classifier).__name__,
        n_basis=len(opened.model.coef),
        n_numbers=opened.model.n_numbers,
        parameters=_parameters(opened),
        columns=_columns(opened, linear_coef),
        features=opened.feature_names(),
        length_scales=length_scales,
        linear_coef=linear_coef,
        coef=np.ravel(opened.model.coef),
        centres=values,
        units=units,
        average=opened.average,
    )


def _along_features(classifier, model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return the length scales and the linear coefficients by feature."""
    n_features = classifier.n_features_in_
    length_scales = getattr(classifier, "length_scales_", np.ones(n_features))
    linear_coef = np.zeros(n_features) if model.linear_coef is None else model.linear_coef
    linear_coef = np.ravel(linear_coef)
    if model.scaling is None:
        return length_scales, linear_coef
    length_scales = 1.0 / model.scaling.along_features(1.0 / length_scales)
    return length_scales, model.scaling.slopes_by_feature(linear_coef)


def _columns(opened: UnwrappedModel, linear_coef: np.ndarray) -> list[ColumnPart]:
    """Return the columns of the table; other classifiers than the sparse ones know no spread."""
    names, of_feature = columns_of_features(opened)
    relevance = getattr(opened.classifier, "feature_relevance_", np.zeros(len(linear_coef)))
    spread = getattr(opened.classifier, "feature_spread_", np.ones(len(linear_coef)))
    sizes = (relevance, spread * linear_coef)
    figures = [sizes_of_columns(size, of_feature, len(names)).tolist() for size in sizes]
    return [ColumnPart(*each) for each in zip(names, *figures, strict=True)]


def _parameters(opened: UnwrappedModel) -> dict:
    classifier = opened.classifier
    names = (
        "n_basis",
        "C",
        "kernel",
        "gamma",
        "linear_term",
        "scaling",
        "rotate",
        "shapes",
        "refine",
    )
    chosen = getattr(classifier, "best_params_", {})
    settings = classifier.get_params(deep=False) | chosen
    shown = {name: settings[name] for name in names if name in settings}
    if "C" in shown and opened.C is not None:
        shown["C"] = opened.C
    if getattr(classifier, "metric_", None) is None:  # otherwise the metric holds the widths
        shown |= {"gamma": np.unique(getattr(classifier, "gamma_", np.nan)).tolist()}
    auto = [name for name in _MEANT if isinstance(shown.get(name), str) and shown[name] == "auto"]
    return shown | {name: _MEANT[name](opened.model, settings) for name in auto}


def _scaling_of(model: Model, settings: dict) -> str | None:
    """Return the scaling of a model that was fitted with scaling="auto"."""
    by_feature = None if model.scaling is None else model.scaling.by_feature
    return None if by_feature is None else by_feature.word


# What "auto" meant, given the model and its settings.
_MEANT: dict[str, Callable] = {
    "scaling": _scaling_of,
    "linear_term": lambda model, settings: model.linear_coef is not None,
    "refine": lambda model, settings: n_steps(
        "auto", settings.get("kernel", "rbf"), settings["shapes"]
    ),
}


def _in_original_units(opened: UnwrappedModel, model: Model) -> tuple[dict[str, list], str]:
    """Return the columns of the centres and their units."""
    centres = as_dense(model.centres)
    scaling, steps = model.scaling, opened.steps
    if scaling is not None:
        centres = scaling.inverse(centres)
    if len(steps) == 1 and isinstance(steps[0], TablePreprocessor) and len(centres):
        frame = steps[0].inverse_transform(centres)
        return {str(name): frame[name].tolist() for name in frame.columns}, TABLE_UNITS
    undone = opened.inverse_transform(centres) if steps and len(centres) else centres
    values, units = (centres, INNER_UNITS) if undone is None else (undone, TABLE_UNITS)
    return dict(zip(opened.feature_names(), values.T.tolist(), strict=True)), units


def _used_by_ridges(
    opened: UnwrappedModel, model: Model, values: dict[str, list]
) -> dict[str, list]:
    """Return the values without those that ridges do not depend on."""
    is_axes = model.scaling is not None and model.scaling.axes is not None
    if not isinstance(model.kernel, ShapedRBF) or not model.kernel.is_ridge.any() or is_axes:
        return values
    names = list(values)
    columns = np.arange(len(names))
    if names != opened.feature_names():
        found = sources_of_steps(opened.steps, names)
        if found is None:
            return values
        columns = found
    used = np.zeros((len(model.coef), len(names)), bool)
    for feature, column in enumerate(columns):
        used[:, column] |= model.kernel.metric[:, feature] != 0
    return {
        name: [value if is_used else None for value, is_used in zip(values[name], row, strict=True)]
        for name, row in zip(names, used.T, strict=True)
    }
