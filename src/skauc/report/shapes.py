"""How the score depends on the leading columns, with the density of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skauc.exceptions import InvalidParameterError
from skauc.explain import column_importances, partial_dependence, shapley_values
from skauc.explain.grids import ColumnGrid
from skauc.report.formatting import format_number
from skauc.report.missing import SEVERAL, Missing
from skauc.report.rows import LabelledRows
from skauc.support import cut_short
from skauc.unwrapping import UnwrappedModel

N_SHAPES = 6
_N_POINTS = 40
_N_BINS = 30
# Rows that the columns are ranked on: exact values, and sampled ones, which take longer.
_EXACT_ROWS, _SAMPLED_ROWS = 200, 30
_LONGEST_LABEL = 12


@dataclass(frozen=True)
class FeatureShape:
    """The effect of one column. Positions and densities are shares of the width and height.

    ``ticks`` are pairs of a position and a label.
    """

    name: str
    is_level: bool
    positions: tuple[float, ...]
    effects: tuple[float, ...]
    density: tuple[tuple[float, float], ...]
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Shapes:
    """The effects of the leading columns, with the common range of the effects."""

    low: float
    high: float
    shapes: tuple[FeatureShape, ...]


def leading_shapes(model, unwrapped: UnwrappedModel, test: LabelledRows) -> Shapes | Missing:
    """Compute the partial dependence on the columns with the largest contributions."""
    if unwrapped.classifier is None:
        return SEVERAL
    if unwrapped.model is None:
        return Missing(f"{type(unwrapped.classifier).__name__} is not a kernel model of skauc.")
    rows = test.random_sample(_EXACT_ROWS)
    try:
        probe = shapley_values(model, rows.take(np.arange(min(2, len(rows)))).X)
        if not probe.is_exact:
            rows = rows.take(np.arange(min(_SAMPLED_ROWS, len(rows))))
        leading = column_importances(shapley_values(model, rows.X))[:N_SHAPES]
        found = [
            partial_dependence(model, test.X, each.name, n_points=_N_POINTS)
            for each in leading
            if each.importance > 0
        ]
    except InvalidParameterError as error:
        return Missing(f"Effects are not shown: {error}")
    if not found:
        return Missing("No column changes the score.")
    effects = np.concatenate([each.effect for each in found])
    return Shapes(
        low=float(min(effects.min(), 0.0)),
        high=float(max(effects.max(), 0.0)) or 1.0,
        shapes=tuple(_shape(each.grids[0], each.effect) for each in found),
    )


def _shape(grid: ColumnGrid, effect: np.ndarray) -> FeatureShape:
    is_level = grid.kind == "level"
    low, high = float(grid.positions.min()), float(grid.positions.max())
    if is_level:
        low, high = -0.5, len(grid.positions) - 0.5
    elif low == high:
        low, high = low - 0.5, high + 0.5
    positions = (grid.positions - low) / (high - low)
    return FeatureShape(
        name=grid.name,
        is_level=is_level,
        positions=tuple(positions.tolist()),
        effects=tuple(effect.tolist()),
        density=_density(grid, low, high),
        ticks=_ticks(grid, positions),
    )


def _density(grid: ColumnGrid, low: float, high: float) -> tuple[tuple[float, float], ...]:
    """Return the middle of each bin and its share of the fullest bin."""
    values = grid.of_rows[np.isfinite(grid.of_rows)]
    n_bins = len(grid.positions) if grid.kind == "level" else _N_BINS
    counts, edges = np.histogram(values, n_bins, (low, high))
    middles = (edges[:-1] + edges[1:]) / 2
    heights = counts / max(counts.max(), 1)
    return tuple(zip(((middles - low) / (high - low)).tolist(), heights.tolist(), strict=True))


def _ticks(grid: ColumnGrid, positions: np.ndarray) -> tuple[tuple[float, str], ...]:
    if grid.kind == "level":
        chosen = np.arange(min(12, len(positions)))
    else:
        ends = np.linspace(0, len(positions) - 1, min(3, len(positions)))
        chosen = np.unique(ends.astype(int))
    labels = [
        format_number(float(f"{grid.positions[i]:.3g}")) if grid.kind == "number" else label
        for i, label in enumerate(grid.labels)
    ]
    return tuple((float(positions[i]), cut_short(labels[i], _LONGEST_LABEL)) for i in chosen)
