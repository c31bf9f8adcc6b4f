"""What a fit costs, estimated before it starts, and which settings a search can afford.

The linear term has one dense column per feature, also for sparse rows, and selection forms a
Hessian over all columns. On wide tables these alone can take more memory than there is, so a
search leaves out what exceeds a fixed budget. The budget does not depend on the machine, so that
the result does not either.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

from skauc.data.training import TrainingData
from skauc.exceptions import InvalidDataError, SkippedSettingsWarning
from skauc.sparse.plan import Parameters, retraining_sizes
from skauc.sparse.scoring import Setting
from skauc.sparse.search import Grid

# Most bytes, and most floating point operations (ten minutes or so on two cores), of one fit.
MOST_BYTES = 4 << 30
MOST_OPERATIONS = 5e13
# Arrays of the size of the Hessian that are alive at a time.
_HESSIANS = 3
# Vectors as long as all centres that L-BFGS and the models of a refinement keep.
_VECTORS = 60
# Rows up to which columns are kept in double precision.
_DOUBLE_ROWS = 10_000


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
    n_columns = size + (n_features if setting.linear_term else 0)
    n_bytes = n_rows * n_columns * (8 if n_rows <= _DOUBLE_ROWS else 4)
    n_bytes += _HESSIANS * 8 * n_columns**2
    n_retrainings = len(retraining_sizes(base.selection.retrain, size))
    n_operations = n_retrainings * (2 * n_rows * n_columns**2 + n_columns**3 / 3)
    if setting.refine:
        n_bytes += _VECTORS * 8 * size * n_features
    if setting.rotate:
        n_bytes += 8 * n_rows * n_features
        n_operations += 2 * n_rows * n_features**2 + 10 * n_features**3
    return Cost(float(n_bytes), float(n_operations))


def affordable(grid: Grid, base: Parameters, rows: TrainingData) -> Grid:
    """Return the grid without the settings that exceed the budget; warn about those left out."""
    shape = rows.n_rows, rows.n_features

    def is_too_much(setting: Setting) -> bool:
        return cost_of(setting, base, *shape).is_too_much

    settings = tuple(s for s in grid.settings if not is_too_much(s))
    if not settings:
        cost = cost_of(min(grid.settings, key=lambda s: s.linear_term), base, *shape)
        raise InvalidDataError(
            f"Every setting exceeds the budget of the search: one fit to {shape[0]:,} rows with "
            f"{shape[1]:,} features takes about {cost}. {_BUDGET} Use linear_term=False, a "
            "smaller `n_basis`, fewer rows or fewer features."
        )
    left_out = []
    if len(settings) < len(grid.settings):
        first = next(s for s in grid.settings if is_too_much(s))
        left_out.append(f"linear_term=True (about {cost_of(first, base, *shape)} per fit)")
    refined = replace(settings[0], refine=True)
    refine, rotate = grid.refine, grid.rotate
    if True in refine and is_too_much(refined):
        if False not in refine:
            raise InvalidDataError(
                f"`refine` exceeds the budget of the search: one fit takes about "
                f"{cost_of(refined, base, *shape)}. {_BUDGET} Use refine=False."
            )
        left_out.append(f"refine (about {cost_of(refined, base, *shape)} per fit)")
        refine = (False,)
    if left_out:
        warnings.warn(
            f"The search leaves out {' and '.join(left_out)}, for {shape[0]:,} rows with "
            f"{shape[1]:,} features. {_BUDGET} Reduce the features, for instance with "
            "sklearn.decomposition.TruncatedSVD, to try them.",
            SkippedSettingsWarning,
            stacklevel=4,
        )
    return replace(grid, settings=settings, refine=refine, rotate=rotate)


_BUDGET = f"The budget of one fit is {MOST_BYTES >> 30} GiB and {MOST_OPERATIONS:.0e} operations."
