"""Scores of the two classes, to see how far they are apart."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skauc.metrics import score_histogram
from skauc.plotting.axes import axes_to_draw_on, import_pyplot
from skauc.unwrapping import ranking_scores
from skauc.validation import check_scored


class ScoreDistributionDisplay:
    """Histogram of the scores by class, each class as shares of its own.

    It is recommended to use :meth:`from_estimator` or :meth:`from_predictions` to create a display.
    All parameters are stored as attributes.

    Parameters
    ----------
    edges : array-like of shape (n_bins + 1,)
        Edges of the bars. Scores beyond them are counted in the end bars.
    positives, negatives : array-like of shape (n_bins,)
        Share of each class in each bar.
    labels : tuple of two str, default=("negative", "positive")
        Names of the negative and the positive class.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure that holds them.
    bars_ : tuple of two matplotlib Artists
        The negative and the positive class.

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
        """Score rows with a fitted classifier, and draw.

        Parameters
        ----------
        estimator : estimator
            A fitted binary classifier with `decision_function` or `predict_proba`.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts.
        n_bins : int, default=None
            Number of bars. None takes 12 to 48, more for more rows.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : ScoreDistributionDisplay
            The display, drawn.
        """
        import_pyplot()
        check_is_fitted(estimator)
        return cls.from_predictions(
            y,
            ranking_scores(estimator, X),
            sample_weight=sample_weight,
            pos_label=estimator.classes_[1],
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
        """Draw from scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels, of any two values.
        y_score : array-like of shape (n_samples,)
            Scores.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts.
        pos_label : label, default=None
            The label of the positive class. None takes the larger of the two in sorted order.
        n_bins : int, default=None
            Number of bars. None takes 12 to 48, more for more rows.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : ScoreDistributionDisplay
            The display, drawn.
        """
        import_pyplot()
        scored = check_scored(y_true, y_score, sample_weight, pos_label)
        bars = score_histogram(*scored, n_bins=n_bins)
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
        """Draw both classes over each other.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `stairs`.

        Returns
        -------
        display : ScoreDistributionDisplay
            Itself.
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
