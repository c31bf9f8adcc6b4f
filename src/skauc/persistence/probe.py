"""A trial score of a loaded model, which finds steps whose attributes do not fit together."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from skauc.archive import ArchiveError, brief_error, require
from skauc.preprocessing import TablePreprocessor
from skauc.unwrapping import first_step, layers_of, ranking_scores

# Steps that take any row of numbers. Others may refuse a row of zeros.
_TAKE_ALL = {
    *("ArcSinh", "MaxAbsScaler", "MinMaxScaler", "Normalizer", "PCA", "PolynomialFeatures"),
    *("PowerTransformer", "QuantileTransformer", "RobustScaler", "SelectKBest", "SimpleImputer"),
    *("StandardScaler", "TablePreprocessor", "VarianceThreshold"),
}


def check_scores(model: Any) -> None:
    """Score one row; raise an error if that fails for a reason that is not the row's.

    The row stands for zeros behind a `TablePreprocessor`. For other models it has zeros, a known
    level for each encoder, and a word for each column of text.
    """
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            row = _row_for(model)
            if row is None:
                return
            scores = ranking_scores(model, row)
            labels = model.predict(row)
    except ArchiveError:
        raise
    except ValueError as error:
        if all(type(step).__name__ in _TAKE_ALL for step in _steps_of(model)):
            raise ArchiveError(f"it cannot score a row ({brief_error(error)})") from error
        return  # zeros may be unknown to an encoder, or become infinite
    except Exception as error:  # whatever does not fit together
        raise ArchiveError(f"it cannot score a row ({brief_error(error)})") from error
    require(scores.shape == (1,) and bool(np.isfinite(scores).all()), "its score of a row is")
    require(np.shape(labels) == (1,), "its label of a row is")


def _row_for(model: Any) -> Any:
    """Return one row, or None for a model that does not say which columns it takes."""
    first = first_step(model)
    if isinstance(first, TablePreprocessor):
        return first.inverse_transform(np.zeros((1, len(first.get_feature_names_out()))))
    n_features = getattr(first, "n_features_in_", None)
    if n_features is None:
        return None
    require(type(n_features) is int and 0 < n_features < 1 << 24, "its number of features is")
    values: list[Any] = [0.0] * n_features
    for places, step in _parts_of(first):
        levels = getattr(step, "categories_", None)
        if levels is not None:
            for place, own in zip(places, levels, strict=True):
                values[place] = own[0]
        elif hasattr(step, "build_analyzer"):
            values[places[0]] = "word"
    names = getattr(first, "feature_names_in_", None)
    if isinstance(first, ColumnTransformer) and names is not None:
        pandas = sys.modules.get("pandas")  # whatever made the model's names
        return None if pandas is None else pandas.DataFrame([values], columns=names)
    is_numeric = all(isinstance(value, float) for value in values)
    return np.array([values], dtype=np.float64 if is_numeric else object)


def _parts_of(first: Any) -> Iterator[tuple[list[int], Any]]:
    """Yield the transformers that read columns of the table, with the places of the columns."""
    if not isinstance(first, ColumnTransformer):
        yield list(range(first.n_features_in_)), first
        return
    for name, step, _ in first.transformers_:
        places = list(first._transformer_to_input_indices[name])
        steps = [part for _, part in step.steps] if isinstance(step, Pipeline) else [step]
        yield from ((places, part) for part in steps if places)


def _steps_of(model: Any) -> Iterator[Any]:
    """Yield the preprocessing steps of a model."""
    for layer in layers_of(model):
        if isinstance(layer, Pipeline):
            yield from (step for _, step in layer.steps[:-1] if step not in (None, "passthrough"))
