"""Gains: how much the objective falls, and by which move, if one candidate joins the basis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from skauc.engines import KernelColumn, OrthonormalColumns
from skauc.engines.passes import CandidateGains, Centres, LineSlopes
from skauc.kernels import Kernel, Rows, stack_rows
from skauc.solvers.newton import Point
from skauc.sparse.basis import Added, Basis, Projection
from skauc.sparse.objective import Objective


@dataclass(frozen=True)
class Candidates:
    """Candidate centres, their row numbers and widths, and their projections on the basis."""

    kernel: Kernel
    centres: Rows
    indices: np.ndarray
    widths: np.ndarray
    projection: Projection

    def __len__(self) -> int:
        return len(self.indices)

    @classmethod
    def of(cls, basis: Basis, indices: np.ndarray, widths: np.ndarray, centres: Rows) -> Candidates:
        """Return the rows that are independent of the basis, as centres of these widths."""
        return cls.of_kernel(basis, basis.kernel_of(widths), centres, indices, widths)

    @classmethod
    def of_kernel(
        cls, basis: Basis, kernel: Kernel, centres: Rows, indices: np.ndarray, widths: np.ndarray
    ) -> Candidates:
        """Return the centres of a kernel that are independent of the basis."""
        projection = basis.project(kernel, centres)
        keep = np.flatnonzero(projection.residuals > projection.smallest)
        return cls(
            kernel.part(keep),
            centres[keep],
            indices[keep],
            widths[keep],
            projection.part(keep),
        )

    def joined(self, other: Candidates) -> Candidates:
        """Return these candidates followed by others."""
        return Candidates(
            self.kernel.joined(other.kernel),
            stack_rows((self.centres, other.centres)),
            np.append(self.indices, other.indices),
            np.append(self.widths, other.widths),
            self.projection.joined(other.projection),
        )

    def added(self, chosen: np.ndarray, factor: np.ndarray) -> Added:
        """Return some candidates as centres to add, with the factor of their rests."""
        return Added(
            self.kernel.part(chosen),
            self.centres[chosen],
            self.indices[chosen],
            self.widths[chosen],
            self.projection.coordinates[:, chosen],
            factor,
        )

    @property
    def norms(self) -> np.ndarray:
        """The lengths of the parts of the columns k(., z) that are not in the basis."""
        return np.sqrt(self.projection.residuals)

    @property
    def columns(self) -> np.ndarray:
        """The columns k(., z) in the coordinates of the basis extended by the candidate."""
        return np.vstack((self.projection.coordinates, self.norms))

    def one(self, i: int) -> Centres:
        """Return the centre of one candidate."""
        return Centres(self.kernel.part([i]), self.centres[[i]])

    def gram(self) -> np.ndarray:
        """Return the inner products of the columns k(., z)."""
        return self.kernel.gram(self.centres, self.kernel, self.centres)


@dataclass(frozen=True)
class Gains:
    """Per candidate: the gain, and the move of all weights as a column, its own weight last."""

    gains: np.ndarray
    moves: np.ndarray


class GainRule(Protocol):
    """A rule that computes the gains of candidates for `skauc.sparse.selection.OneByOne`."""

    def evaluate(self, objective: Objective, point: Point, candidates: Candidates) -> Gains:
        """Return the gains and moves of the candidates."""


class NewtonLine:
    """One Newton step along the new column alone: gain g^2 / (2h), for all in one pass."""

    def evaluate(self, objective, point, candidates) -> Gains:
        """Use slopes and curvatures of the whole objective along the candidates' columns."""
        question = CandidateGains(Centres(candidates.kernel, candidates.centres))
        along = objective.engine.ask(question, point.state)
        projection = candidates.projection
        slopes = point.weights @ projection.coordinates + objective.C_pair * along.slopes
        curvatures = projection.squared_lengths + objective.C_pair * along.curvatures
        return Gains(slopes**2 / (2 * curvatures), candidates.columns * (-slopes / curvatures))


class LineMinimum:
    """The one-dimensional problem along the new column, solved for one candidate at a time."""

    def evaluate(self, objective, point, candidates) -> Gains:
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
        one = candidates.one(i)
        line = engine.line(KernelColumn(one.kernel, one.rows))
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

    def evaluate(self, objective, point, candidates) -> Gains:
        """Use the exact decrease."""
        gains, moves = [], []
        start = np.append(point.weights, 0.0)
        for i in range(len(candidates)):
            one = candidates.one(i)
            projection = candidates.projection.coordinates[:, [i]]
            transform = np.array([[1.0 / candidates.norms[i]]])
            # The column of the next candidate takes the place of this one.
            objective.engine.append(OrthonormalColumns(one.kernel, one.rows, projection, transform))
            found = self.minimise(objective, start).point
            gains.append(point.value - found.value)
            moves.append(found.weights - start)
        return Gains(np.array(gains), np.array(moves).T)
