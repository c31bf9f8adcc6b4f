"""Train a model on a table: prepare the columns, tune, fit.

The model is ``Pipeline(TablePreprocessor, SparseKernelAUCCV)`` inside a `FixedThresholdClassifier`:
a probability of 0.5 is too high for rare events. Labels are False and True.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline

from skauc.app.tables import LabelledTable
from skauc.app.workflow.shared import rows_as_read
from skauc.app.workflow.splitting import (
    FEWEST_TO_TEST,
    folds_in_time,
    folds_of_groups,
    take_rows,
)
from skauc.app.workflow.time_limit import StepsInTime
from skauc.exceptions import InvalidDataError
from skauc.preprocessing import TablePreprocessor
from skauc.sparse import SparseKernelAUCCV
from skauc.sparse.grid import EFFORTS

Watch = Callable[..., AbstractContextManager]


def unwatched(
    stage: str, n_tasks: int | None = None, seconds: float | None = None
) -> AbstractContextManager:
    """Report no progress."""
    return nullcontext(())


@dataclass(frozen=True)
class Recipe:
    """How to train.

    Attributes
    ----------
    n_basis : int
        The largest number of centres.
    size : str
        As in `SparseKernelAUCCV`.
    effort : str
        As in `SparseKernelAUCCV`.
    time_limit : float or None
        As in `SparseKernelAUCCV`.
    max_fpr, min_tpr : float or None
        As in `SparseKernelAUCCV`.
    engine : str
        As in `SparseKernelAUCCV`.
    n_jobs : int or None
        As in `SparseKernelAUCCV`.
    seed : int
        Random seed.
    numeric, category, date : tuple of str
        Columns to read as this kind, as in `TablePreprocessor`.
    """

    n_basis: int = 64
    size: str = "best"
    effort: str = "default"
    time_limit: float | None = None
    max_fpr: float | None = None
    min_tpr: float | None = None
    engine: str = "auto"
    n_jobs: int | None = None
    seed: int = 0
    numeric: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    date: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Trained:
    """A model and how it was trained.

    Attributes
    ----------
    model : FixedThresholdClassifier
        The fitted model.
    notes : tuple of str
        What the user should know.
    is_interrupted : bool
        Whether an interrupt ended the training.
    """

    model: Any
    notes: tuple[str, ...] = ()
    is_interrupted: bool = False

    @property
    def chosen(self) -> dict:
        """The parameters that tuning chose."""
        return self.model.estimator_[-1].best_params_

    @property
    def cv_auc(self) -> float:
        """Their cross-validated AUC, corrected for the choice."""
        return self.model.estimator_[-1].best_score_

    @property
    def size_choices(self) -> dict[str, dict]:
        """What each value of ``size`` chooses, as in `SparseKernelAUCCV`."""
        return self.model.estimator_[-1].size_choices_


def too_good_columns(model: Any, table: LabelledTable) -> list[str]:
    """Return the columns of a model that separate the classes alone, the best first.

    Such columns are often recorded after the outcome, or derived from it.
    """
    from skauc.report.data_warnings import leak_suspects

    return [name for _, name in leak_suspects(rows_as_read(model, table))]


def train_model(
    table: LabelledTable,
    recipe: Recipe,
    watch: Watch = unwatched,
    on_prepared: Callable[[TablePreprocessor], None] | None = None,
) -> Trained:
    """Train a model on all rows of a table.

    Parameters
    ----------
    table : LabelledTable
        The training rows.
    recipe : Recipe
        How to train.
    watch : callable
        Called as ``watch(stage, n_tasks, seconds)`` for each stage, with the time after which no
        task begins. Returns a context manager that yields the callbacks for the estimator of that
        stage.
    on_prepared : callable, default=None
        Called with the fitted preprocessor before the search begins.

    Returns
    -------
    trained : Trained
        The model. After an interrupt it is the best model so far, if there is one.
    """
    if table.n_fewest < 2:
        raise InvalidDataError(
            f"Training needs at least 2 rows of each class; the smaller class has "
            f"{table.n_fewest}. Use more rows."
        )
    preprocessor = TablePreprocessor(
        random_state=recipe.seed,
        numeric=recipe.numeric,
        category=recipe.category,
        date=recipe.date,
    )
    with watch("Preparing the columns"):
        X = preprocessor.fit_transform(table.X, table.y)
    if on_prepared is not None:
        on_prepared(preprocessor)
    search = SparseKernelAUCCV(
        n_basis=recipe.n_basis,
        # Columns have a meaning of their own, and explanations along axes are not exact.
        rotate="auto" if recipe.effort == "thorough" else False,
        size=recipe.size,
        effort=recipe.effort,
        time_limit=recipe.time_limit,
        max_fpr=recipe.max_fpr,
        min_tpr=recipe.min_tpr,
        cv=_folds(table, recipe),
        engine=recipe.engine,
        n_jobs=recipe.n_jobs,
        random_state=recipe.seed,
    )
    is_interrupted, notes = _fit_search(search, X, table, watch)
    notes = (*_notes_on_few(table), *_notes_on_dates(preprocessor, table), *notes)
    # The folds are not part of the model.
    ranker = search.set_callbacks().set_params(cv=None)
    pipeline = Pipeline([("table", preprocessor), ("ranker", ranker)])
    return Trained(_with_threshold(pipeline, table), notes, is_interrupted)


def _fit_search(
    search: SparseKernelAUCCV, X: np.ndarray, table: LabelledTable, watch: Watch
) -> tuple[bool, tuple[str, ...]]:
    """Fit; return whether an interrupt ended it, and what the user should know of its end."""
    with watch("Tuning", seconds=search.time_limit) as callbacks:
        steps = StepsInTime(search.time_limit)
        search.set_callbacks(*callbacks, steps)
        try:
            search.fit(X, table.y, table.weights, groups=table.groups)
        except KeyboardInterrupt:
            if not hasattr(search, "n_basis_"):
                raise
            return True, ("It has the best settings found before the interrupt.",)
    return False, steps.notes


def _folds(table: LabelledTable, recipe: Recipe) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """Return the folds of rows that are not exchangeable, None for those of other rows."""
    if table.times is not None:
        return folds_in_time(table)
    if table.groups is not None:
        return folds_of_groups(table, EFFORTS[recipe.effort].n_folds, recipe.seed)
    return None


def _with_threshold(pipeline: Pipeline, table: LabelledTable) -> FixedThresholdClassifier:
    """Return a model that flags rows above the balanced threshold of the ranker."""
    fixed = FixedThresholdClassifier(
        FrozenEstimator(pipeline),
        threshold=pipeline[-1].balanced_threshold_,
        response_method="predict_proba",
    )
    few = take_rows(table, np.array([np.argmin(table.y), np.argmax(table.y)]))
    fixed.fit(few.X, few.y)
    # As after a fit of the wrapper: the fitted pipeline inside, an unfitted one as parameter.
    fixed.estimator_, fixed.estimator = pipeline, clone(pipeline)
    return fixed


def _notes_on_few(table: LabelledTable) -> tuple[str, ...]:
    """Say what rests on few rows."""
    if table.n_fewest >= FEWEST_TO_TEST:
        return ()
    return (
        f"The smaller class has {table.n_fewest} rows. The settings and the probabilities rest "
        "on them, and are uncertain.",
    )


def _notes_on_dates(step: TablePreprocessor, table: LabelledTable) -> tuple[str, ...]:
    """Say that a random split of rows with dates may flatter."""
    dates = [column["name"] for column in step.column_report_ if column["kind"] == "date"]
    if not dates or table.times is not None:
        return ()
    return (
        f"The table has dates ({', '.join(map(str, dates))}), and its rows were split at random. "
        "If the model is to rank later rows, this test may flatter it: use --time to test on the "
        "last rows.",
    )
