"""Candidates for ridge centres, and which of them are worth a closer look.

A ridge depends on one to four features, with coefficients of plus or minus one over their standard
deviations. Its width is one of three, in units of the standard deviation along the direction. It
goes through a row. There are far more such ridges than rows, so many are drawn, and the best of
them by the gain of one Newton step along the column at the current point are offered to forward
selection.

| shapes     | features of a ridge                | widths                       | beside rows |
| ---------- | ---------------------------------- | ---------------------------- | ----------- |
| "ridge"    | mostly differences and sums of two | 1, 1/3, 1/9                  | yes         |
| "additive" | one: a sum of curves               | 3.3, 1.7, 0.8: smooth curves | no          |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from skauc.engines import Engine
from skauc.engines.passes import CandidateGains, Centres
from skauc.kernels import Rows, densified, is_sparse, same_format
from skauc.shaped_rbf import ShapedRBF
from skauc.solvers.newton import Point
from skauc.sparse.basis import RIDGE, Basis
from skauc.sparse.gains import Candidates
from skauc.sparse.objective import Objective

# Ridges that are drawn, per candidate of round centres.
_DRAWN = 3.0
# Less variance than this part of the squares is a rounding error.
_LEAST_VARIANCE = 1e-12
# So is a standard deviation below this part of the largest sum of absolute values. In single
# precision, the part is the root of the precision.
_LEAST_SPREAD = 1e-6
# Rows that standard deviations are computed on.
_SPREAD_ROWS = 2_000
# Most numbers in the directions of one draw, for wide data.
_MOST_NUMBERS = 4_000_000


@dataclass(frozen=True)
class RidgeKind:
    """Which ridges are drawn.

    ``n_features`` tells how often a direction has one, two, three or four features. ``sharpness``
    has the inverse widths, in units of the standard deviation along the direction. ``kept`` ridges
    are offered per candidate of round centres.
    """

    n_features: tuple[float, ...]
    sharpness: tuple[float, ...]
    kept: float


RIDGES = {
    "ridge": RidgeKind((0.1, 0.8, 0.05, 0.05), (1.0, 3.0, 9.0), 0.5),
    "additive": RidgeKind((1.0,), (0.3, 0.6, 1.25), 1.0),
}


@dataclass(frozen=True, eq=False)
class RidgeDraw:
    """Draws ridges. ``rows`` are a sample from which standard deviations are computed."""

    kind: RidgeKind
    rows: Rows
    deviations: np.ndarray
    n_drawn: int
    n_kept: int
    random_state: np.random.RandomState

    @classmethod
    def of(cls, kind: RidgeKind, engine: Engine, n_candidates: int, random_state) -> RidgeDraw:
        """Return the draw for the rows of an engine."""
        _, rows = engine.draw(_SPREAD_ROWS, [], random_state)
        most = max(_MOST_NUMBERS // engine.n_features, 1)
        n_drawn = min(max(int(_DRAWN * n_candidates), 1), most)
        n_kept = max(int(kind.kept * n_candidates), 1)
        return cls(kind, rows, _deviations(rows), n_drawn, n_kept, random_state)

    def best(self, objective: Objective, basis: Basis, point: Point) -> Candidates:
        """Return the drawn ridges of the largest gain."""
        indices, centres, kernel = self.draw(objective.engine)
        if len(indices) > self.n_kept:
            question = CandidateGains(Centres(kernel, centres))
            along = objective.engine.ask(question, point.state)
            gains = along.slopes**2 / (1.0 / objective.C_pair + along.curvatures)
            best = np.sort(np.argsort(-gains, kind="stable")[: self.n_kept])
            indices, centres, kernel = indices[best], centres[best], kernel.part(best)
        widths = np.full(len(indices), RIDGE)
        return Candidates.of_kernel(basis, kernel, centres, indices, widths)

    def draw(self, engine: Engine) -> tuple[np.ndarray, Rows, ShapedRBF]:
        """Return row numbers, centres and the kernel of different ridges through some rows.

        A centre is zero in the features that its ridge does not use.
        """
        directions = self._directions()
        numbers, points = engine.draw(self.n_drawn, [], self.random_state)
        through = self.random_state.randint(len(numbers), size=len(directions))
        dense = densified(points[through])
        centres = np.where(directions != 0, dense, 0).astype(points.dtype)
        offsets = np.einsum("kj,kj->k", directions, centres)
        _, first = np.unique(np.column_stack((directions, offsets)), axis=0, return_index=True)
        first = np.sort(first)
        kernel = ShapedRBF(directions[first], np.ones(len(first), bool))
        return numbers[through[first]], same_format(centres[first], points), kernel

    def _directions(self) -> np.ndarray:
        """Return rows of the metric. Features that do not vary are not used."""
        random, usable = self.random_state, np.flatnonzero(self.deviations > 0)
        shares = self.kind.n_features
        most = min(len(usable), len(shares))
        if not most:
            return np.zeros((0, len(self.deviations)))
        counts = random.choice(len(shares), self.n_drawn, p=shares) + 1
        order = random.uniform(size=(self.n_drawn, len(usable))).argsort(axis=1)[:, :most]
        signs = random.choice((-1.0, 1.0), size=order.shape)
        # Opposite directions are the same ridge.
        signs[:, 0] = 1.0
        chosen = usable[order]
        weights = signs * (np.arange(most) < counts[:, None]) / self.deviations[chosen]
        directions = np.zeros((self.n_drawn, len(self.deviations)))
        np.put_along_axis(directions, chosen, weights, axis=1)
        spread = (self.rows @ directions.T).std(axis=0)
        # The difference of equal features is noise, so it is compared with the features.
        largest = (abs(self.rows) @ np.abs(directions).T).max(axis=0)
        precision = max(_LEAST_SPREAD, np.sqrt(np.finfo(self.rows.dtype).eps))
        varies = spread > precision * largest
        sharpness = random.choice(self.kind.sharpness, self.n_drawn)[varies] / np.sqrt(2.0)
        return directions[varies] * (sharpness / spread[varies])[:, None]


def _deviations(rows: Rows) -> np.ndarray:
    """Return the standard deviation of each feature."""
    if not is_sparse(rows):
        return rows.std(axis=0, dtype=np.float64)
    doubles = sparse.csr_array(rows, dtype=np.float64)
    mean = np.asarray(doubles.mean(axis=0)).ravel()
    squares = np.asarray(doubles.power(2).mean(axis=0)).ravel()
    variances = squares - mean**2
    return np.sqrt(np.where(variances > _LEAST_VARIANCE * squares, variances, 0.0))
