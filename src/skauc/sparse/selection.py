"""Selection: where candidates come from, how their gains are found, and which ones are next.

| selection    | candidates               | gain                                                   |
| ------------ | ------------------------ | ------------------------------------------------------ |
| "orthogonal" | rows, for several centres | one Newton step over all coefficients                 |
| "greedy"     | rows, for each centre    | one Newton step along the new column (Method 2)        |
| "exact"      | rows, for each centre    | the best point along the new column (Method 2, solved) |
| "exhaustive" | rows, for each centre    | all coefficients optimised (Method 1)                  |
| "random"     | one row                  | one Newton step along the new column                   |
| "kmeans"     | the landmarks            | one Newton step along the new column                   |
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.extmath import row_norms

from skauc.engines import Engine
from skauc.exceptions import KERNEL_OVERFLOW, InvalidDataError
from skauc.kernels import Rows, densified, stack_rows
from skauc.solvers.newton import Point
from skauc.sparse.basis import Added, Basis
from skauc.sparse.few_selection import select_from_few
from skauc.sparse.forward import TIE, PoolModel
from skauc.sparse.gains import Candidates, Exhaustive, GainRule, LineMinimum, NewtonLine
from skauc.sparse.objective import Objective
from skauc.sparse.ridges import RIDGES, RidgeDraw
from skauc.validation import check_choice

SELECTIONS = ("orthogonal", "greedy", "exact", "exhaustive", "random", "kmeans")

# After this many draws without an independent candidate, none is assumed to be left.
_MOST_DRAWS = 20
# Candidates in a pool per centre that is chosen from it, at least.
_POOL_PER_CENTRE = 4
# Rows per landmark that k-means is given.
_ROWS_PER_LANDMARK = 256

# Returns row numbers, widths and rows that may be centres.
Draw = Callable[[Engine, Basis], tuple[np.ndarray, np.ndarray, Rows]]
# Returns candidates that are independent of the basis at some point, None if there are none left.
DrawPool = Callable[[Objective, Basis, Point], Candidates | None]


@dataclass(frozen=True)
class Choice:
    """The next centres, the move of all weights to make with them, and its slope."""

    added: Added
    move: np.ndarray
    slope: float


class Selector(Protocol):
    """Chooses the next centres of a pursuit."""

    def choose(
        self, objective: Objective, basis: Basis, point: Point, n_most: int
    ) -> Choice | None:
        """Return at most ``n_most`` centres, or None if no independent candidate is left."""


@dataclass(frozen=True)
class Forward:
    """Several centres at a time, from one pool of candidates: see `skauc.sparse.forward`.

    ``n_candidates`` is about the number of candidates in a pool.
    """

    pool: DrawPool
    n_candidates: int

    def choose(
        self, objective: Objective, basis: Basis, point: Point, n_most: int
    ) -> Choice | None:
        """Return the centres that forward selection finds in the quadratic model."""
        candidates = self.pool(objective, basis, point)
        if candidates is None:
            return None
        n_most = n_from_pool(n_most, self.n_candidates)
        few, selected = objective.engine.few_rows, None
        if few is not None:
            selected = select_from_few(objective, point, candidates, few, n_most)
        if selected is None:
            model = PoolModel.of(objective, point, candidates)
            chosen = model.choose(n_most)
            if len(chosen) == 0:
                return None
            selected = model.addition(chosen)
        return Choice(selected.added(candidates), selected.step, selected.slope)


@dataclass(frozen=True)
class OneByOne:
    """One centre at a time: the candidate with the largest gain by some rule."""

    draw: Draw
    rule: GainRule

    def choose(
        self, objective: Objective, basis: Basis, point: Point, n_most: int
    ) -> Choice | None:
        """Return the best candidate."""
        candidates = _independent(self.draw, objective.engine, basis)
        if candidates is None:
            return None
        found = self.rule.evaluate(objective, point, candidates)
        most = found.gains.max()
        if not np.isfinite(most):
            raise InvalidDataError(KERNEL_OVERFLOW)
        best = np.flatnonzero(found.gains >= most - TIE * abs(most))[:1]
        added = candidates.added(best, candidates.norms[best, None])
        return Choice(added, found.moves[:, best[0]], 0.0)


def n_from_pool(n_missing: int, n_candidates: int) -> int:
    """Return how many of the missing centres are chosen from one pool of candidates.

    The last of many would be poor ones. If a pool is too small for all, several share them evenly.
    """
    most = max(n_candidates // _POOL_PER_CENTRE, 1)
    n_pools = -(-n_missing // most)
    return -(-n_missing // n_pools)


def _independent(draw: Draw, engine: Engine, basis: Basis) -> Candidates | None:
    """Draw until there are candidates that are independent of the basis."""
    for _ in range(_MOST_DRAWS):
        indices, widths, centres = draw(engine, basis)
        if len(indices) == 0:
            return None
        candidates = Candidates.of(basis, indices, widths, centres)
        if len(candidates):
            return candidates
    return None


def make_selector(
    selection: str,
    engine: Engine,
    *,
    n_basis: int,
    n_candidates: int,
    minimise,
    random_state,
    shapes: str = "round",
) -> Selector:
    """Return the selector of that name.

    ``engine`` holds the rows that landmarks are found in. ``minimise(objective, weights)`` is for
    "exhaustive", ``shapes`` for "orthogonal".
    """
    check_choice("selection", selection, SELECTIONS)
    if selection == "kmeans":
        return OneByOne(_landmarks(engine, n_basis, random_state), NewtonLine())
    if selection == "random":
        return OneByOne(_rows(1, random_state), NewtonLine())
    draw = _rows(n_candidates, random_state)
    if selection == "orthogonal":
        ridges = None
        if shapes in RIDGES:
            ridges = RidgeDraw.of(RIDGES[shapes], engine, n_candidates, random_state)
        return Forward(_make_pool(shapes, draw, ridges), n_candidates)
    rules: dict[str, GainRule] = {
        "greedy": NewtonLine(),
        "exact": LineMinimum(),
        "exhaustive": Exhaustive(minimise),
    }
    return OneByOne(draw, rules[selection])


def _make_pool(shapes: str, draw: Draw, ridges: RidgeDraw | None) -> DrawPool:
    """Return what forward selection chooses from: rows, ridges, or both."""

    def rows(objective: Objective, basis: Basis, point: Point) -> Candidates | None:
        return _independent(draw, objective.engine, basis)

    if ridges is None:
        return rows

    def rows_and_ridges(objective: Objective, basis: Basis, point: Point) -> Candidates | None:
        candidates = rows(objective, basis, point)
        if candidates is None:
            return None
        return candidates.joined(ridges.best(objective, basis, point))

    def ridges_alone(objective: Objective, basis: Basis, point: Point) -> Candidates | None:
        for _ in range(_MOST_DRAWS):
            found = ridges.best(objective, basis, point)
            if len(found):
                return found
        # Features that do not vary have no ridges.
        return None if len(basis) else rows(objective, basis, point)

    return ridges_alone if shapes == "additive" else rows_and_ridges


def _rows(n_candidates: int, random_state) -> Draw:
    """Draw rows that are not yet in the basis. A row may be a centre once per width."""

    def draw(engine: Engine, basis: Basis):
        n_widths, n_rows = len(basis.kernels), n_candidates
        if sum(engine.class_counts) > n_candidates:
            n_rows = max(n_candidates // n_widths, 1)
        drawn = [engine.draw(n_rows, basis.taken(width), random_state) for width in range(n_widths)]
        widths = np.repeat(np.arange(n_widths), [len(indices) for indices, _ in drawn])
        rows = drawn[0][1]
        if n_widths > 1:
            rows = stack_rows([rows for _, rows in drawn])
        return np.concatenate([indices for indices, _ in drawn]), widths, rows

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

    def draw(engine: Engine, basis: Basis):
        n_widths = len(basis.kernels)
        widths = np.repeat(np.arange(n_widths), len(origins))
        return np.tile(origins, n_widths), widths, stack_rows([means] * n_widths)

    return draw


def _n_distinct(rows: Rows) -> int:
    return len(np.unique(densified(rows), axis=0))
