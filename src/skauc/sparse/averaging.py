"""Averages: the Cs of one setting, and the best setting with centres of several shapes.

The centres of a fit were chosen with one C, and its coefficients can be fitted for another one that
is better on the folds. If the rarer class has few rows, cross-validation cannot tell which C is the
best. The coefficients of the Cs around the best one are averaged then. All of them belong to the
centres of one fit, so that their average is a model of the same size.

Models whose centres have different shapes make different errors, so their average is better than
the best of them. It is approximated by one model with fewer centres, see
`skauc.sparse.compression`.

In both cases the weights fall with the distance from the best mean.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from skauc.data.training import TrainingData
from skauc.metrics.area import weighted_auc
from skauc.model import Model, PathRecord, scores_of_models, share_centres
from skauc.sparse.compression import compressed, is_close, joined
from skauc.sparse.scores import Scores, corrected_mean, fading_weights
from skauc.sparse.search import Search
from skauc.sparse.settings import Factors, Setting
from skauc.sparse.state import Path

# Cs on each side of that of a fit that may have a share (docs/results/development.md).
N_NEAR = 2
# Scores with less spread than this part of the largest one are equal.
_LEAST_SPREAD = 1e-6

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Average:
    """The factors of all models, the largest weight first, and how good their sum is.

    ``weights`` are the shares of the settings, which add up to one. ``mean`` is the mean AUC over
    the folds, ``corrected`` that less the optimism of the choice.
    """

    factors: Factors
    weights: dict[Setting, float]
    mean: float
    corrected: float

    def description(self) -> list[dict]:
        """Return the parameters, the Cs and the weight of each setting."""
        return [
            {
                "params": setting.parameters(),
                "Cs": [C for C in self.factors[setting] if C is not None],
                "weight": weight,
            }
            for setting, weight in self.weights.items()
        ]


def average_of(
    search: Search, chosen: Setting, others: Sequence[Setting], scores: Scores
) -> Average | None:
    """Return the average of a setting with others, None if it is the setting alone with its own C.

    Of several Cs the best one is used if it is clearly better, or their average if the rarer class
    has few rows. The others are compared on the folds that all of them were tried on.
    """
    parts: dict[Setting, Factors] = {
        setting: {setting: _factors_of_cs(search, setting, scores)} for setting in (chosen, *others)
    }
    on_all, scores = scores, scores.on_common_folds(parts)
    by_fold = {s: search.metric_by_fold(part, scores) for s, part in parts.items()}
    weights = fading_weights(by_fold)
    multiples = shares(search, parts, weights, scores) or {chosen: 1.0}
    factors = {
        setting: {C: multiples[setting] * factor for C, factor in parts[setting][setting].items()}
        for setting in multiples
    }
    if factors == {chosen: {None: 1.0}}:
        return None
    own = search.metric_by_fold(factors, scores)
    # With the usual structure only C was chosen.
    is_usual = chosen.has_structure_of(search.comparison.usual)
    settings = {} if is_usual else scores.on_folds_of(chosen)
    competing = [*by_fold.values(), *scores.by_c(chosen).values(), *settings.values()]
    folds = scores.by_setting[chosen]
    total = sum(weights[setting] for setting in factors)
    return Average(
        factors,
        weights={setting: weights[setting] / total for setting in factors},
        mean=search.comparison.level(float(own.mean()), folds, on_all),
        corrected=search.comparison.level(corrected_mean(competing, own), folds, on_all),
    )


def _factors_of_cs(search: Search, setting: Setting, scores: Scores) -> dict[float | None, float]:
    """Return the factors of the Cs with the centres of a setting; None is the C of the fit."""
    if search.comparison.are_few:
        weights = fading_weights(scores.by_c(setting))
        parts: dict[float, Factors] = {C: {setting: {C: 1.0}} for C in weights}
        factors = shares(search, parts, weights, scores)
    else:
        factors = dict.fromkeys(search.comparison.better_c(setting, scores), 1.0)
    # The C of the fit itself needs no other coefficients.
    return {None: 1.0} if set(factors) <= {setting.C} else dict(factors.items())


def shares(
    search: Search, parts: dict[_Key, Factors], weights: dict[_Key, float], scores: Scores
) -> dict[_Key, float]:
    """Return what the scores of each part are multiplied by in the average, for these weights.

    Before they are weighted, the scores of all parts get the same spread over the test rows of the
    folds: that of the first one. A part whose scores are all equal has no share.
    """
    spreads = {}
    for key in weights:
        tested, _, row_weights = search.tested(parts[key], scores)
        mean = np.average(tested, weights=row_weights)
        spread = float(np.sqrt(np.average((tested - mean) ** 2, weights=row_weights)))
        # The mean of equal numbers can differ from them by rounding.
        if spread > _LEAST_SPREAD * np.abs(tested).max():
            spreads[key] = spread
    total = sum(weights[key] for key in spreads)
    first = next(iter(spreads.values()), 0.0)
    return {key: weights[key] / total * first / spread for key, spread in spreads.items()}


def averaged_path(path: Path, factors: dict[float | None, float], rows: TrainingData) -> Path:
    """Return a path whose last model is the average of its Cs.

    The record of the average has its AUC on the training rows, and no objective.
    """
    if set(factors) == {None}:
        return path
    model = _sum_of_cs(path, factors)
    train_auc = weighted_auc(model.scores(rows.X), rows.positive, rows.weights)
    C = next(iter(factors)) if len(factors) == 1 else None
    last = replace(path.records[-1], objective=None, train_auc=train_auc, C=C, model=model)
    models = {**path.models, path.size: model}
    return replace(path, models=models, records=(*path.records[:-1], last))


def joined_path(
    paths: dict[Setting, Path],
    factors: Factors,
    rows: TrainingData,
    n_most: int,
    random_state: np.random.RandomState,
) -> Path | None:
    """Return a path of models that approximate the sum of the last models of several paths.

    ``rows`` are the training rows as the kernel sees them. The models have at most ``n_most``
    centres. Return None if so few cannot approximate the sum.
    """
    models = [_sum_of_cs(paths[setting], by_c) for setting, by_c in factors.items()]
    total = joined(models)
    smaller = share_centres(compressed(total, rows, n_most, random_state))
    if not is_close(smaller[max(smaller)], total, rows, random_state):
        return None
    all_scores = scores_of_models([replace(m, scaling=None) for m in smaller.values()], rows.X)
    last = [path.records[-1] for path in paths.values()]
    records = tuple(
        PathRecord(
            n_basis=size,
            objective=None,
            train_auc=weighted_auc(scores, rows.positive, rows.weights),
            validation_auc=None,
            seconds=sum(record.seconds for record in last),
            n_iter=0,
            is_refined=any(record.is_refined for record in last),
            C=None,
            model=model,
        )
        for (size, model), scores in zip(smaller.items(), all_scores, strict=True)
    )
    return Path(smaller, records, max(smaller))


def _sum_of_cs(path: Path, factors: dict[float | None, float]) -> Model:
    """Return the model whose scores are the sum of those of several Cs, times their factors."""
    own = path.models[path.size]
    models = [own if C is None else path.by_c[C] for C in factors]
    numbers = np.array(list(factors.values()))
    linear_coef = own.linear_coef
    if linear_coef is not None:
        linear_coef = numbers @ [model.linear_coef for model in models]
    return replace(
        own,
        coef=numbers @ [model.coef for model in models],
        linear_coef=linear_coef,
        intercept=float(numbers @ [model.intercept for model in models]),
    )
