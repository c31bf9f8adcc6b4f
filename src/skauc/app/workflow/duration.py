"""How long a fit is going to take, roughly."""

from __future__ import annotations

import os

from skauc.app.workflow.training import Recipe
from skauc.sparse.grid import EFFORTS
from skauc.sparse.search import threads_pay

# Time, compared with that of the default effort.
_SHARES = {"quick": 0.25, "default": 1.0, "thorough": 1.6}
# With more rows than this a search takes little longer, because fits choose centres on samples.
_MOST_ROWS = 10_000


def estimate_seconds(n_rows: int, recipe: Recipe) -> float:
    """Return about how many seconds a search takes.

    Up to about a hundred columns their number matters little: the search costs grow with rows,
    folds and centres.

    Parameters
    ----------
    n_rows : int
        Number of training rows.
    recipe : Recipe
        How to train.

    Returns
    -------
    seconds : float
        Within a factor of three, on a machine that does nothing else.
    """
    n_cores = os.cpu_count() or 1
    n_jobs = n_cores if recipe.n_jobs in (None, -1) else max(recipe.n_jobs or 1, 1)
    n_jobs = min(n_jobs, n_cores) if threads_pay(n_rows, n_features=0) else 1
    n_repeats = EFFORTS[recipe.effort].n_repeats(n_rows)
    # Seconds of one core that a default search with 64 centres took.
    work = (0.9 + 0.002 * min(n_rows, _MOST_ROWS)) * n_repeats * _SHARES[recipe.effort]
    seconds = work * recipe.n_basis / 64 / n_jobs
    return seconds if recipe.time_limit is None else min(seconds, recipe.time_limit)
