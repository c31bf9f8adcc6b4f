"""Partial dependence: the mean score of the background rows with one or two columns replaced.

For a product kernel it has a closed form. With b_zmg the factor of background row z, centre m and
column g, and p_z the shares of the background rows, the partial dependence on column g is

    sum_m coef_m w_mg a_mg(x) + linear part,    w_mg = sum_z p_z prod over i != g of b_zmi.

The weights w are computed once. Each point of the grid then costs one factor per centre.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from skauc.exceptions import InvalidParameterError, UnknownLevelsWarning
from skauc.explain.columns import UserColumns, find_columns, pick, pick_rows, stack
from skauc.explain.grids import ColumnGrid, find_column, make_grid, with_values
from skauc.explain.products import ProductForm, why_no_product
from skauc.explain.shapley import Reference, as_table, features_of, unwrap_own, why_inexact
from skauc.kernels import as_dense
from skauc.model import Model
from skauc.unwrapping import UnwrappedModel, first_step
from skauc.validation import check_integer


@dataclass(frozen=True, eq=False)
class PartialDependence:
    """The mean score if one or two columns have given values.

    Attributes
    ----------
    grids : tuple of ColumnGrid
        The values of each column.
    average : ndarray of shape (n_values,) or (n_values_0, n_values_1)
        The mean score of the background rows with these values.
    base_value : float
        The mean score of the background rows as they are.
    interaction : ndarray or None
        For two columns, the part of ``average`` that is no sum of the effects of the two columns.
    """

    grids: tuple[ColumnGrid, ...]
    average: np.ndarray
    base_value: float
    interaction: np.ndarray | None = None

    @property
    def effect(self) -> np.ndarray:
        """``average`` minus ``base_value``."""
        return self.average - self.base_value


def partial_dependence(
    model: Any,
    X: Any,
    features: Any,
    background: Any = None,
    *,
    background_weight: ArrayLike | None = None,
    n_points: int = 50,
) -> PartialDependence:
    """Compute the mean score as a function of one or two columns, exactly.

    The mean is over the background rows, with the columns replaced by each value of a grid. For RBF
    and Laplacian kernels it has a closed form. For other models the rows are scored.

    Parameters
    ----------
    model : estimator
        A fitted skauc classifier, or a pipeline or wrapper around one.
    X : {array-like, dataframe} of shape (n_samples, n_columns)
        Rows that the values of the grid are chosen from.
    features : str, int, or sequence of two of them
        Names or numbers of the columns.
    background : {array-like, dataframe} of shape (n_background, n_columns), default=None
        As in `shapley_values`.
    background_weight : array-like of shape (n_background,), default=None
        As in `shapley_values`.
    n_points : int, default=50
        Number of values of a numeric column. Categories have at most 20 levels.

    Returns
    -------
    dependence : PartialDependence
        The grid, the mean scores and, for two columns, their interaction.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skauc import SparseKernelAUC
    >>> from skauc.explain import partial_dependence
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = SparseKernelAUC(8, scaling="rank", random_state=0).fit(X, y)
    >>> dependence = partial_dependence(model, X, "mean texture", n_points=5)
    >>> bool(dependence.average[0] > dependence.average[-1])
    True
    """
    check_integer("n_points", n_points, 2, "50 is a good choice.")
    unwrapped = unwrap_own(model)
    X = as_table(X)
    X = X.to_pandas() if hasattr(X, "to_pandas") else X
    numbers = _check_features(X, features)
    reference = Reference.of(unwrapped, background, background_weight, X)
    grids = tuple(make_grid(first_step(model), X, number, n_points) for number in numbers)
    mean = _mean_scores(unwrapped, X, reference)
    average = mean.on(numbers, grids)
    base = mean.base_value()
    if len(grids) == 1:
        return PartialDependence(grids, average, base)
    rows, columns = (
        mean.on([number], (grid,)) for number, grid in zip(numbers, grids, strict=True)
    )
    interaction = average - rows[:, None] - columns + base
    return PartialDependence(grids, average, base, interaction)


def _check_features(X: Any, features: Any) -> list[int]:
    is_single = isinstance(features, str) or not isinstance(features, Sequence | np.ndarray)
    numbers = [find_column(X, each) for each in ([features] if is_single else features)]
    if not 1 <= len(numbers) <= 2 or len(set(numbers)) != len(numbers):
        raise InvalidParameterError(
            f"`features` must be one column or two different columns; got {features!r}."
        )
    return numbers


def _mean_scores(unwrapped: UnwrappedModel, X: Any, reference: Reference) -> Any:
    columns = find_columns(unwrapped, X, reference.table, check_random_state(0))
    is_product = why_no_product(cast(Model, unwrapped.model)) is None
    if is_product and why_inexact(unwrapped, columns) is None:
        return _ClosedForm(unwrapped, columns, X, reference)
    if columns.of_feature is None:
        return _MixedTables(unwrapped, X, reference)
    return _MixedFeatures(unwrapped, columns, X, reference)


def _features_at(
    unwrapped: UnwrappedModel, X: Any, values: list[tuple[int, np.ndarray]]
) -> np.ndarray:
    """Return the features of copies of the first row with other values in some columns.

    The first row may have a category that is unknown from training. All copies have it then, which
    is no reason for a warning.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownLevelsWarning)
        return features_of(unwrapped, with_values(X, values))


def _crossed(grids: Sequence[ColumnGrid]) -> list[np.ndarray]:
    """Return the values of each column at every point of the grid."""
    shape = [len(grid.values) for grid in grids]
    return [
        grid.values[index.ravel()] for grid, index in zip(grids, np.indices(shape), strict=True)
    ]


class _ClosedForm:
    """Mean scores of a product form."""

    def __init__(
        self, unwrapped: UnwrappedModel, columns: UserColumns, X: Any, reference: Reference
    ):
        self.unwrapped, self.X, self.shares = unwrapped, X, reference.shares
        self.model = cast(Model, unwrapped.model)
        self.form = ProductForm.of(self.model, columns.of_feature, n_columns=len(columns.names))
        others = as_dense(self.model.scaled(reference.rows))
        self.factors = self.form.factors(others)
        self.linear = reference.shares @ self.form.linear_parts(others)

    def base_value(self) -> float:
        """Return the mean score of the background."""
        kernel = self.shares @ self.factors.prod(axis=2) @ self.form.coef
        return float(kernel + self.linear.sum() + self.form.intercept)

    def on(self, numbers: Sequence[int], grids: Sequence[ColumnGrid]) -> np.ndarray:
        """Return the mean scores at the points of the grid."""
        kept = np.ones(self.form.n_columns, dtype=bool)
        kept[list(numbers)] = False
        weights = self.form.coef * (self.shares @ self.factors[:, :, kept].prod(axis=2))
        parts, constant = [], self.linear[kept].sum() + self.form.intercept
        linear = []
        for number, grid in zip(numbers, grids, strict=True):
            features = _features_at(self.unwrapped, self.X, [(number, grid.values)])
            rows = as_dense(self.model.scaled(features))
            parts.append(self.form.factors(rows)[:, :, number])
            linear.append(self.form.linear_parts(rows)[:, number])
        if len(parts) == 1:
            return parts[0] @ weights + linear[0] + constant
        return (parts[0] * weights) @ parts[1].T + linear[0][:, None] + linear[1] + constant


class _MixedFeatures:
    """Mean scores of background rows whose features are replaced."""

    def __init__(
        self, unwrapped: UnwrappedModel, columns: UserColumns, X: Any, reference: Reference
    ):
        self.unwrapped, self.X, self.reference = unwrapped, X, reference
        self.columns = cast(np.ndarray, columns.of_feature)
        self.model = cast(Model, unwrapped.model)

    def base_value(self) -> float:
        """Return the mean score of the background."""
        return float(self.reference.shares @ self.model.scores(self.reference.rows))

    def on(self, numbers: Sequence[int], grids: Sequence[ColumnGrid]) -> np.ndarray:
        """Return the mean scores at the points of the grid."""
        values = list(zip(numbers, _crossed(grids), strict=True))
        replaced = _features_at(self.unwrapped, self.X, values)
        is_replaced = np.isin(self.columns, numbers)
        means = [
            self.reference.shares
            @ self.model.scores(np.where(is_replaced, row, self.reference.rows))
            for row in replaced
        ]
        return np.reshape(means, [len(grid.values) for grid in grids])


class _MixedTables:
    """Mean scores of background rows of a table whose columns are replaced."""

    def __init__(self, unwrapped: UnwrappedModel, X: Any, reference: Reference):
        self.unwrapped, self.X, self.reference = unwrapped, X, reference

    def base_value(self) -> float:
        """Return the mean score of the background."""
        return float(self.reference.shares @ self.unwrapped.scores(self.reference.table))

    def on(self, numbers: Sequence[int], grids: Sequence[ColumnGrid]) -> np.ndarray:
        """Return the mean scores at the points of the grid."""
        replaced = with_values(self.X, list(zip(numbers, _crossed(grids), strict=True)))
        n_rows, n_columns = self.reference.table.shape
        source = np.repeat(np.arange(1, n_rows + 1)[:, None], n_columns, axis=1)
        source[:, list(numbers)] = 0
        means = []
        for number in range(len(replaced)):
            table = stack(pick_rows(replaced, np.array([number])), self.reference.table)
            means.append(self.reference.shares @ self.unwrapped.scores(pick(table, source)))
        return np.reshape(means, [len(grid.values) for grid in grids])
