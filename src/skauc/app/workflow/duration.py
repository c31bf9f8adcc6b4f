"""How long a fit is going to take, roughly."""

from __future__ import annotations

import os

from skauc.app.workflow.training import MOST_TUNED, Recipe
from skauc.sparse.estimator_cv import FEW_ROWS, REPEATS


def estimate_seconds(n_rows: int, recipe: Recipe) -> float:
    """Return about how many seconds a search takes; 0 without a search.

    The number of columns matters little: the search costs grow with rows, folds and centres.

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
    if not recipe.tune:
        return 0.0
    n_cores = os.cpu_count() or 1
    n_jobs = n_cores if recipe.n_jobs in (None, -1) else max(recipe.n_jobs or 1, 1)
    n_tuned = min(n_rows, MOST_TUNED)
    n_repeats = REPEATS if n_rows < FEW_ROWS else 1
    # Seconds of one core that searches with 64 centres took: about fifty fits.
    work = (2.4 + 0.003 * n_tuned) * n_repeats
    return work * recipe.n_basis / 64 / min(n_jobs, n_cores)
