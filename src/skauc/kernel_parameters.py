"""What the parameters ``kernel``, ``gamma``, ``degree`` and ``coef0`` of an estimator mean."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from skauc.data.statistics import feature_statistics, overall_variance
from skauc.data.unit_warnings import warn_if_far_from_zero, warn_if_unscaled
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.kernels import RBF, CallableKernel, Kernel, Laplacian, Linear, Polynomial
from skauc.validation import (
    check_choice,
    check_integer,
    check_positive,
    is_finite,
    is_sequence,
    shortened,
)

# The kernels that have a name, in the order in which messages list them.
KERNEL_TYPES: dict[str, type] = {
    "rbf": RBF,
    "laplacian": Laplacian,
    "polynomial": Polynomial,
    "linear": Linear,
}
KERNELS = tuple(KERNEL_TYPES)


def make_kernels(kernel, *, gammas: list[float], degree: int, coef0: float) -> list[Kernel]:
    """Build the named kernel once per gamma, or wrap a callable."""
    if callable(kernel):
        return [CallableKernel(kernel)]
    check_choice("kernel", kernel, KERNELS)
    if kernel == "polynomial":
        return [Polynomial(gammas[0], degree, coef0)]
    if kernel == "linear":
        return [Linear()]
    return [KERNEL_TYPES[kernel](gamma) for gamma in gammas]


def make_kernel(kernel, data, *, gamma, degree: int, coef0: float, names) -> Kernel:
    """Build one kernel for weighted rows whose features have these names.

    Only kernels with a gamma need the spread of the features. They also mix features, so there is
    a warning if the spreads differ too much, or if products of the rows lose their digits.
    """
    if kernel not in ("rbf", "laplacian", "polynomial"):
        return make_kernels(kernel, gammas=[], degree=degree, coef0=coef0)[0]
    mean, variance = feature_statistics(data)
    warn_if_unscaled(mean, np.sqrt(variance), names)
    warn_if_far_from_zero(kernel, mean, np.sqrt(variance), is_sparse=sparse.issparse(data.X))
    gammas = resolve_gammas(gamma, kernel, data)
    return make_kernels(kernel, gammas=gammas, degree=degree, coef0=coef0)[0]


def check_kernel_parameters(kernel, gamma, degree, coef0) -> None:
    """Raise an error for an invalid parameter of the kernel."""
    if not callable(kernel):
        check_choice("kernel", kernel, KERNELS)
    check_gamma(kernel, gamma)
    check_integer("degree", degree, 1, "It is the power of the polynomial kernel.")
    if not is_finite(coef0) or coef0 < 0:
        raise InvalidParameterError(
            f"`coef0` must be a finite number of at least 0; got {shortened(coef0)}. "
            "A negative one makes the polynomial kernel indefinite."
        )


def check_gamma(kernel, gamma) -> None:
    """Raise an error for a gamma that is invalid for the kernel."""
    if isinstance(gamma, str):
        check_choice("gamma", gamma, ("scale", "auto"))
        return
    if not is_sequence(gamma):
        check_positive("gamma", gamma, "Larger values make narrower kernels.")
        return
    if kernel != "rbf":
        raise InvalidParameterError(
            f"`gamma` can be a sequence of widths for kernel='rbf' only; got kernel={kernel!r}. "
            "Give one gamma, or use kernel='rbf'."
        )
    if len(gamma) == 0:
        raise InvalidParameterError(
            "`gamma` must hold at least one width; got an empty sequence. Use for instance widths "
            "that differ by a factor of 5."
        )
    for value in gamma:
        check_positive("gamma", value, "Larger values make narrower kernels.")


def resolve_gammas(gamma, kernel, data) -> list[float]:
    """Return gamma as numbers, for weighted rows.

    "scale" is 1 / (n_features * variance). For the Laplacian kernel, whose exponent is of first
    order, it has the standard deviation instead. "auto" is 1 / n_features.
    """
    if not isinstance(gamma, str):
        return [float(value) for value in np.atleast_1d(gamma)]
    if gamma == "auto":
        return [1.0 / data.n_features]
    variance = overall_variance(data)
    if variance == 0:
        return [1.0]
    spread = math.sqrt(variance) if kernel == "laplacian" else variance
    gamma = 1.0 / (data.n_features * spread) if np.isfinite(spread) else 0.0
    if gamma == 0 or not np.isfinite(gamma):
        raise InvalidDataError(
            f"gamma='scale' cannot be computed: the variance of `X` is {variance}. "
            "Scale the features, for instance with sklearn.preprocessing.StandardScaler."
        )
    return [gamma]
