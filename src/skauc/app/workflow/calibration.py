"""Probabilities in the order of the scores, calibrated on rows that were not trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, StratifiedKFold
from sklearn.pipeline import Pipeline

from skauc.app.tables import LabelledTable
from skauc.app.workflow.splitting import split_rows, take_rows

# Tables with at least this many rows are calibrated on a held-out part, smaller ones on folds.
ENOUGH_TO_HOLD_OUT = 20_000
MOST_HELD_OUT = 20_000
N_CALIBRATION_FOLDS = 5
# A class needs at least this many rows for a calibration.
FEWEST_TO_CALIBRATE = 10


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A model with probabilities, or a note that says why it has none."""

    model: Any
    note: str | None = None


def held_out_for_calibration(table: LabelledTable, seed: int) -> tuple:
    """Return the training rows, and the rows to calibrate on or None if there are few rows."""
    if len(table.y) < ENOUGH_TO_HOLD_OUT or _n_fewest(table) < 10 * FEWEST_TO_CALIBRATE:
        return table, None
    return split_rows(table, min(len(table.y) // 10, MOST_HELD_OUT), seed)


def calibrate(
    pipeline: Pipeline, learning: LabelledTable, held_out: LabelledTable | None, seed: int
) -> Calibrated:
    """Wrap a fitted pipeline so that it gives probabilities, by a logistic function of its scores.

    The function (Platt's) increases, so that probabilities rank as the scores do. The threshold
    stays that of the pipeline: the probability of a score of 0.
    """
    if _n_fewest(learning) < FEWEST_TO_CALIBRATE:
        return Calibrated(
            pipeline,
            f"The smaller class has {_n_fewest(learning)} rows, too few for probabilities.",
        )
    if held_out is not None:
        rows, scores = held_out, pipeline.decision_function(held_out.X)
    else:
        rows, scores = learning, _cross_fitted_scores(pipeline, learning, seed)
    model = _calibrated(pipeline, rows, scores)
    calibrator = model.calibrated_classifiers_[0].calibrators[0]
    if not calibrator.a_ < 0:
        return Calibrated(
            pipeline,
            "New rows were ranked no better than by chance, so the model gives no probabilities.",
        )
    return Calibrated(_with_threshold(model, float(calibrator.predict(np.zeros(1))[0]), rows))


def _n_fewest(table: LabelledTable) -> int:
    return int(min(np.count_nonzero(table.y), np.count_nonzero(~table.y)))


def _cross_fitted_scores(pipeline: Pipeline, table: LabelledTable, seed: int) -> np.ndarray:
    """Return the scores of all rows, each by a model fitted to the other folds."""
    preprocessor, ranker = pipeline.named_steps["table"], pipeline.named_steps["ranker"]
    ranker = getattr(ranker, "best_estimator_", ranker)
    scores = np.empty(len(table.y))
    folds = StratifiedKFold(N_CALIBRATION_FOLDS, shuffle=True, random_state=seed)
    for train, test in folds.split(scores, table.y):
        part, step, model = take_rows(table, train), clone(preprocessor), clone(ranker)
        model.fit(step.fit_transform(part.X, part.y), part.y, part.weights)
        scores[test] = model.decision_function(step.transform(table.X.iloc[test]))
    return scores


def _calibrated(pipeline: Pipeline, rows: LabelledTable, scores: np.ndarray):
    """Return the pipeline in scikit-learn's wrapper, calibrated on the given scores."""
    few = _some_of_each_class(rows)
    model = CalibratedClassifierCV(FrozenEstimator(pipeline), method="sigmoid")
    model.fit(few.X, few.y)
    calibrated = model.calibrated_classifiers_[0]
    # The wrapper was fitted to scores of rows that the pipeline may have been trained on.
    calibrated.calibrators[0].fit(scores, rows.y.astype(int), rows.weights)
    # As after a fit of the wrapper: the fitted pipeline inside, an unfitted one as parameter.
    calibrated.estimator, model.estimator = pipeline, clone(pipeline)
    return model


def _with_threshold(model: CalibratedClassifierCV, threshold: float, rows: LabelledTable):
    few = _some_of_each_class(rows)
    fixed = FixedThresholdClassifier(
        FrozenEstimator(model), threshold=threshold, response_method="predict_proba"
    )
    fixed.fit(few.X, few.y)
    fixed.estimator_, fixed.estimator = model, clone(model)
    return fixed


def _some_of_each_class(table: LabelledTable, n_rows: int = 10) -> LabelledTable:
    sides = (np.flatnonzero(side)[:n_rows] for side in (table.y, ~table.y))
    return take_rows(table, np.concatenate(list(sides)))
