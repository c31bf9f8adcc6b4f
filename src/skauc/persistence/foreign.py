"""Steps and wrappers of scikit-learn, which skops stores.

A model that is not one estimator of ours is taken apart. Our estimators, and long lists of plain
values, are replaced by `Part` objects and stored by us. The rest, its shell, is stored by skops.
"""

from __future__ import annotations

import copy
import inspect
import sys
import warnings
from collections import UserList
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import sklearn
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.model_selection._search import BaseSearchCV

from skauc.archive import ArchiveError, brief_error, is_integer, require
from skauc.exceptions import MissingPackageError, warn_user
from skauc.persistence.estimators import RESET, is_own, is_own_step
from skauc.persistence.probe import check_scores
from skauc.persistence.shell_audit import TRUSTED, audit_shell

# Shorter lists and dictionaries are left to skops.
_LONG = 8
_DEEPEST = 4
_PLAIN = (str, int, float, bool, type(None))
# Parameters of scikit-learn's with which a file could start processes or write files.
_RESET = (*RESET, "memory")

# The table of a search of scikit-learn. It holds masked arrays, and predictions do not need it.
_TABLE = "cv_results_"

# skops imports all packages of scikit-learn to list their types. These have none, and import large
# packages where they are installed.
_ADAPTERS = [
    f"sklearn.externals.array_api_compat.{package}" for package in ("cupy", "dask", "torch")
]

# Attributes that later versions of scikit-learn have in addition: where their values come from.
_NEWER_ATTRIBUTES = {("SimpleImputer", "_fill_dtype"): "_fit_dtype"}


class Part:
    """Takes the place of an object that is not stored by skops."""

    def __init__(self, number: int):
        self.number = number


def take_apart(model: Any) -> tuple[bytes, list[Any]]:
    """Return the shell of a model as skops stores it, and the parts that it leaves to us."""
    taken = [each for each in walk(model) if _is_part(each)]
    # A copy finds its objects in the memo first.
    memo: dict[int, Any] = {id(each): Part(number) for number, each in enumerate(taken)}
    try:
        shell = copy.deepcopy(model, memo)
        for each in walk(shell):
            if isinstance(each, BaseSearchCV):
                vars(each).pop(_TABLE, None)
        content = _import_skops().dumps(shell)
    except MissingPackageError:
        raise
    except Exception as error:  # foreign types raise anything when they are taken apart
        raise ArchiveError(f"a step cannot be stored by skops ({brief_error(error)})") from error
    _check_trusted(content)  # first, because it names the type
    audit_shell(content)
    return content, [list(each) if _is_list_of_columns(each) else each for each in taken]


def put_together(content: np.ndarray, parts: list[Any], version: str | None) -> Any:
    """Build a model from its shell and its parts.

    Parameters
    ----------
    content : ndarray of uint8
        What skops has stored.
    parts : list
        Our estimators and plain values.
    version : str or None
        The version of scikit-learn that wrote the file.
    """
    require(content.dtype == np.uint8 and content.ndim == 1, "its steps are")
    try:
        return _built(content.tobytes(), parts)
    except (MissingPackageError, MemoryError):
        raise
    except Exception as error:  # a hostile shell can fail in any way
        reason = str(error) if isinstance(error, ArchiveError) else brief_error(error)
        if version == sklearn.__version__:
            raise ArchiveError(f"its steps cannot be built: {reason}") from error
        raise ArchiveError(
            f"its steps were written with scikit-learn {version} and cannot be built with "
            f"{sklearn.__version__}: {reason}"
        ) from error


def _built(content: bytes, parts: list[Any]) -> Any:
    audit_shell(content)
    _check_trusted(content)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        shell = _import_skops().loads(content, trusted=sorted(TRUSTED))
        places = [each for each in walk(shell) if isinstance(each, Part)]
        memo: dict[int, Any] = {id(place): _part(place, parts) for place in places}
        model = copy.deepcopy(shell, memo)
    for each in list(walk(model)):
        if isinstance(each, BaseEstimator) and not is_own(each):
            _check_estimator(each)
        elif isinstance(each, np.random.RandomState):
            state: Any = each.get_state(legacy=True)
            require(0 <= state[2] <= 624, "a random state is")
    check_scores(model)
    _warn_of_versions([each.message for each in caught])
    return model


def _part(placeholder: Part, parts: list[Any]) -> Any:
    number = vars(placeholder).get("number", -1)
    require(is_integer(number, 0, len(parts) - 1), "the number of a part is")
    return parts[number]


def _check_estimator(estimator: BaseEstimator) -> None:
    """Check the parameters of a step, and reset those that reach beyond the model."""
    own = vars(estimator)
    for (kind, name), source in _NEWER_ATTRIBUTES.items():
        if type(estimator).__name__ == kind and source in own:
            own.setdefault(name, own[source])
    for name, parameter in inspect.signature(type(estimator).__init__).parameters.items():
        if name == "self" or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if name not in own and parameter.default is not parameter.empty:
            own[name] = parameter.default  # it is new in this version
        if name in _RESET:
            own[name] = None
    for name in own:
        shadows = callable(inspect.getattr_static(type(estimator), name, None))
        require(not name.startswith("__") and not shadows, f"the attribute {name[:40]!r} is")
    if hasattr(type(estimator), "_parameter_constraints"):
        estimator._validate_params()
    for name in own:
        if name.endswith("_") and isinstance(own[name], np.ndarray) and own[name].dtype.kind == "f":
            require(not np.isinf(own[name]).any(), f"the attribute {name[:40]!r} is")


def _warn_of_versions(messages: Iterable[Any]) -> None:
    """Warn once of steps that another version of scikit-learn has written."""
    found = [each for each in messages if isinstance(each, InconsistentVersionWarning)]
    if found:
        names = sorted({each.estimator_name for each in found})
        warn_user(
            InconsistentVersionWarning(
                estimator_name=", ".join(names),
                current_sklearn_version=sklearn.__version__,
                original_sklearn_version=found[0].original_sklearn_version,
            ),
        )


def _check_trusted(content: bytes) -> None:
    untrusted = set(_import_skops().get_untrusted_types(data=content)) - TRUSTED
    if untrusted:
        names = ", ".join(sorted(untrusted))[:200]
        raise ArchiveError(f"it holds types that are not trusted ({names})")


def walk(model: Any) -> Iterator[Any]:
    """Yield the objects that a model consists of.

    Our estimators are not entered, nor the table of a search.
    """
    waiting, seen = [model], set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, (str, bytes, type)) or callable_only(each):
            continue
        seen.add(id(each))
        yield each
        if _is_part(each):
            continue
        waiting.extend(_content(each))


def callable_only(value: Any) -> bool:
    """Return whether a value is a function, which has nothing inside."""
    return inspect.isroutine(value) or isinstance(value, np.ufunc)


def _content(value: Any) -> list:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, np.ndarray):
        return value.ravel().tolist() if value.dtype == object else []
    own = getattr(value, "__dict__", {})
    left_out = _TABLE if isinstance(value, BaseSearchCV) else None
    return [each for name, each in own.items() if name != left_out]


def _is_part(value: Any) -> bool:
    if is_own(value) or is_own_step(value):
        return True
    return _is_list_of_columns(value) or _is_long_and_plain(value)


def _is_list_of_columns(value: Any) -> bool:
    """Return whether this is a list of a type that only some versions of scikit-learn have."""
    return isinstance(value, UserList) and type(value).__name__ == "_RemainderColsList"


def _is_long_and_plain(value: Any) -> bool:
    """Return whether this is a list, dictionary or array of many words and numbers."""
    n_values = None if type(value) in _PLAIN else _count_plain(value, 0)
    return n_values is not None and n_values > _LONG


def _count_plain(value: Any, depth: int) -> int | None:
    """Return how many words and numbers a value consists of, or None if it has other parts."""
    if type(value) in _PLAIN:
        return 1
    if isinstance(value, np.ndarray):
        items = value.tolist() if value.dtype == object and value.ndim == 1 else None
    elif type(value) is dict and all(type(key) in _PLAIN for key in value):
        items = list(value.values())
    else:
        items = value if type(value) in (list, tuple) else None
    if items is None or depth > _DEEPEST:
        return None
    total = 0
    for each in items:
        count = _count_plain(each, depth + 1)
        if count is None:
            return None
        total += count
    return total


def _import_skops() -> Any:
    not_needed = [] if "skops.io" in sys.modules else _ADAPTERS
    try:
        with warnings.catch_warnings(), _without(not_needed):
            warnings.simplefilter("ignore")  # it looks at all of scikit-learn and SciPy
            import skops.io
    except ImportError as error:
        raise MissingPackageError(
            "Model files with steps of scikit-learn need skops, which is not installed. "
            "Install it with: pip install 'skauc[files]'"
        ) from error
    return skops.io


@contextmanager
def _without(modules: Iterable[str]) -> Iterator[None]:
    """Let imports of modules fail that are not imported yet."""
    hidden = [name for name in modules if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None, as Python has it
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)  # another thread may have done it
