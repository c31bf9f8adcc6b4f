"""How features are mapped before the kernel is evaluated: each on its own, then to their axes.

Correlated features are compared better along their principal axes: refinement then learns one
length scale for what they share and one for how they differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import linalg

from skauc.data.training import TrainingData
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.kernels import Rows, densified
from skauc.scalings import SCALINGS, Scaling, as_doubles, deciding_rows, make_scaling
from skauc.support import quiet_overflow, rows_per_block
from skauc.threads import map_blocks
from skauc.validation import is_auto

# Numbers of a block of rows that a thread maps at once.
_BLOCK = 1 << 18


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """An optional map of each feature, then a rotation to the axes in the columns of ``axes``."""

    by_feature: Scaling | None = None
    axes: np.ndarray | None = None

    def transform(self, X: Rows) -> np.ndarray:
        """Return the rows as the kernel sees them, dense and in the dtype of the rows."""
        X = densified(X)
        X = X if self.by_feature is None else self.by_feature.transform(X)
        return self._along_axes(X)

    def transform_in_fit(self, X: Rows, n_jobs: int | None = None) -> np.ndarray:
        """Return the same, on threads and compiled. Prediction should not load the compiler."""
        X = densified(X)
        if self.by_feature is None:
            return self._along_axes(X)
        images, write = np.empty(X.shape, X.dtype), self.by_feature.write_images

        def fill(start: int, stop: int) -> None:
            write(X[start:stop], images[start:stop])

        map_blocks(fill, len(X), rows_per_block(X.shape[1], _BLOCK), n_jobs)
        return self._along_axes(images)

    def _along_axes(self, X: np.ndarray) -> np.ndarray:
        return X if self.axes is None else X @ self.axes.astype(X.dtype, copy=False)

    def inverse(self, images: np.ndarray) -> np.ndarray:
        """Return rows that have these images, clipped to the range of the maps."""
        images = self.rotate_back(np.asarray(images))
        return images if self.by_feature is None else self.by_feature.inverse(images)

    def rotate_back(self, images: np.ndarray) -> np.ndarray:
        """Return the images before the rotation, one column per feature."""
        return images if self.axes is None else images @ self.axes.T

    def along_features(self, scales: np.ndarray) -> np.ndarray:
        """Return the scale along each feature for scales along the axes."""
        return scales if self.axes is None else np.sqrt(self.axes**2 @ scales**2)

    def slopes_by_feature(self, slopes: np.ndarray) -> np.ndarray:
        """Return linear coefficients per feature for linear coefficients per axis."""
        return slopes if self.axes is None else self.axes @ slopes


def check_scaling(scaling) -> None:
    """Raise an error unless ``scaling`` is "auto" or one of `SCALINGS`."""
    is_word = isinstance(scaling, str) and scaling in SCALINGS
    if not (scaling is None or is_word or is_auto(scaling)):
        raise InvalidParameterError(
            "`scaling` must be 'auto', None, 'rank', 'normal', 'screened', 'clip' or 'log'; "
            f"got {scaling!r}. Use 'normal' for features with heavy tails or different "
            "units, None for scaled features."
        )


def scale(
    scaling: str | None, data: TrainingData, n_jobs: int | None = None
) -> tuple[FeatureMap | None, TrainingData]:
    """Return the map for the parameter ``scaling``, and the mapped rows."""
    if scaling is None:
        return None, data
    if data.is_sparse:
        raise InvalidDataError(
            f"`scaling`={scaling!r} needs dense rows; got a sparse matrix. Use `scaling`=None, "
            "or pass X.toarray()."
        )
    scaled = FeatureMap(make_scaling(scaling, data, n_jobs))
    return scaled, data.transformed(partial(scaled.transform_in_fit, n_jobs=n_jobs))


def rotate(scaled: FeatureMap | None, data: TrainingData) -> tuple[FeatureMap, TrainingData]:
    """Add a rotation to the principal axes of the scaled rows; return the map and the rows."""
    if data.is_sparse:
        raise InvalidDataError(
            "`rotate` needs dense rows; got a sparse matrix. Use rotate=False, or pass X.toarray()."
        )
    axes = principal_axes(*as_doubles(deciding_rows(data)))
    rotation = FeatureMap(axes=axes)
    return replace(scaled or rotation, axes=axes), data.transformed(rotation.transform)


# Axes of less than this part of the largest variance are those of rounding errors.
_NO_VARIANCE = 1e-12


def principal_axes(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the axes as columns in order of decreasing variance, in single precision.

    The largest component of each axis is positive.
    """
    with quiet_overflow():
        centred = X - np.average(X, axis=0, weights=weights)
        covariance = (centred.T * weights) @ centred
    if not np.isfinite(covariance).all():
        raise InvalidDataError(
            "The variances of the features overflow, so there are no principal axes. Scale the "
            "features, for instance with sklearn.preprocessing.StandardScaler, or use rotate=False."
        )
    greatest = max(np.abs(covariance).max(), np.finfo(np.float64).tiny)
    variances, axes = (part[..., ::-1] for part in np.linalg.eigh(covariance / greatest))
    n_used = np.count_nonzero(variances > _NO_VARIANCE * variances[0])
    axes = _completed(axes[:, :n_used])
    longest = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0)
    return (axes * np.sign(longest)).astype(np.float32).astype(np.float64)


def _completed(axes: np.ndarray) -> np.ndarray:
    """Return orthogonal axes with others beside them, up to as many as there are features.

    The others depend on the given ones only, not on rounding errors along directions in which
    nothing varies.
    """
    n_features, n_given = axes.shape
    if n_given == n_features:
        return axes
    others = linalg.qr(np.eye(n_features) - axes @ axes.T, pivoting=True)[0]
    return np.hstack((axes, others[:, : n_features - n_given]))
