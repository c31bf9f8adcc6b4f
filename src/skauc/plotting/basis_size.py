"""AUC by the size of the model, to see how many centres are enough."""

from __future__ import annotations

import numpy as np

from skauc.exceptions import InvalidParameterError
from skauc.metrics import auc_interval
from skauc.plotting.axes import axes_to_draw_on, import_pyplot
from skauc.plotting.fitted import unwrap_fitted

BAND_LABEL = "95 % confidence band"


class BasisSizeDisplay:
    """AUC at each size on the path to the fitted model.

    Use :meth:`from_estimator` or :meth:`from_predictions` to create a display. All parameters are
    stored as attributes.

    Parameters
    ----------
    n_basis : array-like of shape (n_stages,)
        Numbers of centres, at least 1.
    auc : array-like of shape (n_stages,)
        AUC at each size.
    low, high : array-like of shape (n_stages,), default=None
        Limits of the 95 % confidence interval at each size (DeLong's method, see
        :func:`skauc.metrics.auc_interval`). They are pointwise. If None, no band is drawn.
    chosen : int, default=None
        Size of the fitted model. It is marked on the curve if it is in `n_basis`.
    estimator_name : str, default=None
        Name in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of the axes.
    line_ : matplotlib Artist
        The curve.
    band_ : matplotlib Artist or None
        The confidence band.
    chosen_ : matplotlib Artist or None
        The marker of the chosen size.

    See Also
    --------
    sklearn.model_selection.LearningCurveDisplay : AUC by the number of rows.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.ensemble import GradientBoostingClassifier
    >>> from skauc.plotting import BasisSizeDisplay
    >>> X, y = make_classification(random_state=0)
    >>> model = GradientBoostingClassifier(n_estimators=8, random_state=0).fit(X[:50], y[:50])
    >>> staged_scores = model.staged_decision_function(X[50:])
    >>> display = BasisSizeDisplay.from_predictions(y[50:], staged_scores, range(1, 9), chosen=8)
    >>> display.auc.shape
    (8,)
    >>> display.figure_.savefig("sizes.png")  # doctest: +SKIP
    """

    def __init__(self, *, n_basis, auc, low=None, high=None, chosen=None, estimator_name=None):
        self.n_basis = n_basis
        self.auc = auc
        self.low = low
        self.high = high
        self.chosen = chosen
        self.estimator_name = estimator_name

    @classmethod
    def from_estimator(
        cls, estimator, X, y, *, sample_weight=None, ax=None, name=None, **kwargs
    ) -> BasisSizeDisplay:
        """Score rows at every size on the path of a fitted estimator and draw the AUC.

        The cost is one `staged_decision_function` and one sort per size.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier with `path_` and `staged_decision_function`, such as
            `SparseKernelAUC`. It may be inside a pipeline or another wrapper. The rows then go
            through the steps of the pipeline.
        X : array-like of shape (n_samples, n_features)
            Rows to score. Use rows that the estimator was not fitted to: on the training rows
            the AUC always grows with the size.
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
        display : BasisSizeDisplay
            The display.
        """
        import_pyplot()
        unwrapped = unwrap_fitted(
            estimator, "path_", "staged_decision_function", example="SparseKernelAUC"
        )
        classifier = unwrapped.classifier
        return cls.from_predictions(
            y,
            classifier.staged_decision_function(unwrapped.transform(X)),
            [record.n_basis for record in classifier.path_],
            sample_weight=sample_weight,
            pos_label=estimator.classes_[1],
            chosen=classifier.n_basis_,
            ax=ax,
            name=type(classifier).__name__ if name is None else name,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true,
        staged_scores,
        n_basis,
        *,
        sample_weight=None,
        pos_label=None,
        chosen=None,
        ax=None,
        name=None,
        **kwargs,
    ) -> BasisSizeDisplay:
        """Draw the AUC of scores for the same rows at several sizes.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels. There must be two distinct values.
        staged_scores : iterable of array-like of shape (n_samples,)
            Scores of the rows at each size. A generator is read one array at a time.
        n_basis : array-like of shape (n_stages,)
            Sizes, at least 1, in ascending order.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        pos_label : label, default=None
            Label of the positive class. If None, it is the larger label in sorted order.
        chosen : int, default=None
            Size to mark.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        name : str, default=None
            Name in the legend.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : BasisSizeDisplay
            The display.
        """
        import_pyplot()
        intervals = [
            auc_interval(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
            for scores in staged_scores
        ]
        display = cls(
            n_basis=_check_sizes(n_basis, n_stages=len(intervals)),
            auc=np.array([interval.auc for interval in intervals]),
            low=np.array([interval.low for interval in intervals]),
            high=np.array([interval.high for interval in intervals]),
            chosen=chosen,
            estimator_name=name,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax=None, *, name=None, band=True, **kwargs) -> BasisSizeDisplay:
        """Draw the curve, its confidence band and a marker at the chosen size.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        name : str, default=None
            Name in the legend. If None, `estimator_name`.
        band : bool, default=True
            Whether to draw the confidence band.
        **kwargs : dict
            Passed to matplotlib's `plot` for the curve. The band and the marker have its colour.

        Returns
        -------
        display : BasisSizeDisplay
            The display itself.
        """
        self.ax_ = ax = axes_to_draw_on(ax)
        self.figure_ = ax.figure
        self.line_ = self._draw_curve(self.estimator_name if name is None else name, kwargs)
        self.band_ = self._draw_band() if band and self.low is not None else None
        self.chosen_ = self._draw_chosen()
        _decorate(ax)
        return self

    def _draw_curve(self, name, kwargs):
        from matplotlib.cbook import normalize_kwargs
        from matplotlib.lines import Line2D

        style = {"marker": "o", "markersize": 4, "linewidth": 1.8, "label": name}
        style |= normalize_kwargs(kwargs, Line2D)
        (line,) = self.ax_.plot(self.n_basis, self.auc, **style)
        return line

    def _draw_band(self):
        return self.ax_.fill_between(
            self.n_basis,
            self.low,
            self.high,
            color=self.line_.get_color(),
            alpha=0.15,
            linewidth=0,
            label=None if BAND_LABEL in _labels(self.ax_) else BAND_LABEL,
        )

    def _draw_chosen(self):
        at = np.flatnonzero(np.asarray(self.n_basis) == self.chosen)
        if len(at) == 0:
            return None
        auc = np.asarray(self.auc)[at[-1]]
        (mark,) = self.ax_.plot(
            self.chosen,
            auc,
            color=self.line_.get_color(),
            linestyle="none",
            marker="o",
            markersize=9,
            markerfacecolor="white",
            markeredgewidth=1.8,
            label=f"chosen size: {self.chosen} (AUC = {auc:.3f})",
        )
        return mark


def _decorate(ax) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    ax.set_xscale("log", base=2)
    smallest, largest = ax.get_xlim()
    octaves = np.log2(largest / smallest)
    # Label powers of two, unless the range contains at most two of them.
    ax.xaxis.set_major_locator(
        LogLocator(base=2) if octaves > 2.5 else MaxNLocator(5, integer=True)
    )
    ax.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:.0f}" if size >= 1 else ""))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set(xlabel="Number of centres", ylabel="AUC")
    ax.grid(alpha=0.3, linewidth=0.6)
    ax.set_axisbelow(True)
    if _labels(ax):
        ax.legend(loc="lower right")


def _labels(ax) -> list[str]:
    _, labels = ax.get_legend_handles_labels()
    return labels


def _check_sizes(n_basis, n_stages) -> np.ndarray:
    sizes = np.asarray(n_basis)
    if sizes.shape != (n_stages,):
        raise InvalidParameterError(
            f"`n_basis` must have one size per array of `staged_scores`; got {sizes.size} sizes "
            f"and {n_stages} arrays."
        )
    if n_stages and sizes.min() < 1:
        raise InvalidParameterError(
            f"`n_basis` must be at least 1 because the axis is logarithmic; got {sizes.min()}. "
            "Remove this stage."
        )
    return sizes
