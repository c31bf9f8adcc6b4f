"""The relevance of each column of a table: what the length scales of a kernel make of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skauc.exceptions import InvalidParameterError
from skauc.explain.sources import sources_of_steps
from skauc.unwrapping import UnwrappedModel, unwrap


def column_relevance(model: Any) -> list[tuple[str, float]]:
    """Return the columns of the table and their relevance, the most relevant first.

    A column may become several features: one per level of a category, the phases of a date, an
    indicator of missing values. Its relevance is the root of the sum of the squares of their
    ``feature_relevance_``. This is the root mean square distance of two rows along the column, as
    the kernel sees it, divided by the square root of 2. It is one number per variable, however
    many levels a category has. Where refinement has not changed the length scales, columns of many
    features have a larger relevance than columns of few. It is not an importance: the column need
    not improve the AUC, and the linear part is left out.

    Parameters
    ----------
    model : estimator
        A fitted `SparseKernelAUC` or `SparseKernelAUCCV`, or a pipeline or another wrapper around
        one.

    Returns
    -------
    ranking : list of (name, relevance)
        The columns that the model uses. If a step computes features from several columns, as
        `PCA` does, they are the features of the classifier.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from skauc import SparseKernelAUC, TablePreprocessor
    >>> from skauc.explain import column_relevance
    >>> random = np.random.default_rng(0)
    >>> table = pd.DataFrame({"age": random.integers(18, 80, 300),
    ...                       "town": random.choice(["Oslo", "Bern", "Porto"], 300)})
    >>> model = make_pipeline(TablePreprocessor(), SparseKernelAUC(8, random_state=0))
    >>> model = model.fit(table, table["age"].between(30, 50))
    >>> [name for name, _ in column_relevance(model)]
    ['age', 'town']
    """
    check_is_fitted(model)
    opened = unwrap(model)
    if not hasattr(opened.classifier, "feature_relevance_"):
        raise InvalidParameterError(
            "`model` must be, or contain, one SparseKernelAUC or SparseKernelAUCCV; got "
            f"{type(model).__name__}."
        )
    names, of_feature = columns_of_features(opened)
    relevance = sizes_of_columns(opened.classifier.feature_relevance_, of_feature, len(names))
    order = np.argsort(-relevance, kind="stable")
    return [(names[i], float(relevance[i])) for i in order]


def columns_of_features(opened: UnwrappedModel) -> tuple[list[str], np.ndarray]:
    """Return the columns in use, and the number of the column of each feature.

    They are the features themselves if a step computes them from several columns.
    """
    features = opened.feature_names()
    itself = np.arange(len(features))
    if not opened.steps:
        return features, itself
    first = opened.steps[0]
    table = opened.input_names(first) if hasattr(first, "n_features_in_") else []
    sources = sources_of_steps(opened.steps, table)
    if sources is None or len(sources) != len(features):
        return features, itself
    used, of_feature = np.unique(sources, return_inverse=True)
    return [table[column] for column in used], of_feature


def sizes_of_columns(sizes: np.ndarray, of_feature: np.ndarray, n_columns: int) -> np.ndarray:
    """Return the root of the sum of the squares of the sizes of the features of each column."""
    return np.sqrt(np.bincount(of_feature, weights=np.square(sizes), minlength=n_columns))
