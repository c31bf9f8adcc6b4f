"""Fitted models in files that are safe to load."""

from skauc.persistence.model_file import inspect_model, load_model, save_model

__all__ = ["inspect_model", "load_model", "save_model"]
