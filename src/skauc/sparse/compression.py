"""One small model in place of several: their sum, approximated with fewer centres.

Models of the same features add up to one model with all their centres. Most of these are redundant,
because the models were fitted to the same rows. So the sum f is approximated on some points x_i by

    min over w, b, c of sum_i v_i (f(x_i) - w.x_i - b - sum over chosen k of c_k k(x_i, z_k))^2,

and centres are chosen one by one by how much they lower the minimum, as in
`skauc.sparse.forward`. The points are training rows, both classes with the same weight. A few rows
could be fitted by centres that are wrong elsewhere, so there are also points that take each
feature from one of two rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from skauc.data.sampling import class_weights
from skauc.data.training import TrainingData
from skauc.engines.expansion import map_rows
from skauc.kernels import as_rbf, stack_rows
from skauc.model import Model
from skauc.shaped_rbf import ShapedRBF
from skauc.solvers.triangular import cholesky_factor, solve_factored, solve_lower
from skauc.sparse.forward import select_forward
from skauc.sparse.plan import retraining_sizes
from skauc.sparse.sampling import hold_out_none

# Points on which models are compared: at most these rows, and others if there are fewer rows.
MOST_COMPARED = 16_000
LEAST_POINTS = 4_000
# Most of the features of a point that come from another row.
_MOST_EXCHANGED = 0.5
# Penalty on the squares of the coefficients, relative to a column of ones.
_RIDGE = 1e-6
# Centres are enough if they leave this part of the variance of the scores. On development tables
# the AUC stays the same (docs/results/development.md).
UNEXPLAINED = 1e-3


def joined(models: Sequence[Model]) -> Model:
    """Return the model whose scores are the sum of those of models with equal feature maps."""
    linear = [model.linear_coef for model in models if model.linear_coef is not None]
    kernels = [_as_shaped(model) for model in models]
    return Model(
        kernel=reduce(lambda one, other: one.joined(other), kernels),
        centres=stack_rows([np.asarray(model.centres, np.float64) for model in models]),
        indices=np.concatenate([model.indices for model in models]),
        coef=np.concatenate([model.coef for model in models]),
        linear_coef=np.sum(linear, axis=0) if linear else None,
        intercept=sum(model.intercept for model in models),
        generation=0,
        scaling=models[0].scaling,
    )


def _as_shaped(model: Model) -> ShapedRBF:
    """Return the kernel of a model with one row of the metric per centre."""
    if isinstance(model.kernel, ShapedRBF):
        return model.kernel
    return ShapedRBF.of(as_rbf(model.kernel), *model.centres.shape)


def compressed(
    model: Model, rows: TrainingData, n_most: int, random_state: np.random.RandomState
) -> dict[int, Model]:
    """Return models with fewer centres whose scores are close to those of a model, by size.

    The largest one has as many centres as it needs, and at most ``n_most``. The others have 4, 8,
    16 of these centres and so on. ``rows`` are training rows as the kernel sees them.
    """
    problem = _Problem.of(model, *_points(rows, random_state))
    chosen = problem.choose(n_most)
    size = problem.n_needed(chosen)
    sizes = retraining_sizes("doubling", size)
    return {n: problem.solve(chosen[:n]) for n in sorted(sizes)}


@dataclass(frozen=True, eq=False)
class _Problem:
    """The normal equations of the squared difference from the scores of a model.

    The first ``n_fixed`` columns, ones and the linear part, are used by all sizes. Features are
    standardised by ``mean`` and ``spread``. ``square`` is the mean square of the scores without the
    intercept.
    """

    model: Model
    n_fixed: int
    mean: np.ndarray
    spread: np.ndarray
    gram: np.ndarray
    slopes: np.ndarray
    square: float

    @classmethod
    def of(cls, model: Model, X: np.ndarray, weights: np.ndarray) -> _Problem:
        """Return the equations for weighted points."""
        n_centres = len(model.coef)
        values = model.kernel.columns(model.centres, np.float64)
        kernel = map_rows(values, X, n_centres, (n_centres,))
        scores = kernel @ model.coef
        mean, spread, fixed = np.zeros(0), np.ones(0), [np.ones((len(X), 1))]
        if model.linear_coef is not None:
            scores += X @ model.linear_coef
            mean = weights @ X
            spread = np.sqrt(weights @ (X - mean) ** 2)
            spread[spread == 0] = 1.0
            fixed.append((X - mean) / spread)
        columns = np.hstack((*fixed, kernel))
        gram = (columns.T * weights) @ columns
        gram.flat[:: len(gram) + 1] += _RIDGE
        slopes = columns.T @ (weights * scores)
        return cls(model, 1 + len(mean), mean, spread, gram, slopes, float(weights @ scores**2))

    def choose(self, n_most: int) -> np.ndarray:
        """Return the centres in the order in which they lower the difference most."""
        n, gram, slopes = self.n_fixed, self.gram, self.slopes
        factor = cholesky_factor(gram[:n, :n])
        cross = solve_lower(factor, gram[:n, n:])
        rests = gram[n:, n:] - cross.T @ cross
        along = slopes[n:] - cross.T @ solve_lower(factor, slopes[:n])
        return select_forward(rests, along, rests, np.full(len(rests), _RIDGE), 0.0, n_most)

    def n_needed(self, chosen: np.ndarray) -> int:
        """Return how many of the chosen centres leave little of the variance of the scores."""
        used = self._used(chosen)
        parts = solve_lower(cholesky_factor(self.gram[np.ix_(used, used)]), self.slopes[used]) ** 2
        variance = self.square - parts[0]
        left = variance - np.cumsum(parts[1:])[self.n_fixed - 1 :]
        enough = np.flatnonzero(left <= UNEXPLAINED * variance)
        return int(enough[0]) + 1 if len(enough) else len(chosen)

    def solve(self, chosen: np.ndarray) -> Model:
        """Return the model with the best coefficients of some centres."""
        used, model = self._used(chosen), self.model
        coef = solve_factored(cholesky_factor(self.gram[np.ix_(used, used)]), self.slopes[used])
        linear = coef[1 : self.n_fixed] / self.spread
        return replace(
            model,
            kernel=model.kernel.part(chosen),
            centres=model.centres[chosen],
            indices=model.indices[chosen],
            coef=coef[self.n_fixed :],
            linear_coef=None if model.linear_coef is None else linear,
            intercept=model.intercept + float(coef[0] - linear @ self.mean),
        )

    def _used(self, chosen: np.ndarray) -> np.ndarray:
        return np.concatenate((np.arange(self.n_fixed), self.n_fixed + chosen))


def _points(
    rows: TrainingData, random_state: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Return points and their weights, which add up to one."""
    if rows.n_rows > MOST_COMPARED:
        rows = hold_out_none(rows, random_state).sample(rows, MOST_COMPARED)
    weights = rows.weights / (2 * class_weights(rows))[rows.positive.view(np.int8)]
    X = np.asarray(rows.X, dtype=np.float64)
    n_more = LEAST_POINTS - len(X)
    if n_more > 0:
        one, other = random_state.choice(len(X), size=(2, n_more), p=weights)
        share = random_state.uniform(0, _MOST_EXCHANGED, size=(n_more, 1))
        is_other = random_state.uniform(size=(n_more, X.shape[1])) < share
        X = np.vstack((X, np.where(is_other, X[other], X[one])))
        part = n_more / LEAST_POINTS
        weights = np.append((1 - part) * weights, np.full(n_more, 1 / LEAST_POINTS))
    return X, weights
