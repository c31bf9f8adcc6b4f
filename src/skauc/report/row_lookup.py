"""Contributions of many rows, so that the page can explain any of them by its number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import _safe_indexing

from skauc.exceptions import InvalidParameterError
from skauc.explain import shapley_values
from skauc.explain.columns import column_names
from skauc.report.explained_rows import cell_text
from skauc.report.missing import Missing
from skauc.report.rows import LabelledRows

# Contributions that a page holds at most, about 15 bytes each.
_MOST_CELLS = 6_000


@dataclass(frozen=True)
class RowLookup:
    """The first test rows: numbers, labels, cells and contributions."""

    numbers: tuple[int, ...]
    names: tuple[str, ...]
    base_value: float
    labels: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    steps: tuple[tuple[float, ...], ...]


def look_up_rows(model, test: LabelledRows, labels: tuple[str, str]) -> RowLookup | Missing:
    """Explain as many of the first rows as a page can hold, if that is exact and thus quick."""
    n_rows = min(_MOST_CELLS // len(column_names(test.X)), len(test))
    try:
        if n_rows == 0:
            return Missing("There are too many columns.")
        if not shapley_values(model, _safe_indexing(test.X, [0])).is_exact:
            return Missing("The values would have to be sampled, which takes too long.")
        found = shapley_values(model, _safe_indexing(test.X, np.arange(n_rows)))
    except InvalidParameterError as error:
        return Missing(f"Rows are not explained: {error}")
    return RowLookup(
        numbers=tuple(test.number(row) for row in range(n_rows)),
        names=tuple(found.feature_names),
        base_value=float(found.base_values[0]),
        labels=tuple(labels[int(each)] for each in test.positive[:n_rows]),
        cells=tuple(tuple(map(cell_text, row)) for row in found.data),
        steps=tuple(tuple(float(f"{step:.4g}") for step in row) for row in found.values.tolist()),
    )
