"""Operators of ONNX over float64, from which the converters are built."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto
from skl2onnx.algebra.onnx_ops import OnnxCast, OnnxDiv, OnnxSub


class Builder:
    """Operators of one version of ONNX, over float64."""

    def __init__(self, container):
        self.version = container.target_opset

    def __call__(self, operator, *inputs, **attributes):
        """Return an operator applied to its inputs."""
        return operator(*inputs, op_version=self.version, **attributes)

    def double(self, value):
        """Return the value as float64."""
        return self(OnnxCast, value, to=TensorProto.DOUBLE)

    def affine(self, value, shift, scale):
        """Return (value - shift) / scale, column by column."""
        return self(OnnxDiv, self(OnnxSub, value, numbers(shift)), numbers(scale))


def numbers(values) -> np.ndarray:
    """Return a constant of float64 with at least one dimension."""
    return np.atleast_1d(np.asarray(values, dtype=np.float64))
