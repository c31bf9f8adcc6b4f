"""A fitted model, free of how it was found: linear.x + sum_k coef_k k(z_k, x) + intercept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from skauc.engines.expansion import evaluate_expansion
from skauc.kernels import Kernel, Linear, Rows
from skauc.scaling import RankScaling


@dataclass(frozen=True, eq=False)
class Model:
    """Everything that scoring needs; models of one generation share their first centres.

    Centres and linear coefficients are in the units of ``scaling``, where there is one.
    """

    kernel: Kernel
    centres: Rows
    indices: np.ndarray
    coef: np.ndarray
    linear_coef: np.ndarray | None
    intercept: float
    generation: int
    scaling: RankScaling | None = None

    @classmethod
    def linear(cls, coef: np.ndarray, intercept: float) -> Model:
        """Return coef.x + intercept, a model without centres."""
        centres, none = np.zeros((0, len(coef))), np.zeros(0)
        return cls(Linear(), centres, none.astype(np.int64), none, coef, intercept, 0)

    def scaled(self, rows: Rows) -> Rows:
        """Return the rows as the kernel sees them."""
        return rows if self.scaling is None else self.scaling.transform(rows)

    def scores(self, rows: Rows, n_jobs=None) -> np.ndarray:
        """Return the scores of the rows."""
        return next(scores_of_models([self], rows, n_jobs))


@dataclass(frozen=True)
class PathRecord:
    """One retraining: the size of the basis, how good the model was, and the model itself.

    ``is_refined`` says that refinement was tried at this size; the model is the refined one unless
    the pursued one was better on the rows held out.
    """

    n_basis: int
    objective: float
    train_auc: float
    validation_auc: float | None
    seconds: float
    n_iter: int
    is_refined: bool
    model: Model = field(repr=False)


def scores_of_models(models: list[Model], rows: Rows, n_jobs=None) -> Iterator[np.ndarray]:
    """Yield the scores of each model of one fit; a generation shares its kernel values."""
    for _, generation in groupby(models, key=lambda model: model.generation):
        members = list(generation)
        widest = members[-1]
        seen = widest.scaled(rows)
        coef = np.zeros((len(widest.coef), len(members)))
        for column, model in zip(coef.T, members, strict=True):
            column[: len(model.coef)] = model.coef
        scores = np.zeros((rows.shape[0], len(members)))
        if len(widest.coef) > 0:
            scores = evaluate_expansion(widest.kernel, widest.centres, coef, seen, n_jobs)
        for column, model in zip(scores.T, members, strict=True):
            yield column + model.intercept + _linear_part(model, seen)


def _linear_part(model: Model, rows: Rows) -> np.ndarray | float:
    if model.linear_coef is None:
        return 0.0
    return safe_sparse_dot(rows, model.linear_coef)
