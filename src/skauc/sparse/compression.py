"""One small model in place of several: their sum, approximated with fewer centres.

Models of the same features add up to one model with all their centres. Most of these are redundant,
because the models were fitted to the same rows. So the sum f is approximated on some points x_i by

    min over w, b, c of sum_i v_i (f(x_i) - w.x_i - b - sum over chosen k of c_k k(x_i, z_k))^2.

Centres are chosen one by one by how much they lower the minimum, as in `skauc.sparse.forward`. Then
round centres move and their scales change, by a few steps of L-BFGS on the same minimum. No label
is needed, and the scores that are approximated have no noise, so there is little to overfit. The
points are training rows, both classes with the same weight. A few rows could be fitted by centres
that are wrong elsewhere, so there are also points that take each feature from one of two rows.
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
from skauc.shaped_rbf import ShapedRBF, as_shaped
from skauc.solvers.lbfgs import Descent
from skauc.solvers.triangular import cholesky_factor, solve_factored, solve_lower
from skauc.sparse.forward import select_forward
from skauc.sparse.sampling import hold_out_none
from skauc.sparse.shapes import SCALE_BOUNDS, Shape, within_bounds
from skauc.sparse.sizes import retraining_sizes

# Points on which models are compared: at most these rows, and others if there are fewer rows.
MOST_COMPARED = 8_000
LEAST_POINTS = 4_000
# Most of the features of a point that come from another row.
_MOST_EXCHANGED = 0.5
# Penalty on the squares of the coefficients, relative to a column of ones.
_RIDGE = 1e-6
# Centres are enough if they leave this part of the variance of the scores before they move
# (docs/results/development.md), by this many steps.
UNEXPLAINED = 0.002
N_STEPS = 20
# An approximation that leaves more than this is not used.
MOST_LEFT = 0.02


def joined(models: Sequence[Model]) -> Model:
    """Return the model whose scores are the sum of those of models with equal feature maps."""
    linear = [model.linear_coef for model in models if model.linear_coef is not None]
    kernels = [_with_metric(model) for model in models]
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


def _with_metric(model: Model) -> ShapedRBF:
    """Return the kernel of a model with one row of the metric per centre."""
    if isinstance(model.kernel, ShapedRBF):
        return model.kernel
    return ShapedRBF.of(as_rbf(model.kernel), *model.centres.shape)


def compressed(
    model: Model, rows: TrainingData, n_most: int, random_state: np.random.RandomState
) -> dict[int, Model]:
    """Return models with fewer centres whose scores are close to those of a model, by size.

    The largest one has as many centres as it needs, and at most ``n_most``. The others have 4, 8,
    16 centres and so on. ``rows`` are training rows as the kernel sees them.
    """
    points = Points.of(model, rows, random_state)
    columns = NormalEquations.of(model, points)
    chosen = columns.choose(n_most)
    sizes = retraining_sizes("doubling", columns.n_needed(chosen))
    return {
        size: replace(moved(columns.solve(chosen[:size]), points), generation=number)
        for number, size in enumerate(sorted(sizes))
    }


def is_close(
    model: Model, total: Model, rows: TrainingData, random_state: np.random.RandomState
) -> bool:
    """Return whether a model leaves little of the variance of the scores of another one.

    It is compared on other points than those that it was fitted to, if there are few rows.
    """
    points = Points.of(total, rows, random_state)
    return points.error(model) <= MOST_LEFT * points.variance


@dataclass(frozen=True, eq=False)
class Points:
    """Points, their weights, which add up to one, and the scores to be approximated."""

    X: np.ndarray
    weights: np.ndarray
    scores: np.ndarray

    @classmethod
    def of(cls, model: Model, rows: TrainingData, random_state: np.random.RandomState) -> Points:
        """Return rows, and points between them if they are few, with the scores of a model."""
        if rows.n_rows > MOST_COMPARED:
            rows = hold_out_none(rows, random_state).sample(rows, MOST_COMPARED)
        weights = rows.weights / (2 * class_weights(rows))[rows.positive.view(np.int8)]
        X = np.asarray(rows.X, dtype=np.float64)
        n_more = LEAST_POINTS - np.count_nonzero(weights)
        if n_more > 0:
            one, other = random_state.choice(len(X), size=(2, n_more), p=weights)
            share = random_state.uniform(0, _MOST_EXCHANGED, size=(n_more, 1))
            is_other = random_state.uniform(size=(n_more, X.shape[1])) < share
            X = np.vstack((X, np.where(is_other, X[other], X[one])))
            part = n_more / LEAST_POINTS
            weights = np.append((1 - part) * weights, np.full(n_more, 1 / LEAST_POINTS))
        return cls(X, weights, replace(model, scaling=None).scores(X))

    def error(self, model: Model) -> float:
        """Return the mean squared difference between the scores of a model and these."""
        errors = replace(model, scaling=None).scores(self.X) - self.scores
        return float(self.weights @ errors**2)

    @property
    def variance(self) -> float:
        """The variance of the scores."""
        return float(self.weights @ (self.scores - self.weights @ self.scores) ** 2)


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """The normal equations of the squared difference from the scores of the points.

    The first ``n_fixed`` columns, ones and the linear part, are used by all sizes. Features are
    standardised by ``mean`` and ``spread``.
    """

    model: Model
    points: Points
    n_fixed: int
    mean: np.ndarray
    spread: np.ndarray
    gram: np.ndarray
    slopes: np.ndarray

    @classmethod
    def of(cls, model: Model, points: Points) -> NormalEquations:
        """Return the equations for the centres of a model."""
        X, weights = points.X, points.weights
        mean, spread = np.zeros(0), np.ones(0)
        if model.linear_coef is not None:
            mean, spread = _moments(points)
        columns = np.hstack((_fixed_columns(points, mean, spread), _kernel_values(model, X)))
        gram = (columns.T * weights) @ columns
        gram.flat[:: len(gram) + 1] += _RIDGE
        slopes = columns.T @ (weights * points.scores)
        return cls(model, points, 1 + len(mean), mean, spread, gram, slopes)

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
        variance = self.points.variance
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
            intercept=float(coef[0] - linear @ self.mean),
        )

    def _used(self, chosen: np.ndarray) -> np.ndarray:
        return np.concatenate((np.arange(self.n_fixed), self.n_fixed + chosen))


def _moments(points: Points) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of each feature, and its standard deviation, 1 if it is zero."""
    mean = points.weights @ points.X
    spread = np.sqrt(points.weights @ (points.X - mean) ** 2)
    return mean, np.where(spread > 0, spread, 1.0)


def _fixed_columns(points: Points, mean: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return a column of ones, and the standardised features if there is a linear part."""
    features = points.X[:, : len(mean)]
    return np.hstack((np.ones((len(features), 1)), (features - mean) / spread))


def _kernel_values(model: Model, X: np.ndarray) -> np.ndarray:
    values = model.kernel.columns(model.centres, np.float64)
    return map_rows(values, X, len(model.coef), (len(model.coef),))


def moved(model: Model, points: Points) -> Model:
    """Return the model with round centres and scales that approximate the points better."""
    if not points.variance > 0:
        return model
    difference = Difference(model, points)
    descent, n_done, best = Descent(difference.start), 0, difference.start
    while n_done < N_STEPS and not descent.is_over:
        trial = descent.trial
        if descent.tell(*difference.at(trial)):
            n_done, best = n_done + 1, trial
    if not n_done:
        return model
    centres, metric = difference.shape(best)
    shape = Shape(centres, as_shaped(model.kernel).scales, metric).rounded(1.0)
    assert shape.metric is not None  # it had one
    kernel = replace(as_shaped(model.kernel), metric=shape.metric)
    columns = NormalEquations.of(replace(model, kernel=kernel, centres=shape.centres), points)
    found = columns.solve(np.arange(len(model.coef)))
    return found if points.error(found) < points.error(model) else model


class Difference:
    """The squared difference, relative to the variance, by round centres and log scales.

    The variables are the centres in units of their width, and the logarithms of the metric relative
    to the start. The coefficients are eliminated, so the gradient is the partial derivative at
    their minimum. With M_ik = v_i r_i c_k k(x_i, z_k) for the errors r, it consists of sums over
    points of M, M x and M x^2.
    """

    def __init__(self, model: Model, points: Points):
        kernel = as_shaped(model.kernel)
        self._is_round, self._kernel, self._centres = ~kernel.is_ridge, kernel, model.centres
        mean, spread = _moments(points)
        n_linear = 0 if model.linear_coef is None else len(mean)
        fixed = _fixed_columns(points, mean[:n_linear], spread[:n_linear])
        ridges = _kernel_values(model, points.X)[:, kernel.is_ridge]
        self._fixed = np.hstack((fixed, ridges))
        self._origin, self._X = mean, points.X - mean
        self._squares = self._X**2
        self._weights, self._scores, self._variance = points.weights, points.scores, points.variance
        self._gram = (self._fixed.T * points.weights) @ self._fixed
        self._slopes = self._fixed.T @ (points.weights * points.scores)
        self._metric = kernel.metric[self._is_round]
        places = model.centres[self._is_round] - mean
        self.start = np.concatenate(((places * self._metric).ravel(), np.zeros(places.size)))

    def shape(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the centres and the metric of all centres."""
        centres, metric = self._centres.copy(), self._kernel.metric.copy()
        places, metric[self._is_round] = self._unpack(theta)
        centres[self._is_round] = places + self._origin
        return centres, metric

    def _unpack(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        places, logs = theta.reshape(2, *self._metric.shape)
        return places / self._metric, self._metric * np.exp(logs.clip(*SCALE_BOUNDS))

    def at(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value and the gradient."""
        centres, metric = self._unpack(theta)
        squares, weights = metric**2, self._weights
        values = self._X @ (2 * squares * centres).T - self._squares @ squares.T
        values -= (squares * centres**2).sum(axis=1)
        np.exp(np.minimum(values, 0, out=values), out=values)
        coef, errors = self._solve(values)
        M = values * (weights * errors / self._variance)[:, None] * coef[self._fixed.shape[1] :]
        total, first, second = M.sum(axis=0)[:, None], M.T @ self._X, M.T @ self._squares
        by_centre = 2 * squares * (first - centres * total)
        by_log = -2 * squares * (second - 2 * centres * first + centres**2 * total)
        logs = theta[by_log.size :].reshape(by_log.shape)
        by_log *= within_bounds(logs)
        value = 0.5 * (weights @ errors**2 + _RIDGE * (coef @ coef)) / self._variance
        return float(value), np.concatenate(((by_centre / self._metric).ravel(), by_log.ravel()))

    def _solve(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the best coefficients of all columns, and the errors of the points."""
        weighted, fixed = values.T * self._weights, self._fixed
        cross = weighted @ fixed
        gram = np.block([[self._gram, cross.T], [cross, weighted @ values]])
        gram.flat[:: len(gram) + 1] += _RIDGE
        slopes = np.append(self._slopes, weighted @ self._scores)
        coef = solve_factored(cholesky_factor(gram), slopes)
        n_fixed = fixed.shape[1]
        return coef, fixed @ coef[:n_fixed] + values @ coef[n_fixed:] - self._scores
