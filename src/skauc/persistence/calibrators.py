"""The calibration of a classifier as JSON, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from skauc.archive import require
from skauc.base import Calibrator, IsotonicCalibration, LogisticCalibration

_WHAT = "its calibration is"
# No isotonic regression has more steps than this: a step of the curve takes several rows.
_MOST_KNOTS = 100_000


def calibrator_to_json(calibrator: Calibrator) -> dict[str, Any]:
    """Return the numbers of a calibration."""
    if isinstance(calibrator, LogisticCalibration):
        return {"slope": calibrator.a_, "offset": calibrator.b_}
    return {
        "scores": calibrator.X_thresholds_.tolist(),
        "probabilities": calibrator.y_thresholds_.tolist(),
    }


def calibrator_from_json(header: Any) -> Calibrator:
    """Build the calibration that `calibrator_to_json` took apart."""
    require(isinstance(header, dict), _WHAT)
    if header.keys() == {"slope", "offset"}:
        slope, offset = _numbers([header["slope"], header["offset"]])
        require(slope <= 0, _WHAT)
        return LogisticCalibration(float(slope), float(offset))
    require(header.keys() == {"scores", "probabilities"}, _WHAT)
    scores, probabilities = (_numbers(header[name]) for name in ("scores", "probabilities"))
    require(len(scores) == len(probabilities), _WHAT)
    require(bool((np.diff(scores) > 0).all() and (np.diff(probabilities) >= 0).all()), _WHAT)
    require(bool(probabilities[0] >= 0 and probabilities[-1] <= 1), _WHAT)
    return IsotonicCalibration(scores, probabilities)


def _numbers(values: Any) -> np.ndarray:
    require(isinstance(values, list) and 2 <= len(values) <= _MOST_KNOTS, _WHAT)
    require(all(type(value) is float for value in values), _WHAT)
    numbers = np.array(values, dtype=np.float64)
    require(bool(np.isfinite(numbers).all()), _WHAT)
    return numbers
