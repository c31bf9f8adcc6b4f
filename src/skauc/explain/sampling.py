"""Shapley values by random permutations of the columns, with standard errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from skauc.explain.columns import pick, pick_rows, stack
from skauc.unwrapping import UnwrappedModel


def sampled_values(
    model: UnwrappedModel,
    X: Any,
    background: Any,
    shares: np.ndarray,
    n_permutations: int,
    random_state: np.random.RandomState,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return values, their standard errors and the mean score of the background.

    Each permutation starts from one background row and replaces its columns in random order by
    those of the explained row. The contribution of a column is the change of the score at its turn.
    Permutations come in pairs of opposite order, which reduces the variance. The values are then
    corrected in proportion to their variances, so that they add up to the scores.
    """
    n_rows, n_columns = X.shape
    base = float(shares @ _scores(model, background))
    scores = _scores(model, X)
    values, errors = np.empty((n_rows, n_columns)), np.empty((n_rows, n_columns))
    n_pairs = max(n_permutations // 2, 2)
    for number in range(n_rows):
        drawn = random_state.choice(len(shares), n_pairs, p=shares)
        turns = np.argsort(random_state.random_sample((n_pairs, n_columns)), axis=1)
        both = np.concatenate((turns, n_columns - 1 - turns))
        table = stack(pick_rows(X, np.array([number])), pick_rows(background, np.tile(drawn, 2)))
        steps = _steps(model, table, both)
        pairs = 0.5 * (steps[:n_pairs] + steps[n_pairs:])
        values[number] = pairs.mean(axis=0)
        errors[number] = pairs.std(axis=0, ddof=1) / np.sqrt(n_pairs)
        values[number] += _share(scores[number] - base - values[number].sum(), errors[number])
    return values, errors, base


def _share(difference: float, errors: np.ndarray) -> np.ndarray:
    """Distribute a difference over the columns in proportion to their variances."""
    variances = errors**2
    total = variances.sum()
    if total == 0:
        return np.full(len(errors), difference / len(errors))
    return difference * variances / total


def _steps(model: UnwrappedModel, table: Any, turns: np.ndarray) -> np.ndarray:
    """Return the change of the score at the turn of each column, one row per permutation.

    Row 0 of the table is the explained row and row k + 1 the background row of permutation k.
    """
    n_permutations, n_columns = turns.shape
    n_replaced = np.arange(n_columns + 1)
    source = np.where(
        turns[:, None, :] < n_replaced[None, :, None],
        0,
        np.arange(n_permutations)[:, None, None] + 1,
    )
    mixed = pick(table, source.reshape(-1, n_columns))
    scores = _scores(model, mixed).reshape(n_permutations, n_columns + 1)
    changes = np.diff(scores, axis=1)
    return np.take_along_axis(changes, turns, axis=1)


def _scores(model: UnwrappedModel, rows: Any) -> np.ndarray:
    return np.asarray(model.classifier.decision_function(model.transform(rows)))
