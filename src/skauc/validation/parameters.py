"""Checks of parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real

import numpy as np
from sklearn.metrics import get_scorer_names

from skauc.exceptions import InvalidParameterError

# The largest value of an integer parameter. Compiled code and scikit-learn take no larger one.
LARGEST_INTEGER = 2**31 - 1
# Characters of a value that an error message shows in full.
_LONGEST = 60


def check_integer(name: str, value, minimum: int, advice: str) -> int:
    """Return ``value`` as an int of at least ``minimum`` that fits into 32 bits, or raise."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < minimum:
        raise InvalidParameterError(
            f"`{name}` must be an integer of at least {minimum}; got {value!r}. {advice}"
        )
    _check_size(name, value, advice)
    return int(value)


def _check_size(name: str, value, advice: str) -> None:
    if abs(value) > LARGEST_INTEGER:
        raise InvalidParameterError(
            f"`{name}` must be at most {LARGEST_INTEGER} in magnitude; got {shortened(value)}. "
            f"{advice}"
        )


def check_positive(name: str, value, advice: str) -> float:
    """Return ``value`` as a float, or raise an error if it is not finite and greater than 0."""
    if not is_finite(value) or float(value) <= 0:
        raise InvalidParameterError(
            f"`{name}` must be a finite number greater than 0; got {shortened(value)}. {advice}"
        )
    return float(value)


def check_fraction(name: str, value, advice: str) -> float:
    """Return ``value`` as a float, or raise an error if it is not strictly between 0 and 1."""
    if not is_number(value) or not 0 < value < 1:
        raise InvalidParameterError(
            f"`{name}` must be a number between 0 and 1, both excluded; got {shortened(value)}. "
            f"{advice}"
        )
    return float(value)


def check_boolean(name: str, value) -> bool:
    """Return ``value`` as a bool, or raise an error if it is not one."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidParameterError(f"`{name}` must be True or False; got {value!r}.")
    return bool(value)


def check_refine(value) -> None:
    """Raise an error unless ``value`` is "auto", a bool or a number of steps."""
    if isinstance(value, bool | np.bool_) or is_auto(value):
        return
    if not isinstance(value, Integral) or value < 1:
        raise InvalidParameterError(
            f"`refine` must be 'auto', True, False or a number of steps of at least 1; got "
            f"{value!r}. 10 steps are a good choice."
        )
    _check_size("refine", value, "10 is a good choice.")


def is_auto(value) -> bool:
    """Tell whether a parameter is "auto"."""
    return isinstance(value, str) and value == "auto"


def check_boolean_or_auto(name: str, value) -> None:
    """Raise an error unless ``value`` is "auto", True or False."""
    if not is_auto(value) and not isinstance(value, bool | np.bool_):
        raise InvalidParameterError(f"`{name}` must be 'auto', True or False; got {value!r}.")


def check_n_jobs(value) -> None:
    """Raise an error unless ``value`` is None or an integer other than 0."""
    if value is None:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value == 0:
        raise InvalidParameterError(
            f"`n_jobs` must be None or an integer other than 0; got {value!r}. "
            "Use -1 for all cores."
        )
    _check_size("n_jobs", value, "Use -1 for all cores.")


def check_verbose(value) -> None:
    """Raise an error unless ``value`` is a bool or an integer."""
    if not isinstance(value, Integral | np.bool_):
        raise InvalidParameterError(
            f"`verbose` must be an integer or a bool; got {value!r}. Use 0 to print nothing."
        )


def check_choice(name: str, value, choices: Iterable[str]) -> str:
    """Return ``value``, or raise an error that lists the choices."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(repr(choice) for choice in choices)
        raise InvalidParameterError(f"`{name}` must be one of {words}; got {value!r}.")
    return value


def check_scoring(scoring) -> None:
    """Raise an error unless ``scoring`` is None, a name of scikit-learn or a callable."""
    if scoring is None or callable(scoring):
        return
    if not isinstance(scoring, str) or scoring not in get_scorer_names():
        raise InvalidParameterError(
            "`scoring` must be None, a scorer or the name of one, such as 'roc_auc' or "
            f"'average_precision'; got {scoring!r}. See sklearn.metrics.get_scorer_names()."
        )


def is_sequence(value) -> bool:
    """Tell whether the value is a sequence, which may be ragged, and not a string."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return not isinstance(value, str | bytes) and hasattr(value, "__len__")


def is_number(value) -> bool:
    """Tell whether the value is a real number and not a bool."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_finite(value) -> bool:
    """Tell whether the value is a number that a float can hold, and not NaN or infinite."""
    try:
        return is_number(value) and math.isfinite(value)
    except OverflowError:  # an integer such as 10**400
        return False


def shortened(value) -> str:
    """Return the value as Python code, without the middle of a long number."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write integers of more than 4,300 digits
        return "an integer of thousands of digits"
    return text if len(text) <= _LONGEST else f"{text[:10]}... ({len(text)} characters)"
