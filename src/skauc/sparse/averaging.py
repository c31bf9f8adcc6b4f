"""The Cs of the last coefficients: the best one, or an average of several.

The centres of a fit were chosen with one C, and its coefficients can be fitted for another one that
is better on the folds. If the rarer class has few rows, cross-validation cannot tell which C is the
best. The coefficients of the Cs around the best one are averaged then, with weights that fall with
their distance from it. All of them belong to the centres of one fit, so that their average is a
model of the same size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from skauc.data.training import TrainingData
from skauc.metrics.area import weighted_auc
from skauc.model import Model
from skauc.sparse.search import Scores, Search, corrected_mean
from skauc.sparse.settings import Setting
from skauc.sparse.state import Path

# Cs on each side of that of a fit that may have a share. This and the numbers that follow were
# chosen on development tables (docs/results/development.md), where all values nearby are as good.
N_NEAR = 2
# A C that is behind by this part of 1 - AUC has 1/e of the weight of the best one. Cs of less than
# the least weight are left out.
DECAY = 0.1
LEAST_WEIGHT = 0.1
# Scores with less spread than this part of the largest one are equal.
_LEAST_SPREAD = 1e-6


@dataclass(frozen=True, eq=False)
class Average:
    """The factors of the coefficients of each C, the largest weight first, and how good it is.

    ``mean`` is the mean AUC over the folds, ``corrected`` that less the optimism of the choice.
    """

    factors: dict[float, float]
    mean: float
    corrected: float


def average_of(
    search: Search, setting: Setting, scores: Scores, *, are_few: bool
) -> Average | None:
    """Return the average of the Cs with the centres of a setting, None if its own is to be used.

    Unless rows ``are_few``, it is the best C alone, if it is clearly better.
    """
    by_c = scores.by_c(setting)
    if are_few:
        factors = shares(search, setting, scores, _weights(by_c))
    else:
        factors = dict.fromkeys(search.better_c(setting, scores), 1.0)
    if set(factors) <= {setting.C}:
        return None
    own = search.metric_by_fold(setting, factors, scores)
    # With the usual structure only C was chosen.
    is_usual = setting.has_structure_of(search.usual)
    others = {} if is_usual else scores.on_first(scores.n_most)
    competing = [*by_c.values(), *others.values()]
    return Average(factors, float(own.mean()), corrected_mean(competing, own))


def _weights(by_c: dict[float, np.ndarray]) -> dict[float, float]:
    """Return the Cs by weight, the largest first, without those of too small a weight."""
    means = {C: float(metric.mean()) for C, metric in by_c.items()}
    best = max(means.values(), default=0.0)
    unit = max(DECAY * abs(1 - best), np.finfo(np.float64).tiny)
    weights = {C: float(np.exp((mean - best) / unit)) for C, mean in means.items()}
    in_order = sorted(weights, key=lambda C: -weights[C])
    return {C: weights[C] for C in in_order if weights[C] >= LEAST_WEIGHT}


def shares(
    search: Search, setting: Setting, scores: Scores, weights: dict[float, float]
) -> dict[float, float]:
    """Return the factors of the scores of each C in the average, for these weights.

    Before they are weighted, the scores of all Cs get the same spread over the test rows of the
    folds: that of the first one. A C whose scores are all equal has no share.
    """
    spreads = {}
    for C in weights:
        tested, _, row_weights = search.tested(setting, {C: 1.0}, scores)
        mean = np.average(tested, weights=row_weights)
        spread = float(np.sqrt(np.average((tested - mean) ** 2, weights=row_weights)))
        # The mean of equal numbers can differ from them by rounding.
        if spread > _LEAST_SPREAD * np.abs(tested).max():
            spreads[C] = spread
    total = sum(weights[C] for C in spreads)
    first = next(iter(spreads.values()), 0.0)
    return {C: weights[C] / total * first / spread for C, spread in spreads.items()}


def averaged_path(path: Path, factors: dict[float, float], rows: TrainingData) -> Path:
    """Return a path whose last model is the average of its Cs.

    The record of the average has its AUC on the training rows. The objective is that of the model
    before, because an average has none.
    """
    model = _weighted_sum([path.by_c[C] for C in factors], list(factors.values()))
    train_auc = weighted_auc(model.scores(rows.X), rows.positive, rows.weights)
    C = next(iter(factors)) if len(factors) == 1 else None
    last = replace(path.records[-1], train_auc=train_auc, C=C, model=model)
    models = {**path.models, path.size: model}
    return replace(path, models=models, records=(*path.records[:-1], last))


def _weighted_sum(models: Sequence[Model], factors: Sequence[float]) -> Model:
    """Return the model whose scores are the sum of those of models with the same centres."""
    first = models[0]
    linear_coef = first.linear_coef
    if linear_coef is not None:
        linear_coef = np.asarray(factors) @ [model.linear_coef for model in models]
    return replace(
        first,
        coef=np.asarray(factors) @ [model.coef for model in models],
        linear_coef=linear_coef,
        intercept=float(np.dot(factors, [model.intercept for model in models])),
    )
