"""Gains: how much the objective falls, and by which move, if a candidate joins the basis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.linalg import solve_triangular

from skauc.engines import KernelColumn, OrthonormalColumn, State
from skauc.engines.passes import CandidateGains, CandidateSlopes, LineSlopes
from skauc.kernels import Kernel, Rows
from skauc.solvers.newton import Point, factorise
from skauc.sparse.basis import Projection
from skauc.sparse.objective import Objective

# Smallest own curvature of a candidate that float32 resolves, relative to its whole curvature.
_SMALLEST_OWN_CURVATURE = 1e-5


@dataclass(frozen=True)
class Candidates:
    """Candidate centres of one kernel, their row indices, and their projections on the basis."""

    kernel: Kernel
    width: int
    centres: Rows
    indices: np.ndarray
    projection: Projection

    def __len__(self) -> int:
        return len(self.indices)

    def part(self, which: np.ndarray) -> Candidates:
        """Return some of the candidates."""
        return replace(
            self,
            centres=self.centres[which],
            indices=self.indices[which],
            projection=self.projection.part(which),
        )

    @property
    def columns(self) -> np.ndarray:
        """The columns k(., z) in the coordinates of the basis extended by the candidate."""
        return np.vstack((self.projection.coordinates, self.projection.norms))


@dataclass(frozen=True)
class QuadraticModel:
    """The state after the last retraining, and a factor of the Hessian of its violating pairs."""

    state: State
    factor: np.ndarray

    def extend(self, row: np.ndarray) -> QuadraticModel:
        """Add a coordinate, given its row of the factor."""
        size = len(row)
        factor = np.zeros((size, size))
        factor[:-1, :-1] = self.factor
        factor[-1] = row
        return QuadraticModel(self.state, factor)


@dataclass(frozen=True)
class Gains:
    """Per candidate: the gain, and the move of all weights as a column, its own weight last."""

    gains: np.ndarray
    moves: np.ndarray
    factor_rows: np.ndarray | None = None


class GainRule(Protocol):
    """A rule that computes the gains of candidates for `skauc.sparse.selection.Selector`."""

    def model(self, objective: Objective, point: Point) -> QuadraticModel | None:
        """Return what the rule keeps of a retrained model until the next retraining."""

    def evaluate(
        self,
        objective: Objective,
        point: Point,
        model: QuadraticModel | None,
        candidates: Candidates,
    ) -> Gains:
        """Return the gains and moves of the candidates."""


@dataclass(frozen=True)
class NewtonLine:
    """One Newton step along the new column alone: gain g^2 / (2h), for all in one pass.

    ``question`` is the pass that the engine runs: `CandidateGains` over all rows, or
    `ScreenedGains` over a sample.
    """

    question: type[CandidateGains] = CandidateGains

    def model(self, objective, point):
        """Keep nothing."""

    def evaluate(self, objective, point, model, candidates) -> Gains:
        """Use current slopes and current curvatures."""
        state, engine = point.state, objective.engine
        question = self.question(candidates.kernel, candidates.centres, 0)
        along = engine.ask(question, state, state)
        slopes, curvatures = _regularised(objective, point, candidates, along)
        return Gains(slopes**2 / (2 * curvatures), candidates.columns * (-slopes / curvatures))


class OrthogonalNewton:
    """One Newton step over all coefficients, the new one included.

    With H = R R^T the Hessian over the basis, b the cross terms of a candidate and h its own
    curvature, the step lowers the quadratic model by

        (g - b^T H^-1 g_J)^2 / (2 (h - b^T H^-1 b))

    more than a step without the candidate. Method 1 of the paper finds the same decrease by a full
    optimisation per candidate. Slopes are current. The violating pairs, and so R, are those of the
    last retraining, and R grows by one row per centre.
    """

    def model(self, objective, point) -> QuadraticModel:
        """Factor the Hessian."""
        return QuadraticModel(point.state, factorise(objective.hessian(point)))

    def evaluate(self, objective, point, model, candidates) -> Gains:
        """Use the Schur complement of the curvature of each candidate."""
        projection = candidates.projection
        question = CandidateGains(candidates.kernel, candidates.centres, len(point.weights))
        along = objective.engine.ask(question, point.state, model.state)
        slopes, curvatures = _regularised(objective, point, candidates, along)
        cross = projection.coordinates + objective.C_pair * along.cross
        cross = _solve(model.factor, cross)
        own = curvatures - np.einsum("jq,jq->q", cross, cross)
        least = np.maximum(projection.norms**2, _SMALLEST_OWN_CURVATURE * curvatures)
        own = np.maximum(own, least)
        rest = _solve(model.factor, objective.gradient(point))
        slopes = slopes - rest @ cross
        steps = -slopes / own
        moves = candidates.columns * steps
        moves[:-1] -= _solve(model.factor, rest[:, None] + cross * steps, trans="T")
        rows = cross - model.factor.T @ projection.coordinates
        factor_rows = np.vstack((rows, np.sqrt(own))) / projection.norms
        return Gains(slopes**2 / (2 * own), moves, factor_rows)


def _regularised(
    objective, point, candidates, along: CandidateSlopes
) -> tuple[np.ndarray, np.ndarray]:
    """Return slopes and curvatures of the whole objective along the candidates' columns."""
    projection = candidates.projection
    slopes = point.weights @ projection.coordinates + objective.C_pair * along.slopes
    return slopes, projection.squared_lengths + objective.C_pair * along.curvatures


def _solve(factor: np.ndarray, right: np.ndarray, trans="N") -> np.ndarray:
    return solve_triangular(factor, right, lower=True, trans=trans, check_finite=False)


class LineMinimum:
    """The one-dimensional problem along the new column, solved for one candidate at a time."""

    def model(self, objective, point):
        """Keep nothing."""

    def evaluate(self, objective, point, model, candidates) -> Gains:
        """Use the exact decrease."""
        results = [
            self._minimise_along(objective, point, candidates, i) for i in range(len(candidates))
        ]
        gains, steps = np.array(results).T
        return Gains(gains, candidates.columns * steps)

    @staticmethod
    def _minimise_along(objective, point, candidates, i, max_iter=30, tol=1e-6):
        """Newton's method in one dimension, safeguarded by halving."""
        engine, C_pair = objective.engine, objective.C_pair
        line = engine.line(KernelColumn(candidates.kernel, candidates.centres[[i]]))
        inner = float(point.weights @ candidates.projection.coordinates[:, i])
        squared_length = float(candidates.projection.squared_lengths[i])

        def value(length, state):
            # Products of floats overflow to infinity, powers raise an error.
            regulariser = length * inner + 0.5 * length * (length * squared_length)
            return regulariser + 0.5 * C_pair * (state.loss - point.state.loss)

        length, state, lowest = 0.0, point.state, 0.0
        for _ in range(max_iter):
            slope, curvature = engine.ask(LineSlopes(line), state)
            slope = inner + length * squared_length + C_pair * slope
            step = -slope / (squared_length + C_pair * curvature)
            if -0.5 * slope * step <= tol * -lowest:
                break
            for _ in range(30):
                trial = engine.step(point.state, line, length + step)
                if value(length + step, trial) < lowest:
                    break
                step *= 0.5
            else:
                break
            length, state, lowest = length + step, trial, value(length + step, trial)
        return -lowest, length


@dataclass(frozen=True)
class Exhaustive:
    """All coefficients optimised with one candidate added at a time: Method 1 of the paper."""

    minimise: Callable

    def model(self, objective, point):
        """Keep nothing."""

    def evaluate(self, objective, point, model, candidates) -> Gains:
        """Use the exact decrease."""
        projection = candidates.projection
        gains, moves = [], []
        start = np.append(point.weights, 0.0)
        for i in range(len(candidates)):
            centre, norm = candidates.centres[[i]], float(projection.norms[i])
            column = projection.coordinates[:, i], norm
            # The column of the next candidate takes the place of this one.
            objective.engine.append(OrthonormalColumn(candidates.kernel, centre, *column))
            found = self.minimise(objective, start).point
            gains.append(point.value - found.value)
            moves.append(found.weights - start)
        return Gains(np.array(gains), np.array(moves).T)
