"""Probabilities from scores: increasing functions, fitted to scores of rows not trained on.

The attributes have the names of scikit-learn's calibrators, so that everything that reads a
`CalibratedClassifierCV` reads these as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from sklearn.isotonic import isotonic_regression
from sklearn.linear_model import LogisticRegression

# With this many rows of the rarer class, the shape of the curve is taken from the data.
ENOUGH_FOR_ISOTONIC = 1_000
# The smallest slope of log-odds per standard deviation of the scores. Scores that do not rank get
# nearly constant probabilities in the same order.
_LEAST_SLOPE = 1e-3
# Scores of a smaller spread count as equal, because the slope would overflow.
_LEAST_SPREAD = 1e-300
# Shares of extreme weights may round to 0 or 1.
_RAREST = 1e-15


@dataclass(frozen=True)
class LogisticCalibration:
    """The probability 1 / (1 + exp(a_ score + b_)), Platt's function."""

    a_: float
    b_: float

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability of the positive class."""
        return expit(-(self.a_ * scores + self.b_))

    @property
    def middle(self) -> float:
        """The score with a probability of 0.5. If all probabilities are equal, it is 0."""
        return -self.b_ / self.a_ if self.a_ else 0.0

    def lowered(self, by: float) -> LogisticCalibration:
        """Return the function for lower scores."""
        b = 0.0 if by == self.middle and self.a_ else self.b_ + self.a_ * by
        return LogisticCalibration(self.a_, b)


@dataclass(frozen=True, eq=False)
class IsotonicCalibration:
    """A piecewise linear function through the given scores and probabilities."""

    X_thresholds_: np.ndarray
    y_thresholds_: np.ndarray

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability of the positive class."""
        return np.interp(scores, self.X_thresholds_, self.y_thresholds_)

    @property
    def middle(self) -> float:
        """The score with a probability of 0.5."""
        return float(np.interp(0.5, self.y_thresholds_, self.X_thresholds_))

    def lowered(self, by: float) -> IsotonicCalibration:
        """Return the function for lower scores."""
        return IsotonicCalibration(self.X_thresholds_ - by, self.y_thresholds_)


Calibrator = LogisticCalibration | IsotonicCalibration


def calibrate(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray, *, scores_per_row: float = 1.0
) -> Calibrator:
    """Fit probabilities to scores: logistic if a class has few rows, isotonic otherwise.

    A weight counts as so many rows. Weights below 1 on average are scaled to an average of 1. If a
    row has several scores, each of them counts as a part of a row.
    """
    counted = weights > 0
    scores, positive, weights = (
        scores[counted].astype(np.float64),
        positive[counted],
        weights[counted],
    )
    counts = weights / min(float(weights.mean()), 1.0) / scores_per_row
    n_fewest = min(counts[positive].sum(), counts[~positive].sum())
    fit = fit_isotonic if n_fewest >= ENOUGH_FOR_ISOTONIC else fit_logistic
    return fit(scores, positive, counts)


def fit_logistic(
    scores: np.ndarray, positive: np.ndarray, counts: np.ndarray
) -> LogisticCalibration:
    """Return Platt's function, with his targets instead of 0 and 1 and a slope that increases."""
    mean = np.average(scores, weights=counts)
    distances = scores - mean
    farthest = np.abs(distances).max() or 1.0  # squares of tiny distances would be 0
    spread = farthest * np.sqrt(np.average((distances / farthest) ** 2, weights=counts))
    negatives, positives = (counts[side].sum() for side in (~positive, positive))
    targets = np.where(positive, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    if not spread > _LEAST_SPREAD:
        return LogisticCalibration(0.0, -_log_odds(np.average(targets, weights=counts)))
    slope, offset = _logistic_regression(distances / spread, targets, counts)
    if slope < _LEAST_SLOPE:
        slope, offset = _LEAST_SLOPE, _log_odds(np.average(targets, weights=counts))
    slope /= spread
    return LogisticCalibration(-float(slope), float(slope * mean - offset))


def _log_odds(share: float) -> float:
    share = min(max(share, _RAREST), 1 - _RAREST)
    return float(np.log(share / (1 - share)))


def _logistic_regression(
    z: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> tuple[float, float]:
    """Return slope and offset of the log-odds. A target between 0 and 1 is a row of each class."""
    rows = np.concatenate((z, z))[:, None]
    labels = np.repeat([1, 0], len(z))
    shares = np.concatenate((targets, 1.0 - targets)) * np.concatenate((weights, weights))
    fitted = LogisticRegression(C=1e6, solver="newton-cholesky", tol=1e-8)
    fitted.fit(rows, labels, sample_weight=shares)
    return float(fitted.coef_[0, 0]), float(fitted.intercept_[0])


def fit_isotonic(
    scores: np.ndarray, positive: np.ndarray, counts: np.ndarray
) -> IsotonicCalibration:
    """Return isotonic regression that increases strictly: through the middles of its steps.

    Rows with the same probability in isotonic regression are one step; the curve goes through the
    mean score of each step (Oron and Flournoy, 2017). Before the first and after the last step it
    goes on to 0 and 1, at the distance of the range of the scores.
    """
    x, number = np.unique(scores, return_inverse=True)
    n = np.bincount(number, counts)
    y = np.bincount(number, counts * positive) / n
    level = isotonic_regression(y, sample_weight=n)
    step = np.concatenate(([0], np.cumsum(np.diff(level) > 0)))
    total, sums_x, sums_y = (np.bincount(step, values) for values in (n, n * x, n * y))
    # The end steps have only one class; half a row of each class keeps them off 0 and 1.
    levels = np.maximum.accumulate((sums_y + 0.5) / (total + 1.0))
    middles = sums_x / total
    kept = np.append(True, (np.diff(levels) > 0) & (np.diff(middles) > 0))
    span = (x[-1] - x[0]) or 1.0
    return IsotonicCalibration(
        np.concatenate(([x[0] - span], middles[kept], [x[-1] + span])),
        np.concatenate(([0.0], levels[kept], [1.0])),
    )
