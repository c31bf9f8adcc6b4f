"""The centres of a model as prototypes: rows of the table that it compares other rows with."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from skauc.kernels import as_dense
from skauc.model import Model
from skauc.report.centres import plain
from skauc.report.missing import SEVERAL, Missing
from skauc.unwrapping import UnwrappedModel

MOST_CENTRES = 64
_MOST_COLUMNS = 6


@dataclass(frozen=True)
class Prototype:
    """A centre: its coefficient, and its values in the leading columns."""

    number: int
    coefficient: float
    values: tuple[float | str, ...]


@dataclass(frozen=True)
class Prototypes:
    """The centres with the largest coefficients."""

    columns: tuple[str, ...]
    centres: tuple[Prototype, ...]
    n_centres: int


def list_prototypes(unwrapped: UnwrappedModel, leading: tuple[str, ...]) -> Prototypes | Missing:
    """Return the centres in the units of the table, those with large coefficients first."""
    model = unwrapped.model
    if unwrapped.classifier is None:
        return SEVERAL
    if model is None or len(model.coef) == 0:
        return Missing(f"{type(unwrapped.classifier).__name__} has no centres.")
    order = np.argsort(-np.abs(model.coef), kind="stable")[:MOST_CENTRES]
    found = _in_table_units(unwrapped, model, as_dense(model.centres[order]))
    if found is None:
        return Missing(
            "The centres cannot be shown in the units of the table: the preprocessing has no "
            "inverse."
        )
    names, cells = found
    shown = [name for name in leading if name in names][:_MOST_COLUMNS] or names[:_MOST_COLUMNS]
    places = [names.index(name) for name in shown]
    centres = tuple(
        Prototype(int(number) + 1, float(model.coef[number]), tuple(plain(row[i]) for i in places))
        for number, row in zip(order, cells, strict=True)
    )
    return Prototypes(tuple(shown), centres, len(model.coef))


def _in_table_units(
    unwrapped: UnwrappedModel, model: Model, centres: np.ndarray
) -> tuple[list[str], list[Any]] | None:
    """Return column names, and the values of each centre."""
    rows = centres if model.scaling is None else model.scaling.inverse(centres)
    if not unwrapped.steps:
        return unwrapped.feature_names(), list(rows)
    with warnings.catch_warnings(action="ignore"):
        if len(unwrapped.steps) == 1 and hasattr(unwrapped.steps[0], "feature_sources"):
            frame = unwrapped.steps[0].inverse_transform(rows)
            names = [str(name) for name in frame.columns]
            return names, [list(row) for row in frame.itertuples(index=False)]
        undone = unwrapped.inverse_transform(rows)
    if undone is None:
        return None
    known = getattr(unwrapped.steps[0], "feature_names_in_", None)
    named = [f"x{i}" for i in range(undone.shape[1])] if known is None else map(str, known)
    return list(named), list(undone)
