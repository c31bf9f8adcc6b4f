"""Recall, precision and cost by threshold."""

from __future__ import annotations

import numpy as np

from skauc.metrics import operating_points
from skauc.plotting.axes import axes_to_draw_on, import_pyplot, legend_above
from skauc.plotting.fitted import scored_rows
from skauc.validation import check_positive, check_scored


class ThresholdDisplay:
    """Recall, precision and, with costs, mean cost per row at each threshold.

    A row is flagged if its score is at least the threshold.

    Use :meth:`from_estimator` or :meth:`from_predictions` to create a display. All parameters are
    stored as attributes.

    Parameters
    ----------
    thresholds : array-like of shape (n_thresholds,)
        Thresholds in descending order.
    recall, precision : array-like of shape (n_thresholds,)
        Share of the positive rows that are flagged, and share of the flagged rows that are
        positive.
    cost : array-like of shape (n_thresholds,), default=None
        Mean cost per row.
    best : float, default=None
        Threshold to mark: that of lowest cost, or of best balanced accuracy without costs.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    cost_ax_ : matplotlib Axes or None
        The axes of the cost, with the scale on the right.
    figure_ : matplotlib Figure
        The figure of the axes.
    lines_ : dict of matplotlib Artists
        The curves by name.

    See Also
    --------
    sklearn.model_selection.TunedThresholdClassifierCV : Chooses a threshold by cross-validation.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skauc.plotting import ThresholdDisplay
    >>> y_true, y_score = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    >>> display = ThresholdDisplay.from_predictions(y_true, y_score, costs=(1, 5))
    >>> float(display.best)  # flags the last three: one false alarm, no miss
    0.3
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, thresholds, recall, precision, cost=None, best=None):
        self.thresholds = thresholds
        self.recall = recall
        self.precision = precision
        self.cost = cost
        self.best = best

    @classmethod
    def from_estimator(
        cls, estimator, X, y, *, sample_weight=None, costs=None, ax=None, **kwargs
    ) -> ThresholdDisplay:
        """Score rows with a fitted classifier and draw the curves.

        Parameters
        ----------
        estimator : estimator
            A fitted binary classifier with `decision_function` or `predict_proba`.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that the estimator was not fitted to.
        y : array-like of shape (n_samples,)
            Labels of the rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        costs : tuple of two floats, default=None
            Cost of a false alarm and of a miss. If None, no cost is drawn.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : ThresholdDisplay
            The display.
        """
        return cls.from_predictions(
            **scored_rows(estimator, X, y),
            sample_weight=sample_weight,
            costs=costs,
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls, y_true, y_score, *, sample_weight=None, pos_label=None, costs=None, ax=None, **kwargs
    ) -> ThresholdDisplay:
        """Draw the curves of scores.

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
        costs : tuple of two floats, default=None
            Cost of a false alarm and of a miss. If None, no cost is drawn.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : ThresholdDisplay
            The display.
        """
        import_pyplot()
        points = operating_points(*check_scored(y_true, y_score, sample_weight, pos_label))
        cost, gain = None, points.balanced_accuracy
        if costs is not None:
            advice = "Pass the cost of a false alarm and of a miss, for instance (1, 20)."
            total = points.cost(*(check_positive("costs", value, advice) for value in costs))
            cost = total / (points.n_positive + points.n_negative)
            gain = -cost
        display = cls(
            thresholds=points.thresholds,
            recall=points.recall,
            precision=points.precision,
            cost=cost,
            best=points.thresholds[np.argmax(gain)],
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax=None, **kwargs) -> ThresholdDisplay:
        """Draw the curves and mark the best threshold.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **kwargs : dict
            Passed to matplotlib's `plot` for each curve.

        Returns
        -------
        display : ThresholdDisplay
            The display itself.
        """
        self.ax_ = ax = axes_to_draw_on(ax)
        self.figure_ = ax.figure
        self.cost_ax_ = None
        # The first threshold flags no row and has no precision.
        self.lines_ = {
            name: ax.plot(self.thresholds[1:], values[1:], label=name, **kwargs)[0]
            for name, values in (("recall", self.recall), ("precision", self.precision))
        }
        if self.cost is not None:
            self.cost_ax_ = ax.twinx()
            style = {"color": "C2", "linestyle": "--", **kwargs}
            line = self.cost_ax_.plot(self.thresholds, self.cost, label="cost", **style)[0]
            self.lines_["cost"] = line
            self.cost_ax_.set(ylabel="Mean cost per row", ylim=(0, None))
        handles = [*self.lines_.values()]
        if self.best is not None:
            what = "best balanced accuracy" if self.cost is None else "lowest cost"
            label = f"{what} at {self.best:g}"
            handles.append(ax.axvline(self.best, color="0.4", linewidth=1, label=label))
        ax.set(xlabel="Threshold", ylabel="Recall, precision", ylim=(-0.01, 1.01))
        ax.grid(alpha=0.3, linewidth=0.6)
        legend_above(ax, handles=handles)
        return self
