"""A fitted model: linear.x + sum_k coef_k k(z_k, x) + intercept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np

from skauc.engines.expansion import Scorer, map_rows, score_in_fit
from skauc.exceptions import InvalidDataError
from skauc.feature_map import FeatureMap
from skauc.kernels import Kernel, Linear, Rows, is_sparse
from skauc.shaped_rbf import ShapedRBF
from skauc.support import quiet_overflow


@dataclass(frozen=True, eq=False)
class Model:
    """Everything that scoring needs. Models of one generation share their first centres.

    Centres and linear coefficients are in the units of ``scaling``, if there is one.
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

    @classmethod
    def of_support(
        cls,
        kernel: Kernel,
        rows: Rows,
        indices: np.ndarray,
        coef: np.ndarray,
        intercept: float = 0.0,
    ) -> Model:
        """Return the model whose centres are the rows with a non-zero coefficient."""
        support = np.flatnonzero(coef)
        return cls(kernel, rows[support], indices[support], coef[support], None, intercept, 0)

    @property
    def n_numbers(self) -> int:
        """The number of numbers in the model: centres, coefficients, scales, ranks and axes."""
        parts = [self.coef, self.linear_coef]
        if isinstance(self.kernel, ShapedRBF):
            n_centres = self.kernel.n_numbers
        else:
            n_centres = int(np.prod(self.centres.shape))
            parts.append(getattr(self.kernel, "scales", None))
        if self.scaling is not None:
            parts.append(self.scaling.axes)
            if self.scaling.by_feature is not None:
                parts += self.scaling.by_feature.parts.values()
        return n_centres + sum(np.size(part) for part in parts if part is not None) + 1

    def scaled(self, rows: Rows) -> Rows:
        """Return the rows as the kernel sees them."""
        return rows if self.scaling is None else self.scaling.transform(rows)

    def scores(self, rows: Rows, n_jobs=None) -> np.ndarray:
        """Return the scores of the rows, or raise an error if one overflows."""
        with quiet_overflow():
            scores = map_rows(self.scorer(rows), rows, len(self.coef), (), n_jobs)
        return check_finite_scores(scores, rows)

    def scores_in_fit(self, mapped: Rows, n_jobs=None) -> np.ndarray:
        """Return the scores of many rows as the kernel sees them; see `score_in_fit`."""
        with quiet_overflow():
            scores = score_in_fit(
                self.kernel,
                self.centres,
                self.coef,
                mapped,
                linear_coef=self.linear_coef,
                intercept=self.intercept,
                n_jobs=n_jobs,
            )
        return check_finite_scores(scores, mapped)

    def scorer(self, like: Rows) -> Scorer:
        """Return the function that scores a block of rows of this format and precision.

        Preparing the centres takes longer than scoring one row, so the scorer of one row is kept.
        """
        if like.shape[0] != 1:
            return self._make_scorer(like)
        key = like.dtype.char, is_sparse(like)
        scorers = vars(self).setdefault("_scorers", {})
        if key not in scorers:
            scorers[key] = self._make_scorer(like)
        return scorers[key]

    def __getstate__(self) -> dict:
        state = {name: value for name, value in vars(self).items() if name != "_scorers"}
        shared = getattr(self.centres, "base", None)
        if isinstance(shared, np.ndarray) and _is_start(self.centres, shared):
            # A pickle holds shared centres once.
            state["centres"] = _LeadingRows(shared, len(self.centres))
        return state

    def __setstate__(self, state: dict) -> None:
        centres = state["centres"]
        if isinstance(centres, _LeadingRows):
            state = {**state, "centres": centres.rows[: centres.n_rows]}
        vars(self).update(state)

    def _make_scorer(self, like: Rows) -> Scorer:
        return Scorer(
            self.kernel,
            self.centres,
            self.coef,
            like,
            linear_coef=self.linear_coef,
            intercept=self.intercept,
            scaling=self.scaling,
        )


@dataclass(frozen=True, eq=False)
class _LeadingRows:
    """The first rows of an array, in a pickle."""

    rows: np.ndarray
    n_rows: int


def _is_start(rows: np.ndarray, of: np.ndarray) -> bool:
    """Return whether some rows are the first ones of an array, in its own memory."""
    first = of[: len(rows)]
    return rows.__array_interface__ == first.__array_interface__


def share_centres(models: dict[int, Model]) -> dict[int, Model]:
    """Return models by size whose dense centres are views of those of the widest one.

    This holds within each generation, in which the centres of smaller models come first.
    """
    widest: dict[int, np.ndarray] = {}
    for size in sorted(models):
        centres = models[size].centres
        if isinstance(centres, np.ndarray):
            widest[models[size].generation] = centres if centres.base is None else centres.copy()
    shared = {}
    for size, model in models.items():
        rows = widest.get(model.generation)
        # A view of all rows would be stored as another array.
        centres = model.centres if rows is None else rows if len(rows) == size else rows[:size]
        shared[size] = replace(model, centres=centres)
    return shared


@dataclass(frozen=True)
class PathRecord:
    """One retraining: the size of the basis, how good the model was, and the model itself.

    ``is_refined`` is True if the centres were refined at this size. ``C`` is that of the
    coefficients, None for an average and in files of earlier versions. An average has no objective.
    """

    n_basis: int
    objective: float | None
    train_auc: float
    validation_auc: float | None
    seconds: float
    n_iter: int
    is_refined: bool
    C: float | None
    model: Model = field(repr=False)


def scores_of_models(models: list[Model], rows: Rows, n_jobs=None) -> Iterator[np.ndarray]:
    """Yield the scores of each model of one fit. Kernel values are shared within a generation."""
    for _, generation in groupby(models, key=lambda model: model.generation):
        members = list(generation)
        widest = members[-1]
        coef = np.zeros((len(widest.coef), len(members)))
        for column, model in zip(coef.T, members, strict=True):
            column[: len(model.coef)] = model.coef
        linear = [model.linear_coef for model in members if model.linear_coef is not None]
        intercepts = np.array([model.intercept for model in members])
        score = Scorer(
            widest.kernel,
            widest.centres,
            coef,
            rows,
            linear_coef=np.stack(linear, axis=1) if linear else None,
            intercept=intercepts,
            scaling=widest.scaling,
        )
        with quiet_overflow():
            scores = map_rows(score, rows, len(coef), (len(members),), n_jobs)
        yield from check_finite_scores(scores, rows).T


def without_ridges(model: Model) -> Model:
    """Return the model without its ridge centres."""
    if not isinstance(model.kernel, ShapedRBF) or not model.kernel.is_ridge.any():
        return model
    is_round = np.flatnonzero(~model.kernel.is_ridge)
    return replace(
        model,
        kernel=model.kernel.part(is_round),
        centres=model.centres[is_round],
        coef=model.coef[is_round],
        indices=model.indices[is_round],
    )


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
