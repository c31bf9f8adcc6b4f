"""Columns of a table ranked by the length scales that refinement has learnt."""

from __future__ import annotations

from skauc.explain.relevance import column_relevance
from skauc.plotting.axes import axes_to_draw_on
from skauc.plotting.fitted import unwrap_fitted


class FeatureRelevanceDisplay:
    """Spread of the training rows along each column, in length scales of the kernel.

    A long bar means that the kernel is sensitive to the column. It is not an importance: the
    column need not improve the AUC. The reports of :mod:`skauc.report` show the permutation
    importance of each column. The linear term is not included. Without refinement, all length
    scales are 1.

    Parameters
    ----------
    names : sequence of str
        Columns of the table, in descending order of relevance.
    relevance : sequence of float
        Relevance of each column, as `column_relevance` returns it.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of the axes.
    bars_ : matplotlib BarContainer
        The bars.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_moons
    >>> from skauc import SparseKernelAUC
    >>> from skauc.plotting import FeatureRelevanceDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = SparseKernelAUC(8, refine=True, random_state=0).fit(X, y)
    >>> display = FeatureRelevanceDisplay.from_estimator(model)
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, names, relevance):
        self.names = names
        self.relevance = relevance

    @classmethod
    def from_estimator(
        cls, estimator, *, max_features=20, ax=None, **kwargs
    ) -> FeatureRelevanceDisplay:
        """Draw the most relevant columns of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            A fitted `SparseKernelAUC` or `SparseKernelAUCCV`. It may be inside a pipeline or
            another wrapper. The features of a column, such as levels of a category, share a bar.
        max_features : int, default=20
            Largest number of columns to draw.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **kwargs : dict
            Passed to matplotlib's `barh`.

        Returns
        -------
        display : FeatureRelevanceDisplay
            The display.
        """
        unwrap_fitted(estimator, "feature_relevance_", example="SparseKernelAUC")
        names, relevance = zip(*column_relevance(estimator)[:max_features], strict=True)
        return cls(names=names, relevance=relevance).plot(ax, **kwargs)

    def plot(self, ax=None, **kwargs) -> FeatureRelevanceDisplay:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **kwargs : dict
            Passed to matplotlib's `barh`.

        Returns
        -------
        display : FeatureRelevanceDisplay
            The display itself.
        """
        self.ax_ = ax = axes_to_draw_on(ax)
        self.figure_ = ax.figure
        positions = range(len(self.names))
        self.bars_ = ax.barh(positions, self.relevance, **kwargs)
        ax.set_yticks(positions, self.names)
        ax.invert_yaxis()
        ax.set_xlabel("Spread of the rows in length scales")
        ax.grid(axis="x", alpha=0.3)
        ax.set_axisbelow(True)
        return self
