"""The base of displays of a curve with a confidence band."""

from __future__ import annotations

from skauc.metrics import curve_bands, operating_points
from skauc.plotting.axes import axes_to_draw_on, import_pyplot
from skauc.plotting.fitted import classifier_name, scored_rows
from skauc.validation import check_scored


class CurveBandDisplay:
    """A curve and its pointwise band. The band has its own points.

    Subclasses define the curve, its labels and the curve of a random ranking.
    """

    x_label: str
    y_label: str
    summary: str
    legend_location: str

    def __init__(self, *, x, y, band_x, low, high, area, chance, estimator_name=None):
        self.x = x
        self.y = y
        self.band_x = band_x
        self.low = low
        self.high = high
        self.area = area
        self.chance = chance
        self.estimator_name = estimator_name

    @classmethod
    def _of(cls, scores, positive, weights, points, bands):
        """Return the arguments of the constructor, without the name."""
        raise NotImplementedError

    @classmethod
    def from_estimator(cls, estimator, X, y, *, sample_weight=None, ax=None, name=None, **kwargs):
        """Score rows with a fitted classifier and draw the curve.

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
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        name : str, default=None
            Name in the legend. If None, the class of the classifier.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : object
            The display.
        """
        return cls.from_predictions(
            **scored_rows(estimator, X, y),
            sample_weight=sample_weight,
            ax=ax,
            name=classifier_name(estimator) if name is None else name,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls, y_true, y_score, *, sample_weight=None, pos_label=None, ax=None, name=None, **kwargs
    ):
        """Draw the curve of scores.

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
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        name : str, default=None
            Name in the legend.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : object
            The display.
        """
        import_pyplot()
        scores, positive, weights = check_scored(y_true, y_score, sample_weight, pos_label)
        points = operating_points(scores, positive, weights)
        parameters = cls._of(scores, positive, weights, points, curve_bands(points))
        display = cls(**parameters, estimator_name=name)
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax=None, *, name=None, band=True, chance=True, **kwargs):
        """Draw the curve, its band and the curve of a random ranking.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        name : str, default=None
            Name in the legend. If None, `estimator_name`.
        band : bool, default=True
            Whether to draw the band.
        chance : bool, default=True
            Whether to draw the curve of a random ranking.
        **kwargs : dict
            Passed to matplotlib's `plot` for the curve. The band has its colour.

        Returns
        -------
        display : object
            The display itself.
        """
        self.ax_ = ax = axes_to_draw_on(ax)
        self.figure_ = ax.figure
        (self.line_,) = ax.plot(self.x, self.y, **{"label": self._label(name), **kwargs})
        self.band_ = None
        if band:
            style = {"color": self.line_.get_color(), "alpha": 0.15, "linewidth": 0}
            self.band_ = ax.fill_between(self.band_x, self.low, self.high, **style)
        self.chance_ = None
        if chance:
            (self.chance_,) = ax.plot([0, 1], self.chance, color="0.5", linestyle=":", linewidth=1)
        ax.set(xlabel=self.x_label, ylabel=self.y_label, xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        ax.set_aspect("equal")
        ax.grid(alpha=0.3, linewidth=0.6)
        ax.legend(loc=self.legend_location)
        return self

    def _label(self, name) -> str:
        name = self.estimator_name if name is None else name
        value, low, high = self.area
        area = f"{self.summary} = {value:.3f} ({low:.3f} to {high:.3f})"
        return area if name is None else f"{name}: {area}"
