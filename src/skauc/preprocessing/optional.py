"""Import pandas on first use."""

from __future__ import annotations

from types import ModuleType

from skauc.exceptions import MissingPackageError


def import_pandas() -> ModuleType:
    """Return pandas, or raise an error that says how to install it."""
    try:
        import pandas
    except ImportError as error:
        raise MissingPackageError(
            "Tables of mixed columns need pandas, which is not installed. "
            "Install it with: pip install 'skauc[tables]'"
        ) from error
    return pandas
