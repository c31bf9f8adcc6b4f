"""Step functions of numbers: the log odds of a positive row in intervals of a column.

A kernel sees smooth functions of a column. Where the odds jump, at an amount that a tax law or a
form has set, a step function sees more. `fit_steps` finds intervals by a decision tree over one
column and compares the log odds of the intervals with a smooth function of the ranks, a logistic
regression on splines. Both are cross-fitted. The step function is kept if its log loss is lower by
more than noise.

Everything is computed from counts: rows by fold, bin of the column and class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from sklearn.preprocessing import SplineTransformer
from sklearn.tree import DecisionTreeClassifier

# Rows of the rarer class from which on columns are examined.
FEWEST_OF_CLASS = 200
# Columns with fewer distinct values have few intervals: a kernel sees them.
FEWEST_VALUES = 9
MOST_BINS = 1024
MOST_INTERVALS = 128
FEWEST_IN_INTERVAL = 10
# The gain of log loss over the smooth function, in standard errors, from which on steps are kept.
LEAST_GAIN = 3.0
# The log odds of an interval are drawn towards those of all rows, as if it had this many rows more
# and this many positive rows more.
_MORE_ROWS, _MORE_POSITIVE = 5.0, 2.0
_KNOTS = 4
# Decimals of the numbers of intervals, which have a standard deviation of 1.
_DECIMALS = 4
_RIDGE = 1.0
_NEWTON_STEPS = 12


@dataclass(frozen=True, eq=False)
class StepFunction:
    """A number for each interval (.., e_1], (e_1, e_2], ..., (e_k, ..), and one for a gap."""

    edges: np.ndarray
    numbers: np.ndarray
    missing: float

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the numbers of values."""
        numbers = np.append(self.numbers, self.missing)
        return numbers[bins_of(values, self.edges)]


def bins_of(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the number of the interval of each value; a gap is in one after the last."""
    bins = np.searchsorted(edges, values, side="left")
    bins[np.isnan(values)] = len(edges) + 1
    return bins


def fit_steps(
    values: np.ndarray, positive: np.ndarray, folds: np.ndarray
) -> tuple[StepFunction, np.ndarray] | None:
    """Return the step function of a column and cross-fitted numbers of its rows, or None.

    ``folds`` has the number of the fold of each row.
    """
    known = _representatives(values)
    if len(known) < FEWEST_VALUES:
        return None
    middles = _middles(known)
    bins = bins_of(values, middles)
    counts = _counts(bins, positive, folds, len(known) + 1)
    others = counts.sum(axis=0) - counts
    design = _spline_design(counts[:, :-1].sum(axis=(0, 2)))
    by_steps = [_step_log_odds(fold)[0] for fold in others]
    by_splines = [_smooth_log_odds(design, fold) for fold in others]
    if _gain(counts, by_steps, by_splines) < LEAST_GAIN:
        return None
    log_odds, starts = _step_log_odds(counts.sum(axis=0))
    numbers = np.stack(by_steps)[folds, bins]
    mean, deviation = numbers.mean(), numbers.std()
    scaled = np.round((log_odds - mean) / deviation, _DECIMALS)
    ends = starts[1:] - 1
    around = np.column_stack((known[ends], middles[ends], known[ends + 1])).tolist()
    edges = np.array([_short_between(*each) for each in around])
    steps = StepFunction(edges, scaled[starts], float(scaled[-1]))
    return steps, (numbers - mean) / deviation


def _representatives(values: np.ndarray) -> np.ndarray:
    """Return the distinct values, or distinct quantiles if there are many, in ascending order."""
    known = np.unique(values[~np.isnan(values)])
    if len(known) <= MOST_BINS:
        return known
    places = np.linspace(0, 1, MOST_BINS)
    return np.unique(np.nanquantile(values, places, method="closest_observation"))


def _middles(known: np.ndarray) -> np.ndarray:
    middles = known[:-1] + 0.5 * np.diff(known)
    # The middle of two floats next to each other may be the larger one.
    return np.where(middles < known[1:], middles, known[:-1])


def _short_between(low: float, middle: float, high: float) -> float:
    """Return a number near the middle of low <= number < high, with as few digits as possible."""
    texts = (f"{middle:.{n_digits}g}" for n_digits in range(1, 18))
    return next(number for number in map(float, texts) if low <= number < high)


def _counts(bins: np.ndarray, positive: np.ndarray, folds: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the number of rows by fold, bin and class."""
    n_folds = int(folds.max()) + 1
    cells = (folds * n_bins + bins) * 2 + positive
    return np.bincount(cells, minlength=n_folds * n_bins * 2).reshape(n_folds, n_bins, 2) * 1.0


def _step_log_odds(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the log odds of each bin, and the first bin of each interval.

    The last bin is the one of gaps. It is an interval of its own.
    """
    known, n_bins = counts[:-1], len(counts) - 1
    places = np.tile(np.arange(n_bins), 2)[:, None]
    tree = DecisionTreeClassifier(
        max_leaf_nodes=MOST_INTERVALS,
        min_weight_fraction_leaf=min(FEWEST_IN_INTERVAL / known.sum(), 0.5),
        random_state=0,
    ).fit(places, np.repeat((0, 1), n_bins), sample_weight=known.T.ravel())
    splits = tree.tree_.threshold[tree.tree_.feature >= 0]
    starts = np.append(0, np.sort(np.ceil(splits).astype(int)))
    sums = np.vstack((np.add.reduceat(known, starts), counts[-1]))
    share = counts[:, 1].sum() / counts.sum()
    more = _MORE_ROWS + _MORE_POSITIVE / min(share, 1 - share)
    shares = (sums[:, 1] + more * share) / (sums.sum(axis=1) + more)
    log_odds = np.log(shares / (1 - shares))
    lengths = np.diff(np.append(starts, n_bins))
    return np.append(np.repeat(log_odds[:-1], lengths), log_odds[-1]), starts


def _spline_design(n_rows: np.ndarray) -> np.ndarray:
    """Return splines of the mid-ranks of the bins, and an indicator of gaps."""
    ranks = (np.cumsum(n_rows) - 0.5 * n_rows) / n_rows.sum()
    knots = np.linspace(ranks[0], ranks[-1], _KNOTS)[:, None]
    splines = SplineTransformer(knots=knots).fit_transform(ranks[:, None])
    design = np.zeros((len(n_rows) + 1, splines.shape[1] + 1))
    design[:-1, :-1] = splines
    design[-1, -1] = 1.0
    return design


def _smooth_log_odds(design: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the log odds of each bin by logistic regression, a few steps of Newton's method."""
    n_rows, n_positive = counts.sum(axis=1), counts[:, 1]
    share = n_positive.sum() / n_rows.sum()
    start = np.log(share / (1 - share))
    coef = np.zeros(design.shape[1])
    for _ in range(_NEWTON_STEPS):
        shares = expit(start + design @ coef)
        gradient = design.T @ (n_rows * shares - n_positive) + _RIDGE * coef
        weights = n_rows * shares * (1 - shares)
        hessian = (design.T * weights) @ design + _RIDGE * np.eye(len(coef))
        coef -= np.linalg.solve(hessian, gradient)
    return start + design @ coef


def _gain(counts: np.ndarray, log_odds: list[np.ndarray], baseline: list[np.ndarray]) -> float:
    """Return the mean gain of log loss over the baseline, in standard errors."""
    gains = _losses(np.stack(baseline)) - _losses(np.stack(log_odds))
    n_rows = counts.sum()
    mean = np.sum(counts * gains) / n_rows
    variance = np.sum(counts * (gains - mean) ** 2) / n_rows
    return float(mean / np.sqrt(variance / n_rows)) if variance > 0 else 0.0


def _losses(log_odds: np.ndarray) -> np.ndarray:
    """Return the log losses of a negative and of a positive row, along a new last axis."""
    return np.stack((np.logaddexp(0, log_odds), np.logaddexp(0, -log_odds)), axis=-1)
