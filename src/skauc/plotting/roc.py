"""The ROC curve with a confidence band."""

from __future__ import annotations

from skauc.metrics import auc_interval
from skauc.metrics.partial_area import check_corner
from skauc.plotting.curve_band import CurveBandDisplay
from skauc.unwrapping import unwrap


class RocBandDisplay(CurveBandDisplay):
    """ROC curve with a pointwise 95 % band, and AUC with a confidence interval.

    The band comes from a smoothed Bayesian bootstrap within each class. It has a positive width
    where the rows have no errors. The interval of the AUC is that of DeLong.

    Use :meth:`from_estimator` or :meth:`from_predictions` to create a display. All parameters are
    stored as attributes.

    Parameters
    ----------
    x, y : array-like of shape (n_points,)
        False positive rates and recalls.
    band_x, low, high : array-like of shape (n_band,)
        False positive rates, and limits of the recall at each of them.
    area : tuple of three floats
        AUC and its limits.
    chance : tuple of two floats
        Recall of a random ranking at false positive rate 0 and 1.
    estimator_name : str, default=None
        Name in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_, band_, chance_ : matplotlib Artist or None
        The curve, its band, and the curve of a random ranking.
    part_ : matplotlib Artist or None
        The part of the curve that is shaded.

    See Also
    --------
    sklearn.metrics.RocCurveDisplay : The curve without a band.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skauc.plotting import RocBandDisplay
    >>> display = RocBandDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> display.area[0]
    0.75
    >>> plt.close(display.figure_)
    """

    x_label = "False positive rate"
    y_label = "Recall"
    summary = "AUC"
    legend_location = "lower right"

    @classmethod
    def from_estimator(cls, estimator, X, y, **kwargs):
        """Score rows with a fitted classifier and draw the curve.

        Parameters
        ----------
        estimator : estimator
            A fitted binary classifier with `decision_function` or `predict_proba`. The part of the
            curve that it was fitted for is shaded.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that the estimator was not fitted to.
        y : array-like of shape (n_samples,)
            Labels of the rows.
        **kwargs : dict
            Passed to :meth:`from_predictions` and :meth:`plot`.

        Returns
        -------
        display : RocBandDisplay
            The display.
        """
        return super().from_estimator(estimator, X, y, **{**unwrap(estimator).limits, **kwargs})

    def plot(self, ax=None, *, max_fpr=None, min_tpr=None, **kwargs):
        """Draw the curve, its band and the curve of a random ranking.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        max_fpr, min_tpr : float, default=None
            Limits of a part of the curve to shade. If both are None, nothing is shaded.
        **kwargs : dict
            ``name``, ``band`` and ``chance`` as in `PrecisionRecallBandDisplay`. Others are passed
            to matplotlib's `plot` for the curve.

        Returns
        -------
        display : RocBandDisplay
            The display itself.
        """
        super().plot(ax, **kwargs)
        widest, lowest = check_corner(max_fpr, min_tpr)
        self.part_ = None
        if (widest, lowest) != (1.0, 0.0):
            style = {"color": "0.5", "alpha": 0.2, "linewidth": 0, "zorder": 0}
            self.part_ = self.ax_.fill_between([0.0, widest], lowest, 1.0, **style)
        return self

    @classmethod
    def _of(cls, scores, positive, weights, points, bands):
        interval = auc_interval(positive, scores, sample_weight=weights)
        return {
            "x": points.false_positive_rate,
            "y": points.recall,
            "band_x": bands.false_positive_rate,
            "low": bands.recall_low,
            "high": bands.recall_high,
            "area": (interval.auc, interval.low, interval.high),
            "chance": (0.0, 1.0),
        }
