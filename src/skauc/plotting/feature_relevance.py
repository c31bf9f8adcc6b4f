"""Features ranked by the scales that refinement has learnt."""

from __future__ import annotations

from skauc.plotting.axes import axes_to_draw_on


class FeatureRelevanceDisplay:
    """Bars of how far the rows are spread along each feature, in length scales of the kernel.

    A long bar says that the kernel part of the model tells rows apart by this feature; it says
    nothing of the direction of an effect, nor of causes, nor of the linear part. Of two features
    that carry the same information either one may have the bar.

    Parameters
    ----------
    names : sequence of str
        Features, the most relevant first.
    relevance : sequence of float
        Their relevance.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure that holds them.
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
        """Draw the most relevant features of a fitted estimator.

        Parameters
        ----------
        estimator : SparseKernelAUC or SparseKernelAUCCV
            A fitted estimator.
        max_features : int, default=20
            Most features to draw.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `barh`.

        Returns
        -------
        display : FeatureRelevanceDisplay
            The display.
        """
        ranked = estimator.rank_features()[:max_features]
        names, relevance = zip(*ranked, strict=True)
        return cls(names=names, relevance=relevance).plot(ax, **kwargs)

    def plot(self, ax=None, **kwargs) -> FeatureRelevanceDisplay:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `barh`.

        Returns
        -------
        display : FeatureRelevanceDisplay
            Itself.
        """
        self.ax_ = ax = axes_to_draw_on(ax)
        self.figure_ = ax.figure
        places = range(len(self.names))
        self.bars_ = ax.barh(places, self.relevance, **kwargs)
        ax.set_yticks(places, self.names)
        ax.invert_yaxis()
        ax.set_xlabel("Spread of the rows, in length scales of the kernel")
        ax.grid(axis="x", alpha=0.3)
        ax.set_axisbelow(True)
        return self
