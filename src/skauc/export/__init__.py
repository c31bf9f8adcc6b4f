"""Fitted models as source code: C, SQL, JavaScript, and a page."""

from skauc.export.source import LANGUAGES, to_source

__all__ = ["LANGUAGES", "to_source"]
