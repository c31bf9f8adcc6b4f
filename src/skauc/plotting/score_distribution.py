"""Histogram of the scores of the two classes."""

from __future__ import annotations

import numpy as np

from skauc.metrics import score_histogram
from skauc.plotting.axes import axes_to_draw_on, import_pyplot
from skauc.plotting.fitted import scored_rows
from skauc.validation import check_scored


class ScoreDistributionDisplay:
    """Histogram of the scores by class. The shares of each class sum to 1.

    Use :meth:`from_estimator` or :meth:`from_predictions` to create a display. All parameters are
    stored as attributes.

    Parameters
    ----------
    edges : array-like of shape (n_bins + 1,)
        Edges of the bins. Scores beyond them are counted in the end bins.
    positives, negatives : array-like of shape (n_bins,)
        Share of each class in each bin.
    labels : tuple of two str, default=("negative", "positive")
        Names of the negative and the positive class.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of the axes.
    bars_ : tuple of two matplotlib Artists
        The histograms of the negative and the positive class.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skauc.plotting import ScoreDistributionDisplay
    >>> display = ScoreDistributionDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> float(display.positives.sum())
    1.0
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, edges, positives, negatives, labels=("negative", "positive")):
        self.edges = edges
        self.positives = positives
        self.negatives = negatives
        self.labels = labels

    @classmethod
    def from_estimator(
        cls, estimator, X, y, *, sample_weight=None, n_bins=None, ax=None, **kwargs
    ) -> ScoreDistributionDisplay:
        """Score rows with a fitted classifier and draw the histogram.

        Parameters
        ----------
        estimator : estimator
            A fitted binary classifier with `decision_function` or `predict_proba`.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.
        y : array-like of shape (n_samples,)
            Labels of the rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        n_bins : int, default=None
            Number of bins. If None, 12 to 48 depending on the number of rows.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : ScoreDistributionDisplay
            The display.
        """
        return cls.from_predictions(
            **scored_rows(estimator, X, y),
            sample_weight=sample_weight,
            n_bins=n_bins,
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true,
        y_score,
        *,
        sample_weight=None,
        pos_label=None,
        n_bins=None,
        ax=None,
        **kwargs,
    ) -> ScoreDistributionDisplay:
        """Draw the histogram of scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels. There must be two distinct values.
        y_score : array-like of shape (n_samples,)
            Scores. Higher scores mean more positive.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        pos_label : label, default=None
            Label of the positive class. If None, it is the larger label in sorted order.
        n_bins : int, default=None
            Number of bins. If None, 12 to 48 depending on the number of rows.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : ScoreDistributionDisplay
            The display.
        """
        import_pyplot()
        scores, positive, weights = check_scored(y_true, y_score, sample_weight, pos_label)
        bars = score_histogram(scores, positive, weights, n_bins)
        labels = np.unique(np.asarray(y_true))
        if pos_label is not None and pos_label == labels[0]:
            labels = labels[::-1]
        display = cls(
            edges=bars.edges,
            positives=bars.positives,
            negatives=bars.negatives,
            labels=tuple(str(label) for label in labels),
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax=None, **kwargs) -> ScoreDistributionDisplay:
        """Draw the histograms of both classes on the same axes.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **kwargs : dict
            Passed to matplotlib's `stairs`.

        Returns
        -------
        display : ScoreDistributionDisplay
            The display itself.
        """
        self.ax_ = ax = axes_to_draw_on(ax)
        self.figure_ = ax.figure
        style = {"fill": True, "alpha": 0.5, **kwargs}
        self.bars_ = tuple(
            ax.stairs(shares, self.edges, label=label, **style)
            for shares, label in zip((self.negatives, self.positives), self.labels, strict=True)
        )
        ax.set(xlabel="Score", ylabel="Share of the class")
        ax.legend()
        return self
