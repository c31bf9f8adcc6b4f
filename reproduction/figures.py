"""Figures as PNG and SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from reproduction.curves import Curves, lines_by, typical_curve
from reproduction.runner import Key
from skauc.plotting.axes import import_pyplot

_COLUMNS = 3
_MARKERS = "osD^v"
_MOST_MARKERS = 40


def draw_curves(
    finished: dict[Key, list[dict]], datasets: Sequence[str], curves: Curves, label: str
):
    """Return a figure with one panel per data set: mean AUC against median time."""
    plt = import_pyplot()
    n_rows = -(-len(datasets) // _COLUMNS)
    n_columns = min(len(datasets), _COLUMNS)
    figure, panels = plt.subplots(
        n_rows, n_columns, figsize=(3.6 * n_columns, 2.9 * n_rows + 0.5), layout="constrained"
    )
    panels = np.atleast_1d(panels).ravel()
    for name, panel in zip(datasets, panels, strict=False):
        for value, marker in zip(curves.values, _MARKERS, strict=False):
            lines = lines_by(finished, name, value)
            if lines:
                seconds, scores = typical_curve(lines).T
                every = -(-len(scores) // _MOST_MARKERS)
                style = {"marker": marker, "markersize": 3.5, "markevery": every, "lw": 1}
                panel.plot(seconds, scores, label=f"{value}", **style)
        panel.set_xscale("log")
        panel.set_title(name)
        panel.grid(alpha=0.3)
    for panel in panels[len(datasets) :]:
        panel.set_axis_off()
    figure.supxlabel("Seconds")
    figure.supylabel("Test AUC")
    handles, names = panels[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, names, title=label, loc="outside upper center", ncols=len(handles))
    return figure


def draw_cores(finished: dict[Key, list[dict]], datasets: Sequence[str]):
    """Return a figure of the fastest fit of each data set against the number of cores."""
    plt = import_pyplot()
    figure, axes = plt.subplots(figsize=(5.5, 4), layout="constrained")
    for name, marker in zip(datasets, _MARKERS, strict=False):
        fastest: dict[int, float] = {}
        for (data, n_jobs, _), lines in finished.items():
            if data == name:
                fastest[n_jobs] = min(fastest.get(n_jobs, np.inf), lines[-1]["fit"])
        if fastest:
            cores = sorted(fastest)
            axes.plot(cores, [fastest[n] for n in cores], marker=marker, label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter("{x:g}")
    numbers = sorted({key[1] for key in finished})
    axes.set_xticks(numbers, [str(n) for n in numbers])
    axes.set(xlabel="Cores", ylabel="Seconds per fit")
    axes.grid(alpha=0.3, which="both")
    if axes.lines:
        axes.legend()
    return figure


def write_figure(figure, folder: Path, name: str) -> list[Path]:
    """Write the figure as PNG and SVG, close it, and return the files."""
    files = [folder / f"{name}.{suffix}" for suffix in ("png", "svg")]
    for path in files:
        figure.savefig(path, dpi=130, metadata={"Date": None} if path.suffix == ".svg" else None)
    import_pyplot().close(figure)
    return files
