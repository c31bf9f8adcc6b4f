"""The only module that imports matplotlib's pyplot."""

from __future__ import annotations

from skauc.exceptions import MissingPackageError


def import_pyplot():
    """Import matplotlib's pyplot, or raise an error that says how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingPackageError(
            "Displays need matplotlib, which is not installed. "
            "Install it with: pip install 'skauc[plot]'"
        ) from error
    return plt


def axes_to_draw_on(ax=None):
    """Return the given axes, or the axes of a new figure."""
    plt = import_pyplot()
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    return ax
