"""StructuralAUC: the cutting plane method of Joachims for the ROC area."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

from numpy.typing import ArrayLike

from skauc.background import summarise
from skauc.base import (
    CallbackMixin,
    FullKernelClassifier,
    fitting,
    support_attributes,
    with_callbacks,
)
from skauc.data.training import TrainingData, check_training
from skauc.kernels import Kernel
from skauc.metrics.area import best_threshold
from skauc.model import Model
from skauc.solvers.cutting_plane import Solution, minimise_by_planes
from skauc.structural.function_spaces import open_space
from skauc.support import quiet_overflow

# Fraction of the way to the solution of the master problem at which the linear kernel computes its
# planes. It takes a third to a quarter of the rounds of a full step. The result contains a little
# of every plane, so that no row would have a zero coefficient. Other kernels therefore take full
# steps.
STEP = 0.2


class StructuralAUC(CallbackMixin, FullKernelClassifier):
    """Linear or kernel classifier that maximises AUC by the plain hinge loss over all pairs.

    It minimises

        1/2 |f|^2 + C_pair * sum over positives i, negatives j of max(0, 1 - f_i + f_j),

    with C_pair = C * l / (p * n) for l rows, p of them positive and n negative. With sample
    weights, these counts are sums of weights. The label that sorts last is the positive class. The
    sum over pairs is one structured loss over all rankings. It is minimised by cutting planes (the
    1-slack formulation of Joachims).

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss against the regulariser. It does not depend on the number of rows. In the
        paper's problem with the plain hinge, the weight of a pair is C_paper = C * l / (p * n). In
        the problem of Joachims, 1/2 |w|^2 + C_joachims * xi, where xi is the mean hinge of a pair,
        C_joachims = C * l. The same C_pair is the C of `SparseKernelAUC` divided by l^2 / (p n), so
        use smaller values for rare events.
    kernel : {"linear", "rbf", "laplacian", "polynomial"} or callable, default="linear"
        x.z, exp(-gamma |x - z|^2), exp(-gamma |x - z|_1), (gamma x.z + coef0)^degree, or a
        function that returns the kernel matrix of two blocks of rows.
    gamma : {"scale", "auto"} or float, default="scale"
        "scale" is 1 / (n_features * variance of X), or the standard deviation instead of the
        variance for "laplacian". "auto" is 1 / n_features.
    degree : int, default=3
        Power of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial kernel.
    tol : float, default=1e-3
        The fit stops when the objective is provably within ``tol`` * C * l of its minimum. The mean
        hinge of a pair, which is 1 for equal scores, is then at most ``tol`` too large.
    max_iter : int, default=1000
        Maximum number of rounds. Each round adds one plane.
    cache_size : float, default=4000
        Memory for the kernel matrix, in MB. Its upper triangle takes 2 * l^2 bytes (4 * l^2 up to
        5,000 rows). The part that does not fit is recomputed in every round. The linear kernel
        needs no matrix.
    n_jobs : int or None, default=None
        Number of threads, including those of BLAS. None means 1 unless in a
        `joblib.parallel_config` context; -1 means all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, the positive one last.
    coef_ : ndarray of shape (n_features_in_,)
        Weights of the features, for kernel="linear" only.
    dual_coef_ : ndarray of shape (n_support,)
        Coefficients of the support vectors, for all other kernels.
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors in the training data, for all other kernels.
    support_vectors_ : ndarray or CSR array of shape (n_support, n_features_in_)
        The rows with a non-zero coefficient, for all other kernels.
    intercept_ : float
        Minus the threshold with the best balanced accuracy on the training rows. It does not affect
        the ranking.
    gamma_ : float or None
        The gamma of the kernel as a number; None if the kernel has no gamma.
    objective_ : float
        The value of the objective.
    dual_gap_ : float
        The minimum of the objective is at least ``objective_ - dual_gap_``.
    n_iter_ : int
        Number of rounds.
    background_ : Background
        A few weighted training rows that stand for all of them; see `shapley_values`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features. Defined only if X has names that are all strings.

    See Also
    --------
    SparseKernelAUC : The squared hinge over the same pairs, with few centres.
    sklearn.calibration.CalibratedClassifierCV : Probabilities that agree with the ranking.
    sklearn.model_selection.TunedThresholdClassifierCV : A threshold for a cost or a recall.

    Notes
    -----
    With the linear kernel, a round takes O(nnz + l log l) time for nnz non-zero entries in l rows,
    and a plane takes one number per feature. X is not copied. With another kernel, a round takes
    O(l^2) time, or O(l^2 * n_features) if the kernel matrix is recomputed, and a plane takes two
    numbers per row. The number of rounds grows with C * l times the squared norm of the features,
    so scale the features first. Planes that are idle for 50 rounds are dropped.

    A row of weight 2 counts as two rows.

    References
    ----------
    T. Joachims. A Support Vector Method for Multivariate Performance Measures. ICML 2005.

    T. Joachims. Training Linear SVMs in Linear Time. KDD 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skauc import StructuralAUC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), StructuralAUC(C=0.1))
    >>> model.fit(X_train, y_train).score(X_test, y_test) > 0.99
    True
    >>> model[-1].coef_.shape
    (30,)
    """

    _usual_max_iter = 1000

    def __init__(
        self,
        C=1.0,
        *,
        kernel="linear",
        gamma="scale",
        degree=3,
        coef0=1.0,
        tol=1e-3,
        max_iter=_usual_max_iter,
        cache_size=4000,
        n_jobs=None,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the coefficients, plane by plane.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows. float32 and float64 are used as they are; other types are converted to
            float64.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : StructuralAUC
            The fitted estimator.
        """
        self._check_parameters()
        with fitting(self), quiet_overflow():
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X, y, sample_weight) -> None:
        # Imported here because it loads numba.
        from skauc.losses.roc_area import ROCArea

        data = check_training(self, X, y, sample_weight).counted()
        self.classes_ = data.classes
        kernel = self._make_kernel(data)
        attributes = partial(_attributes, kernel, self.kernel == "linear", data)
        reporter = self._start_reporting(self.max_iter, X, y, sample_weight)
        with open_space(kernel, data.X, cache_size=self.cache_size, n_jobs=self.n_jobs) as space:
            solution = minimise_by_planes(
                space,
                ROCArea(data.positive, data.weights),
                self.C * float(data.weights.sum()),
                step=STEP if self.kernel == "linear" else 1.0,
                tol=self.tol,
                max_iter=self.max_iter,
                report=lambda solution: reporter.task("round", partial(attributes, solution)),
            )
        for name in ("coef_", "dual_coef_", "support_", "support_vectors_"):
            self.__dict__.pop(name, None)
        self.background_ = summarise(data)
        self.__dict__.update(attributes(solution))
        reporter.end(partial(attributes, solution))


def _attributes(kernel: Kernel, is_linear: bool, data: TrainingData, solution: Solution) -> dict:
    """Return the fitted attributes."""
    intercept = -best_threshold(solution.scores, data.positive, data.weights)
    if is_linear:
        model = Model.linear(solution.vector, intercept)
    else:
        model = Model.of_support(kernel, data.X, data.row_numbers, solution.vector[0], intercept)
    return {
        **support_attributes(model),
        "objective_": solution.objective,
        "dual_gap_": solution.gap,
        "n_iter_": solution.n_iter,
    }
