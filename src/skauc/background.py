"""A few weighted training rows that stand for all of them.

An explanation compares a row with "any row". The model keeps a small summary of the training rows
for that, so that a score can be explained where the training data are not at hand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skauc.data.sampling import N_BITS, hash_rows
from skauc.data.training import TrainingData
from skauc.feature_map import FeatureMap
from skauc.kernels import Rows, is_sparse
from skauc.scalings import Scaling
from skauc.support import quiet_overflow

# Number of rows in a summary.
N_ROWS = 16
# Number of training rows that a summary is chosen from.
N_CONSIDERED = 500
# Values further from the mean than this many standard deviations count as this far.
_FARTHEST = 5.0
# Short numbers are precise enough if they change no value by more than this part of the spread.
_PRECISION = 1e-4
# Bits of a float32 that are set to zero. Model files compress them away.
_ZERO_BITS = 8


@dataclass(frozen=True, eq=False)
class Background:
    """Weighted rows, with the features that the classifier was fitted to.

    Attributes
    ----------
    rows : ndarray or CSR array of shape (n_rows, n_features)
        The rows.
    weights : ndarray of shape (n_rows,)
        Their weights, which add up to 1.
    """

    rows: Rows
    weights: np.ndarray


def summarise(data: TrainingData, scaling: Scaling | None = None) -> Background:
    """Choose a few training rows whose averages are close to those of all rows.

    ``scaling`` holds the maps of the features. Data on a cluster work as well.
    """
    sample = data.take(_HashedShare(min(N_CONSIDERED / data.n_rows, 1.0)))
    return summarise_rows(sample.X, sample.weights, scaling)


def summarise_rows(rows: Rows, weights: np.ndarray, scaling: Scaling | None = None) -> Background:
    """Choose a few rows whose averages are close to those of all rows.

    The rows are chosen one by one, so that the mean of a Gaussian kernel over the chosen rows comes
    close to its mean over all rows (kernel herding). A row that is chosen twice gets twice the
    weight. Averages of smooth functions over these rows are closer than over as many random rows.

    References
    ----------
    Chen, Welling, Smola (2010). Super-samples from kernel herding. Uncertainty in Artificial
    Intelligence.
    """
    counted = np.flatnonzero(weights > 0)
    if len(counted) > N_CONSIDERED:
        counted = counted[np.argsort(hash_rows(counted, seed=0))[:N_CONSIDERED]]
    rows, shares = rows[counted], weights[counted] / weights[counted].sum()
    if len(counted) <= N_ROWS:
        return Background(_in_short(rows), shares)
    with quiet_overflow():
        mapped = rows if scaling is None else FeatureMap(scaling).transform_in_fit(rows)
        kernel = _kernel_matrix(mapped)
    chosen, counts = np.unique(_herd(kernel, shares), return_counts=True)
    return Background(_in_short(rows[chosen]), counts / counts.sum())


@dataclass(frozen=True)
class _HashedShare:
    """A random share of the rows that does not depend on how they are partitioned."""

    share: float

    def __call__(self, data: TrainingData) -> np.ndarray:
        """Return a mask of the rows."""
        mask = hash_rows(data.places, seed=0) < int(self.share * (1 << N_BITS))
        mask &= data.weights > 0
        return mask


def _herd(kernel: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the chosen rows; the same row may be chosen several times."""
    mean, total = kernel @ shares.astype(kernel.dtype), np.zeros(len(kernel))
    chosen = np.empty(N_ROWS, dtype=np.int64)
    for number in range(N_ROWS):
        chosen[number] = np.argmax(mean - total / (number + 1))
        total += kernel[chosen[number]]
    return chosen


def _kernel_matrix(rows: Rows) -> np.ndarray:
    """Return a Gaussian kernel matrix of standardised rows."""
    if is_sparse(rows):
        rows = rows.astype(np.float64)
        mean = np.asarray(rows.mean(axis=0)).ravel()
        squares = np.asarray(rows.multiply(rows).mean(axis=0)).ravel()
        scaled = rows.multiply(_inverse(np.sqrt(np.maximum(squares - mean**2, 0.0)))).tocsr()
        products = (scaled @ scaled.T).toarray()
    else:
        rows = np.asarray(rows, dtype=np.float64)
        scaled = (rows - rows.mean(axis=0)) * _inverse(rows.std(axis=0))
        scaled = np.clip(np.nan_to_num(scaled), -_FARTHEST, _FARTHEST).astype(np.float32)
        products = scaled @ scaled.T
    squares = np.diag(products).copy()
    distances = np.multiply(products, -2.0, out=products)
    distances += squares
    distances += squares[:, None]
    if not np.isfinite(squares).all():
        np.nan_to_num(distances, copy=False)
    np.maximum(distances, 0.0, out=distances)
    distances /= -(distances.mean() or 1.0)
    return np.exp(distances, out=distances)


def _inverse(deviation: np.ndarray) -> np.ndarray:
    """Return 1 / deviation, 0 for a constant feature."""
    usable = (deviation > 0) & np.isfinite(deviation)
    return np.divide(1.0, deviation, out=np.zeros_like(deviation), where=usable)


def _in_short(rows: Rows) -> Rows:
    """Return the rows in short floats if these are precise enough for every feature."""
    with quiet_overflow():
        single = rows.astype(np.float32)
        _shorten(single.data if is_sparse(single) else single)
        if is_sparse(rows):
            is_close = np.abs(single.data - rows.data) <= _PRECISION * np.abs(rows.data)
        else:
            spread = np.ptp(rows, axis=0)
            usual = np.median(spread[spread > 0]) if spread.any() else 0.0
            is_close = np.abs(single - rows) <= _PRECISION * np.maximum(spread, usual)
    return single if np.all(is_close) else rows


def _shorten(numbers: np.ndarray) -> None:
    """Round float32 numbers in place to fewer bits."""
    bits = numbers.view(np.uint32)
    bits += np.uint32(1 << (_ZERO_BITS - 1))
    bits &= np.uint32((0xFFFFFFFF << _ZERO_BITS) & 0xFFFFFFFF)
