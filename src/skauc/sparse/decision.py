"""Which setting a search uses, and with how many centres."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from skauc.sparse.comparison import FoldComparison
from skauc.sparse.scores import Scores, corrected_mean
from skauc.sparse.settings import Setting, n_centres


@dataclass(frozen=True, eq=False)
class Decision:
    """The setting to use, and its mean AUC corrected for the choice.

    ``sizes`` has the parameters and the mean AUC that each value of ``size`` stands for.
    """

    setting: Setting
    score: float
    sizes: dict[str, dict]


def make_decision(comparison: FoldComparison, scores: Scores, size: str) -> Decision:
    """Return what was decided on the scores so far."""
    tried = comparison.sizes(scores)
    choices = {name: choice(comparison, tried) for name, choice in _CHOICES.items()}
    chosen = choices[size]
    is_usual = chosen.of_size(comparison.usual.n_basis) == comparison.usual
    competing = [] if is_usual else list(scores.on_folds_of(chosen).values())
    sizes = {
        name: {
            "params": setting.parameters(),
            "mean_test_score": comparison.mean(setting, scores),
        }
        for name, setting in choices.items()
    }
    corrected = corrected_mean(competing, scores.metric(chosen))
    return Decision(chosen, comparison.level(corrected, scores.by_setting[chosen], scores), sizes)


def best_size(comparison: FoldComparison, scores: Scores) -> Setting:
    """Return the setting of the usual size, or the largest one if the usual one loses more.

    The best of many sizes would be a matter of luck.
    """
    largest = max(scores.by_setting, key=n_centres)
    usual = next((s for s in scores.by_setting if s.n_basis == comparison.usual.n_basis), largest)
    return usual if comparison.loses_little(usual, largest, scores) else largest


def smallest(comparison: FoldComparison, scores: Scores) -> Setting:
    """Return the smallest setting that loses little to the best size."""
    best = best_size(comparison, scores)
    good = [s for s in scores.by_setting if comparison.loses_little(s, best, scores)]
    return min(good, key=n_centres)


# What the parameter ``size`` means.
_CHOICES: dict[str, Callable[[FoldComparison, Scores], Setting]] = {
    "best": best_size,
    "small": smallest,
}
SIZES = tuple(_CHOICES)
