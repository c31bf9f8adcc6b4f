"""The scores of one setting on one fold: one fit serves all sizes on its path."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from skauc.base import calibrate
from skauc.data.training import TrainingData
from skauc.engines import make_engine
from skauc.exceptions import FitInterruptedError, InvalidParameterError
from skauc.feature_map import FeatureMap
from skauc.metrics.area import auc_of
from skauc.metrics.partial_area import check_corner, partial_auc_of
from skauc.metrics.sorted_scores import sort_scores
from skauc.model import scores_of_models
from skauc.sparse.folds import Fold
from skauc.sparse.parameters import Parameters
from skauc.sparse.path import fit_path
from skauc.sparse.plan import make_plan
from skauc.sparse.settings import Setting
from skauc.sparse.sizes import refined_sizes, retraining_sizes
from skauc.sparse.stages import TryCs
from skauc.sparse.state import Path

# Smaller models are not offered.
SMALLEST_BASIS = 4
# Magnitudes of scores that single precision holds.
_LEAST_SINGLE, _MOST_SINGLE = 1e-30, 1e30

# Takes the scores of rows, whether they are positive, and their weights. Higher is better.
Metric: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray], float]


@dataclass(frozen=True)
class Job:
    """One setting on one fold."""

    setting: Setting
    fold: int


@dataclass(frozen=True, eq=False)
class Tested:
    """What the test rows of a fold say of a setting: the metric, and the scores of the rows.

    ``C`` is that of the coefficients. ``by_c`` tells of models with the same centres and other Cs.
    """

    metric: float
    scores: np.ndarray
    C: float
    by_c: dict[float, Tested] = field(default_factory=dict)

    def of_c(self, C: float | None) -> Tested:
        """Return what is known of the same centres with another C, None for that of the fit."""
        return self if C is None else self.by_c[C]


def go_on() -> None:
    """Check nothing, and let the fit go on."""


def no_others(C: float) -> tuple[float, ...]:
    """Try no other Cs than that of the fit."""
    return ()


def score_job(
    base: Parameters,
    rows: TrainingData,
    fold: Fold,
    job: Job,
    seed: int,
    metric: Metric,
    check: Callable[[], None] = go_on,
    maps: dict[str, FeatureMap] | None = None,
    near: Callable[[float], Collection[float]] = no_others,
) -> dict[Setting, Tested]:
    """Fit to the training rows of the fold, and test each size on the test rows.

    ``check`` is called for every centre and every step of a refinement. It may raise
    KeyboardInterrupt. ``maps`` holds the maps of the training rows that are known, by ``scaling``.
    A new one is added. ``near`` returns the Cs to try with the last centres, for the C of the fit.

    If no independent row is left before the last size, the larger sizes have the score of the
    largest one that was reached, for a fit with a larger `n_basis` gives the same model. All folds
    then score the same sizes.
    """
    setting = job.setting
    maps = {} if maps is None else maps
    parameters, known = replace(base, **setting.parameters()), maps.get(setting.scaling or "")
    plan, training = make_plan(parameters, fold.training(rows), known, fold.known_axes)
    if setting.scaling is not None and plan.feature_map is not None:
        maps[setting.scaling] = FeatureMap(plan.feature_map.by_feature)
    try:
        path = fit_path(
            training,
            plan,
            open_engine=partial(make_engine, n_jobs=1),
            random_state=seed,
            watch=partial(_check_centre, check),
            on_step=lambda step: check(),
            then=(TryCs(near),),
        )
    except FitInterruptedError as interrupt:
        # A fold that was cut off does not count.
        raise KeyboardInterrupt from interrupt
    test, sizes = fold.tested(rows), _scored_sizes(setting, plan.parameters.schedule)
    last = path.records[-1].n_basis
    records = [record for record in path.records if record.n_basis in (*sizes, last)]
    models = [*(record.model for record in records), *path.by_c.values()]
    mapped = test.X if plan.feature_map is None else plan.feature_map.transform_in_fit(test.X)
    scores = scores_of_models([replace(model, scaling=None) for model in models], mapped)

    def tested(C: float | None) -> Tested:
        assert C is not None  # only an average has none
        own = next(scores)
        return Tested(metric(own, test.positive, test.weights), _shortened(own), C)

    found = {record.n_basis: tested(record.C) for record in records}
    found[last] = replace(found[last], by_c={C: tested(C) for C in path.by_c})
    found |= {size: found[last] for size in sizes if size > last}
    return {replace(setting, n_basis=size): tested for size, tested in found.items()}


def _shortened(scores: np.ndarray) -> np.ndarray:
    """Return scores in single precision, unless they are beyond its range."""
    is_short = _LEAST_SINGLE < np.abs(scores).max(initial=0.0) < _MOST_SINGLE
    return scores.astype(np.float32) if is_short else scores


def _scored_sizes(setting: Setting, retrain: str) -> list[int]:
    """Return the sizes to score: those that are refined, or else those that are retrained."""
    if setting.refine:
        return refined_sizes(setting.n_basis)
    smallest = min(SMALLEST_BASIS, setting.n_basis)
    return [n for n in sorted(retraining_sizes(retrain, setting.n_basis)) if n >= smallest]


def _check_centre(check: Callable[[], None], path: Path) -> bool:
    """Check, and do not stop the fit."""
    check()
    return False


def make_metric(scoring: str | Callable | None, base: Parameters) -> Metric:
    """Return the metric that ``scoring`` means: a scorer of scikit-learn, or the AUC for None.

    The AUC is partial if ``base`` has limits. Scorers see the labels 0 and 1.
    """
    if scoring is None:
        return partial(_area, base=base)
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    if getattr(scorer, "_response_method", None) == "predict_proba":
        raise InvalidParameterError(
            "`scoring` must be a scorer of scores or labels; got one of probabilities: "
            f"{scoring!r}. They are known after the search only. Use None, or for instance "
            "'average_precision'."
        )
    takes_weights = _takes_weights(scorer)

    def metric(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
        rows = _ScoredRows(scores, positive, weights)
        arguments: dict[str, Any] = {"sample_weight": weights} if takes_weights else {}
        value = scorer(rows, scores[:, None], positive.astype(int), **arguments)
        if not np.isfinite(value):
            raise InvalidParameterError(
                f"`scoring` must give a finite number; got {value!r} from {scoring!r}."
            )
        return float(value)

    return metric


def _area(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray, *, base: Parameters
) -> float:
    """Return the AUC, or the partial AUC of the part of the curve that is searched for."""
    ranked = sort_scores(scores, positive, weights)
    if base.focus.is_whole:
        return auc_of(ranked)
    return partial_auc_of(ranked, *check_corner(base.max_fpr, base.min_tpr))


def _takes_weights(scorer: Callable) -> bool:
    """Return whether a scorer, or the metric that it calls, takes ``sample_weight``."""
    metric = getattr(scorer, "_score_func", scorer)
    return "sample_weight" in inspect.signature(metric).parameters


class _ScoredRows(ClassifierMixin, BaseEstimator):
    """Rows whose scores are known, as the fitted classifier that scorers of scikit-learn take."""

    classes_ = np.array([0, 1])

    def __init__(self, scores, positive, weights):
        self.scores, self.positive, self.weights = scores, positive, weights

    def decision_function(self, X):
        """Return the scores of the rows."""
        return self.scores

    def predict(self, X):
        """Return the label of each row: positive if its probability is above 0.5."""
        middle = calibrate(self.scores, self.positive, self.weights).middle
        return (self.scores > middle).astype(int)
