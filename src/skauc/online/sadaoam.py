"""SAdaOAM: AdaOAM with an l1 penalty, for weights that are exactly zero."""

from __future__ import annotations

from skauc.compiling import compiled_fast as compiled
from skauc.online.adaoam import AdaOAM, adaptive_steps, observe, project
from skauc.online.statistics import average_in
from skauc.validation import check_positive


class SAdaOAM(AdaOAM):
    """Sparse linear online classifier that maximises AUC with adaptive step sizes.

    The gradient g and the steps eta / H are those of `AdaOAM`. Each step also shrinks the weights
    towards zero, so that the weights of features that are not needed stay at zero::

        u = w - eta g / H
        w = sign(u) max(0, |u| - eta theta / H), projected on |w| <= 1 / sqrt(lam)

    Parameters
    ----------
    theta : float, default=0.01
        Weight of the l1 penalty theta |w|_1. Larger values leave fewer weights.
    eta : float, default=0.1
        Step size. Try powers of two from 2^-10 to 2^10.
    lam : float, default=1e-4
        Weight of the regulariser lam/2 |w|^2.
    delta : float, default=0.5
        Damps the first steps.
    average : bool, default=False
        Whether to predict with the mean of all iterates, which is rarely sparse.
    n_epochs : int, default=5
        Number of passes of `fit` over the rows.
    shuffle : bool, default=True
        Whether `fit` shuffles the rows before each pass.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the rows.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, the positive one last.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        Minus the threshold, which is the midpoint between the mean scores of the two classes so
        far. It does not affect the ranking.
    n_samples_seen_ : int
        Number of rows seen so far, including repetitions.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features. Defined only if X has names that are all strings.

    Notes
    -----
    A row takes O(n_features^2) time. The memory is 16 * n_features^2 bytes. The paper shrinks a
    weight lazily, when its gradient is next non-zero, which gives the same numbers. Here the
    product with the covariance visits every weight anyway.

    References
    ----------
    Y. Ding, P. Zhao, S. C. H. Hoi, Y.-S. Ong. Adaptive Subgradient Methods for Online AUC
    Maximization. 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from skauc import SAdaOAM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = SAdaOAM(theta=0.5).partial_fit(X[:400], y[:400], classes=[0, 1])
    >>> model.score(X[400:], y[400:]) > 0.98
    True
    >>> int((model.coef_ != 0).sum()) < 20  # of 30
    True
    """

    def __init__(
        self,
        *,
        theta=0.01,
        eta=0.1,
        lam=1e-4,
        delta=0.5,
        average=False,
        n_epochs=5,
        shuffle=True,
        random_state=None,
    ):
        super().__init__(
            eta=eta,
            lam=lam,
            delta=delta,
            average=average,
            n_epochs=n_epochs,
            shuffle=shuffle,
            random_state=random_state,
        )
        self.theta = theta

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive("theta", self.theta, "Larger values leave fewer weights.")

    def _learn(self, X, own, state) -> None:
        steps = float(self.eta), float(self.lam), float(self.delta), float(self.theta)
        sadaoam_pass(X, own, state, *steps)


@compiled
def sadaoam_pass(X, own, state, eta, lam, delta, theta):
    """Update the state, row by row."""
    for t in range(len(X)):
        gradient = observe(X[t], own[t], state, lam)
        steps = adaptive_steps(gradient, state.squares, eta, delta)
        for i in range(len(gradient)):
            u = state.weights[i] - steps[i] * gradient[i]
            state.weights[i] = max(0.0, u - steps[i] * theta) + min(0.0, u + steps[i] * theta)
        project(state.weights, lam)
        average_in(state.average, state.weights, state.n_seen)
