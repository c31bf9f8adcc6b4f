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


KERNEL_OVERFLOW = (
    "The kernel's values, or the objective, overflow. Scale the features, for instance with "
    "sklearn.preprocessing.StandardScaler, or lower `C`, `gamma`, `degree` or the weights."
)
