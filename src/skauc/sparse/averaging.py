"""The average of several settings of a search, which is one model again.

If the rarer class has few rows, cross-validation cannot tell which C is the best. Small models of
the Cs around the best one are averaged then, with weights that fall with their distance from it.
They make different mistakes, so the mean of their scores ranks better than the best of them. They
see the rows through the same map of the features, so their sum is a model with the centres of all
of them. It has at most half of the centres that the search allows for a model.
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
from skauc.sparse.search import Scores, Search, corrected_mean
from skauc.sparse.settings import SearchGrid, Setting
from skauc.sparse.state import Path

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
    """Return the usual number of jobs that it takes to find the settings to average."""
    n_settings = min(2 * N_NEAR + 1, len(grid.ladder))
    return {_STAGE: n_settings * len(search.folds)} if _has_room(grid) else {}


def averaged_settings(search: Search, grid: SearchGrid, scores: Scores) -> dict[Setting, float]:
    """Return the settings to average with their weights, the best one first.

    They have the best structure, few centres, and Cs around the one that was estimated; at most
    half of the centres of the grid together. There are none if models of few centres are far
    behind.
    """
    best = search.best(scores)
    small = _small_setting(grid, best, scores) if _has_room(grid) else None
    if small is None or search.is_over():
        return {}
    Cs = grid.around(search.estimated_c(best, scores), N_NEAR)
    settings, folds = [replace(small, C=C) for C in Cs], range(len(search.folds))
    scores = _score_missing(search, settings, folds[: search.n_first], scores)
    # The others have no weight, or next to none.
    good = _by_weight(search, settings, scores)
    scores = _score_missing(search, list(good), folds, scores)
    weights = _by_weight(search, list(good), scores)
    weights = _with_room(weights, grid.n_basis // 2)
    return weights if len(weights) > 1 else {}


def _has_room(grid: SearchGrid) -> bool:
    """Tell whether there are several Cs, and centres enough for small models."""
    return grid.n_basis >= SMALLEST_BASIS * min(SMALL_PARTS) and len(grid.ladder) > 1


def _small_setting(grid: SearchGrid, best: Setting, scores: Scores) -> Setting | None:
    """Return the best setting with few centres, or None if it is then far behind."""
    by_setting = scores.on_first(scores.n_most)
    mean = float(by_setting[best].mean())
    least = mean - MOST_LOST * abs(1 - mean)
    sizes = {s.n_basis: s for s in by_setting if s.of_size(best.n_basis) == best}
    for part in SMALL_PARTS:
        size = max((n for n in sizes if SMALLEST_BASIS <= n <= grid.n_basis // part), default=0)
        if size and by_setting[sizes[size]].mean() >= least:
            return sizes[size]
    return None


def _score_missing(search: Search, settings: list[Setting], folds: range, scores: Scores) -> Scores:
    """Score settings on those of the folds on which they are not scored yet."""
    known = scores.by_setting
    jobs = [Job(s, fold) for s in settings for fold in folds if fold not in known.get(s, {})]
    return search.run(_STAGE, jobs, scores)


def _by_weight(search: Search, settings: list[Setting], scores: Scores) -> dict[Setting, float]:
    """Return the settings by weight, the largest first, without those of too small a weight.

    Weights follow from the mean on the folds that all of them were tried on.
    """
    n_folds = len(search.folds)
    while n_folds and not all(s in scores.on_first(n_folds) for s in settings):
        n_folds -= 1
    by_setting = scores.on_first(n_folds)
    means = {s: float(by_setting[s].mean()) for s in settings} if n_folds else {}
    best = max(means.values(), default=0.0)
    unit = max(DECAY * abs(1 - best), np.finfo(np.float64).tiny)
    weights = {s: float(np.exp((means[s] - best) / unit)) for s in means}
    in_order = sorted(weights, key=lambda s: -weights[s])
    return {s: weights[s] for s in in_order if weights[s] >= LEAST_WEIGHT}


def _with_room(weights: dict[Setting, float], n_left: int) -> dict[Setting, float]:
    """Return the first settings, as many as have no more centres together than there is room."""
    n_settings = n_left // next((s.n_basis for s in weights), 1)
    return dict(list(weights.items())[:n_settings])


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
    # Only C was chosen. Structure and size are the usual ones, but for a clearly better one.
    tried = scores.on_first(len(own)).items()
    same = {setting: aucs for setting, aucs in tried if replace(setting, C=chosen.C) == chosen}
    corrected = corrected_mean(same, own)
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
