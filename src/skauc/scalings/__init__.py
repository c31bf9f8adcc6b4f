"""Maps of each feature on its own: ranks, a smooth clip, logarithms.

A kernel compares rows by distance, so a feature with a few huge values hides the others. Ranks are
a monotone map per feature and do not depend on units or tails, which is much of the advantage that
trees have over kernels on raw tables. A smooth clip and logarithms keep more of the distances.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from skauc.data.training import TrainingData
from skauc.scalings.formulas import CLIP_LIMIT, FARTHEST, ClipScaling, LogScaling
from skauc.scalings.ranks import RankScaling
from skauc.scalings.relevance import screened
from skauc.scalings.rows import as_doubles, deciding_rows

__all__ = [
    "CLIP_LIMIT",
    "FARTHEST",
    "SCALINGS",
    "SCREENED",
    "ClipScaling",
    "LogScaling",
    "RankScaling",
    "Scaling",
    "as_doubles",
    "deciding_rows",
    "make_scaling",
]

Scaling: TypeAlias = RankScaling | ClipScaling | LogScaling

# The scaling that gives a smaller weight to features that seem irrelevant.
SCREENED = "screened"

_MAKERS: dict[str, Callable[..., Scaling]] = {
    "rank": partial(RankScaling.of, word="rank"),
    "normal": partial(RankScaling.of, word="normal"),
    SCREENED: screened,
    "clip": ClipScaling.of,
    "log": LogScaling.of,
}
SCALINGS = (None, *_MAKERS)


def make_scaling(word: str, data: TrainingData, n_jobs: int | None = None) -> Scaling:
    """Return the maps of a scaling for weighted, dense rows."""
    return _MAKERS[word](data, n_jobs=n_jobs)
