"""The one place where matplotlib is loaded."""

from __future__ import annotations

from skauc.exceptions import MissingPackageError


def import_pyplot():
    """Return matplotlib's pyplot, or say how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingPackageError(
            "Drawing needs matplotlib, which is not installed. "
            "Install it with: pip install 'skauc[plot]'"
        ) from error
    return plt


def axes_to_draw_on(ax=None):
    """Return the axes, or those of a new figure."""
    plt = import_pyplot()
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    return ax
