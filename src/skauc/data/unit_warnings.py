"""Warnings about the units of the features: uneven spreads, and rows that are far from zero."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skauc.exceptions import UnscaledFeaturesWarning, warn_user
from skauc.support import quiet_overflow

# Ratio of the largest to the smallest standard deviation above which features need scaling.
MOST_UNEVEN = 1000.0
# Ratio of mean to standard deviation, both of all features together, above which products of rows
# lose the digits that tell rows apart.
MOST_DISTANT = 1e5
# The same ratio for the linear term. It loses digits of the score only, not of kernel values.
MOST_DISTANT_LINEAR = 1e9
# A standard deviation of less than this part of the mean is rounding error.
_CONSTANT = 1e-9


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
    warn_user(
        "The standard deviations of the features differ by more than a factor of "
        f"{MOST_UNEVEN:,.0f}: {spread[largest]:.3g} for {str(names[largest])!r} and "
        f"{spread[smallest]:.3g} for {str(names[smallest])!r}. The kernel hardly sees the features "
        "with small values. Put sklearn.preprocessing.StandardScaler before the estimator in a "
        "pipeline, or use scaling='normal' where the estimator has that parameter.",
        UnscaledFeaturesWarning,
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
    warn_user(
        f"The rows are far from zero: the norm of their mean is {distance:.3g}, their standard "
        f"deviation is {width:.3g}. {products} the digits that tell such rows apart, and the model "
        "may rank poorly. Subtract the means of the features, "
        "for instance with sklearn.preprocessing.StandardScaler, or pass dense rows if they are "
        "sparse.",
        UnscaledFeaturesWarning,
    )
