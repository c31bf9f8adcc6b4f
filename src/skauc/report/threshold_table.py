"""The flagged rows at each threshold of the slider."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skauc.exceptions import InvalidParameterError
from skauc.metrics import OperatingPoints, operating_points
from skauc.report.scored import LabelledScores
from skauc.validation import check_positive, is_sequence

MOST_THRESHOLDS = 2_000


@dataclass(frozen=True)
class ThresholdTable:
    """Flagged rows of each class at each threshold, in descending order of the thresholds.

    A row is flagged if its score is at least the threshold. ``probabilities`` has the thresholds
    for the probabilities that flag the same rows, None if there are no others. ``own`` is the
    entry of the threshold that the model itself uses, None if it does not use a threshold on its
    score.
    """

    thresholds: tuple[float, ...]
    probabilities: tuple[float, ...] | None
    true_positives: tuple[float, ...]
    false_positives: tuple[float, ...]
    n_positive: float
    n_negative: float
    n_distinct: int
    own: int | None
    false_alarm_cost: float
    miss_cost: float


def threshold_table(
    points: OperatingPoints,
    own: float | None,
    costs,
    probabilities: np.ndarray | None,
) -> ThresholdTable:
    """Thin the operating points for the slider; ``probabilities`` has one threshold per point."""
    false_alarm, miss = _check_costs(costs, points)
    # Thresholds descend. The entry of the model is the first one with a threshold up to `own`.
    entry = None if own is None else int(np.searchsorted(-points.thresholds, -own))
    kept = points.thinned(MOST_THRESHOLDS, keep=() if entry is None else (entry,))
    if entry is not None:
        entry = int(np.searchsorted(-kept.thresholds, -points.thresholds[entry]))
    if probabilities is not None:
        probabilities = probabilities[np.searchsorted(-points.thresholds, -kept.thresholds)]
    return ThresholdTable(
        thresholds=tuple(kept.thresholds.tolist()),
        probabilities=None if probabilities is None else tuple(probabilities.tolist()),
        true_positives=_counts(kept.true_positives),
        false_positives=_counts(kept.false_positives),
        n_positive=_counts(kept.true_positives[-1:])[0],
        n_negative=_counts(kept.false_positives[-1:])[0],
        n_distinct=points.n_distinct,
        own=entry,
        false_alarm_cost=false_alarm,
        miss_cost=miss,
    )


def probability_thresholds(
    scored: LabelledScores, probabilities: np.ndarray | None
) -> np.ndarray | None:
    """Return the threshold for probabilities that flags the same rows, for each operating point.

    None if there are no probabilities, if they are the scores, or if they rank the rows in another
    way. A threshold flags more rows where several scores have the same probability.
    """
    if probabilities is None or np.array_equal(probabilities, scored.scores):
        return None
    _, rows = np.unique(scored.scores, return_index=True)
    ascending = probabilities[rows]
    if (np.diff(ascending) < 0).any():
        return None
    points = operating_points(probabilities, scored.positive, scored.weights)
    _, entries = np.unique(-ascending[::-1], return_inverse=True)
    return np.clip(points.thresholds[np.append(0, entries + 1)], 0.0, 1.0)


def own_threshold(model, X_test, scores: np.ndarray) -> float | None:
    """Return the lowest score that the model predicts positive; None if it uses no threshold."""
    predicted = np.asarray(model.predict(X_test)) == model.classes_[1]
    if not predicted.any():
        return np.inf
    lowest = scores[predicted].min()
    return None if (scores[~predicted] >= lowest).any() else float(lowest)


def _check_costs(costs, points: OperatingPoints) -> tuple[float, float]:
    if costs is None:
        ratio = points.n_negative / points.n_positive
        return 1.0, float(f"{ratio:.2g}")
    advice = "Pass the cost of a false alarm and of a miss, for instance (1, 20)."
    if not is_sequence(costs) or len(costs) != 2:
        raise InvalidParameterError(f"`costs` must be two numbers; got {costs!r}. {advice}")
    return check_positive("costs", costs[0], advice), check_positive("costs", costs[1], advice)


def _counts(values: np.ndarray) -> tuple[float, ...]:
    """Return counts as integers, or as floats if they are sums of weights."""
    if np.all(values == np.floor(values)):
        return tuple(int(value) for value in values)
    return tuple(float(f"{value:.12g}") for value in values)
