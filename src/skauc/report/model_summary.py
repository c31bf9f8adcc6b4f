"""The model of a report: its class, its steps and the parameters that were set."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from skauc.support import cut_short
from skauc.unwrapping import UnwrappedModel

_LONGEST_VALUE = 80


@dataclass(frozen=True)
class ModelSummary:
    """The classifier, the steps before it, and its parameters that differ from the defaults."""

    name: str
    steps: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...]
    n_basis: int | None
    n_numbers: int | None


def summarise_model(unwrapped: UnwrappedModel) -> ModelSummary:
    """Describe an unwrapped model."""
    classifier = unwrapped.classifier
    steps = tuple(type(step).__name__ for step in unwrapped.steps)
    if classifier is None:
        return ModelSummary("Ensemble", steps, (), None, None)
    model = unwrapped.model
    return ModelSummary(
        name=type(classifier).__name__,
        steps=steps,
        parameters=_changed_parameters(unwrapped),
        n_basis=None if model is None else len(model.coef) or None,
        n_numbers=None if model is None else model.n_numbers,
    )


def _changed_parameters(unwrapped: UnwrappedModel) -> tuple[tuple[str, str], ...]:
    """Return the parameters that a search chose or that differ from their defaults."""
    classifier = unwrapped.classifier
    defaults = _defaults(type(classifier))
    chosen = dict(getattr(classifier, "best_params_", {}))
    if "C" in chosen and unwrapped.C is not None:
        chosen["C"] = unwrapped.C
    changed = {
        name: value
        for name, value in _parameters(classifier).items()
        if name not in chosen and _text(value) != defaults.get(name)
    }
    shown = [(f"{name} (chosen)", value) for name, value in chosen.items()]
    if _parameters(classifier).get("C") == "auto":
        shown.append(("C", unwrapped.C or "auto"))
    shown += changed.items()
    return tuple((name, _brief(value)) for name, value in shown)


def _parameters(classifier) -> dict[str, Any]:
    """Return the parameters, none for a classifier that is not a scikit-learn estimator."""
    if not hasattr(classifier, "get_params"):
        return {}
    return classifier.get_params(deep=False)


def _defaults(kind: type) -> dict[str, str]:
    """Return the defaults as text. A parameter may come through ``**kwargs`` and have none."""
    try:
        parameters = inspect.signature(kind).parameters
    except (TypeError, ValueError):  # a class without a Python signature
        return {}
    return {name: _text(parameter.default) for name, parameter in parameters.items()}


def _brief(value) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return cut_short(", ".join(map(_brief, value[:_LONGEST_VALUE])), _LONGEST_VALUE)
    if isinstance(value, str):
        return cut_short(value, _LONGEST_VALUE)
    text = _text(value.item() if isinstance(value, np.generic) else value)
    return cut_short(text, _LONGEST_VALUE)


def _text(value) -> str:
    try:
        return repr(value)
    except Exception:  # a parameter of a foreign class must not prevent the report
        return f"<{type(value).__name__}>"
