"""KernelRankSVM: every row is a centre, for two classes or for graded relevance in queries."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skauc.background import summarise_rows
from skauc.base import (
    FullKernelClassifier,
    RankingClassifier,
    fitting,
    support_attributes,
)
from skauc.data.training import WeightedRows, check_training
from skauc.exceptions import InvalidParameterError, warn_user
from skauc.kernels import Linear, Rows
from skauc.losses.focus import make_focus
from skauc.metrics.area import best_threshold
from skauc.metrics.partial_area import check_corner, check_part
from skauc.model import Model
from skauc.rank_svm.queries import Queries, check_graded, check_scored_grades, make_queries
from skauc.support import quiet_overflow

if TYPE_CHECKING:
    from skauc.rank_svm.problem import RankingSolution


GRADES_NEED_QUERIES = " If they are grades, pass `qid`: zeros if there are no queries."


def _has_two_classes(estimator) -> bool:
    """Tell whether labels can be predicted, which is not the case for more than two grades."""
    if len(getattr(estimator, "classes_", ())) > 2:
        raise AttributeError(
            f"This KernelRankSVM was fitted to {len(estimator.classes_)} grades. It ranks grades "
            "and does not predict them. Use `decision_function`, or fit it to two classes."
        )
    return True


class KernelRankSVM(FullKernelClassifier):
    """Kernel RankSVM with every row as a centre, for AUC or for graded relevance in queries.

    It minimises

        1/2 |f|^2 + C_pair/2 * sum over the pairs (i, j) of max(0, 1 - f_i + f_j)^2,

    where f(x) = sum_i beta_i k(x_i, x) over all rows. A pair is a positive row i and a negative row
    j. With ``qid``, it is two rows of the same query where i has the higher grade. The weight of a
    pair is C_pair = C * (number of rows) / (number of pairs), which is C * l / (p * n) for two
    classes. With weights w, these numbers are the sums of w_i and of w_i w_j. The whole loss then
    has the weight C * l, as in RankSVM, while in `SparseKernelAUC` its weight grows with the rarer
    class only: the same C_pair is the C of `SparseKernelAUC` divided by l^2 / (p n). C_pair is the
    C of the paper on sparse AUC maximisation, and twice the C of Kuo, Lee and Lin. The label that
    sorts last is the positive class.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss against the regulariser, per row. Good values are between 0.1 and 100 for
        balanced classes, and smaller for rare events.
    kernel : {"rbf", "laplacian", "polynomial", "linear"} or callable, default="rbf"
        exp(-gamma |x - z|^2), exp(-gamma |x - z|_1), (gamma x.z + coef0)^degree, x.z, or a
        symmetric function that returns the kernel matrix of two blocks of rows.
    gamma : {"scale", "auto"} or float, default="scale"
        "scale" is 1 / (n_features * variance of X), or the standard deviation instead of the
        variance for "laplacian". "auto" is 1 / n_features.
    degree : int, default=3
        Power of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial kernel.
    tol : float, default=1e-3
        The fit stops when the norm of the gradient with respect to beta is at most ``tol`` times
        its value at zero, as in the paper, and polishing increases the objective by at most a
        factor of 1 + 1e-5.
    max_iter : int, default=100
        Maximum number of trust-region iterations.
    max_fpr : float in (0, 1] or None, default=None
        Rank for false positive rates up to ``max_fpr``, as in `SparseKernelAUC`. Two classes
        without ``qid`` only.
    min_tpr : float in [0, 1) or None, default=None
        Rank for true positive rates above ``min_tpr``, as in `SparseKernelAUC`. Two classes
        without ``qid`` only.
    cache_size : float, default=4000
        Memory for the kernel matrix, in MB. Its upper triangle takes 2 * l^2 bytes (4 * l^2 up to
        5,000 rows). The part that does not fit is recomputed for every product. The result does
        not depend on it.
    n_jobs : int or None, default=None
        Number of threads, including those of BLAS. None means 1 unless in a
        `joblib.parallel_config` context; -1 means all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, the positive one last. With ``qid``, the grades in ascending order.
    support_ : ndarray of shape (n_support_,)
        Indices of the rows with a non-zero coefficient. These rows are in a violating pair.
    support_vectors_ : ndarray or CSR array of shape (n_support_, n_features)
        These rows.
    dual_coef_ : ndarray of shape (n_support_,)
        Their coefficients beta.
    n_support_ : int
        Number of support vectors, after polishing.
    n_support_unpolished_ : int
        Number of non-zero coefficients before polishing, as Newton's method leaves them.
    intercept_ : float
        Minus the threshold with the best balanced accuracy on the training rows; 0 for grades. It
        does not affect the ranking.
    gamma_ : float or None
        The gamma of the kernel as a number; None if the kernel has no gamma.
    objective_ : float
        The value of the objective.
    n_iter_ : int
        Number of trust-region iterations.
    background_ : Background
        A few weighted training rows that stand for all of them; see `shapley_values`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features. Defined only if X has names that are all strings.

    See Also
    --------
    SparseKernelAUC : The same objective with a small basis.

    Notes
    -----
    The objective is minimised by trust-region Newton steps. Conjugate gradients in the inner
    product of the function space compute each step. An iteration of conjugate gradients takes one
    product with the kernel matrix, O(l^2), and O(l log l) for the pairs. Polishing replaces beta by
    -C_pair r(f), where r is half the derivative of the loss with respect to the scores. The optimum
    is the fixed point of this map. Polishing gives rows in no violating pair a coefficient of
    exactly zero.

    `predict` is not available for more than two grades, which can only be ranked.

    Scale the features first, for instance with `StandardScaler` in a pipeline. With queries,
    cross-validate with `GroupKFold`, and pass ``qid`` by metadata routing.

    References
    ----------
    T.-M. Kuo, C.-P. Lee, C.-J. Lin. Large-scale Kernel RankSVM. SIAM International Conference on
    Data Mining, 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skauc import KernelRankSVM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), KernelRankSVM())
    >>> model.fit(X_train, y_train).score(X_test, y_test) > 0.99
    True

    Grades from 0 to 2 in two queries:

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [0.5], [1.5]])
    >>> ranker = KernelRankSVM(C=10).fit(X, [0, 1, 2, 0, 1], qid=[0, 0, 0, 1, 1])
    >>> np.argsort(ranker.decision_function([[0.2], [1.8], [1.1]])).tolist()
    [0, 2, 1]
    """

    _usual_max_iter = 100

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=1.0,
        tol=1e-3,
        max_iter=_usual_max_iter,
        max_fpr=None,
        min_tpr=None,
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
        self.max_fpr = max_fpr
        self.min_tpr = min_tpr
        self.cache_size = cache_size
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Find the coefficients of all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows. float32 and float64 are used as they are; other types are converted to
            float64.
        y : array-like of shape (n_samples,)
            Labels of two classes or, with ``qid``, grades. Higher grades rank higher.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. The weight of a pair is the product of the weights of its rows.
        qid : array-like of shape (n_samples,), default=None
            The query of each row, as integers in ascending order. Only rows of the same query are
            compared. Queries with a single grade are skipped with a warning. Pass zeros to rank
            grades without queries.

        Returns
        -------
        self : KernelRankSVM
            The fitted estimator.
        """
        self._check_parameters()
        check_corner(self.max_fpr, self.min_tpr)
        with fitting(self), quiet_overflow():
            X, self.classes_, codes, weights = self._check_data(X, y, sample_weight, qid)
            self._check_part(codes[weights > 0], qid)
            queries = make_queries(codes, weights, qid)
            _warn_of_skipped(queries)
            rows = X if len(queries.indices) == X.shape[0] else X[queries.indices]
            self._fit(rows, codes[queries.indices], queries)
        return self

    def _check_data(self, X, y, sample_weight, qid):
        """Return validated rows, the sorted labels, the index of each row's label, and weights."""
        if qid is not None:
            return check_graded(self, X, y, sample_weight)
        data = check_training(self, X, y, sample_weight, advice=GRADES_NEED_QUERIES)
        return data.X, data.classes, data.positive.astype(np.int64), data.weights

    def _check_part(self, codes: np.ndarray, qid) -> None:
        """Raise an error if the part of the curve has no meaning for these rows."""
        if qid is None:
            negative, positive = np.bincount(codes, minlength=2).tolist()
            check_part(self.max_fpr, self.min_tpr, (negative, positive))
        elif not make_focus(self.max_fpr, self.min_tpr).is_whole:
            raise InvalidParameterError(
                "`max_fpr` and `min_tpr` choose a part of one ROC curve, which queries do not "
                f"have; got max_fpr={self.max_fpr} and min_tpr={self.min_tpr} with `qid`. Set both "
                "to None, or fit two classes without `qid`."
            )

    def _fit(self, rows: Rows, codes: np.ndarray, queries: Queries) -> None:
        from skauc.rank_svm.problem import fit_ranking

        kernel = self._make_kernel(WeightedRows(rows, queries.weights))
        solution = fit_ranking(
            kernel,
            rows,
            queries,
            C=self.C,
            tol=self.tol,
            max_iter=self.max_iter,
            focus=make_focus(self.max_fpr, self.min_tpr),
            cache_size=self.cache_size,
            n_jobs=self.n_jobs,
        )
        model = Model.of_support(kernel, rows, queries.indices, solution.point.coef)
        if len(self.classes_) == 2:
            # The solver's scores of the linear kernel differ from the model's by a constant.
            is_linear = isinstance(kernel, Linear)
            scores = model.scores(rows) if is_linear else solution.point.scores
            threshold = best_threshold(scores, codes == 1, queries.weights)
            model = replace(model, intercept=-threshold)
        self.background_ = summarise_rows(rows, queries.weights)
        self.__dict__.update(_attributes(solution, model))

    predict = available_if(_has_two_classes)(RankingClassifier.predict)

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> float:
        """Return the AUC or, for grades or with ``qid``, the pairwise accuracy.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.
        y : array-like of shape (n_samples,)
            True labels or grades.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        qid : array-like of shape (n_samples,), default=None
            The query of each row, as integers in ascending order. Without it, all rows are
            compared.

        Returns
        -------
        score : float
            The fraction of pairs that ``decision_function(X)`` puts in the right order. Ties count
            one half. For two classes it is the area under the ROC curve. Queries with a single
            grade have no pairs.
        """
        check_is_fitted(self)
        if qid is None and len(self.classes_) == 2:
            return super().score(X, y, sample_weight)
        from skauc.losses.graded_pairs import Preferences, pairwise_accuracy

        scores = self.decision_function(X)
        queries = make_queries(*check_scored_grades(y, len(scores), sample_weight), qid)
        preferences = Preferences(queries.bounds, queries.grades, queries.weights)
        return pairwise_accuracy(preferences, scores[queries.indices])


def _warn_of_skipped(queries: Queries) -> None:
    if queries.n_skipped:
        warn_user(
            f"{queries.n_skipped} of {queries.n_all} queries have one grade only and are skipped: "
            "they have no pairs to rank. Leave them out to avoid this warning.",
        )


def _attributes(solution: RankingSolution, model: Model) -> dict:
    """Return the fitted attributes."""
    return {
        **support_attributes(model),
        "n_support_": len(model.coef),
        "n_support_unpolished_": int(np.count_nonzero(solution.unpolished.coef)),
        "objective_": solution.point.value,
        "n_iter_": solution.n_iter,
    }
