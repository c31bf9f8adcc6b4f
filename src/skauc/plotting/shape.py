"""Partial dependence on one column, and on two."""

from __future__ import annotations

import numpy as np

from skauc.explain import partial_dependence, shapley_values
from skauc.explain.columns import pick_rows
from skauc.explain.grids import find_column
from skauc.plotting.axes import axes_to_draw_on, import_pyplot
from skauc.support import cut_short
from skauc.validation import check_choice

# Bins of the density under a numeric axis.
_N_BINS = 40
# Share of the height of the axes that the density takes.
_DENSITY_HEIGHT = 0.15


class ShapeDisplay:
    """How the mean score depends on one column.

    The line is the partial dependence, minus the mean score of the background. The grey area, or
    the grey bars of a category, show how many rows have each value. The dots are the exact
    contributions of single rows. If they are far from the line, the effect of the column depends on
    other columns.

    Parameters
    ----------
    dependence : PartialDependence
        The partial dependence on one column.
    points : ndarray of shape (n_points, 2), default=None
        Positions and contributions of single rows.
    name : str, default=None
        Label of the axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_moons
    >>> from skauc import SparseKernelAUC
    >>> from skauc.plotting import ShapeDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = SparseKernelAUC(8, random_state=0).fit(X, y)
    >>> display = ShapeDisplay.from_estimator(model, X, 1)
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, dependence, points=None, name=None):
        self.dependence = dependence
        self.points = points
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator,
        X,
        feature,
        background=None,
        *,
        n_points=50,
        n_rows=200,
        ax=None,
        **kwargs,
    ) -> ShapeDisplay:
        """Compute and draw the partial dependence on a column.

        Parameters
        ----------
        estimator : estimator
            A fitted skauc classifier, or a pipeline or wrapper around one.
        X : {array-like, dataframe} of shape (n_samples, n_columns)
            Rows of the table.
        feature : str or int
            Name or number of the column.
        background : {array-like, dataframe}, default=None
            As in `skauc.explain.shapley_values`.
        n_points : int, default=50
            Number of points of the line.
        n_rows : int, default=200
            Number of rows of X that are drawn as dots, 0 for none.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        display : ShapeDisplay
            The display.
        """
        import_pyplot()
        dependence = partial_dependence(estimator, X, feature, background, n_points=n_points)
        grid, points = dependence.grids[0], None
        if n_rows:
            chosen = np.arange(min(n_rows, len(grid.of_rows)))
            rows = pick_rows(X, chosen) if hasattr(X, "shape") else np.asarray(X)[chosen]
            values = shapley_values(estimator, rows, background).values
            column = find_column(rows, feature)
            points = np.column_stack((grid.of_rows[chosen], values[:, column]))
        return cls(dependence=dependence, points=points, name=grid.name).plot(ax, **kwargs)

    def plot(self, ax=None, **kwargs) -> ShapeDisplay:
        """Draw the line, the dots and the density.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **kwargs : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        display : ShapeDisplay
            The display itself.
        """
        self.ax_ = ax = axes_to_draw_on(ax)
        self.figure_ = ax.figure
        grid = self.dependence.grids[0]
        is_level = grid.kind == "level"
        style = {"color": "C0", "zorder": 3, **({"marker": "o", "ls": "none"} if is_level else {})}
        if self.points is not None:
            self._draw_points(ax, is_level)
        ax.axhline(0, color="0.6", lw=0.8, zorder=1)
        ax.plot(grid.positions, self.dependence.effect, **{**style, **kwargs})
        _draw_density(ax, grid)
        _label_axis(ax, "x", grid)
        ax.set_xlabel(self.name or grid.name)
        ax.set_ylabel("Effect on the score")
        return self

    def _draw_points(self, ax, is_level: bool) -> None:
        x, y = self.points.T
        if is_level:  # dots of the same level side by side
            x = x + np.random.default_rng(0).uniform(-0.25, 0.25, len(x))
        ax.plot(x, y, ".", color="0.65", ms=4, zorder=2)


class InteractionDisplay:
    """How the score depends on two columns together.

    Colours show the interaction: the part of the partial dependence that is no sum of the effects
    of the two columns. With ``kind="total"`` they show the whole effect on the score.

    Parameters
    ----------
    dependence : PartialDependence
        The partial dependence on two columns.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_moons
    >>> from skauc import SparseKernelAUC
    >>> from skauc.plotting import InteractionDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = SparseKernelAUC(8, random_state=0).fit(X, y)
    >>> display = InteractionDisplay.from_estimator(model, X, [0, 1])
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, dependence):
        self.dependence = dependence

    @classmethod
    def from_estimator(
        cls,
        estimator,
        X,
        features,
        background=None,
        *,
        n_points=40,
        kind="interaction",
        ax=None,
        **kwargs,
    ) -> InteractionDisplay:
        """Compute and draw the interaction of two columns.

        Parameters
        ----------
        estimator : estimator
            A fitted skauc classifier, or a pipeline or wrapper around one.
        X : {array-like, dataframe} of shape (n_samples, n_columns)
            Rows of the table.
        features : sequence of two str or int
            Names or numbers of the columns.
        background : {array-like, dataframe}, default=None
            As in `skauc.explain.shapley_values`.
        n_points : int, default=40
            Number of values of each numeric column.
        kind : {"interaction", "total"}, default="interaction"
            What the colours show.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **kwargs : dict
            Passed to matplotlib's `pcolormesh`.

        Returns
        -------
        display : InteractionDisplay
            The display.
        """
        import_pyplot()
        dependence = partial_dependence(estimator, X, features, background, n_points=n_points)
        return cls(dependence=dependence).plot(ax, kind=kind, **kwargs)

    def plot(self, ax=None, *, kind="interaction", **kwargs) -> InteractionDisplay:
        """Draw the colours.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        kind : {"interaction", "total"}, default="interaction"
            What the colours show.
        **kwargs : dict
            Passed to matplotlib's `pcolormesh`.

        Returns
        -------
        display : InteractionDisplay
            The display itself.
        """
        check_choice("kind", kind, ("interaction", "total"))
        self.ax_ = ax = axes_to_draw_on(ax)
        self.figure_ = ax.figure
        first, second = self.dependence.grids
        is_total = kind == "total"
        shown = self.dependence.effect if is_total else self.dependence.interaction
        most = float(np.abs(shown).max()) or 1.0
        style = {"cmap": "RdBu_r", "vmin": -most, "vmax": most, "shading": "nearest"}
        mesh = ax.pcolormesh(first.positions, second.positions, shown.T, **{**style, **kwargs})
        label = "Effect on the score" if is_total else "Interaction effect on the score"
        ax.figure.colorbar(mesh, ax=ax, label=label)
        for axis, grid in (("x", first), ("y", second)):
            _label_axis(ax, axis, grid)
        ax.set_xlabel(first.name)
        ax.set_ylabel(second.name)
        return self


def _draw_density(ax, grid) -> None:
    """Draw how many rows have each value, at the bottom of the axes."""
    values = grid.of_rows[np.isfinite(grid.of_rows)]
    low, high = float(grid.positions.min()), float(grid.positions.max())
    twin = ax.twinx()
    twin.set_zorder(ax.get_zorder() - 1)
    ax.patch.set_visible(False)
    twin.axis("off")
    if grid.kind == "level":
        counts = np.bincount(values.astype(int), minlength=len(grid.positions))
        twin.bar(grid.positions, counts, color="0.88", width=0.6)
    else:
        inside = values[(values >= low) & (values <= high)]
        counts, edges = np.histogram(inside, _N_BINS, (low, high) if low < high else None)
        twin.fill_between(edges, np.append(counts, 0), step="post", color="0.88", lw=0)
    twin.set_ylim(0, max(counts.max(), 1) / _DENSITY_HEIGHT)


def _label_axis(ax, axis: str, grid) -> None:
    """Write levels and dates at the ticks."""
    if grid.kind == "number":
        return
    positions, labels = grid.positions, grid.labels
    if grid.kind == "date":
        chosen = np.unique(np.linspace(0, len(positions) - 1, 5).astype(int))
        positions, labels = positions[chosen], [labels[i] for i in chosen]
    shown = [cut_short(label, 18) for label in labels]
    is_crowded = axis == "x" and sum(map(len, shown)) > 45
    ticks = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if is_crowded else {}
    (ax.set_xticks if axis == "x" else ax.set_yticks)(positions, shown, **ticks)
