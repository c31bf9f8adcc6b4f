"""Which features of the classifier each column of the user's table becomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skauc.exceptions import InvalidParameterError
from skauc.explain.sources import sources_of_steps
from skauc.kernels import as_dense
from skauc.unwrapping import UnwrappedModel
from skauc.validation import check_rows

# Rows on which the effect of each column is tried out.
N_PROBES = 500


@dataclass(frozen=True, eq=False)
class UserColumns:
    """Names of the user's columns, and the column that each feature is computed from.

    ``of_feature`` is None if a feature is computed from several columns.
    """

    names: list[str]
    of_feature: np.ndarray | None


def find_columns(
    model: UnwrappedModel, X: Any, background: Any, random_state: np.random.RandomState
) -> UserColumns:
    """Find the columns of the user's table in the features of the classifier.

    Steps of scikit-learn and skauc that keep columns apart say what they compute features from.
    Otherwise the values of one column at a time are exchanged between rows: the features that
    change belong to this column. This needs background rows of the table.
    """
    names = column_names(X)
    sources = sources_of_steps(model.steps, names)
    if sources is not None and len(sources) == model.classifier.n_features_in_:
        return UserColumns(names, sources)
    if background is None:
        check_rows(model.classifier, model.transform(X))  # a wrong column has its own error
        raise InvalidParameterError(
            "`background` must be rows of the table, because a step of the pipeline does not say "
            "which column each feature is computed from; got None. Pass about 100 training rows."
        )
    return UserColumns(names, _probed_sources(model, X, background, random_state))


def _probed_sources(
    model: UnwrappedModel, X: Any, background: Any, random_state: np.random.RandomState
) -> np.ndarray | None:
    """Return the column that each feature reacts to, or None if a feature reacts to several."""
    rows = stack(
        pick_rows(X, _probes(X, random_state)),
        pick_rows(background, _probes(background, random_state)),
    )
    own = np.arange(rows.shape[0])
    # A shift leaves no row in its place, as a permutation may.
    other = np.roll(own, 1)
    before = as_dense(model.transform(rows))
    n_columns = rows.shape[1]
    depends = np.zeros((n_columns, before.shape[1]), dtype=bool)
    for column in range(n_columns):
        source = np.repeat(own[:, None], n_columns, axis=1)
        source[:, column] = other
        depends[column] = (as_dense(model.transform(pick(rows, source))) != before).any(axis=0)
    return None if (depends.sum(axis=0) > 1).any() else depends.argmax(axis=0)


def column_names(X: Any) -> list[str]:
    """Return the names of the columns of a table, x0, x1, ... for an array."""
    if hasattr(X, "columns"):
        return [str(name) for name in X.columns]
    return [f"x{i}" for i in range(np.shape(X)[1])]


def pick_rows(X: Any, rows: np.ndarray) -> Any:
    """Return some rows of a table."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def stack(X: Any, Y: Any) -> Any:
    """Return the rows of two tables with the same columns."""
    if hasattr(X, "iloc"):
        import pandas as pd

        return pd.concat((X, Y), ignore_index=True)
    return X.vstack(Y) if hasattr(X, "vstack") else np.concatenate((X, Y))


def pick(X: Any, source: np.ndarray) -> Any:
    """Return the table whose value in row i and column j is that of row ``source[i, j]``."""
    if hasattr(X, "iloc"):
        columns = [X.iloc[:, j].take(source[:, j]).array for j in range(X.shape[1])]
        return type(X)(dict(enumerate(columns))).set_axis(X.columns, axis=1)
    if hasattr(X, "to_series"):
        return X.select(X.to_series(j).gather(source[:, j]) for j in range(X.shape[1]))
    return np.take_along_axis(X, source, axis=0)


def as_array(X: Any) -> np.ndarray:
    """Return the values of a table.

    Polars would turn dates beside numbers into numbers, or have no common type for them.
    """
    if hasattr(X, "to_series") and not all(each.is_numeric() for each in X.dtypes):
        values = np.empty(X.shape, dtype=object)
        for column in range(X.shape[1]):
            values[:, column] = X.to_series(column).to_list()
        return values
    return X.to_numpy() if hasattr(X, "to_numpy") else as_dense(X)


def _probes(X: Any, random_state: np.random.RandomState) -> np.ndarray:
    return random_state.permutation(X.shape[0])[:N_PROBES]
