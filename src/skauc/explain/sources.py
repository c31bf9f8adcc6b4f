"""The input column of each output of a preprocessing step, found from what the step has learnt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    Binarizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

# Steps that compute each output from the input column in the same place. `OneToOneFeatureMixin`
# does not say so: `Normalizer` and `TfidfTransformer` divide by the norm of the row.
_COLUMN_WISE = (
    Binarizer,
    MaxAbsScaler,
    MinMaxScaler,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)


def sources_of_steps(steps: Sequence[Any], names: list[str]) -> np.ndarray | None:
    """Return the number of the column that each output of the last step is computed from.

    None if a step is unknown, or computes an output from several columns. ``names`` are the columns
    of the table.
    """
    sources = np.arange(len(names))
    for step in steps:
        found = _sources(step, names)
        if found is None:
            return None
        sources, names = sources[found], [names[source] for source in found]
    return sources


def _sources(step: Any, names: list[str]) -> np.ndarray | None:
    """Return the input column of each output of one step."""
    n_columns = len(names)
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return np.arange(n_columns)
    if hasattr(step, "feature_sources"):
        return _by_name(step.feature_sources(), names)
    if isinstance(step, Pipeline):
        return sources_of_steps([each for _, each in step.steps], names)
    if isinstance(step, ColumnTransformer):
        return _sources_of_parts(step, names)
    if isinstance(step, OneHotEncoder):
        counts = getattr(step, "_n_features_outs", None)
        return None if counts is None else np.repeat(np.arange(n_columns), counts)
    if isinstance(step, SelectorMixin):
        return step.get_support(indices=True)
    if isinstance(step, SimpleImputer):
        is_same = not step.add_indicator and len(step.get_feature_names_out()) == n_columns
        return np.arange(n_columns) if is_same else None
    return np.arange(n_columns) if _is_column_wise(step) else None


def _is_column_wise(step: Any) -> bool:
    """Tell whether a step computes each output from the input column in the same place."""
    if type(step) in _COLUMN_WISE:  # a subclass may do more
        return True
    return isinstance(step, OneToOneFeatureMixin) and type(step).__module__.startswith("skauc.")


def _by_name(sources: Sequence[str], names: list[str]) -> np.ndarray | None:
    """Return the numbers of columns that are given by name."""
    number = {name: number for number, name in enumerate(names)}
    if not all(source in number for source in sources):
        return None
    return np.array([number[source] for source in sources])


def _sources_of_parts(step: ColumnTransformer, names: list[str]) -> np.ndarray | None:
    """Return the input column of each output of a `ColumnTransformer`."""
    n_outputs = max(part.stop for part in step.output_indices_.values())
    sources = np.zeros(n_outputs, dtype=np.int64)
    for name, part, _ in step.transformers_:
        outputs = step.output_indices_[name]
        if (isinstance(part, str) and part == "drop") or outputs.start == outputs.stop:
            continue
        columns = _chosen_columns(step, name, names)
        inner = None if columns is None else _sources(part, [names[column] for column in columns])
        if columns is None or inner is None or len(inner) != outputs.stop - outputs.start:
            return None
        sources[outputs] = columns[inner]
    return sources


def _chosen_columns(step: ColumnTransformer, part: str, names: list[str]) -> np.ndarray | None:
    """Return the numbers of the columns that a part of a `ColumnTransformer` takes.

    The columns of a table may be in another order than in the fit. They are found by name.
    """
    chosen = np.asarray(step._transformer_to_input_indices[part], dtype=np.int64)
    learnt = getattr(step, "feature_names_in_", None)
    if learnt is None or not set(learnt) <= set(names):
        return chosen
    return _by_name(learnt[chosen], names)
