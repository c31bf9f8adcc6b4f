"""Selection: where candidates come from, how their gains are found, and which one is next.

| selection    | candidates             | gain                                                   |
| ------------ | ---------------------- | ------------------------------------------------------ |
| "orthogonal" | rows, drawn each time  | one Newton step over all coefficients                  |
| "greedy"     | rows, drawn each time  | one Newton step along the new column (Method 2)        |
| "exact"      | rows, drawn each time  | the best point along the new column (Method 2, solved) |
| "exhaustive" | rows, drawn each time  | all coefficients optimised (Method 1)                  |
| "random"     | one row                | one Newton step along the new column                   |
| "kmeans"     | the landmarks          | one Newton step along the new column                   |
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.extmath import row_norms

from skauc.engines import Engine
from skauc.engines.passes import ScreenedGains
from skauc.exceptions import KERNEL_OVERFLOW, InvalidDataError
from skauc.kernels import Kernel, Rows, is_sparse
from skauc.solvers.newton import Point
from skauc.sparse.basis import Basis
from skauc.sparse.gains import (
    Candidates,
    Exhaustive,
    GainRule,
    LineMinimum,
    NewtonLine,
    OrthogonalNewton,
    QuadraticModel,
)
from skauc.sparse.objective import Objective
from skauc.validation import check_choice

SELECTIONS = ("orthogonal", "greedy", "exact", "exhaustive", "random", "kmeans")

# After this many draws without an independent candidate, none is assumed to be left.
_MOST_DRAWS = 20
# Gains that differ by less than this, relatively, are ties. The first candidate wins.
_TIE = 1e-9
# Candidates that are evaluated on all rows after a screening.
_SHORTLIST = 10
# Rows per landmark that k-means is given.
_ROWS_PER_LANDMARK = 256

Draw = Callable[[Basis, int], tuple[np.ndarray, Rows]]


@dataclass(frozen=True)
class Choice:
    """The next centre, its projection, the move to make with it, and the model after it."""

    kernel: Kernel
    width: int
    centre: Rows
    index: int
    coordinates: np.ndarray
    norm: float
    move: np.ndarray
    gain: float
    model: QuadraticModel | None


@dataclass(frozen=True)
class Selector:
    """A source of candidates, a gain rule, and optionally a rough rule for a shortlist."""

    draw: Draw
    rule: GainRule
    screen: GainRule | None = None

    def next(
        self, objective: Objective, basis: Basis, point: Point, model: QuadraticModel | None
    ) -> Choice | None:
        """Return the best candidate of all widths, or None if no independent one is left."""
        choices = []
        for width in range(len(basis.kernels)):
            candidates = self._candidates(basis, width)
            if candidates is not None:
                choices.append(self._best(objective, point, model, candidates))
        return max(choices, key=lambda choice: choice.gain, default=None)

    def _best(self, objective, point, model, candidates: Candidates) -> Choice:
        candidates = self._shortlist(objective, point, model, candidates)
        found = self.rule.evaluate(objective, point, model, candidates)
        most = found.gains.max()
        if not np.isfinite(most):
            raise InvalidDataError(KERNEL_OVERFLOW)
        best = int(np.flatnonzero(found.gains >= most - _TIE * abs(most))[0])
        extended = None
        if model is not None:
            assert found.factor_rows is not None  # a rule that keeps a model extends it
            extended = model.extend(found.factor_rows[:, best])
        return Choice(
            candidates.kernel,
            candidates.width,
            candidates.centres[[best]],
            int(candidates.indices[best]),
            candidates.projection.coordinates[:, best],
            float(candidates.projection.norms[best]),
            found.moves[:, best],
            float(found.gains[best]),
            extended,
        )

    def _shortlist(self, objective, point, model, candidates: Candidates) -> Candidates:
        """Return the candidates with the best gains on a sample, if the engine screens."""
        is_long = len(candidates) > 2 * _SHORTLIST
        if self.screen is None or not objective.engine.screens or not is_long:
            return candidates
        gains = self.screen.evaluate(objective, point, model, candidates).gains
        return candidates.part(np.sort(np.argsort(-gains, kind="stable")[:_SHORTLIST]))

    def _candidates(self, basis: Basis, width: int) -> Candidates | None:
        for _ in range(_MOST_DRAWS):
            indices, centres = self.draw(basis, width)
            if len(indices) == 0:
                return None
            projection = basis.project(centres, width)
            keep = np.flatnonzero(projection.independent)
            if len(keep):
                return Candidates(
                    basis.kernels[width],
                    width,
                    centres[keep],
                    indices[keep],
                    projection.part(keep),
                )
        return None


def make_selector(
    selection: str, engine: Engine, *, n_basis: int, n_candidates: int, minimise, random_state
) -> Selector:
    """Return the selector of that name; ``minimise(objective, weights)`` is for "exhaustive"."""
    check_choice("selection", selection, SELECTIONS)
    if selection == "kmeans":
        return Selector(_landmarks(engine, n_basis, random_state), NewtonLine())
    if selection == "random":
        return Selector(_rows(engine, 1, random_state), NewtonLine())
    rules: dict[str, tuple[GainRule, ...]] = {
        # Not screened: its curvatures are differences, and a sample cost 0.002 to 0.005 of AUC.
        "orthogonal": (OrthogonalNewton(),),
        "greedy": (NewtonLine(), NewtonLine(ScreenedGains)),
        "exact": (LineMinimum(),),
        "exhaustive": (Exhaustive(minimise),),
    }
    return Selector(_rows(engine, n_candidates, random_state), *rules[selection])


def _rows(engine: Engine, n_candidates: int, random_state) -> Draw:
    """Draw rows that are not yet in the basis. A row may be a centre once per width."""

    def draw(basis: Basis, width: int):
        n_rows = n_candidates
        if engine.n_counting > n_candidates:
            n_rows = max(n_candidates // len(basis.kernels), 1)
        return engine.draw(n_rows, basis.taken(width), random_state)

    return draw


def _landmarks(engine: Engine, n_basis: int, random_state) -> Draw:
    """Cluster a sample of rows and return all cluster means as candidates, every time.

    A mean that is in the basis already is not independent of it, and drops out.
    """
    sample, rows = engine.draw(_ROWS_PER_LANDMARK * n_basis, [], random_state)
    # k-means adds up squared distances, in the precision of the rows.
    if not np.isfinite(4 * row_norms(rows, squared=True).sum(dtype=rows.dtype)):
        raise InvalidDataError(KERNEL_OVERFLOW)
    n_clusters = min(n_basis, _n_distinct(rows))
    from sklearn.cluster import KMeans  # many modules, for a selection that few ask for

    with warnings.catch_warnings():
        # Rows that differ less than rounding errors give equal means, which drop out.
        warnings.filterwarnings("ignore", "Number of distinct clusters", ConvergenceWarning)
        clusters = KMeans(n_clusters, n_init=1, random_state=random_state).fit(rows)
    means = clusters.cluster_centers_.astype(rows.dtype, copy=False)
    origins = sample[pairwise_distances_argmin(means, rows)]
    if sparse.issparse(rows):
        means = sparse.csr_array(means)
    return lambda basis, width: (origins, means)


def _n_distinct(rows: Rows) -> int:
    rows = rows.toarray() if is_sparse(rows) else rows
    return len(np.unique(rows, axis=0))
