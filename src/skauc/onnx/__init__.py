"""Fitted models as ONNX graphs."""

from skauc.onnx.export import register_converters, to_onnx

__all__ = ["register_converters", "to_onnx"]
