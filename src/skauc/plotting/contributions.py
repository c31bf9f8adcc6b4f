"""Contributions of the columns to one score, and their mean size over many rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from skauc.exceptions import InvalidDataError
from skauc.explain import Explanation, column_importances, shapley_values
from skauc.plotting.axes import axes_to_draw_on, import_pyplot
from skauc.support import cut_short, is_missing

_POSITIVE, _NEGATIVE = "#c0392b", "#2471a3"


class WaterfallDisplay:
    """How the columns lead from the mean score to the score of one row.

    The bars start at the mean score of the background, at the bottom, and end at the score of the
    row. Columns with small contributions are added up in one bar.

    Parameters
    ----------
    explanation : Explanation
        The explanation of one row.

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
    >>> from skauc.plotting import WaterfallDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = SparseKernelAUC(8, random_state=0).fit(X, y)
    >>> display = WaterfallDisplay.from_estimator(model, X[:1])
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, explanation):
        self.explanation = explanation

    @classmethod
    def from_estimator(
        cls, estimator, X, background=None, *, max_features=10, ax=None
    ) -> WaterfallDisplay:
        """Explain and draw one row.

        Parameters
        ----------
        estimator : estimator
            A fitted skauc classifier, or a pipeline or wrapper around one.
        X : {array-like, dataframe} of shape (1, n_columns)
            The row.
        background : {array-like, dataframe}, default=None
            As in `skauc.explain.shapley_values`.
        max_features : int, default=10
            Largest number of bars.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        display : WaterfallDisplay
            The display.
        """
        import_pyplot()
        explanation = shapley_values(estimator, X, background)
        return cls(explanation=explanation).plot(ax, max_features=max_features)

    def plot(self, ax=None, *, max_features=10) -> WaterfallDisplay:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        max_features : int, default=10
            Largest number of bars.

        Returns
        -------
        display : WaterfallDisplay
            The display itself.
        """
        explained = _one_row(self.explanation)
        self.ax_ = ax = axes_to_draw_on(ax)
        self.figure_ = ax.figure
        labels, steps, errors = _leading(explained, max_features)
        base = float(explained.base_values)
        ends = base + np.cumsum(steps)
        positions = np.arange(len(steps))
        colours = [_POSITIVE if step > 0 else _NEGATIVE for step in steps]
        ax.barh(positions, steps, left=ends - steps, color=colours, height=0.7, xerr=errors)
        edges = np.append(base, ends)
        for position, end in zip(positions[:-1], ends[:-1], strict=True):
            ax.plot([end, end], [position - 0.35, position + 1.35], color="0.6", lw=0.6)
        for position, step, start in zip(positions, steps, edges, strict=False):
            _write(ax, start, step, position)
        ax.axvline(base, color="0.6", lw=0.8, ls=":", zorder=0)
        ax.set_yticks(positions, labels)
        ax.use_sticky_edges = False
        ax.margins(x=0.2)
        exact = "" if explained.is_exact else " (sampled, with standard errors)"
        ax.set_xlabel(f"Score: from {base:.3g} (mean) to {ends[-1]:.3g}{exact}")
        return self


def _one_row(explanation: Explanation) -> Explanation:
    if explanation.values.ndim == 2 and len(explanation) != 1:
        raise InvalidDataError(
            f"A waterfall shows one row; got {len(explanation)} rows. Pass explanation[i]."
        )
    return explanation if explanation.values.ndim == 1 else explanation[0]


def _leading(explained: Explanation, max_features: int):
    """Return labels, contributions and errors, the smallest first; the rest is added up."""
    order = np.argsort(-np.abs(explained.values), kind="stable")
    n_kept = len(order) if len(order) <= max_features else max_features - 1
    kept, rest = order[:n_kept], order[n_kept:]
    errors: Any = explained.standard_errors
    labels = [f"{explained.feature_names[i]} = {_cell(explained.data[i])}" for i in kept]
    steps = explained.values[kept]
    bars = None if errors is None else errors[kept]
    if len(rest):
        labels.append(f"{len(rest)} other columns")
        steps = np.append(steps, explained.values[rest].sum())
        bars = None if bars is None else np.append(bars, np.sqrt(np.sum(errors[rest] ** 2)))
    return labels[::-1], steps[::-1], None if bars is None else bars[::-1]


def _cell(value) -> str:
    if is_missing(value):
        return "missing"
    text = f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
    return cut_short(text, 24)


def _write(ax, start, step, position) -> None:
    """Write a contribution beside its bar."""
    side = "left" if step >= 0 else "right"
    ax.annotate(
        f"{step:+.3g}",
        (start + step, position),
        xytext=(4 if step >= 0 else -4, 0),
        textcoords="offset points",
        ha=side,
        va="center",
        fontsize="small",
    )


class ImportanceDisplay:
    """Mean absolute contribution of the columns, with confidence intervals.

    Parameters
    ----------
    importances : list of ColumnImportance
        From `skauc.explain.column_importances`.

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
    >>> from skauc.plotting import ImportanceDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = SparseKernelAUC(8, random_state=0).fit(X, y)
    >>> display = ImportanceDisplay.from_estimator(model, X)
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, importances):
        self.importances = importances

    @classmethod
    def from_estimator(
        cls, estimator, X, background=None, *, max_features=20, ax=None, **kwargs
    ) -> ImportanceDisplay:
        """Explain rows and draw the mean size of the contributions.

        Parameters
        ----------
        estimator : estimator
            A fitted skauc classifier, or a pipeline or wrapper around one.
        X : {array-like, dataframe} of shape (n_samples, n_columns)
            A random sample of rows; a few hundred are enough.
        background : {array-like, dataframe}, default=None
            As in `skauc.explain.shapley_values`.
        max_features : int, default=20
            Largest number of columns to draw.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **kwargs : dict
            Passed to matplotlib's `barh`.

        Returns
        -------
        display : ImportanceDisplay
            The display.
        """
        import_pyplot()
        importances = column_importances(shapley_values(estimator, X, background))
        return cls(importances=importances).plot(ax, max_features=max_features, **kwargs)

    def plot(self, ax=None, *, max_features=20, **kwargs) -> ImportanceDisplay:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        max_features : int, default=20
            Largest number of columns to draw.
        **kwargs : dict
            Passed to matplotlib's `barh`.

        Returns
        -------
        display : ImportanceDisplay
            The display itself.
        """
        self.ax_ = ax = axes_to_draw_on(ax)
        self.figure_ = ax.figure
        shown = self.importances[:max_features]
        sizes = np.array([each.importance for each in shown])
        limits = np.array([(each.low, each.high) for each in shown]).reshape(-1, 2)
        margins = np.abs(limits.T - sizes)
        style = {"xerr": margins, "ecolor": "0.3", "error_kw": {"lw": 1}, **kwargs}
        ax.barh(np.arange(len(shown)), sizes, **style)
        ax.set_yticks(np.arange(len(shown)), [each.name for each in shown])
        ax.invert_yaxis()
        ax.set_xlabel("Mean absolute contribution to the score")
        ax.grid(axis="x", alpha=0.3)
        ax.set_axisbelow(True)
        return self
