"""The precision-recall curve and how far it may be off."""

from __future__ import annotations

from sklearn.metrics import average_precision_score

from skauc.plotting.curve_band import CurveBandDisplay


class PrecisionRecallBandDisplay(CurveBandDisplay):
    """Precision-recall curve with a pointwise 95 % band, and the average precision with its limits.

    Both are from a smoothed Bayesian bootstrap within each class, for the class ratio of the rows.

    It is recommended to use :meth:`from_estimator` or :meth:`from_predictions` to create a display.
    All parameters are stored as attributes.

    Parameters
    ----------
    x, y : array-like of shape (n_points,)
        Recalls and precisions.
    band_x, low, high : array-like of shape (n_band,)
        Recalls, and the limits of the precision at each.
    area : tuple of three floats
        The average precision and its limits.
    chance : tuple of two floats
        Precision of a random ranking at the recalls 0 and 1.
    estimator_name : str, default=None
        The name in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure that holds them.
    line_, band_, chance_ : matplotlib Artist or None
        The curve, its band, and the line of a random ranking.

    See Also
    --------
    sklearn.metrics.PrecisionRecallDisplay : The curve without a band.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skauc.plotting import PrecisionRecallBandDisplay
    >>> display = PrecisionRecallBandDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
    >>> round(display.area[0], 3)
    0.833
    >>> plt.close(display.figure_)
    """

    x_label = "Positives found (recall)"
    y_label = "Precision"
    summary = "AP"
    legend_location = "lower left"

    @classmethod
    def _of(cls, scores, positive, weights, points, bands):
        average = float(average_precision_score(positive, scores, sample_weight=weights))
        low, high = bands.average_precision
        share = points.n_positive / (points.n_positive + points.n_negative)
        return {
            "x": points.recall[1:],
            "y": points.precision[1:],
            "band_x": bands.recall,
            "low": bands.precision_low,
            "high": bands.precision_high,
            "area": (average, min(low, average), max(high, average)),
            "chance": (share, share),
        }
