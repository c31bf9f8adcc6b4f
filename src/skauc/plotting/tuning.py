"""Cross-validated AUC by C and size."""

from __future__ import annotations

import numpy as np

from skauc.plotting.axes import axes_to_draw_on, legend_above
from skauc.plotting.fitted import unwrap_fitted
from skauc.sparse.cv_results import rows_of_choice


class TuningDisplay:
    """Mean cross-validated AUC by C and size. The other parameters are those that were chosen.

    Parameters
    ----------
    Cs : list of length n_Cs
        Values of C in ascending order, after "auto" if it was tried.
    n_basis : ndarray of shape (n_sizes,)
        Numbers of centres in ascending order.
    auc : ndarray of shape (n_Cs, n_sizes)
        Mean AUC over the folds on which all pairs were tried, NaN for pairs that were not tried.
    chosen : tuple of (C, n_basis)
        The chosen pair.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of the axes.
    image_ : matplotlib QuadMesh
        The cells.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import make_moons
    >>> from skauc import SparseKernelAUCCV
    >>> from skauc.plotting import TuningDisplay
    >>> X, y = make_moons(200, noise=0.3, random_state=0)
    >>> model = SparseKernelAUCCV(n_basis=8, refine=False, cv=2, random_state=0).fit(X, y)
    >>> display = TuningDisplay.from_estimator(model)
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, Cs, n_basis, auc, chosen):
        self.Cs = Cs
        self.n_basis = n_basis
        self.auc = auc
        self.chosen = chosen

    @classmethod
    def from_estimator(cls, estimator, *, ax=None, **kwargs) -> TuningDisplay:
        """Draw the results of a fitted search.

        Parameters
        ----------
        estimator : estimator
            A fitted `SparseKernelAUCCV`. It may be inside a pipeline or another wrapper.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **kwargs : dict
            Passed to matplotlib's `pcolormesh`.

        Returns
        -------
        display : TuningDisplay
            The display.
        """
        search = unwrap_fitted(
            estimator, "cv_results_", "best_params_", example="SparseKernelAUCCV"
        ).classifier
        results, best = search.cv_results_, search.best_params_
        shown = rows_of_choice(results, best, ("C", "n_basis"))
        Cs = sorted(set(results["param_C"][shown]), key=_place)
        rows = [Cs.index(C) for C in results["param_C"][shown]]
        sizes, columns = np.unique(results["param_n_basis"][shown], return_inverse=True)
        means = np.full((len(Cs), len(sizes)), np.nan)
        means[rows, columns] = _comparable_means(results, shown)
        chosen = best["C"] if best["C"] in Cs else "auto"  # the mean of estimates
        display = cls(Cs=Cs, n_basis=sizes, auc=means, chosen=(chosen, best["n_basis"]))
        return display.plot(ax, **kwargs)

    def plot(self, ax=None, **kwargs) -> TuningDisplay:
        """Draw the cells and mark the chosen pair.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.
        **kwargs : dict
            Passed to matplotlib's `pcolormesh`.

        Returns
        -------
        display : TuningDisplay
            The display itself.
        """
        self.ax_ = ax = axes_to_draw_on(ax)
        self.figure_ = ax.figure
        self.image_ = ax.pcolormesh(np.ma.masked_invalid(self.auc), **kwargs)
        ax.set_xticks(np.arange(len(self.n_basis)) + 0.5, [str(size) for size in self.n_basis])
        labels = [C if isinstance(C, str) else f"{C:g}" for C in self.Cs]
        ax.set_yticks(np.arange(len(self.Cs)) + 0.5, labels)
        row = list(self.Cs).index(self.chosen[0])
        column = int(np.argmin(np.abs(self.n_basis - self.chosen[1])))
        label = f"chosen (AUC = {self.auc[row, column]:.4f})"
        ax.plot(column + 0.5, row + 0.5, "w*", markersize=14, markeredgecolor="k", label=label)
        ax.set(xlabel="Number of centres", ylabel="C")
        legend_above(ax)
        self.figure_.colorbar(self.image_, ax=ax, label="Mean cross-validated AUC")
        return self


def _place(C: float | str) -> float:
    """Return where a C is on the axis: "auto" comes first."""
    return 0.0 if isinstance(C, str) else C


def _comparable_means(results: dict, shown: list[int]) -> np.ndarray:
    """Return means over the folds on which all entries were tried; there may be none."""
    n_folds = sum(name.startswith("split") for name in results)
    scores = np.array([results[f"split{fold}_test_score"][shown] for fold in range(n_folds)])
    is_tried = ~np.isnan(scores).any(axis=1)
    return scores[is_tried].mean(axis=0) if is_tried.any() else np.nanmean(scores, axis=0)
