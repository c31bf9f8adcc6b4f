"""The precision-recall curve with a confidence band."""

from __future__ import annotations

from sklearn.metrics import average_precision_score

from skauc.plotting.curve_band import CurveBandDisplay


class PrecisionRecallBandDisplay(CurveBandDisplay):
    """Precision-recall curve with a pointwise 95 % band, and average precision with limits.

    The band and the limits come from a smoothed Bayesian bootstrap within each class. They hold
    for the class ratio of the rows.

    Use :meth:`from_estimator` or :meth:`from_predictions` to create a display. All parameters are
    stored as attributes.

    Parameters
    ----------
    x, y : array-like of shape (n_points,)
        Recalls and precisions.
    band_x, low, high : array-like of shape (n_band,)
        Recalls, and limits of the precision at each of them.
    area : tuple of three floats
        Average precision and its limits.
    chance : tuple of two floats
        Precision of a random ranking at recall 0 and 1.
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

    x_label = "Recall"
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
