"""Shapley values by random permutations of the columns, with standard errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from skauc.explain.columns import pick, pick_rows, stack
from skauc.support import row_slices, rows_per_block
from skauc.unwrapping import UnwrappedModel

# Values in one block of mixed rows.
_BLOCK = 1 << 20


class Mixer(Protocol):
    """Scores of rows whose columns come from an explained row and from background rows."""

    scores: np.ndarray
    background_scores: np.ndarray
    n_columns: int

    def mixed(self, number: int, drawn: np.ndarray, is_own: np.ndarray) -> np.ndarray:
        """Return the scores of background rows with some columns replaced.

        Column j of the k-th row is that of the explained row ``number`` if ``is_own[k, j]``, that
        of the background row ``drawn[k]`` otherwise.
        """


class FeatureMixer:
    """Mixes features. ``columns[j]`` is the column that feature j belongs to."""

    def __init__(
        self,
        score: Callable[[np.ndarray], np.ndarray],
        rows: np.ndarray,
        background: np.ndarray,
        columns: np.ndarray,
        n_columns: int,
    ):
        self.score, self.rows, self.background = score, rows, background
        self.columns, self.n_columns = columns, n_columns
        self.scores, self.background_scores = score(rows), score(background)

    def mixed(self, number: int, drawn: np.ndarray, is_own: np.ndarray) -> np.ndarray:
        """Return the scores of background rows with some columns replaced."""
        mask = is_own[:, self.columns]
        return self.score(np.where(mask, self.rows[number], self.background[drawn]))


class TableMixer:
    """Mixes the columns of tables, for steps that compute a feature from several columns."""

    def __init__(self, model: UnwrappedModel, X: Any, background: Any):
        self.model, self.X, self.background = model, X, background
        self.n_columns = X.shape[1]
        self.scores, self.background_scores = model.scores(X), model.scores(background)

    def mixed(self, number: int, drawn: np.ndarray, is_own: np.ndarray) -> np.ndarray:
        """Return the scores of background rows with some columns replaced."""
        table = stack(pick_rows(self.X, np.array([number])), self.background)
        return self.model.scores(pick(table, np.where(is_own, 0, drawn[:, None] + 1)))


def sampled_values(
    mixer: Mixer, shares: np.ndarray, n_permutations: int, random_state: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return values, their standard errors and the mean score of the background.

    Each permutation starts from one background row and replaces its columns in random order by
    those of the explained row. The contribution of a column is the change of the score at its turn.
    Permutations come in pairs of opposite order, which reduces the variance. The values are then
    corrected in proportion to their variances, so that they add up to the scores.
    """
    n_rows, n_columns = len(mixer.scores), mixer.n_columns
    base = float(shares @ mixer.background_scores)
    values, errors = np.empty((n_rows, n_columns)), np.empty((n_rows, n_columns))
    n_pairs = max(n_permutations // 2, 2)
    for number in range(n_rows):
        drawn = random_state.choice(len(shares), n_pairs, p=shares)
        turns = np.argsort(random_state.random_sample((n_pairs, n_columns)), axis=1)
        both = np.concatenate((turns, n_columns - 1 - turns))
        steps = _steps(mixer, number, np.tile(drawn, 2), both)
        pairs = 0.5 * (steps[:n_pairs] + steps[n_pairs:])
        values[number] = pairs.mean(axis=0)
        errors[number] = pairs.std(axis=0, ddof=1) / np.sqrt(n_pairs)
        missing = mixer.scores[number] - base - values[number].sum()
        values[number] += _share(missing, errors[number])
    return values, errors, base


def _share(difference: float, errors: np.ndarray) -> np.ndarray:
    """Distribute a difference over the columns in proportion to their variances."""
    variances = errors**2
    total = variances.sum()
    if total == 0:
        return np.full(len(errors), difference / len(errors))
    return difference * variances / total


def _steps(mixer: Mixer, number: int, drawn: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Return the change of the score at the turn of each column, one line per permutation."""
    n_permutations, n_columns = turns.shape
    n_replaced = np.arange(n_columns + 1)
    changes = np.empty((n_permutations, n_columns))
    for part in row_slices(n_permutations, rows_per_block((n_columns + 1) ** 2, _BLOCK, 1)):
        is_own = turns[part, None, :] < n_replaced[None, :, None]
        starts = np.repeat(drawn[part], n_columns + 1)
        scores = mixer.mixed(number, starts, is_own.reshape(-1, n_columns))
        changes[part] = np.diff(scores.reshape(-1, n_columns + 1), axis=1)
    return np.take_along_axis(changes, turns, axis=1)
