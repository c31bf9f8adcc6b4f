"""Kernels: their parameters, their formulas, and blocks of their values.

A kernel makes *columns*: ``kernel.columns(centres, dtype)`` prepares the centres once and returns
a function that maps a block of rows to the matrix k(row, centre). Dense and sparse rows part ways
inside that function and nowhere after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.validation import check_choice, check_positive, check_whole_number

Rows = np.ndarray | sparse.csr_array
Columns = Callable[[Rows], np.ndarray]

KERNELS = ("rbf", "laplacian", "polynomial", "linear")

# Above this squared distance (in units of 1/gamma) between a centre and the origin of a block,
# the exponent of the augmented product loses more than 5 of float32's 7 digits: use float64.
_FLOAT32_REACH = 256.0


class Kernel(Protocol):
    """What the rest of the library knows of a kernel."""

    def columns(self, centres: Rows, dtype) -> Columns:
        """Return the function that maps rows to the block k(row, centre)."""

    def diagonal(self, centres: Rows) -> np.ndarray:
        """Return k(z, z) for each centre."""


@dataclass(frozen=True)
class RBF:
    """k(x, z) = exp(-gamma |x - z|^2)."""

    gamma: float

    def columns(self, centres: Rows, dtype) -> Columns:
        """Prepare the centres for one matrix product and one exponential per block of rows."""
        if sparse.issparse(centres):
            return partial(_sparse_rbf, self.gamma, centres, row_norms(centres, squared=True))
        return _dense_rbf(self.gamma, centres, dtype)

    def diagonal(self, centres: Rows) -> np.ndarray:
        """Return ones."""
        return np.ones(centres.shape[0])


def _dense_rbf(gamma: float, centres: np.ndarray, dtype) -> Columns:
    """Write -gamma |x - z|^2 as one product: [x, |x|^2, 1] [2z, -1, -|z|^2]^T.

    Rows and centres are first moved to the centres' mean and multiplied by sqrt(gamma), so that
    nothing overflows or cancels whatever the units of the features.
    """
    root = math.sqrt(gamma)
    origin = centres.mean(axis=0, dtype=np.float64).astype(centres.dtype)
    scaled_centres = np.asarray(centres - origin, dtype=np.float64) * root
    squares = row_norms(scaled_centres, squared=True)
    if squares.max(initial=0.0) > _FLOAT32_REACH:
        dtype = np.float64
    n_features = centres.shape[1]
    right = np.empty((n_features + 2, len(centres)), dtype)
    right[:n_features] = 2 * scaled_centres.T
    right[n_features] = -1
    right[n_features + 1] = -squares

    def block(rows: np.ndarray) -> np.ndarray:
        scaled = rows - origin
        scaled *= root
        left = np.empty((len(rows), n_features + 2), dtype)
        left[:, :n_features] = scaled
        left[:, n_features] = row_norms(left[:, :n_features], squared=True)
        left[:, n_features + 1] = 1
        exponent = left @ right
        np.minimum(exponent, 0, out=exponent)
        return np.exp(exponent, out=exponent)

    return block


def _sparse_rbf(gamma: float, centres: sparse.csr_array, squares: np.ndarray, rows) -> np.ndarray:
    distances = safe_sparse_dot(rows, centres.T, dense_output=True)
    distances *= -2
    distances += row_norms(rows, squared=True)[:, None]
    distances += squares
    np.maximum(distances, 0, out=distances)
    distances *= -gamma
    return np.exp(distances, out=distances)


@dataclass(frozen=True)
class Laplacian:
    """k(x, z) = exp(-gamma |x - z|_1)."""

    gamma: float

    def columns(self, centres: Rows, dtype) -> Columns:
        """Return a function over scikit-learn's city-block distances."""

        def block(rows: Rows) -> np.ndarray:
            distances = manhattan_distances(rows, centres)
            distances *= -self.gamma
            return np.exp(distances, out=distances).astype(dtype, copy=False)

        return block

    def diagonal(self, centres: Rows) -> np.ndarray:
        """Return ones."""
        return np.ones(centres.shape[0])


@dataclass(frozen=True)
class Polynomial:
    """k(x, z) = (gamma x.z + coef0)^degree."""

    gamma: float
    degree: int
    coef0: float

    def columns(self, centres: Rows, dtype) -> Columns:
        """Return a function over inner products, taken in float64 because they may cancel."""

        def block(rows: Rows) -> np.ndarray:
            return self._power(_inner(rows, centres)).astype(dtype, copy=False)

        return block

    def diagonal(self, centres: Rows) -> np.ndarray:
        """Return (gamma |z|^2 + coef0)^degree."""
        return self._power(_squared_norms(centres))

    def _power(self, products: np.ndarray) -> np.ndarray:
        products *= self.gamma
        products += self.coef0
        return products**self.degree


@dataclass(frozen=True)
class Linear:
    """k(x, z) = x.z."""

    def columns(self, centres: Rows, dtype) -> Columns:
        """Return a function over inner products, taken in float64 because they may cancel."""
        return lambda rows: _inner(rows, centres).astype(dtype, copy=False)

    def diagonal(self, centres: Rows) -> np.ndarray:
        """Return |z|^2."""
        return _squared_norms(centres)


def _inner(rows: Rows, centres: Rows) -> np.ndarray:
    return safe_sparse_dot(
        rows.astype(np.float64, copy=False),
        centres.astype(np.float64, copy=False).T,
        dense_output=True,
    )


def _squared_norms(centres: Rows) -> np.ndarray:
    return row_norms(centres.astype(np.float64, copy=False), squared=True)


@dataclass(frozen=True)
class CallableKernel:
    """A kernel given as ``function(rows, centres) -> matrix``, as scikit-learn's SVC takes it."""

    function: Callable

    def columns(self, centres: Rows, dtype) -> Columns:
        """Return the function with its centres fixed and its result checked."""

        def block(rows: Rows) -> np.ndarray:
            return self._checked(rows, centres).astype(dtype, copy=False)

        return block

    def diagonal(self, centres: Rows) -> np.ndarray:
        """Return k(z, z), one call a centre."""
        each = (centres[[i]] for i in range(centres.shape[0]))
        return np.array([self._checked(centre, centre)[0, 0] for centre in each])

    def _checked(self, rows: Rows, centres: Rows) -> np.ndarray:
        values = np.asarray(self.function(rows, centres), dtype=np.float64)
        shape = (rows.shape[0], centres.shape[0])
        if values.shape != shape:
            raise InvalidParameterError(
                f"The `kernel` function must return a matrix of shape {shape}, rows by centres; "
                f"got {values.shape}. Compare with sklearn.metrics.pairwise.rbf_kernel."
            )
        if not np.isfinite(values).all():
            raise InvalidParameterError(
                "The `kernel` function returned NaN or infinity. Scale the features or mend it."
            )
        return values


def make_kernel(kernel, *, gamma: float, degree: int, coef0: float) -> Kernel:
    """Build the kernel of that name, or wrap a callable."""
    if callable(kernel):
        return CallableKernel(kernel)
    check_choice("kernel", kernel, KERNELS)
    if kernel == "polynomial":
        return Polynomial(gamma, degree, coef0)
    if kernel == "linear":
        return Linear()
    return RBF(gamma) if kernel == "rbf" else Laplacian(gamma)


def check_kernel_parameters(kernel, gamma, degree, coef0) -> None:
    """Raise an error for a parameter that no kernel can take."""
    if not callable(kernel):
        check_choice("kernel", kernel, KERNELS)
    if isinstance(gamma, str):
        check_choice("gamma", gamma, ("scale", "auto"))
    else:
        check_positive("gamma", gamma, "Larger values make narrower basis functions.")
    check_whole_number("degree", degree, 1, "It is the power of the polynomial kernel.")
    if not np.isscalar(coef0) or not np.isfinite(coef0) or coef0 < 0:
        raise InvalidParameterError(
            f"`coef0` must be a finite number of at least 0; got {coef0!r}. "
            "A negative one makes the polynomial kernel indefinite."
        )


def resolve_gamma(gamma, X: Rows, weights: np.ndarray) -> float:
    """Return gamma as a number; "scale" is 1 / (n_features * variance), "auto" 1 / n_features."""
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        return float(gamma)
    variance = _variance(X, weights)
    if variance == 0:
        return 1.0
    gamma = 1.0 / (X.shape[1] * variance) if np.isfinite(variance) else 0.0
    if gamma == 0 or not np.isfinite(gamma):
        raise InvalidDataError(
            f"gamma='scale' cannot be found: the variance of `X` is {variance}. "
            "Scale the features, for instance with sklearn.preprocessing.StandardScaler."
        )
    return gamma


def _variance(X: Rows, weights: np.ndarray, block_rows: int = 65536) -> float:
    """Return the weighted variance of all entries of X, in two passes of float64 sums."""
    blocks = [slice(i, i + block_rows) for i in range(0, X.shape[0], block_rows)]
    total = weights.sum() * X.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        row_sums = (np.asarray(X[rows].sum(axis=1, dtype=np.float64)).ravel() for rows in blocks)
        sums = [weights[rows] @ row_sum for rows, row_sum in zip(blocks, row_sums, strict=True)]
        mean = math.fsum(sums) / total
        return math.fsum(weights[rows] @ _squares_around(X[rows], mean) for rows in blocks) / total


def _squares_around(rows: Rows, mean: float) -> np.ndarray:
    if sparse.issparse(rows):
        n_zeros = rows.shape[1] - np.diff(rows.indptr)
        centred = rows.astype(np.float64)
        centred.data -= mean
        return row_norms(centred, squared=True) + n_zeros * mean**2
    return row_norms(rows.astype(np.float64) - mean, squared=True)
