"""Write centres in the units of the table where that takes fewer digits.

Centres that are not refined are rows of the table. A row of short numbers, such as 17.99, has many
digits once it is standardised. If the last operation on a feature is z = (x - shift) / scale, the
kernel can take x instead of z: w (z - c)^2 = w / scale^2 (x - c scale - shift)^2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skauc.export.program import Affine, ColumnwiseStage, Expansion, Program
from skauc.export.rounding import LARGEST_CHANGE, digits, with_rounded_centres

# The weights of a feature are divided by its scale to this power.
_POWERS = {"gaussian": 2, "laplacian": 1, "local": 1}
# Part of the tolerance that the cancellation in one linear term may take.
_CANCELLED = 0.01


def with_short_centres(program: Program) -> Program:
    """Return the program with centres of few digits, by rounding and in the units of the table."""
    rounded = with_rounded_centres(program)
    last = _last_affine(program)
    if not last.any():
        return rounded
    folded = with_rounded_centres(_folded(program, last))
    lengths = [_lengths(each.expansion.centres) for each in (rounded, folded)]
    return with_rounded_centres(_folded(program, last & (lengths[1] < lengths[0])))


def _last_affine(program: Program) -> np.ndarray:
    """Tell which features can be folded: nothing but the kernel comes after their affine map."""
    expansion = program.expansion
    chosen = np.zeros(program.n_features, bool)
    if program.axes is not None or expansion.shape not in _POWERS or not len(expansion.coef):
        return chosen
    is_free = np.ones(program.n_features, bool)
    slopes = np.zeros(program.n_features) if expansion.linear is None else expansion.linear
    for stage in reversed(program.stages):
        here = slice(stage.start, stage.stop)
        if isinstance(stage.operation, Affine):
            shift, scale = stage.operation.shift, stage.operation.scale
            cancelled = np.finfo(float).eps * np.abs(slopes[here] * shift / scale)
            is_safe = cancelled < _CANCELLED * LARGEST_CHANGE["double"]
            chosen[here] |= is_free[here] & is_safe & (scale > 0)
        is_free[here] = False
    return chosen


def _folded(program: Program, chosen: np.ndarray) -> Program:
    """Return the program without the last affine map of the chosen features."""
    shift, scale = np.zeros(program.n_features), np.ones(program.n_features)
    stages: list[ColumnwiseStage] = []
    waiting = chosen.copy()
    for stage in reversed(program.stages):
        here = slice(stage.start, stage.stop)
        if isinstance(stage.operation, Affine) and waiting[here].any():
            taken = waiting[here].copy()
            shift[here] = np.where(taken, stage.operation.shift, shift[here])
            scale[here] = np.where(taken, stage.operation.scale, scale[here])
            waiting[here] = False
            rest = Affine(
                np.where(taken, 0.0, stage.operation.shift),
                np.where(taken, 1.0, stage.operation.scale),
            )
            if taken.all():
                continue
            stage = replace(stage, operation=rest)
        stages.insert(0, stage)
    expansion = _in_units(program.expansion, shift, scale)
    return replace(program, stages=tuple(stages), expansion=expansion)


def _in_units(expansion: Expansion, shift: np.ndarray, scale: np.ndarray) -> Expansion:
    """Return the expansion as a function of x, with z = (x - shift) / scale."""
    linear, intercept = expansion.linear, expansion.intercept
    if linear is not None:
        linear = linear / scale
        intercept -= float(linear @ shift)
    return replace(
        expansion,
        centres=expansion.centres * scale + shift,
        weights=expansion.weights / scale ** _POWERS[expansion.shape],
        linear=linear,
        intercept=intercept,
    )


def _lengths(centres: np.ndarray) -> np.ndarray:
    """Return the number of characters of each column."""
    return np.array([sum(len(digits(value)) for value in column) for column in centres.T])
