"""Which setting a search uses, and with how many centres."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skauc.sparse.scores import Scores, best_mean, corrected_mean
from skauc.sparse.search import Search, n_centres
from skauc.sparse.settings import Setting


@dataclass(frozen=True, eq=False)
class Decision:
    """The setting to use, and its mean AUC corrected for the choice.

    ``sizes`` has the parameters and the mean AUC that each value of ``size`` stands for.
    """

    setting: Setting
    score: float
    sizes: dict[str, dict]


def make_decision(search: Search, scores: Scores, size: str) -> Decision:
    """Return what was decided on the scores so far."""
    by_setting = search.sizes(scores)
    choices = {name: choice(search, by_setting) for name, choice in _CHOICES.items()}
    chosen = choices[size]
    is_usual = chosen.of_size(search.usual.n_basis) == search.usual
    competing = [] if is_usual else list(scores.on_first(scores.n_most).values())
    sizes = {
        name: {
            "params": setting.parameters(),
            "mean_test_score": float(by_setting[setting].mean()),
        }
        for name, setting in choices.items()
    }
    return Decision(chosen, corrected_mean(competing, by_setting[chosen]), sizes)


def best_size(search: Search, scores: dict[Setting, np.ndarray]) -> Setting:
    """Return the setting of the usual size, or the largest one if the usual one loses more.

    The best of many sizes would be a matter of luck.
    """
    largest = max(scores, key=n_centres)
    usual = next((s for s in scores if s.n_basis == search.usual.n_basis), largest)
    return usual if search.loses_little(scores[usual], scores[largest]) else largest


def smallest(search: Search, scores: dict[Setting, np.ndarray]) -> Setting:
    """Return the smallest setting that loses little."""
    best = scores[best_mean(scores)]
    good = {s: by for s, by in scores.items() if search.loses_little(by, best)}
    n_basis = min(setting.n_basis for setting in good)
    return best_mean({s: by for s, by in good.items() if s.n_basis == n_basis})


# What the parameter ``size`` means.
_CHOICES: dict[str, Callable[[Search, dict[Setting, np.ndarray]], Setting]] = {
    "best": best_size,
    "small": smallest,
}
SIZES = tuple(_CHOICES)
