"""What cannot be saved, found before the training."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from skauc.archive import ArchiveError
from skauc.persistence.estimators import encode_estimator, is_own
from skauc.persistence.pipelines import own_steps
from skauc.persistence.summary import final_estimator

# Fitted estimators of these packages hold trees in compiled code, which trusts its indices.
_WITH_TREES = ("sklearn.tree.", "sklearn.ensemble.", "sklearn.neighbors.")


def check_unfitted(estimator: Any) -> None:
    """Raise an error for an estimator, fitted or not, that a file cannot hold."""
    final = final_estimator(estimator)
    if is_own(estimator) or own_steps(estimator) is not None:
        _check_own(final)
        return
    from skauc.persistence.foreign import take_apart, walk

    take_apart(estimator)
    for part in walk(estimator):
        if is_own(part):
            _check_own(part)
        elif isinstance(part, BaseEstimator) and type(part).__module__.startswith(_WITH_TREES):
            raise ArchiveError(f"the trees of {type(part).__name__} cannot be stored")


def _check_own(estimator: Any) -> None:
    if callable(getattr(estimator, "kernel", None)):
        raise ArchiveError("its `kernel` is a function, and files never hold code")
    encode_estimator(estimator, "", {}, history=False)
