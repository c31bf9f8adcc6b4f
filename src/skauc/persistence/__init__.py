"""Fitted models in files: safe ones of our own, and ONNX."""

from skauc.persistence.model_file import inspect_model, load_model, save_model
from skauc.persistence.onnx import register_converters, to_onnx

__all__ = ["inspect_model", "load_model", "register_converters", "save_model", "to_onnx"]
