"""A fitted model, free of how it was found: linear.x + sum_k coef_k k(z_k, x) + intercept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from skauc.engines.expansion import make_expansion, map_rows
from skauc.exceptions import InvalidDataError
from skauc.feature_map import FeatureMap
from skauc.kernels import Columns, Kernel, Linear, Rows


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
    scaling: FeatureMap | None = None

    @classmethod
    def linear(cls, coef: np.ndarray, intercept: float) -> Model:
        """Return coef.x + intercept, a model without centres."""
        centres, none = np.zeros((0, len(coef))), np.zeros(0)
        return cls(Linear(), centres, none.astype(np.int64), none, coef, intercept, 0)

    @property
    def n_numbers(self) -> int:
        """How many numbers the model keeps: centres, coefficients, scales, line, ranks, axes."""
        parts = [self.coef, self.linear_coef, getattr(self.kernel, "scales", None)]
        if self.scaling is not None:
            parts.append(self.scaling.axes)
            if self.scaling.ranks is not None:
                parts += [self.scaling.ranks.knots, self.scaling.ranks.levels]
        n_small = sum(np.size(part) for part in parts if part is not None)
        return int(np.prod(self.centres.shape)) + n_small + 1

    def scaled(self, rows: Rows) -> Rows:
        """Return the rows as the kernel sees them."""
        return rows if self.scaling is None else self.scaling.transform(rows)

    def scores(self, rows: Rows, n_jobs=None) -> np.ndarray:
        """Return the scores of the rows, or raise an error if one overflows."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = map_rows(self.scorer(rows), rows, len(self.coef), (), n_jobs)
        return check_finite_scores(scores, rows)

    def scorer(self, like: Rows) -> Columns:
        """Return the function that scores a block of rows of this format and precision."""
        score = _make_scorer(self, self.coef, self.linear_coef, like)
        return lambda rows: score(rows) + self.intercept


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
        coef = np.zeros((len(widest.coef), len(members)))
        for column, model in zip(coef.T, members, strict=True):
            column[: len(model.coef)] = model.coef
        linear = None
        if widest.linear_coef is not None:
            linear = np.stack([model.linear_coef for model in members], axis=1)
        score = _make_scorer(widest, coef, linear, rows)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = map_rows(score, rows, len(coef), (len(members),), n_jobs)
        check_finite_scores(scores, rows)
        for column, model in zip(scores.T, members, strict=True):
            yield column + model.intercept


def check_finite_scores(scores: np.ndarray, rows: Rows) -> np.ndarray:
    """Return the scores, or raise an error that names the first row whose score overflows."""
    finite = np.isfinite(scores)
    if finite.all():
        return scores
    row = int(np.argmin(finite if finite.ndim == 1 else finite.all(axis=1)))
    largest = abs(rows[[row]]).max()
    raise InvalidDataError(
        f"The score of row {row} of `X` overflows: the row has a value of magnitude {largest:.3g}. "
        "Correct the value, or scale the features of the training rows and of these rows alike."
    )


def _make_scorer(
    model: Model, coef: np.ndarray, linear_coef: np.ndarray | None, like: Rows
) -> Columns:
    """Return the function that scores a block of rows: scaling, kernel and linear part in turn.

    Coefficients may be those of several models, a column each, over the same centres.
    """
    if isinstance(model.kernel, Linear) and len(coef) > 0:
        # sum_k coef_k z_k.x = w.x takes one product per feature instead of one per centre. It also
        # keeps the ranking exact for features far from zero, where the products z_k.x cancel.
        slopes = safe_sparse_dot(model.centres.T, coef, dense_output=True)
        linear_coef = slopes if linear_coef is None else slopes + linear_coef
        coef = coef[:0]
    parts = []
    if len(coef) > 0:
        parts.append(make_expansion(model.kernel, model.centres, coef, like))
    if linear_coef is not None:
        parts.append(lambda rows: safe_sparse_dot(rows, linear_coef))
    score = parts[0] if len(parts) == 1 else lambda rows: sum(part(rows) for part in parts)
    if model.scaling is None:
        return score
    return lambda rows: score(model.scaling.transform(rows))
