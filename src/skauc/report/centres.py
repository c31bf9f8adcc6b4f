"""The most typical centre of each class, in the units of the table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances_argmin

from skauc.engines.expansion import evaluate_expansion
from skauc.kernels import as_dense
from skauc.model import Model, without_ridges
from skauc.report.columns import Column, columns, row_values
from skauc.report.missing import ONLY_RIDGES, SEVERAL, Missing
from skauc.report.rows import LabelledRows
from skauc.support import cut_short, is_missing
from skauc.unwrapping import UnwrappedModel

_SAMPLE_ROWS = 4_000
_ROWS_FOR_USUAL = 20_000
_MOST_COLUMNS = 200
_LONGEST_TEXT = 60


@dataclass(frozen=True)
class Centre:
    """A centre: its index in the model, its score, and where the shown values come from."""

    number: int
    score: float
    source: str


@dataclass(frozen=True)
class CentreValues:
    """The values of a column at the two centres, and its usual value in the rows."""

    name: str
    positive: float | str
    negative: float | str
    usual: float | str


@dataclass(frozen=True)
class TypicalCentres:
    """The most typical centre of each class.

    Attributes
    ----------
    positive, negative : Centre
        The centres.
    columns : tuple of CentreValues
        The columns that the model uses, those with the largest difference first.
    n_columns : int
        Number of columns that the model uses, including those that are not in `columns`.
    """

    positive: Centre
    negative: Centre
    columns: tuple[CentreValues, ...]
    n_columns: int


def typical_centres(
    unwrapped: UnwrappedModel,
    train: LabelledRows | None,
    test: LabelledRows,
    read: LabelledRows,
    unused: frozenset[str],
) -> TypicalCentres | Missing:
    """Find the centre that is most similar to the rows of each class.

    For the rows S of a class and the rows O of the other class, this is the centre z_k with the
    largest value of mean over S of k(z_k, x) - mean over O of k(z_k, x). Only centres that the
    model assigns to the class are considered, unless there are none: a refined centre may be far
    from the rows of its class. Ridges are no points and are left out. ``read`` are the training
    rows, or the test rows without them, as the model reads them.
    """
    classifier, model = unwrapped.classifier, unwrapped.model
    if classifier is None:
        return SEVERAL
    if model is None or len(model.coef) == 0:
        return Missing(f"{type(classifier).__name__} has no centres.")
    if len(without_ridges(model).coef) == 0:
        return ONLY_RIDGES
    indices = _most_typical(unwrapped, model, test)
    centres = as_dense(model.centres[list(indices)])
    found = [
        values
        for index, centre in zip(indices, centres, strict=True)
        if (values := _in_table_units(unwrapped, model, train, read.X, index, centre)) is not None
    ]
    if len(found) < 2:
        return Missing(
            "The preprocessing has no exact inverse, so that the most typical centres are shown by "
            "their nearest training rows. Pass the training rows to show them."
        )
    scores = replace(model, scaling=None).scores(centres)
    positive, negative = (
        Centre(int(index), float(score), source)
        for index, score, (_, source) in zip(indices, scores, found, strict=True)
    )
    shown = _column_values(read, found[0][0], found[1][0], unused)
    return TypicalCentres(positive, negative, shown[:_MOST_COLUMNS], len(shown))


def _most_typical(unwrapped: UnwrappedModel, model: Model, test: LabelledRows) -> tuple[int, int]:
    """Return the indices of the centres for the positive and the negative class."""
    sample = test.balanced_sample(_SAMPLE_ROWS)
    rows = unwrapped.scaled(sample.X)
    similarity = evaluate_expansion(model.kernel, model.centres, np.eye(len(model.coef)), rows)
    positive = sample.positive
    difference = similarity[positive].mean(axis=0) - similarity[~positive].mean(axis=0)
    is_positive = replace(model, scaling=None).scores(model.centres) > 0
    is_ridge = getattr(model.kernel, "is_ridge", np.zeros(len(model.coef), bool))
    gains = np.where(is_ridge, -np.inf, (difference, -difference))
    return _argmax_among(gains[0], is_positive), _argmax_among(gains[1], ~is_positive)


def _argmax_among(values: np.ndarray, allowed: np.ndarray) -> int:
    """Return the index of the largest allowed value, or of the largest one if none is allowed."""
    among = np.where(allowed, values, -np.inf)
    return int(np.argmax(among if np.isfinite(among).any() else values))


def _in_table_units(
    unwrapped: UnwrappedModel,
    model: Model,
    train: LabelledRows | None,
    read: Any,
    index: int,
    centre: np.ndarray,
) -> tuple[list, str] | None:
    """Return the values of a centre and a sentence on their source, None if there are none.

    ``read`` are the training rows as the model reads them.
    """
    undone = _undone(unwrapped, model, centre)
    if train is None:
        return undone
    row = int(model.indices[index])
    if 0 <= row < len(train) and _is_row(unwrapped, train, row, centre):
        return row_values(read, row), f"Row {train.number(row):,}, a training row."
    if undone is not None:
        return undone
    row = _nearest_row(unwrapped, model, train, centre)
    return row_values(read, row), f"The nearest training row is row {train.number(row):,}."


def _undone(unwrapped: UnwrappedModel, model: Model, centre: np.ndarray) -> tuple[list, str] | None:
    """Undo the scaling and the preprocessing of a centre; None if that is not possible."""
    source, beyond = "Its own values.", ""
    scaling = model.scaling
    if scaling is not None:
        centre = scaling.rotate_back(centre[None])[0]
    if scaling is not None and scaling.by_feature is not None:
        values = scaling.by_feature.inverse(centre[None])
        images = scaling.by_feature.transform(values)
        is_beyond = ~np.isclose(images[0], centre, rtol=1e-5, atol=1e-6)
        source, centre = "Its values before the scaling.", values[0]
        if is_beyond.any():
            beyond = (
                f" It is outside the range of the training rows in "
                f"{np.count_nonzero(is_beyond):,} of the features. The nearest training value is "
                "shown."
            )
    if unwrapped.steps:
        undone = unwrapped.inverse_transform(centre[None])
        if undone is None:
            return None
        source, centre = "Its values before preprocessing.", undone[0]
    return list(centre), source + beyond


def _is_row(unwrapped: UnwrappedModel, train: LabelledRows, row: int, centre: np.ndarray) -> bool:
    seen = as_dense(unwrapped.scaled(train.take(np.array([row])).X))
    return np.allclose(seen[0], centre, rtol=1e-5, atol=1e-8)


def _nearest_row(
    unwrapped: UnwrappedModel, model: Model, train: LabelledRows, centre: np.ndarray
) -> int:
    rows = unwrapped.scaled(train.X)
    scales = getattr(model.kernel, "scales", None)
    scales = np.ones(rows.shape[1]) if scales is None else scales
    scaled = rows @ sparse.diags_array(scales) if sparse.issparse(rows) else rows * scales
    scaled = sparse.csr_matrix(scaled) if sparse.issparse(scaled) else scaled
    return int(pairwise_distances_argmin((centre * scales)[None], scaled)[0])


def _column_values(
    rows: LabelledRows, positive: list, negative: list, unused: frozenset[str]
) -> tuple[CentreValues, ...]:
    """Compare the centres in each used column. The largest difference comes first."""
    sample = rows.random_sample(_ROWS_FOR_USUAL)
    weights = sample.weights
    distances, found = [], []
    for i, column in enumerate(columns(sample.X)):
        if column.name in unused:
            continue
        distances.append(_distance(column, weights, positive[i], negative[i]))
        usual = column.raw[_usual_row(column, weights)]
        found.append(
            CentreValues(column.name, plain(positive[i]), plain(negative[i]), plain(usual))
        )
    order = np.argsort(-np.array(distances), kind="stable")
    return tuple(found[i] for i in order)


def _usual_row(column: Column, weights: np.ndarray) -> int:
    """Return a row with the weighted median of a column, or with its most frequent value.

    A number that is missing in more than half of the weight counts as usually missing.
    """
    if column.is_number:
        finite = np.flatnonzero(np.isfinite(column.values))
        if 2 * weights[finite].sum() >= weights.sum():
            order = finite[np.argsort(column.values[finite], kind="stable")]
            cumulative = np.cumsum(weights[order])
            middle = np.searchsorted(cumulative, cumulative[-1] / 2, side="right")
            return int(order[min(middle, len(order) - 1)])
        return int(np.flatnonzero(~np.isfinite(column.values))[0])
    _, rows, codes = np.unique(column.values, return_index=True, return_inverse=True)
    return int(rows[np.argmax(np.bincount(codes, weights))])


def _distance(column: Column, weights: np.ndarray, positive, negative) -> float:
    """Return the difference of two values in standard deviations; 1 for different categories."""
    finite = np.isfinite(column.values)
    if not column.is_number or not weights[finite].any():
        return float(plain(positive) != plain(negative))
    values, weights = column.values[finite], weights[finite]
    mean = np.average(values, weights=weights)
    spread = np.sqrt(np.average((values - mean) ** 2, weights=weights))
    apart = abs(_as_float(positive) - _as_float(negative))
    return apart / spread if spread > 0 and np.isfinite(apart) else 0.0


def _as_float(value) -> float:
    if isinstance(value, np.datetime64 | np.timedelta64):
        return float(value.astype("int64"))
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan


def plain(value) -> float | str:
    """Return a value as a finite float or as a short text."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | float | np.number) and not isinstance(value, np.timedelta64):
        number = float(value)
        return number if np.isfinite(number) else "missing"
    if isinstance(value, np.datetime64) and not np.isnat(value):
        moment = np.datetime_as_string(value, unit="s")
        return moment.removesuffix("T00:00:00").replace("T", " ")
    text = "missing" if is_missing(value) else str(value)
    return cut_short(text, _LONGEST_TEXT)
