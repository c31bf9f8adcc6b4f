"""Errors that tell what was wrong, the value, and what to do about it."""


class InvalidParameterError(ValueError):
    """A parameter has a value that it cannot have."""


class InvalidDataError(ValueError):
    """The data cannot be learnt from, or do not fit the model."""


class MissingPackageError(ImportError):
    """An optional package is needed and is not installed."""


class ModelFileError(ValueError):
    """A model cannot be stored, or a file is not a model file that can be trusted."""


class ClusterLostError(RuntimeError):
    """The scheduler of a cluster died, or cannot be reached any more."""


class FitInterruptedError(KeyboardInterrupt):
    """A fit was interrupted from the keyboard. ``path`` is what it had found by then."""

    def __init__(self, path):
        super().__init__("The fit was interrupted. The estimator keeps the model it had reached.")
        self.path = path


class UnscaledFeaturesWarning(UserWarning):
    """The features have such different spreads that the kernel hardly sees some of them."""


class SkippedSettingsWarning(UserWarning):
    """A search does not try some settings, because they would take too much memory or time."""


KERNEL_OVERFLOW = (
    "The kernel's values, or the objective, overflow. Scale the features, for instance with "
    "sklearn.preprocessing.StandardScaler, or lower `C`, `gamma`, `degree` or the weights."
)
