"""How settings are compared: which of them is ahead, and what noise may explain.

Another setting than the usual one is chosen if its mean is better by more than one standard error
of the difference, fold by fold: of many settings that are equally good, the best one is only the
luckiest. Settings without a linear term, and ridges, must be better by two standard errors: they
are much better on data with little noise, and much worse elsewhere. The setting with the largest
lead is chosen, after these standard errors are subtracted.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from skauc.sparse.scores import Scores, best_mean
from skauc.sparse.settings import Setting

# Folds on which all settings of a round are scored, at least.
FIRST_FOLDS = 2
# Standard errors by which a setting must be better than the usual one; more for another kind of
# model (docs/results/development.md).
MARGIN, OTHER_MARGIN = 1.0, 2.0
# A size that loses no more than this part of 1 - AUC to another one is as good.
SMALL_LOSS = 0.05


@dataclass(frozen=True)
class FoldComparison:
    """The rules by which the settings of a search are compared on its folds.

    ``usual`` is the setting that is kept unless another one is better; it has the size at which
    settings are compared. There are ``n_folds`` folds, which test each row ``tests_per_row`` times.
    ``are_few`` tells whether the rarer class has few rows.
    """

    usual: Setting
    n_folds: int
    tests_per_row: float
    are_few: bool

    @property
    def n_first(self) -> int:
        """Number of folds that decide what is tried further: a third of them, at least two."""
        return min(max(FIRST_FOLDS, self.n_folds // 3), self.n_folds)

    @property
    def n_last(self) -> int:
        """Number of folds of the last rounds: all of them if the rarer class has few rows."""
        return self.n_folds if self.are_few else self.n_first

    def best(self, scores: Scores) -> Setting:
        """Return the setting that is furthest ahead of the usual one, or the usual one itself.

        What noise may explain does not count.
        """
        usual, by_setting = self.usual, scores.on_first(scores.n_most)
        compared = {s: by for s, by in by_setting.items() if s.n_basis == usual.n_basis}
        if usual not in compared:
            return best_mean(compared)
        leads = {s: self._lead(s, by - compared[usual]) for s, by in compared.items()}
        leads[usual] = 0.0
        return max(leads, key=lambda setting: (leads[setting], setting == usual))

    def _lead(self, setting: Setting, difference: np.ndarray) -> float:
        """Return by how much a setting is ahead, less what noise may explain."""
        margin = MARGIN if setting.is_like(self.usual) else OTHER_MARGIN
        return float(difference.mean()) - margin * self.standard_error(difference)

    def is_better(self, scores: np.ndarray, others: np.ndarray) -> bool:
        """Tell whether scores are better than others by more than noise, fold by fold."""
        difference = scores - others
        return bool(difference.mean() > self.standard_error(difference))

    def standard_error(self, values: np.ndarray) -> float:
        """Return the standard error of the mean over folds.

        Folds that are drawn again test the same rows, so they do not count as further ones.
        """
        if len(values) == 1:
            return 0.0
        n_distinct = self.n_folds / self.tests_per_row
        return float(values.std(ddof=1) / np.sqrt(min(len(values), n_distinct)))

    def loses_little(self, setting: Setting, best: Setting, scores: Scores) -> bool:
        """Tell whether a setting is no worse than the best by more than noise, nor 5% of 1 - AUC.

        Both are compared on the folds that both were tried on. The noise is one standard error of
        the difference, fold by fold.
        """
        common = scores.on_common_folds((setting, best))
        difference = common.metric(best) - common.metric(setting)
        most = SMALL_LOSS * abs(1 - float(common.metric(best).mean()))
        return float(difference.mean()) <= min(self.standard_error(difference), most)

    def sizes(self, scores: Scores) -> Scores:
        """Return the scores of the best setting in all sizes that may be chosen."""
        best, known = self.best(scores), scores.on_first(min(self.n_last, scores.n_most))
        sizes = [setting for setting in known if setting.of_size(best.n_basis) == best]
        return Scores({setting: scores.by_setting[setting] for setting in sizes})

    def mean(self, setting: Setting, scores: Scores) -> float:
        """Return the mean of the metric of a setting, as if it had been tried on all folds."""
        return self.level(float(scores.metric(setting).mean()), scores.by_setting[setting], scores)

    def level(self, mean: float, folds: Collection[int], scores: Scores) -> float:
        """Return what a mean over some folds would be over all folds of the usual setting.

        Some folds are easier than others. The usual setting tells by how much. Of a mean that is
        raised, 1 - AUC changes by the same part, so that none exceeds 1. No mean becomes negative.
        """
        usual = {fold: tested.metric for fold, tested in scores.by_setting[self.usual].items()}
        if not set(folds) < set(usual):
            return mean
        on_some = float(np.mean([usual[fold] for fold in folds]))
        shift = float(np.mean(list(usual.values()))) - on_some
        if shift > 0 and mean <= 1 and on_some < 1:
            shift *= (1 - mean) / (1 - on_some)
        return mean + shift if mean < 0 else max(mean + shift, 0.0)

    def better_c(self, setting: Setting, scores: Scores) -> list[float]:
        """Return the best C with the centres of a setting, if it is better than its own.

        One fold cannot tell.
        """
        by_c, own = scores.by_c(setting), scores.metric(setting)
        if len(own) == 1:
            return []
        best = sorted(by_c, key=lambda C: -by_c[C].mean())[:1]
        return [C for C in best if self.is_better(by_c[C], own)]

    def estimated_c(self, setting: Setting, scores: Scores) -> float:
        """Return the C of a setting, the geometric mean over the folds if fits estimate it.

        Small models of a path come before the estimate, so they have that of the compared size.
        """
        compared = setting.of_size(max(setting.n_basis, self.usual.n_basis))
        found = scores.by_setting.get(compared) or scores.by_setting[setting]
        Cs = [tested.C for tested in found.values()]
        return float(np.exp(np.mean(np.log(Cs))))
