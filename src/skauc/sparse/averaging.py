"""The average of the best settings of a search, which is one model again.

Settings that are as good as the best one up to noise make different mistakes, so the mean of their
scores ranks better than the best of them. If they see the rows through the same map of the
features, a sum of their models is a model with the centres of all of them. An average has at most
half of the centres that the search allows for a model, so that models remain small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from skauc.model import Model, PathRecord, weighted_sum
from skauc.sparse.search import MOST_BEHIND, Scores, Search, corrected_mean
from skauc.sparse.settings import Setting
from skauc.sparse.state import Path

# Most settings that are averaged.
MOST_AVERAGED = 4


def averaged_settings(scores: Scores, chosen: Setting, n_basis: int) -> list[Setting]:
    """Return the chosen setting and the next best ones that are averaged with it.

    All of them have the same map of the features and at most half of ``n_basis`` centres together,
    and none is far behind the chosen one.
    """
    by_setting = scores.on_first(scores.n_most)
    best = float(by_setting[chosen].mean())
    least, n_left = best - MOST_BEHIND * abs(1 - best), n_basis // 2 - chosen.n_basis
    others = [s for s in by_setting if s != chosen and s.has_map_of(chosen)]
    settings = [chosen]
    for setting in sorted(others, key=lambda s: (-by_setting[s].mean(), s.n_basis)):
        is_good = by_setting[setting].mean() >= least
        if is_good and setting.n_basis <= n_left and len(settings) < MOST_AVERAGED:
            settings.append(setting)
            n_left -= setting.n_basis
    return settings


def shares(search: Search, scores: Scores, settings: Sequence[Setting]) -> dict[Setting, float]:
    """Return the factors of the scores of each setting in the average.

    The scores of all settings get the same spread over the test rows of the folds: that of the
    first one. A setting whose scores are all equal has no share.
    """
    spreads = {}
    for setting in settings:
        tested, _, weights = search.tested({setting: 1.0}, scores)
        mean = np.average(tested, weights=weights)
        spreads[setting] = float(np.sqrt(np.average((tested - mean) ** 2, weights=weights)))
    useful = [setting for setting in settings if spreads[setting] > 0]
    if settings[0] not in useful:
        return {settings[0]: 1.0}
    return {s: spreads[settings[0]] / spreads[s] / len(useful) for s in useful}


def mean_scores(
    search: Search, scores: Scores, factors: dict[Setting, float]
) -> tuple[float, float]:
    """Return the mean AUC of an average over the folds, and that less the optimism of a choice."""
    by_fold = search.tested_by_fold(factors, scores)
    own = np.array([search.metric(*tested) for tested in by_fold])
    return float(own.mean()), corrected_mean(scores.on_first(len(own)), own)


def averaged_path(path: Path, others: Sequence[Model], factors: Sequence[float]) -> Path:
    """Return the path of the best setting, followed by its average with models of others.

    The record of the average keeps what is known of the best setting's last model.
    """
    average = weighted_sum([path.models[path.size], *others], factors)
    size, models = len(average.coef), path.models
    if average.linear_coef is not None:
        # Models of one path all have a linear part, or none has.
        models = {n: _with_linear_part(model) for n, model in models.items()}
    last = next(record for record in path.records if record.n_basis == path.size)
    record: PathRecord = replace(last, n_basis=size, model=average)
    records = tuple(r for r in path.records if r.n_basis <= path.size)
    joined = Path({**models, size: average}, (*records, record), size, path.is_exhausted)
    return joined.with_models(joined.models)


def _with_linear_part(model: Model) -> Model:
    if model.linear_coef is not None:
        return model
    return replace(model, linear_coef=np.zeros(model.centres.shape[1]))
