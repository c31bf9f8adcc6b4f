"""The surface that cross-validation has seen: AUC by C and size."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skauc.plotting.axes import axes_to_draw_on

# What a structure is made of, beside its widths.
_WORDS = ("scaling", "linear_term", "rotate", "refine")


class TuningDisplay:
    """Mean cross-validated AUC of each C and size, for the widths and linear term that won.

    Parameters
    ----------
    Cs : ndarray of shape (n_Cs,)
        Values of C, ascending.
    n_basis : ndarray of shape (n_sizes,)
        Sizes, ascending.
    auc : ndarray of shape (n_Cs, n_sizes)
        Mean AUC, NaN where a pair was not tried.
    chosen : tuple of (C, n_basis)
        The setting that was chosen.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure that holds them.
    image_ : matplotlib QuadMesh
        The surface.

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
        """Draw the surface of a fitted estimator.

        Parameters
        ----------
        estimator : SparseKernelAUCCV
            A fitted estimator.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `pcolormesh`.

        Returns
        -------
        display : TuningDisplay
            The display.
        """
        check_is_fitted(estimator, "cv_results_")
        results, best = estimator.cv_results_, estimator.best_params_
        gamma = tuple(best["gamma"]) if isinstance(best["gamma"], list) else best["gamma"]
        shown = [
            row
            for row, its_gamma in enumerate(results["param_gamma"])
            if its_gamma == gamma
            and all(results[f"param_{name}"][row] == best[name] for name in _WORDS)
        ]
        Cs, rows = np.unique(results["param_C"][shown], return_inverse=True)
        sizes, columns = np.unique(results["param_n_basis"][shown], return_inverse=True)
        surface = np.full((len(Cs), len(sizes)), np.nan)
        surface[rows, columns] = results["mean_test_score"][shown]
        display = cls(Cs=Cs, n_basis=sizes, auc=surface, chosen=(best["C"], best["n_basis"]))
        return display.plot(ax, **kwargs)

    def plot(self, ax=None, **kwargs) -> TuningDisplay:
        """Draw the surface and mark the chosen setting.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Passed to matplotlib's `pcolormesh`.

        Returns
        -------
        display : TuningDisplay
            Itself.
        """
        self.ax_ = ax = axes_to_draw_on(ax)
        self.figure_ = ax.figure
        self.image_ = ax.pcolormesh(np.ma.masked_invalid(self.auc), **kwargs)
        ax.set_xticks(np.arange(len(self.n_basis)) + 0.5, [str(size) for size in self.n_basis])
        ax.set_yticks(np.arange(len(self.Cs)) + 0.5, [f"{C:g}" for C in self.Cs])
        row = int(np.argmin(np.abs(self.Cs - self.chosen[0])))
        column = int(np.argmin(np.abs(self.n_basis - self.chosen[1])))
        label = f"chosen: {self.auc[row, column]:.4f}"
        ax.plot(column + 0.5, row + 0.5, "w*", markersize=14, markeredgecolor="k", label=label)
        ax.set(xlabel="Number of basis functions", ylabel="C")
        ax.legend(loc="lower left")
        self.figure_.colorbar(self.image_, ax=ax, label="Mean cross-validated AUC")
        return self
