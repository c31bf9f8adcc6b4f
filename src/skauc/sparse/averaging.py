"""The average of several settings of a search, which is one model again.

Settings that are as good as the best one up to noise make different mistakes, so the mean of their
scores ranks better than the best of them. If they see the rows through the same map of the
features, a sum of their models is a model with the centres of all of them. An average has at most
half of the centres that the search allows for a model, so that models remain small.

If the rarer class has few rows, cross-validation cannot tell which C is the best. Small models of
the Cs around the best one are averaged then, with weights that fall with their distance from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from skauc.data.training import TrainingData
from skauc.exceptions import FitInterruptedError
from skauc.metrics.area import weighted_auc
from skauc.model import Model, PathRecord, weighted_sum
from skauc.sparse.scoring import SMALLEST_BASIS, Job
from skauc.sparse.search import MOST_BEHIND, Scores, Search, corrected_mean
from skauc.sparse.settings import SearchGrid, Setting
from skauc.sparse.state import Path

# Most settings that are averaged.
MOST_AVERAGED = 4
# Cs on each side of the best one that may have a share. This and the numbers that follow were
# chosen on development tables (docs/results/development.md), where all values nearby are as good.
N_NEAR = 2
# Models of an eighth of the centres are averaged, or of a fourth if those are behind the best by
# more than this part of 1 - AUC.
SMALL_PARTS = (8, 4)
MOST_LOST = 0.1
# A model that is behind by this part of 1 - AUC has 1/e of the weight of the best one. Models of
# less than the least weight are left out.
DECAY = 0.1
LEAST_WEIGHT = 0.1
# Scores with less spread than this part of the largest one are equal.
_LEAST_SPREAD = 1e-6
# The name of the stage in which Cs are scored.
_STAGE = "average"


def expected_jobs_of_average(search: Search, grid: SearchGrid) -> dict[str, int]:
    """Return the largest number of jobs that it takes to find the settings to average."""
    n_others = min(2 * N_NEAR, len(grid.ladder) - 1)
    return {_STAGE: n_others * len(search.folds)} if _averages_neighbours(search, grid) else {}


def averaged_settings(
    search: Search, grid: SearchGrid, chosen: Setting, scores: Scores
) -> dict[Setting, float]:
    """Return the settings to average with their weights, the best one first.

    It may take more jobs of the search. All settings have the map of the features of the chosen
    one, and at most half of the centres of the grid together.
    """
    if _averages_neighbours(search, grid):
        settings = _settings_around(search, grid, chosen, scores)
        if len(settings) > 1:
            return settings
    return dict.fromkeys(level_settings(scores, chosen, grid.n_basis), 1.0)


def _averages_neighbours(search: Search, grid: SearchGrid) -> bool:
    """Tell whether small models of several Cs may be averaged."""
    has_room = grid.n_basis >= SMALLEST_BASIS * min(SMALL_PARTS)
    return search.has_few_of_class and has_room and len(grid.ladder) > 1


def _settings_around(
    search: Search, grid: SearchGrid, chosen: Setting, scores: Scores
) -> dict[Setting, float]:
    """Return the settings with Cs around the chosen one and few centres, and their weights.

    There are none if models of few centres are far behind.
    """
    folds = range(len(search.folds))
    by_setting = scores.on_first(len(folds))
    if chosen not in by_setting:
        return {}
    best = float(by_setting[chosen].mean())
    least = best - MOST_LOST * abs(1 - best)
    small = [replace(chosen, n_basis=grid.n_basis // part) for part in SMALL_PARTS]
    good = [s for s in small if s in by_setting and by_setting[s].mean() >= least]
    if not good:
        return {}
    settings = [replace(good[0], C=C) for C in grid.around(chosen.C, N_NEAR)]
    known = scores.by_setting
    jobs = [Job(s, fold) for s in settings for fold in folds if fold not in known.get(s, {})]
    by_setting = search.run(_STAGE, jobs, scores).on_first(len(folds))
    return _by_weight({s: float(by_setting[s].mean()) for s in settings if s in by_setting}, grid)


def _by_weight(means: dict[Setting, float], grid: SearchGrid) -> dict[Setting, float]:
    """Return the weights of settings with these means, the largest first; small ones are left out.

    Together the settings have at most half of the centres of the grid.
    """
    best = max(means.values(), default=0.0)
    unit = max(DECAY * abs(1 - best), np.finfo(np.float64).tiny)
    weights: dict[Setting, float] = {}
    n_left = grid.n_basis // 2
    for setting in sorted(means, key=lambda s: -means[s]):
        weight = float(np.exp((means[setting] - best) / unit))
        if weight >= LEAST_WEIGHT and setting.n_basis <= n_left:
            weights[setting] = weight
            n_left -= setting.n_basis
    return weights


def level_settings(scores: Scores, chosen: Setting, n_basis: int) -> list[Setting]:
    """Return the chosen setting and the next best ones, none of which is far behind.

    All of them have the same map of the features and at most half of ``n_basis`` centres together.
    Of two sizes of one fit, only one is taken if the smaller model is a part of the larger one.
    """
    by_setting = scores.on_first(scores.n_most)
    best = float(by_setting[chosen].mean())
    least, n_left = best - MOST_BEHIND * abs(1 - best), n_basis // 2 - chosen.n_basis
    others = [s for s in by_setting if s != chosen and s.has_map_of(chosen)]
    settings = [chosen]
    for setting in sorted(others, key=lambda s: (-by_setting[s].mean(), s.n_basis)):
        is_good = by_setting[setting].mean() >= least
        has_room = setting.n_basis <= n_left and len(settings) < MOST_AVERAGED
        if is_good and has_room and not any(_is_part(setting, s, by_setting) for s in settings):
            settings.append(setting)
            n_left -= setting.n_basis
    return settings


def _is_part(one: Setting, other: Setting, scores: dict[Setting, np.ndarray]) -> bool:
    """Tell whether the larger model of two settings contains the smaller one, or is the same.

    Centres that are not refined stay where they are. A fit that finds no more independent rows has
    the same scores for all larger sizes.
    """
    if replace(one, n_basis=other.n_basis) != other:
        return False
    return not one.refine or np.array_equal(scores[one], scores[other])


def shares(search: Search, scores: Scores, weights: dict[Setting, float]) -> dict[Setting, float]:
    """Return the factors of the scores of each setting in the average, for these weights.

    Before they are weighted, the scores of all settings get the same spread over the test rows of
    the folds: that of the first one. A setting whose scores are all equal has no share.
    """
    settings = list(weights)
    spreads = {}
    for setting in settings:
        tested, _, row_weights = search.tested({setting: 1.0}, scores)
        mean = np.average(tested, weights=row_weights)
        spread = float(np.sqrt(np.average((tested - mean) ** 2, weights=row_weights)))
        # The mean of equal numbers can differ from them by rounding.
        spreads[setting] = spread if spread > _LEAST_SPREAD * np.abs(tested).max() else 0.0
    useful = [setting for setting in settings if spreads[setting] > 0]
    if settings[0] not in useful:
        return {settings[0]: 1.0}
    total = sum(weights[setting] for setting in useful)
    return {s: weights[s] / total * spreads[settings[0]] / spreads[s] for s in useful}


@dataclass(frozen=True, eq=False)
class Average:
    """A path that ends with an average, and the factors of the settings in it.

    ``mean`` is its mean AUC over the folds, ``corrected`` that less the optimism of the choice.
    """

    path: Path
    factors: dict[Setting, float]
    mean: float
    corrected: float


def average(
    search: Search,
    scores: Scores,
    path: Path,
    weights: dict[Setting, float],
    fit: Callable[[Setting], Path],
) -> Average | None:
    """Average the path of the first setting with the others, which ``fit`` fits to all rows.

    No fit begins after the deadline of the search. Return None if nothing is averaged. An interrupt
    keeps the path of the first setting.
    """
    chosen, *others = shares(search, scores, weights)
    models = {}
    try:
        for setting in others:
            if search.is_over():
                break
            found = fit(setting)
            models[setting] = found.models[found.size]
        if not models:
            return None
        factors = shares(search, scores, {s: weights[s] for s in (chosen, *models)})
        by_fold = search.tested_by_fold(factors, scores)
        own = np.array([search.metric(*tested) for tested in by_fold])
        joined = averaged_path(path, list(models.values()), list(factors.values()), search.rows)
    except KeyboardInterrupt as interrupt:
        raise FitInterruptedError(path) from interrupt
    tried = scores.on_first(len(own))
    if search.has_few_of_class:
        # Only C was chosen. Structure and size are the usual ones, but for a clearly better one.
        tried = {s: aucs for s, aucs in tried.items() if replace(s, C=chosen.C) == chosen}
    corrected = corrected_mean(tried, own)
    return Average(joined, factors, float(own.mean()), corrected)


def averaged_path(
    path: Path, others: Sequence[Model], factors: Sequence[float], rows: TrainingData
) -> Path:
    """Return the path of the best setting, followed by its average with models of others.

    The record of the average has its AUC on the training rows. The objective is that of the best
    setting, because an average has none.
    """
    average = weighted_sum([path.models[path.size], *others], factors)
    train_auc = weighted_auc(average.scores(rows.X), rows.positive, rows.weights)
    size, models = len(average.coef), path.models
    if average.linear_coef is not None:
        # Models of one path all have a linear part, or none has.
        models = {n: _with_linear_part(model) for n, model in models.items()}
    record: PathRecord = replace(
        path.records[-1], n_basis=size, train_auc=train_auc, n_iter=0, C=None, model=average
    )
    records = (each for each in path.records if each.n_basis != size)
    joined = Path({**models, size: average}, (*records, record), size, path.is_exhausted)
    return joined.with_models(joined.models)


def _with_linear_part(model: Model) -> Model:
    if model.linear_coef is not None:
        return model
    return replace(model, linear_coef=np.zeros(model.centres.shape[1]))
