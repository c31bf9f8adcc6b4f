"""The maps of each feature as graphs of ONNX."""

from __future__ import annotations

import numpy as np
from skl2onnx.algebra.onnx_ops import (
    OnnxAdd,
    OnnxDiv,
    OnnxGather,
    OnnxLessOrEqual,
    OnnxLog,
    OnnxMax,
    OnnxMin,
    OnnxMul,
    OnnxSqrt,
    OnnxSub,
    OnnxWhere,
)

from skauc.onnx.building import Builder, numbers
from skauc.scalings import CLIP_LIMIT, FARTHEST, ClipScaling, LogScaling, RankScaling, Scaling
from skauc.support import quiet_overflow


def by_feature(build: Builder, scaling: Scaling, rows):
    """Return the images of the rows."""
    if isinstance(scaling, ClipScaling):
        return _clip(build, scaling, rows)
    if isinstance(scaling, LogScaling):
        return _log(build, scaling, rows)
    return _ranks(build, scaling, rows)


def _clip(build: Builder, scaling: ClipScaling, rows):
    scaled = build.affine(rows, scaling.middle, scaling.width)
    near = build(OnnxMin, build(OnnxMax, scaled, numbers(-FARTHEST)), numbers(FARTHEST))
    squares = build(OnnxMul, build(OnnxMul, near, near), numbers(CLIP_LIMIT**-2))
    bend = build(OnnxSqrt, build(OnnxAdd, squares, numbers(1.0)))
    return build(OnnxDiv, near, bend)


def _log(build: Builder, scaling: LogScaling, rows):
    """Take logarithms of all features, of 1 where none is wanted, and choose."""
    least = np.where(scaling.is_log, scaling.least, 1.0)
    near = build(OnnxAdd, build(OnnxMax, rows, least), scaling.offset)
    values = build(OnnxWhere, scaling.is_log, build(OnnxLog, near), rows)
    return build.affine(values, scaling.mean, scaling.deviation)


def _ranks(build: Builder, scaling: RankScaling, rows):
    """Find the last knot at or below each value by bisection, and interpolate from there.

    No array is larger than the rows. The tables of all features are concatenated in one vector.
    The knots of a feature are padded with infinity up to a power of two. The slope between two
    knots may overflow, and so may the distance, so the share of the distance is computed first.
    """
    knots, levels = scaling.knots.T, scaling.levels.T
    rows = build(OnnxMin, build(OnnxMax, rows, knots[:, 0].copy()), knots[:, -1].copy())
    if not np.isfinite(_ranges(knots)).all():
        units = np.where(np.isfinite(_ranges(knots)), 1.0, 0.25)
        knots, rows = knots * units[:, None], build(OnnxMul, rows, units)
    n_features, n_knots = knots.shape
    width = 1 << n_knots.bit_length()
    # The map is flat at the last knot, and where knots are repeated.
    runs, rises = (np.pad(np.diff(table), ((0, 0), (0, 1))) for table in (knots, levels))
    runs[runs == 0] = 1.0
    place = np.arange(n_features) * width

    def look_up(table, places):
        padding = (0, 0), (0, width - table.shape[1])
        return build(OnnxGather, np.pad(table, padding, constant_values=np.inf).ravel(), places)

    for step in (width >> halving for halving in range(1, width.bit_length())):
        ahead = build(OnnxAdd, place, np.array([step]))
        is_past = build(OnnxLessOrEqual, look_up(knots, ahead), rows)
        place = build(OnnxWhere, is_past, ahead, place)
    distance = build(OnnxSub, rows, look_up(knots, place))
    share = build(OnnxDiv, distance, look_up(runs, place))
    climb = build(OnnxMul, look_up(rises, place), share)
    return build(OnnxAdd, look_up(levels, place), climb)


@quiet_overflow()
def _ranges(knots: np.ndarray) -> np.ndarray:
    """Return the distance of the last knot of each feature from its first."""
    return knots[:, -1] - knots[:, 0]
