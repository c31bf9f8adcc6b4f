"""Bootstrap intervals of the partial AUC and of the average precision.

The draws are those of `curve_bands`: a smoothed Bayesian bootstrap within each class. The lower
limit counts half of each gap between adjacent scores against the model, the upper limit none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import average_precision_score

from skauc.metrics.bands import curve_bands, draw_rates
from skauc.metrics.partial_area import area_in_corner, check_corner, partial_auc, standardized
from skauc.metrics.thresholds import operating_points
from skauc.support import quiet_overflow
from skauc.validation import check_fraction, check_integer, check_scored


@dataclass(frozen=True)
class BootstrapInterval:
    """An estimate with its confidence limits.

    Attributes
    ----------
    value : float
        The estimate.
    low, high : float
        The confidence limits, low <= value <= high.
    """

    value: float
    low: float
    high: float


def partial_auc_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    sample_weight: ArrayLike | None = None,
    standardize: bool = True,
    confidence_level: float = 0.95,
    n_draws: int = 1000,
    random_state: int | np.random.Generator | None = 0,
    pos_label: Any = None,
) -> BootstrapInterval:
    """Compute the partial AUC with a bootstrap interval.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels. There must be two distinct values.
    y_score : array-like of shape (n_samples,)
        Scores. Higher scores mean more positive.
    max_fpr, min_tpr : float, default=None
        As in `partial_auc`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    standardize : bool, default=True
        As in `partial_auc`.
    confidence_level : float, default=0.95
        Confidence level, between 0 and 1.
    n_draws : int, default=1000
        Number of bootstrap samples.
    random_state : int, Generator or None, default=0
        Seed of the samples.
    pos_label : label, default=None
        Label of the positive class. If None, it is the larger label in sorted order.

    Returns
    -------
    interval : BootstrapInterval
        Has the attributes `value`, `low` and `high`.

    Examples
    --------
    >>> from skauc.metrics import partial_auc_interval
    >>> y_true, y_score = [0, 0, 0, 0, 1, 1, 1, 1] * 9, [1, 2, 3, 6, 4, 5, 7, 8] * 9
    >>> interval = partial_auc_interval(y_true, y_score, max_fpr=0.5)
    >>> bool(interval.low < interval.value < interval.high)
    True
    """
    level = _check_draws(confidence_level, n_draws)
    corner = check_corner(max_fpr, min_tpr)
    rows = check_scored(y_true, y_score, sample_weight, pos_label)
    value = partial_auc(
        rows[1],
        rows[0],
        max_fpr=max_fpr,
        min_tpr=min_tpr,
        sample_weight=rows[2],
        standardize=standardize,
        pos_label=True,
    )
    smoothed, plain = draw_rates(operating_points(*rows), n_draws, random_state)
    tail = (1 - level) / 2
    low, high = (
        float(np.quantile(area_in_corner(*rates, *corner), quantile))
        for rates, quantile in ((smoothed, tail), (plain, 1 - tail))
    )
    if standardize:
        low, high = standardized(low, *corner), standardized(high, *corner)
    return BootstrapInterval(value, min(low, value), max(high, value))


def average_precision_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_draws: int = 1000,
    random_state: int | np.random.Generator | None = 0,
    pos_label: Any = None,
) -> BootstrapInterval:
    """Compute the average precision with a bootstrap interval, for the class ratio of the rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels. There must be two distinct values.
    y_score : array-like of shape (n_samples,)
        Scores. Higher scores mean more positive.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    confidence_level : float, default=0.95
        Confidence level, between 0 and 1.
    n_draws : int, default=1000
        Number of bootstrap samples.
    random_state : int, Generator or None, default=0
        Seed of the samples.
    pos_label : label, default=None
        Label of the positive class. If None, it is the larger label in sorted order.

    Returns
    -------
    interval : BootstrapInterval
        Has the attributes `value`, `low` and `high`.

    Examples
    --------
    >>> from skauc.metrics import average_precision_interval
    >>> interval = average_precision_interval([0, 0, 1, 1] * 9, [0.1, 0.4, 0.35, 0.8] * 9)
    >>> round(interval.value, 3)
    0.833
    """
    level = _check_draws(confidence_level, n_draws)
    scores, positive, weights = check_scored(y_true, y_score, sample_weight, pos_label)
    with quiet_overflow():
        value = float(average_precision_score(positive, scores, sample_weight=weights))
    bands = curve_bands(
        operating_points(scores, positive, weights),
        confidence_level=level,
        n_draws=n_draws,
        random_state=random_state,
    )
    low, high = bands.average_precision
    return BootstrapInterval(value, min(low, value), max(high, value))


def _check_draws(confidence_level: float, n_draws: int) -> float:
    check_integer("n_draws", n_draws, 2, "1000 is a good choice.")
    return check_fraction("confidence_level", confidence_level, "Use 0.95 for a 95 % interval.")
