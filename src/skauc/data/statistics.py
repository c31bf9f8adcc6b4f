"""Weighted means and variances of features, in float64 and without a copy of X."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from skauc.exceptions import UnscaledFeaturesWarning
from skauc.support import quiet_overflow, row_slices, rows_per_block

# Rows on which principal axes are found.
_AXES_ROWS = 4000
# Subspace iterations for principal axes, how many more vectors they carry than are wanted, and the
# smallest square of a singular value relative to the largest.
_N_ITERATIONS = 2
_MORE_VECTORS = 10
_SMALLEST_SQUARE = 1e-10
# With at most this many rows per vector, the products of all rows take less time.
_SHORT = 2
# Numbers per block of rows: one megabyte in float64.
_BLOCK = 1 << 17
# Bits that `rounded` keeps. Sums over many rows agree in more bits than these in any order.
_BITS = 30
# Ratio of the largest to the smallest standard deviation above which features need scaling.
MOST_UNEVEN = 1000.0
# Ratio of mean to standard deviation, both of all features together, above which products of rows
# lose the digits that tell rows apart.
MOST_DISTANT = 1e5
# The same ratio for the linear term. It loses digits of the score only, not of kernel values.
MOST_DISTANT_LINEAR = 1e9
# Where rows remember their means and variances.
_KNOWN = "_feature_statistics"
# A standard deviation of less than this part of the mean is rounding error.
_CONSTANT = 1e-9


def feature_statistics(data) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted mean and variance of each feature, on one machine or on a cluster.

    They are computed once for each object, because several parts of a fit need them.
    """
    known = vars(data)
    if _KNOWN not in known:
        total, sums = data.add_up(_sums)
        with quiet_overflow():
            mean = sums / total[0]
            known[_KNOWN] = mean, data.add_up(_squares, mean) / total[0]
    return known[_KNOWN]


def overall_variance(data) -> float:
    """Return the weighted variance of all entries of X together, `rounded`."""
    mean, variance = feature_statistics(data)
    with quiet_overflow():
        overall = np.mean(variance + (mean - mean.mean()) ** 2)
        return float(rounded(overall, overall))


def leading_axes(data, n_axes: int) -> np.ndarray:
    """Return the leading right singular vectors of the weighted rows, found on a sample.

    The vectors are the columns of the result. The rows are not centred, so that sparse rows stay
    sparse.
    """
    return _leading_vectors(_weighted_sample(data), n_axes)


def _weighted_sample(data):
    """Return a sample of the rows times the roots of their weights, in a unit of a safe size."""
    sample = data.take(EvenlySpaced(_AXES_ROWS / max(data.n_rows, 1)))
    # In this unit, squares do not overflow.
    greatest = max(float(sample.X.max()), -float(sample.X.min()), np.finfo(sample.X.dtype).tiny)
    return _times(sample.X, np.sqrt(sample.weights) / greatest)


def _leading_vectors(A, n_vectors: int) -> np.ndarray:
    """Return the leading right singular vectors of a matrix as columns.

    The result depends on A^T A only, up to rounding errors, so it does not change if a row is split
    into several. Vectors of singular values that are zero but for rounding errors are left out.
    """
    is_short = A.shape[0] <= _SHORT * n_vectors
    spanning = A.T.astype(np.float64) if is_short else A.T @ _leading_span(A, n_vectors)
    products = spanning.T @ spanning
    products = products.toarray() if sparse.issparse(products) else products
    squares, turn = np.linalg.eigh(np.asarray(products, dtype=np.float64))
    kept = np.flatnonzero(squares > _SMALLEST_SQUARE * squares[-1])[::-1][:n_vectors]
    return spanning @ (turn[:, kept] / np.sqrt(squares[kept]))


def _leading_span(A, n_vectors: int) -> np.ndarray:
    """Return orthonormal columns that nearly span the leading left vectors.

    They are found by subspace iteration.
    """
    n_start = min(n_vectors + _MORE_VECTORS, *A.shape)
    start = np.random.default_rng(0).random((A.shape[1], n_start), dtype=A.dtype)
    start -= 0.5
    images = A @ start
    for _ in range(_N_ITERATIONS):
        spanning = linalg.qr(images, mode="economic")[0]
        images = A @ (A.T @ spanning)
    return linalg.qr(images, mode="economic")[0]


def _times(rows, factors: np.ndarray):
    """Return the rows, each multiplied by its factor, in their dtype."""
    factors = factors.astype(rows.dtype)
    if sparse.issparse(rows):
        return sparse.diags_array(factors, dtype=rows.dtype) @ rows
    return rows * factors[:, None]


@dataclass(frozen=True)
class EvenlySpaced:
    """A mask of about this share of the rows, by their number."""

    share: float

    def __call__(self, data) -> np.ndarray:
        """Return the mask."""
        numbers = data.row_numbers
        return np.floor((numbers + 1) * self.share) > np.floor(numbers * self.share)


def rounded(values: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return values rounded to nine digits relative to ``scale``.

    The last digits of a sum depend on the partition of the rows into blocks, and refinement
    amplifies a difference in the last digit of a kernel's width into another model.
    """
    unit = np.ldexp(1.0, np.maximum(np.frexp(scale)[1] - _BITS, -1074))
    return np.rint(values / unit) * unit


def warn_if_unscaled(
    mean: np.ndarray, spread: np.ndarray, names: Sequence[str] | None = None
) -> None:
    """Warn if the standard deviations of the features differ by more than a factor of 1,000.

    Parameters
    ----------
    mean, spread : ndarray of shape (n_features,)
        Means and standard deviations of the features. Constant features are ignored.
    names : sequence of str or None
        Names of the features; None for ``x0``, ``x1`` and so on.
    """
    with quiet_overflow():
        varying = np.flatnonzero(np.isfinite(spread) & (spread > _CONSTANT * np.abs(mean)))
    if len(varying) < 2:
        return
    largest, smallest = (int(varying[pick(spread[varying])]) for pick in (np.argmax, np.argmin))
    if spread[largest] / MOST_UNEVEN <= spread[smallest]:
        return
    names = [f"x{number}" for number in range(len(spread))] if names is None else names
    warnings.warn(
        "The standard deviations of the features differ by more than a factor of "
        f"{MOST_UNEVEN:,.0f}: {spread[largest]:.3g} for {str(names[largest])!r} and "
        f"{spread[smallest]:.3g} for {str(names[smallest])!r}. The kernel hardly sees the features "
        "with small values. Put sklearn.preprocessing.StandardScaler before the estimator in a "
        "pipeline, or use scaling='normal' where the estimator has that parameter.",
        UnscaledFeaturesWarning,
        stacklevel=4,
    )


def warn_if_far_from_zero(
    kernel,
    mean: np.ndarray,
    spread: np.ndarray,
    *,
    is_sparse: bool,
    has_linear_term: bool = False,
) -> None:
    """Warn if inner products cannot tell rows apart, because the rows are far from zero.

    Parameters
    ----------
    kernel : str or callable
        The name of the kernel. There is a warning for kernels that are computed from inner
        products: "linear", "polynomial", and "rbf" for sparse rows.
    mean, spread : ndarray of shape (n_features,)
        Means and standard deviations of the features.
    is_sparse : bool
        Whether the rows are a sparse array.
    has_linear_term : bool, default=False
        Whether the model has a linear term. There is a warning if the rows are farther from zero.
    """
    uses_products = ("linear", "polynomial", "rbf") if is_sparse else ("linear", "polynomial")
    if isinstance(kernel, str) and kernel in uses_products:
        limit, products = MOST_DISTANT, f"The inner products in kernel={kernel!r} lose"
    elif has_linear_term:
        limit, products = MOST_DISTANT_LINEAR, "The linear term loses"
    else:
        return
    with quiet_overflow():
        distance, width = np.linalg.norm(mean), np.linalg.norm(spread)
        if not width > 0 or not distance / width > limit:
            return
    warnings.warn(
        f"The rows are far from zero: the norm of their mean is {distance:.3g}, their standard "
        f"deviation is {width:.3g}. {products} the digits that tell such rows apart, and the model "
        "may rank poorly. Subtract the means of the features, "
        "for instance with sklearn.preprocessing.StandardScaler, or pass dense rows if they are "
        "sparse.",
        UnscaledFeaturesWarning,
        stacklevel=4,
    )


def _sums(rows) -> np.ndarray:
    """Return the total weight, once per feature, above the weighted sums."""
    with quiet_overflow():
        if sparse.issparse(rows.X):
            sums = rows.X.T.astype(np.float64, copy=False) @ rows.weights
        else:
            sums = sum(w @ block for block, w in _blocks(rows.X, rows.weights))
    return np.stack((np.full(len(sums), rows.weights.sum()), sums))


def _squares(rows, mean: np.ndarray) -> np.ndarray:
    """Return the weighted sums of squared distances from the mean."""
    with quiet_overflow():
        if sparse.issparse(rows.X):
            return _sparse_squares(rows.X, rows.weights, mean)
        return sum(w @ (block - mean) ** 2 for block, w in _blocks(rows.X, rows.weights))


def _sparse_squares(X, weights: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return the same for sparse rows: stored entries one by one, zeros by their total weight."""
    by_entry = np.repeat(weights, np.diff(X.indptr))
    n_features = X.shape[1]
    stored = by_entry * (X.data.astype(np.float64, copy=False) - mean[X.indices]) ** 2
    squares = np.bincount(X.indices, weights=stored, minlength=n_features)
    seen = np.bincount(X.indices, weights=by_entry, minlength=n_features)
    is_full = np.bincount(X.indices, minlength=n_features) >= X.shape[0]
    return squares + np.where(is_full, 0.0, np.maximum(weights.sum() - seen, 0.0)) * mean**2


def _blocks(X: np.ndarray, weights: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield blocks of rows in float64, with their weights."""
    for rows in row_slices(X.shape[0], rows_per_block(X.shape[1], _BLOCK)):
        yield X[rows].astype(np.float64, copy=False), weights[rows]
