"""The ROC curve with a confidence band."""

from __future__ import annotations

from skauc.metrics import auc_interval
from skauc.plotting.curve_band import CurveBandDisplay


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
