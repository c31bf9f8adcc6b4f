"""Permutation importance: how much the AUC drops if a column of the table is shuffled.

A column is shuffled before preprocessing, so all features that are derived from it change
together. The new values of a column are drawn from all rows with their weights. The rows that are
scored are a class-balanced sample: an AUC does not depend on the share of the classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import _safe_indexing

from skauc.explain.columns import column_names
from skauc.metrics.intervals import auc_drop
from skauc.report.column_auc import column_auc
from skauc.report.columns import columns, with_column_from
from skauc.report.missing import Missing
from skauc.report.rows import LabelledRows
from skauc.unwrapping import UnwrappedModel, ranking_scores

N_REPEATS = 5
# Bounds on the cost: columns, rows per column and repeat, and rows x max(columns, centres) of all
# repeats together.
MOST_SHUFFLED = 50
_MOST_ROWS = 2_000
_FEWEST_ROWS = 200
_MOST_CELLS = 5_000_000


@dataclass(frozen=True)
class ImportantColumn:
    """The drop of the AUC if the column is shuffled, with its 95 % limits."""

    name: str
    drop: float
    low: float
    high: float


@dataclass(frozen=True)
class Importance:
    """The columns of a table by importance.

    Attributes
    ----------
    columns : tuple of ImportantColumn
        Columns with an effect on the scores, in descending order of the drop.
    unused : tuple of str
        Columns that change no score.
    n_untested : int
        Number of columns that were not shuffled because there are too many.
    n_rows, n_repeats : int
        Number of rows that were scored, and how often each column was shuffled.
    """

    columns: tuple[ImportantColumn, ...]
    unused: tuple[str, ...]
    n_untested: int
    n_rows: int
    n_repeats: int


def column_importance(model, unwrapped: UnwrappedModel, test: LabelledRows) -> Importance | Missing:
    """Shuffle each column of the test rows in turn and measure the drop of the AUC."""
    rows = test.take(np.flatnonzero(test.weights > 0)) if (test.weights == 0).any() else test
    sample = rows.balanced_sample(_n_rows(unwrapped, np.shape(rows.X)[1]))
    repeated = _safe_indexing(sample.X, np.tile(np.arange(len(sample)), N_REPEATS))
    scores = _scores(model, repeated)
    spread = np.ptp(scores)
    rng = np.random.default_rng(0)
    chances = rows.weights / rows.weights.sum()
    names = column_names(rows.X)
    tested = _tested_columns(sample)
    important, unused = [], []
    for i in tested:
        donors = rng.choice(len(rows), scores.size, p=chances)
        try:
            shuffled = with_column_from(repeated, i, rows.X, donors)
        except TypeError as error:
            return Missing(f"No column can be shuffled: {error}.")
        others = _scores(model, shuffled)
        if np.allclose(others, scores, rtol=1e-9, atol=1e-12 * spread):
            unused.append(names[i])
            continue
        drop = auc_drop(scores[0], list(others), sample.positive, sample.weights)
        important.append(ImportantColumn(names[i], drop.drop, drop.low, drop.high))
    return Importance(
        columns=tuple(sorted(important, key=lambda column: -column.drop)),
        unused=tuple(unused),
        n_untested=len(names) - len(tested),
        n_rows=len(sample),
        n_repeats=N_REPEATS,
    )


def _scores(model, repeated) -> np.ndarray:
    return ranking_scores(model, repeated).reshape(N_REPEATS, -1)


def _n_rows(unwrapped: UnwrappedModel, n_columns: int) -> int:
    n_centres = 0 if unwrapped.model is None else len(unwrapped.model.coef)
    affordable = _MOST_CELLS // (N_REPEATS * max(n_columns, n_centres))
    return int(np.clip(affordable, _FEWEST_ROWS, _MOST_ROWS))


def _tested_columns(sample: LabelledRows) -> list[int]:
    """Return all columns, or those with the best AUC on their own if there are too many."""
    n_columns = np.shape(sample.X)[1]
    if n_columns <= MOST_SHUFFLED:
        return list(range(n_columns))
    aucs = np.array([column_auc(column, sample.positive) for column in columns(sample.X)])
    return sorted(np.argsort(-aucs, kind="stable")[:MOST_SHUFFLED].tolist())
