"""What a fit costs, estimated before it starts, and which settings a search can afford.

The linear term has up to 256 dense columns, also for sparse rows, and selection forms a Hessian
over all columns. Refinement moves every coordinate of every centre. On large tables these can take
more memory or time than there is, so a search leaves out what exceeds a fixed budget. The budget
does not depend on the machine, so that the result does not either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from skauc.data.training import TrainingData
from skauc.exceptions import InvalidDataError, SkippedSettingsWarning, warn_user
from skauc.sparse.linear_term import MOST_LINEAR
from skauc.sparse.parameters import Parameters
from skauc.sparse.settings import SearchGrid, Setting
from skauc.sparse.sizes import retraining_sizes

# Most bytes, and most floating point operations (about a minute on two cores), of one fit.
MOST_BYTES = 4 << 30
MOST_OPERATIONS = 5e12
# Arrays of the size of the Hessian that are alive at a time.
_HESSIANS = 3
# Arrays of the size of the principal axes of wide rows, while these are found.
_AXES = 4
# Vectors as long as all centres that L-BFGS and the models of a refinement keep.
_VECTORS = 60
# Steps of all descents of one fit, and operations per step and coordinate of a centre (measured).
_STEPS = 80
_PER_COORDINATE = 2e5
# Rows up to which columns are kept in double precision.
_DOUBLE_ROWS = 10_000
_BUDGET = f"The budget of one fit is {MOST_BYTES >> 30} GiB and {MOST_OPERATIONS:.0e} operations."


@dataclass(frozen=True)
class Cost:
    """An estimate of the memory and of the work of one fit."""

    n_bytes: float
    n_operations: float

    @property
    def is_too_much(self) -> bool:
        """Whether it exceeds the budget."""
        return self.n_bytes > MOST_BYTES or self.n_operations > MOST_OPERATIONS

    def __str__(self) -> str:
        return f"{self.n_bytes / 2**30:.1f} GiB and {self.n_operations:.0e} operations"


def cost_of(setting: Setting, base: Parameters, n_rows: int, n_features: int) -> Cost:
    """Return the cost of a fit to so many rows: O(l m^2) operations for m columns, 4 l m bytes."""
    size = min(setting.n_basis, n_rows)
    n_columns = size + (min(n_features, MOST_LINEAR) if setting.linear_term else 0)
    n_bytes = n_rows * n_columns * (8 if n_rows <= _DOUBLE_ROWS else 4)
    n_bytes += _HESSIANS * 8 * n_columns**2
    if setting.linear_term and n_features > MOST_LINEAR:
        n_bytes += _AXES * 8 * n_features * MOST_LINEAR
    n_retrainings = len(retraining_sizes(base.schedule, size))
    n_operations = n_retrainings * (2 * n_rows * n_columns**2 + n_columns**3 / 3)
    if setting.refine:
        n_bytes += _VECTORS * 8 * size * n_features
        n_operations += _STEPS * _PER_COORDINATE * size * n_features
    return Cost(float(n_bytes), float(n_operations))


def affordable(
    grid: SearchGrid, base: Parameters, rows: TrainingData, *, keeps_linear: bool = False
) -> SearchGrid:
    """Return the grid without what exceeds the budget, and warn about what is left out.

    If all of it does, the structures are tried without the linear term, unless it was asked for
    (``keeps_linear``), or without refinement, or without both. If these take too much memory, raise
    an error.
    """
    shape = rows.n_rows, rows.n_features
    probed = tuple(s for s in grid.probed if not cost_of(s, base, *shape).is_too_much)
    grid = replace(grid, probed=probed)
    costs = {setting: cost_of(setting, base, *shape) for setting in grid.settings}
    settings = tuple(s for s in grid.settings if not costs[s].is_too_much)
    if len(settings) == len(grid.settings):
        return grid
    reason = max(costs.values(), key=lambda cost: cost.n_operations)
    settings = settings or _simpler(grid.settings, base, shape, keeps_linear=keeps_linear)
    warn_user(
        f"The search leaves out {_left_out(grid.settings, settings)} (about {reason} per fit), for "
        f"{shape[0]:,} rows with {shape[1]:,} features. {_BUDGET} Reduce the number of features to "
        "try more, for instance with sklearn.decomposition.TruncatedSVD.",
        SkippedSettingsWarning,
    )
    return replace(grid, settings=settings)


def _simpler(
    settings: tuple[Setting, ...],
    base: Parameters,
    shape: tuple[int, int],
    *,
    keeps_linear: bool,
) -> tuple[Setting, ...]:
    """Return the settings without the linear term, without refinement, or without both."""
    changes: tuple[dict, ...] = ({"linear_term": False}, {"refine": 0})
    for change in changes[1:] if keeps_linear else changes:
        simpler = dict.fromkeys(replace(s, **change) for s in settings)
        cheap = tuple(s for s in simpler if not cost_of(s, base, *shape).is_too_much)
        if cheap:
            return cheap
    plain = tuple(dict.fromkeys(replace(s, linear_term=False, refine=0) for s in settings))
    n_bytes = cost_of(plain[0], base, *shape).n_bytes
    if n_bytes > MOST_BYTES:
        raise InvalidDataError(
            f"Every setting exceeds the memory budget of the search: one fit to {shape[0]:,} "
            f"rows with {shape[1]:,} features takes about {n_bytes / 2**30:.1f} GiB. "
            f"{_BUDGET} Use a smaller `n_basis`, or fewer rows."
        )
    return plain


def _left_out(before: tuple[Setting, ...], after: tuple[Setting, ...]) -> str:
    """Name what no setting has any more."""
    parts = {"refinement": "refine", "the linear term": "linear_term"}
    gone = [
        words
        for words, name in parts.items()
        if any(getattr(s, name) for s in before) and not any(getattr(s, name) for s in after)
    ]
    return " and ".join(gone) or "some structures"
