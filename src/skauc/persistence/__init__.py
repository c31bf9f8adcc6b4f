"""Fitted models in files that are safe to load."""

from skauc.persistence.model_file import check_savable, inspect_model, load_model, save_model

__all__ = ["check_savable", "inspect_model", "load_model", "save_model"]
