"""What came of one case, and whether it is what the library promises."""

from __future__ import annotations

import traceback
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from skauc import exceptions

CLEAR = (
    exceptions.InvalidDataError,
    exceptions.InvalidParameterError,
    exceptions.MissingPackageError,
    exceptions.ModelFileError,
)
# Words of NumPy, SciPy and Python that tell a user nothing about the data or the parameters.
RAW_WORDS = (
    "arg is an empty sequence",
    "array must not contain infs or NaNs",
    "broadcast",
    "leading minor",
    "not positive definite",
    "object has no attribute",
    "not subscriptable",
    "SVD did not converge",
    "Traceback",
)
SHORTEST_MESSAGE = 20


class FailedCaseError(AssertionError):
    """The library broke a promise: the message says which."""


def random_for(attack: str, seed: int, case: int) -> np.random.Generator:
    """Return the random numbers of one case."""
    return np.random.default_rng([zlib.crc32(attack.encode()), seed, case])


def demand(condition, message: str) -> None:
    """Raise an error with the message unless the condition holds."""
    if not condition:
        raise FailedCaseError(message)


def is_clear(error: BaseException) -> bool:
    """Tell whether an error is one that a user can act on.

    It is one of skauc's, or comes from scikit-learn's checks of X, y and the weights.
    """
    message = str(error)
    if len(message) < SHORTEST_MESSAGE or any(words in message for words in RAW_WORDS):
        return False
    return isinstance(error, CLEAR) or (
        isinstance(error, ValueError | TypeError) and _is_from_a_check(error)
    )


def _is_from_a_check(error: BaseException) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    return any(
        "/sklearn/utils/" in frame.filename and ("check" in frame.name or "valid" in frame.name)
        for frame in frames
    )


def describe(error: BaseException) -> str:
    """Return an error in one line, with the place in the library that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/skauc/" in frame.filename] or frames
    place = f"{ours[-1].filename.rpartition('/skauc/')[2]}:{ours[-1].lineno}" if ours else "?"
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]} (at {place})"


@contextmanager
def quiet_or_clear() -> Iterator[None]:
    """Raise an error at the end if there was a warning that is not meant for users."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if not issubclass(warning.category, UserWarning):
            place = f"{warning.filename.rpartition('/site-packages/')[2]}:{warning.lineno}"
            raise FailedCaseError(f"{warning.category.__name__}: {warning.message} (at {place})")


def demand_finite(name: str, values) -> None:
    """Raise an error unless all numbers are finite."""
    values = np.asarray(values)
    n_bad = int(np.sum(~np.isfinite(values)))
    demand(n_bad == 0, f"{n_bad} of {values.size} {name} are not finite")
