"""Errors and warnings. Each says what was wrong, which value was found, and what to do."""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

# Packages whose lines are not those of a user.
_PACKAGES = ("skauc", "sklearn")


class InvalidParameterError(ValueError):
    """A parameter has a value that is not allowed."""


class InvalidDataError(ValueError):
    """The data cannot be used: they are malformed, or they do not match the model."""


class MissingPackageError(ImportError):
    """An optional package is needed and is not installed."""


class ModelFileError(ValueError):
    """A model cannot be saved, or a file is not a valid model file."""


class ClusterLostError(RuntimeError):
    """The scheduler of a cluster died, or cannot be reached any more."""


class PositiveLabelWarning(UserWarning):
    """The rarer of two text labels sorts first, so that `fit` takes it for the negative class."""


class ConstantScoresWarning(UserWarning):
    """Every row is far from every centre, so that all scores are equal or from the linear part."""


class FitInterruptedError(KeyboardInterrupt):
    """A fit was interrupted from the keyboard. ``path`` is what it had found by then."""

    def __init__(self, path):
        super().__init__("The fit was interrupted. The estimator keeps the model it had reached.")
        self.path = path


class UnscaledFeaturesWarning(UserWarning):
    """The features have such different spreads that the kernel hardly sees some of them."""


class UnknownLevelsWarning(UserWarning):
    """A column of categories has no value that is known from training."""


class FewCentresWarning(UserWarning):
    """A model has fewer centres than asked for, because the other rows depend on them."""


class SkippedSettingsWarning(UserWarning):
    """A search does not try some settings, because they would take too much memory or time."""


KERNEL_OVERFLOW = (
    "The kernel's values, or the objective, overflow. Scale the features, for instance with "
    "sklearn.preprocessing.StandardScaler, or lower `C`, `gamma`, `degree` or the weights."
)


def warn_user(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user that called this package, directly or through scikit-learn."""
    level = 1
    for number, (frame, _) in enumerate(traceback.walk_stack(sys._getframe()), 1):
        if str(frame.f_globals.get("__name__")).partition(".")[0] in _PACKAGES:
            level = number
    warnings.warn(message, category, stacklevel=level + 1)


@contextmanager
def keeping(path) -> Iterator[None]:
    """Raise an interrupt as one of a fit that keeps the model of its path."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise FitInterruptedError(path) from interrupt


@contextmanager
def interrupts() -> Iterator[None]:
    """Raise an interrupt as what it is.

    An interrupt that comes while numba converts the results of a compiled function leaves it as a
    SystemError. Its cause, or the cause of that, is the KeyboardInterrupt.
    """
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__cause__
        if cause is None:
            raise
        raise KeyboardInterrupt from error
