"""What a search has found: the metric of each setting on each fold."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

import numpy as np
from scipy.stats import rankdata

from skauc.sparse.scoring import Job, Tested
from skauc.sparse.settings import Setting

# What is behind the best by this part of 1 - AUC has 1/e of its weight in an average. What has less
# than the least weight is left out (docs/results/development.md; all values nearby are as good).
DECAY = 0.1
LEAST_WEIGHT = 0.1

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True)
class Scores:
    """What was found for each setting, by the number of the fold."""

    by_setting: dict[Setting, dict[int, Tested]]

    def plus(self, fold: int, found: dict[Setting, Tested]) -> Scores:
        """Return the scores with those of one job."""
        by_setting = dict(self.by_setting)
        for setting, tested in found.items():
            # The scores of a fit that ended at this size come before those of a fit that went on.
            by_setting[setting] = {fold: tested, **by_setting.get(setting, {})}
        return Scores(by_setting)

    def new_jobs(self, settings: list[Setting], folds: range) -> list[Job]:
        """Return the jobs for settings and folds that have no score yet."""
        return [
            Job(setting, fold)
            for setting in settings
            for fold in folds
            if fold not in self.by_setting.get(setting, {})
        ]

    def metric(self, setting: Setting) -> np.ndarray:
        """Return the metric of a setting on its folds, in their order."""
        return np.array([tested.metric for _, tested in sorted(self.by_setting[setting].items())])

    def on_first(self, n_folds: int) -> dict[Setting, np.ndarray]:
        """Return the metric on the first folds, of settings that were tried on all of them."""
        return self._on(range(n_folds))

    def on_folds_of(self, setting: Setting) -> dict[Setting, np.ndarray]:
        """Return the metric on the folds of a setting, of all that were tried on all of them."""
        return self._on(sorted(self.by_setting[setting]))

    def _on(self, folds: Collection[int]) -> dict[Setting, np.ndarray]:
        """Return the metric on some folds, of settings that were tried on all of them."""
        return {
            setting: np.array([by_fold[fold].metric for fold in folds])
            for setting, by_fold in self.by_setting.items()
            if all(fold in by_fold for fold in folds)
        }

    def on_common_folds(self, settings: Collection[Setting]) -> Scores:
        """Return the scores on the folds that all of some settings were tried on."""
        common = set.intersection(*(set(self.by_setting[setting]) for setting in settings))
        return Scores(
            {
                setting: {fold: tested for fold, tested in by_fold.items() if fold in common}
                for setting, by_fold in self.by_setting.items()
            }
        )

    def by_c(self, setting: Setting) -> dict[float, np.ndarray]:
        """Return the metric of other Cs with the centres of a setting, fold by fold.

        The Cs are those that were tried on all folds of the setting.
        """
        found = [tested.by_c for _, tested in sorted(self.by_setting[setting].items())]
        Cs = sorted(set.intersection(*map(set, found)))
        return {C: np.array([by_c[C].metric for by_c in found]) for C in Cs}

    @property
    def n_most(self) -> int:
        """The largest number of first folds that some setting was tried on."""
        return max(map(_n_first, self.by_setting.values()), default=0)

    def as_results(self, n_folds: int) -> dict[str, np.ndarray | list]:
        """Return all scores in the form of scikit-learn's ``cv_results_``."""
        settings = list(self.by_setting)
        splits = np.full((len(settings), n_folds), np.nan)
        for row, by_fold in enumerate(self.by_setting.values()):
            for fold, tested in by_fold.items():
                splits[row, fold] = tested.metric
        means = np.nanmean(splits, axis=1)
        results: dict[str, np.ndarray | list] = {
            "params": [setting.parameters() for setting in settings],
            **{f"split{fold}_test_score": splits[:, fold] for fold in range(n_folds)},
            "mean_test_score": means,
            "std_test_score": np.nanstd(splits, axis=1),
            "rank_test_score": rankdata(-means, method="min").astype(np.int32),
        }
        for name in ("scaling", "linear_term", "rotate", "shapes", "whole_curve", "n_basis"):
            results[f"param_{name}"] = np.array([getattr(setting, name) for setting in settings])
        for name in ("C", "gamma", "refine"):
            values = np.empty(len(settings), dtype=object)
            values[:] = [getattr(setting, name) for setting in settings]
            results[f"param_{name}"] = values
        return results

    def best_so_far(self) -> tuple[Setting, float] | None:
        """Return the best of the settings tried on the most folds and its mean; None if empty."""
        n_folds = self.n_most
        if n_folds == 0:
            return None
        scores = self.on_first(n_folds)
        best = best_mean(scores)
        return best, float(scores[best].mean())


def _n_first(by_fold: dict[int, Tested]) -> int:
    """Return on how many folds, from the first one on, a setting was tried without a gap."""
    return next(fold for fold in count() if fold not in by_fold)


NO_SCORES = Scores({})


def best_mean(scores: dict[Setting, np.ndarray]) -> Setting:
    """Return the setting with the best mean, the smallest of several."""
    return max(scores, key=lambda setting: (scores[setting].mean(), -setting.n_basis))


def fading_weights(scores: dict[_Key, np.ndarray]) -> dict[_Key, float]:
    """Return weights that fall with the distance from the best mean, the largest one first.

    What would have too small a weight is left out.
    """
    means = {key: float(metric.mean()) for key, metric in scores.items()}
    best = max(means.values(), default=0.0)
    unit = max(DECAY * abs(1 - best), np.finfo(np.float64).tiny)
    weights = {key: float(np.exp((mean - best) / unit)) for key, mean in means.items()}
    in_order = sorted(weights, key=lambda key: -weights[key])
    return {key: weights[key] for key in in_order if weights[key] >= LEAST_WEIGHT}


def corrected_mean(scores: Collection[np.ndarray], chosen: np.ndarray) -> float:
    """Return the mean of the AUCs that were chosen, less the optimism of having chosen them.

    The optimism is estimated as by Tibshirani and Tibshirani (2009): in each fold, how much better
    the best setting of this fold is than what was chosen. With few rows it can exceed the mean
    itself. The result of positive scores is not negative.
    """
    best_of_fold = np.max([*scores, chosen], axis=0)
    corrected = float(np.mean(chosen) - np.mean(best_of_fold - chosen))
    return max(corrected, 0.0) if np.min(chosen) >= 0 else corrected
