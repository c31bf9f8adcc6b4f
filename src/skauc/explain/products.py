"""Kernel expansions as sums of products over columns.

A column is what the user calls a feature. It may consist of several features of the kernel, such as
the dummy columns of a category. A kernel value is then a product of one factor per column,

    k(x, c_m) = prod over columns g of a_mg,
    a_mg = exp(-gamma_m sum over features j of column g of d_j(x_j, c_mj)),

with d_j = s_j^2 (x_j - c_mj)^2 for the RBF kernel and d_j = |x_j - c_mj| for the Laplacian kernel.
Centres may have scales s_mj of their own. Ridges are no products; `skauc.explain.ridges` has them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skauc.exceptions import InvalidParameterError
from skauc.explain.ridges import RidgeForm
from skauc.kernels import RBF, Kernel, Laplacian, Linear, as_dense
from skauc.model import Model
from skauc.shaped_rbf import ShapedRBF
from skauc.support import cached_property


@dataclass(frozen=True, eq=False)
class ProductForm:
    """sum_m coef_m prod_g a_mg + linear.x + intercept, with columns g as the factors.

    ``columns[j]`` is the number of the column that feature j belongs to. ``scales`` has one number
    per feature, or one per centre and feature.
    """

    centres: np.ndarray
    coef: np.ndarray
    gammas: np.ndarray
    scales: np.ndarray
    power: int
    linear: np.ndarray
    intercept: float
    columns: np.ndarray
    n_columns: int

    @classmethod
    def of(
        cls, model: Model, columns: np.ndarray | None = None, n_columns: int | None = None
    ) -> ProductForm:
        """Return the product form of a model, or raise an error if it has none."""
        problem = why_no_product(model)
        if problem is not None:
            raise InvalidParameterError(
                f"The kernel is not a product over columns: {problem}. Use method='sampling' for "
                "approximate Shapley values."
            )
        n_features = model.centres.shape[1]
        columns = np.arange(n_features) if columns is None else np.asarray(columns)
        kernel, coef = model.kernel, model.coef
        linear = np.zeros(n_features)
        if model.linear_coef is not None:
            linear += model.linear_coef
        centres = as_dense(model.centres)
        if isinstance(kernel, Linear):
            linear += centres.T @ coef
            centres, coef = centres[:0], coef[:0]
        scales = getattr(kernel, "scales", None)
        if isinstance(kernel, ShapedRBF):
            scales = kernel.metric
        return cls(
            centres=centres,
            coef=coef,
            gammas=np.broadcast_to(getattr(kernel, "gamma", 1.0), coef.shape).astype(float),
            scales=np.ones(n_features) if scales is None else scales,
            power=1 if isinstance(kernel, Laplacian) else 2,
            linear=linear,
            intercept=model.intercept,
            columns=columns,
            n_columns=int(columns.max()) + 1 if n_columns is None else n_columns,
        )

    @cached_property
    def _starts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Features ordered by column, where each column starts, and the columns with features."""
        order = np.argsort(self.columns, kind="stable")
        used, starts = np.unique(self.columns[order], return_index=True)
        return order, starts, used

    def by_column(self, parts: np.ndarray) -> np.ndarray:
        """Add up the last axis, which has one entry per feature, over the features of a column."""
        order, starts, used = self._starts
        if np.array_equal(used, np.arange(len(self.columns))) and len(used) == self.n_columns:
            return parts[..., order]
        sums = np.zeros((*parts.shape[:-1], self.n_columns))
        sums[..., used] = np.add.reduceat(parts[..., order], starts, axis=-1)
        return sums

    def factors(self, rows: np.ndarray) -> np.ndarray:
        """Return a_mg for each row, centre m and column g."""
        factors = np.empty((len(rows), len(self.coef), self.n_columns))
        for row, out in zip(rows, factors, strict=True):
            distances = (row - self.centres) * self.scales
            distances = np.abs(distances) if self.power == 1 else np.square(distances)
            out[:] = self.by_column(distances)
            out *= -self.gammas[:, None]
        return np.exp(factors, out=factors)

    def linear_parts(self, rows: np.ndarray) -> np.ndarray:
        """Return the linear term of each row and column."""
        return self.by_column(rows * self.linear)

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """Return the scores of rows."""
        products = self.factors(rows).prod(axis=2)
        return products @ self.coef + rows @ self.linear + self.intercept


def why_no_product(model: Model) -> str | None:
    """Return why a model has no product form, None if it has one."""
    if model.scaling is not None and model.scaling.axes is not None:
        return "`rotate=True` mixes the columns"
    if isinstance(model.kernel, ShapedRBF):
        return "it has ridge centres" if model.kernel.is_ridge.any() else None
    if not isinstance(model.kernel, RBF | Laplacian | Linear):
        return f"the kernel is {_name(model.kernel)}"
    return None


def ridges_of(model: Model, columns: np.ndarray, n_columns: int) -> RidgeForm | None:
    """Return the ridges of a model, None if it has none."""
    if not isinstance(model.kernel, ShapedRBF) or not model.kernel.is_ridge.any():
        return None
    which = np.flatnonzero(model.kernel.is_ridge)
    metric = model.kernel.metric[which]
    return RidgeForm(as_dense(model.centres[which]), metric, model.coef[which], columns, n_columns)


def _name(kernel: Kernel) -> str:
    return type(kernel).__name__.removesuffix("Kernel").lower()
