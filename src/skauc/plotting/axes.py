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


def axes_to_draw_on(ax):
    """Return the given axes, or the axes of a new figure."""
    plt = import_pyplot()
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    return ax


def legend_above(ax, **kwargs) -> None:
    """Draw a legend above the axes, where it covers nothing."""
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=4,
        frameon=False,
        borderaxespad=0.2,
        columnspacing=1.2,
        handlelength=1.6,
        **kwargs,
    )
