"""Train a model on a table: prepare, tune, fit, calibrate.

The model is ``Pipeline(TablePreprocessor, SparseKernelAUC or SparseKernelAUCCV)`` inside a
`CalibratedClassifierCV`, which gives probabilities in the order of the scores, inside a
`FixedThresholdClassifier`, which keeps the threshold of the pipeline: a probability of 0.5 is
too high for rare events. Labels are False and True.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from skauc.app.tables import LabelledTable
from skauc.app.workflow.calibration import Calibrated, calibrate, held_out_for_calibration
from skauc.preprocessing import TablePreprocessor
from skauc.sparse import SparseKernelAUC, SparseKernelAUCCV
from skauc.sparse.sampling import balanced_sample

# Larger tables are tuned on a sample of this many rows, and then fitted to all rows.
MOST_TUNED = 10_000
N_FOLDS = 5

Watch = Callable[..., AbstractContextManager]


def unwatched(stage: str, n_tasks: int | None = None) -> AbstractContextManager:
    """Report no progress."""
    return nullcontext(())


@dataclass(frozen=True)
class Recipe:
    """How to train.

    Attributes
    ----------
    n_basis : int
        Number of centres; with tuning, the largest number.
    tune : bool
        Whether to choose the parameters by cross-validation.
    calibrate : bool
        Whether to add probabilities.
    engine : str
        As in `SparseKernelAUC`.
    n_jobs : int or None
        As in `SparseKernelAUC`.
    seed : int
        Random seed.
    numeric, category, date : tuple of str
        Columns to read as this kind, as in `TablePreprocessor`.
    """

    n_basis: int = 64
    tune: bool = True
    calibrate: bool = True
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
    model : estimator
        The fitted model; see the module for its parts.
    chosen : dict
        Parameters that tuning chose.
    cv_auc : float or None
        Their cross-validated AUC.
    n_tuned : int
        Number of rows that the parameters were tuned on.
    notes : tuple of str
        What the user should know.
    is_interrupted : bool
        Whether an interrupt ended the training.
    """

    model: Any
    chosen: dict
    cv_auc: float | None
    n_tuned: int
    notes: tuple[str, ...] = ()
    is_interrupted: bool = False


def too_good_columns(table: LabelledTable) -> list[str]:
    """Return the columns that separate the classes alone, the best first.

    Such columns are often recorded after the outcome, or derived from it.
    """
    from skauc.report.data_warnings import leak_suspects
    from skauc.report.rows import LabelledRows

    weights = np.ones(len(table.y))
    return [name for _, name in leak_suspects(LabelledRows(table.X, table.y, weights))]


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
        Called as ``watch(stage, n_tasks)`` for each stage. Returns a context manager that yields
        the callbacks for the estimator of that stage.
    on_prepared : callable, default=None
        Called with the fitted preprocessor before the search begins.

    Returns
    -------
    trained : Trained
        The model. After an interrupt it is the best model so far, if there is one.
    """
    learning, held_out = table, None
    if recipe.calibrate:
        learning, held_out = held_out_for_calibration(table, recipe.seed)
    preprocessor = TablePreprocessor(
        random_state=recipe.seed,
        numeric=recipe.numeric,
        category=recipe.category,
        date=recipe.date,
    )
    with watch("Preparing the columns"):
        X = preprocessor.fit_transform(learning.X, learning.y)
    if on_prepared is not None:
        on_prepared(preprocessor)
    rows = replace(learning, X=X)
    trained = _with_ranker(rows, recipe, watch)
    pipeline = Pipeline([("table", preprocessor), ("ranker", trained.model)])
    trained = replace(trained, model=pipeline)
    if trained.is_interrupted or not recipe.calibrate:
        return trained
    try:
        with watch("Calibrating"):
            calibrated = calibrate(pipeline, learning, held_out, recipe.seed)
    except KeyboardInterrupt:
        return replace(trained, is_interrupted=True, notes=("It gives no probabilities.",))
    return _with_probabilities(trained, calibrated)


def _with_probabilities(trained: Trained, calibrated: Calibrated) -> Trained:
    notes = trained.notes if calibrated.note is None else (*trained.notes, calibrated.note)
    return replace(trained, model=calibrated.model, notes=notes)


def _with_ranker(rows: LabelledTable, recipe: Recipe, watch: Watch) -> Trained:
    """Fit the last step of the pipeline, with a search if there are enough rows."""
    n_fewest = min(np.count_nonzero(rows.y), np.count_nonzero(~rows.y))
    untuned = SparseKernelAUC(
        recipe.n_basis,
        engine=recipe.engine,
        n_jobs=recipe.n_jobs,
        random_state=recipe.seed,
    )
    if not recipe.tune:
        return _fitted(untuned, rows, Trained(None, {}, None, 0), watch)
    if n_fewest < N_FOLDS:
        note = f"The smaller class has {n_fewest} rows, too few to tune on: defaults were used."
        return _fitted(untuned, rows, Trained(None, {}, None, 0, (note,)), watch)
    if len(rows.y) <= MOST_TUNED:
        return _search(rows, recipe, watch)
    return _tuned_on_a_sample(untuned, rows, recipe, watch)


def _search(rows: LabelledTable, recipe: Recipe, watch: Watch) -> Trained:
    """Tune; after an interrupt keep the best model so far."""
    search = SparseKernelAUCCV(
        n_basis=recipe.n_basis,
        engine=recipe.engine,
        n_jobs=recipe.n_jobs,
        random_state=recipe.seed,
    )
    with watch("Tuning") as callbacks:
        search.set_callbacks(*callbacks)
        is_interrupted = _is_interrupted(search, rows)
    note = "It has the best settings found before the interrupt."
    return Trained(
        search.set_callbacks(),
        search.best_params_,
        search.best_score_,
        len(rows.y),
        (note,) if is_interrupted else (),
        is_interrupted,
    )


def _is_interrupted(estimator, rows: LabelledTable) -> bool:
    """Fit; return whether an interrupt ended the fit with a model."""
    try:
        estimator.fit(rows.X, rows.y, rows.weights)
    except KeyboardInterrupt:
        if not hasattr(estimator, "n_basis_"):
            raise
        return True
    return False


def _tuned_on_a_sample(untuned, rows: LabelledTable, recipe: Recipe, watch: Watch) -> Trained:
    """Choose parameters on a part of the rows, then fit all rows with the full number of centres.

    More rows justify more centres than the search chooses on a sample.
    """
    numbers = np.arange(len(rows.y))
    sample = balanced_sample(rows.y, numbers, MOST_TUNED, np.random.RandomState(recipe.seed))
    weights = None if rows.weights is None else rows.weights[sample]
    part = replace(rows, X=rows.X[sample], y=rows.y[sample], weights=weights)
    tuned = _search(part, recipe, watch)
    if tuned.is_interrupted:
        note = f"It is fitted to a sample of {len(sample):,} rows."
        return replace(tuned, notes=(*tuned.notes, note))
    chosen = {**tuned.chosen, "n_basis": recipe.n_basis}
    ranker = untuned.set_params(**chosen)
    return _fitted(ranker, rows, Trained(None, chosen, tuned.cv_auc, len(sample)), watch)


def _fitted(ranker: SparseKernelAUC, rows: LabelledTable, trained: Trained, watch: Watch):
    """Fit; after an interrupt keep the model reached."""
    with watch("Fitting", ranker.n_basis) as callbacks:
        ranker.set_callbacks(*callbacks)
        is_interrupted = _is_interrupted(ranker, rows)
    return replace(trained, model=ranker.set_callbacks(), is_interrupted=is_interrupted)
