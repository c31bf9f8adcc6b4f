"""The one place where the preprocessing loads pandas."""

from __future__ import annotations

from skauc.exceptions import MissingPackageError


def import_pandas():
    """Return pandas, or say how to install it."""
    try:
        import pandas
    except ImportError as error:
        raise MissingPackageError(
            "Tables of mixed columns need pandas, which is not installed. "
            "Install it with: pip install 'skauc[tables]'"
        ) from error
    return pandas
