"""How long a fit is going to take, roughly."""

from __future__ import annotations

import os

from skauc.app.workflow.training import MOST_TUNED, Recipe

# Seconds on one core of 2024, fitted to measured searches with 64 centres.
SECONDS_PER_SEARCH = 30.0


def estimate_seconds(n_rows: int, n_columns: int, recipe: Recipe) -> float:
    """Return about how many seconds a search takes; 0 without one.

    Parameters
    ----------
    n_rows : int
        Number of training rows.
    n_columns : int
        Number of columns of the table.
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
    return SECONDS_PER_SEARCH * min(n_rows, MOST_TUNED) / 1000 / min(n_jobs, n_cores)
