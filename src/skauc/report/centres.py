"""The most typical centre of each class, in the units of the data as they came."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances_argmin

from skauc.engines.expansion import evaluate_expansion
from skauc.report.columns import Column, columns, row_values
from skauc.report.missing import SEVERAL, Missing
from skauc.report.rows import Rows
from skauc.unwrapping import OpenedModel, as_dense

_SAMPLE_ROWS = 4_000
_MOST_FEATURES = 200
_LONGEST_TEXT = 60


@dataclass(frozen=True)
class Centre:
    """One centre: which of the classes it stands for, and where its values come from."""

    number: int
    score: float
    source: str


@dataclass(frozen=True)
class FeatureValues:
    """A feature's value at the two centres, and its usual value in the rows."""

    name: str
    positive: float | str
    negative: float | str
    usual: float | str


@dataclass(frozen=True)
class TypicalCentres:
    """The most typical centre of each class; features in the order of how far they are apart."""

    positive: Centre
    negative: Centre
    features: tuple[FeatureValues, ...]
    n_features: int


def typical_centres(
    opened: OpenedModel, train: Rows | None, test: Rows
) -> TypicalCentres | Missing:
    """Find the centre that the rows of each class are most like, compared with the other class.

    For the class S and the others O, that is the k of the greatest
    mean over S of k(z_k, x) - mean over O of k(z_k, x), of the centres that the model itself
    counts to the class, if there are any: refined centres may lie where the others' scores are.
    """
    classifier = opened.classifier
    if classifier is None:
        return SEVERAL
    if opened.model is None or len(opened.model.coef) == 0:
        return Missing(f"{type(classifier).__name__} has no centres.")
    numbers = _most_typical(opened, test)
    centres = as_dense(opened.model.centres[list(numbers)])
    found = [
        _in_original_units(opened, train, number, centre)
        for number, centre in zip(numbers, centres, strict=True)
    ]
    if None in found:
        return Missing(
            "The preprocessing cannot be undone and the training rows were not at hand, so that "
            "centres cannot be shown in the units of the data. Make the report with the training "
            "rows to see them."
        )
    scores = replace(opened.model, scaling=None).scores(centres)
    positive, negative = (
        Centre(int(number), float(score), source)
        for number, score, (_, source) in zip(numbers, scores, found, strict=True)
    )
    reference = test if train is None else train
    features = _features(reference, found[0][0], found[1][0])
    return TypicalCentres(positive, negative, features[:_MOST_FEATURES], len(found[0][0]))


def _most_typical(opened: OpenedModel, test: Rows) -> tuple[int, int]:
    """Return the numbers of the centres for the positive and the negative class."""
    sample = test.sample(_SAMPLE_ROWS)
    model, rows = opened.model, opened.scaled(sample.X)
    likeness = evaluate_expansion(model.kernel, model.centres, np.eye(len(model.coef)), rows)
    positive = sample.positive
    difference = likeness[positive].mean(axis=0) - likeness[~positive].mean(axis=0)
    is_flagged = replace(model, scaling=None).scores(model.centres) > 0
    return _greatest(difference, is_flagged), _greatest(-difference, ~is_flagged)


def _greatest(values: np.ndarray, is_wanted: np.ndarray) -> int:
    """Return the place of the greatest value that is wanted, of any if none is."""
    return int(np.argmax(np.where(is_wanted, values, -np.inf) if is_wanted.any() else values))


def _in_original_units(opened: OpenedModel, train: Rows | None, number: int, centre: np.ndarray):
    """Return the values of a centre and a sentence on where they come from, or None."""
    undone = _undone(opened, centre)
    if train is None:
        return undone
    row = int(opened.model.indices[number])
    if 0 <= row < np.shape(train.X)[0] and _is_row(opened, train, row, centre):
        return row_values(train.X, row), f"Row {row:,} of the training rows."
    if undone is not None:
        return undone
    row = _nearest_row(opened, train, centre)
    return row_values(train.X, row), f"The training row nearest to it, row {row:,}."


def _undone(opened: OpenedModel, centre: np.ndarray):
    """Return the values of a centre before everything that was done to them, or None."""
    source, beyond = "Its own values.", ""
    scaling = opened.model.scaling
    if scaling is not None:
        centre = scaling.rotate_back(centre[None])[0]
    if scaling is not None and scaling.ranks is not None:
        values = scaling.ranks.inverse(centre[None])
        is_beyond = ~np.isclose(scaling.ranks.transform(values)[0], centre, rtol=1e-5, atol=1e-6)
        source, centre = "Its values before they became ranks.", values[0]
        if is_beyond.any():
            beyond = (
                f" In {np.count_nonzero(is_beyond):,} of the features it lies beyond the training "
                "rows, whose least or greatest value is shown."
            )
    if opened.steps:
        undone = opened.inverse_transform(centre[None])
        if undone is None:
            return None
        source, centre = "Its values before preprocessing.", undone[0]
    return list(centre), source + beyond


def _is_row(opened: OpenedModel, train: Rows, row: int, centre: np.ndarray) -> bool:
    seen = as_dense(opened.scaled(train.take(np.array([row])).X))
    return np.allclose(seen[0], centre, rtol=1e-5, atol=1e-8)


def _nearest_row(opened: OpenedModel, train: Rows, centre: np.ndarray) -> int:
    rows = opened.scaled(train.X)
    scales = getattr(opened.model.kernel, "scales", None)
    scales = np.ones(rows.shape[1]) if scales is None else scales
    scaled = rows @ sparse.diags_array(scales) if sparse.issparse(rows) else rows * scales
    scaled = sparse.csr_matrix(scaled) if sparse.issparse(scaled) else scaled
    return int(pairwise_distances_argmin((centre * scales)[None], scaled)[0])


def _features(rows: Rows, positive: list, negative: list) -> tuple[FeatureValues, ...]:
    table = rows.sample(_SAMPLE_ROWS).X
    distances, features = [], []
    for i, column in enumerate(columns(table)):
        usual, distance = _usual(column, positive[i], negative[i])
        distances.append(distance)
        features.append(
            FeatureValues(column.name, plain(positive[i]), plain(negative[i]), plain(usual))
        )
    order = np.argsort(-np.array(distances), kind="stable")
    return tuple(features[i] for i in order)


def _usual(column: Column, positive, negative):
    """Return a column's median or most frequent value, and how far apart the two centres are."""
    if column.is_number and column.values.size and np.isfinite(column.values).any():
        finite = column.values[np.isfinite(column.values)]
        middle = np.argsort(column.values)[len(finite) // 2]
        spread = np.std(finite)
        ends = [_as_float(positive), _as_float(negative)]
        apart = abs(ends[0] - ends[1]) / spread if spread > 0 else 0.0
        return column.raw[middle], apart if np.isfinite(apart) else 0.0
    _, places, counts = np.unique(column.values, return_index=True, return_counts=True)
    most_frequent = column.raw[places[np.argmax(counts)]]
    return most_frequent, float(plain(positive) != plain(negative))


def _as_float(value) -> float:
    if isinstance(value, np.datetime64 | np.timedelta64):
        return float(value.astype("int64"))
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan


def plain(value) -> float | str:
    """Return a value as a finite float, or as a text that is not too long."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | float | np.number) and not isinstance(value, np.timedelta64):
        number = float(value)
        return number if np.isfinite(number) else "missing"
    if isinstance(value, np.datetime64) and not np.isnat(value):
        moment = np.datetime_as_string(value, unit="s")
        return moment.removesuffix("T00:00:00").replace("T", " ")
    text = "missing" if value is None or value != value else str(value)  # only NaT is not itself
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"
