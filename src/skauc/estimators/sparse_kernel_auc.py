"""SparseKernelAUC: the paper's method, as a scikit-learn classifier."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skauc.basis import Basis
from skauc.engines import ENGINES, make_engine
from skauc.engines.expansion import evaluate_expansion
from skauc.estimators._callbacks import CallbackMixin, with_callbacks
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.kernels import check_kernel_parameters, make_kernel, resolve_gamma
from skauc.metrics import auc
from skauc.newton import SOLVERS, make_step, minimise
from skauc.objective import Objective, pair_weight
from skauc.path import SCHEDULES, PathRecord, Progress, Walker, retraining_sizes, walk
from skauc.selection import SELECTIONS, make_selector
from skauc.validation import (
    TrainingData,
    check_choice,
    check_fraction,
    check_positive,
    check_rows,
    check_training,
    check_whole_number,
)


class SparseKernelAUC(ClassifierMixin, CallbackMixin, BaseEstimator):
    """Binary classifier that maximises AUC with a small number of kernel basis functions.

    Over a basis J of centres z_k that grows greedily it minimises

        1/2 |f|^2 + C_pair/2 * sum over positives i, negatives j of max(0, 1 - f_i + f_j)^2,

    f(x) = sum_k coef_k k(z_k, x), with C_pair = C * l / (p * n) for l rows, p of them positive
    and n negative (sums of weights where there are weights). The larger of the two labels, in
    sorted order, is the positive one.

    Parameters
    ----------
    n_basis : int, default=64
        Number of basis functions (the paper's d_max). Fewer are used when no independent row is
        left.
    C : float, default=1.0
        Weight of the loss against the regulariser, free of the number of rows. Between 0.1 and
        100 on most data.
    kernel : {"rbf", "laplacian", "polynomial", "linear"} or callable, default="rbf"
        exp(-gamma |x - z|^2), exp(-gamma |x - z|_1), (gamma x.z + coef0)^degree, x.z, or a
        function of two blocks of rows that returns their kernel matrix.
    gamma : {"scale", "auto"} or float, default="scale"
        "scale" is 1 / (n_features * variance of X), "auto" is 1 / n_features. The paper's sigma
        is gamma = 1 / (2 sigma^2).
    degree : int, default=3
        Power of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial kernel.
    selection : {"orthogonal", "greedy", "exact", "exhaustive", "random", "kmeans"}, \
            default="orthogonal"
        How the next centre is chosen among the candidates: by the gain of one Newton step over
        all coefficients, its own included ("orthogonal"), or along its own column alone
        ("greedy", the paper's Method 2; "exact" solves that one-dimensional problem), by
        optimising all coefficients with it ("exhaustive", the paper's Method 1), at random; or
        k-means landmarks instead of rows.
    n_candidates : int, default=100
        Rows drawn as candidates for each centre (the paper's kappa). All rows are candidates
        when there are no more than these.
    retrain : {"geometric", "doubling", "always"}, default="geometric"
        When all coefficients are optimised: at sizes floor(2^(j/4)), 2^j, or after every centre;
        at the last size in any case.
    solver : {"auto", "cholesky", "cg"}, default="auto"
        How the Newton system is solved; "auto" forms it for up to a thousand basis functions.
    early_stopping : bool, default=False
        Hold out a stratified part of the rows, end when its AUC stops improving, and keep the
        smallest model whose validation AUC is within ``tol`` of the best.
    validation_fraction : float, default=0.1
        Part of the rows that is held out for early stopping.
    n_iter_no_change : int, default=5
        Retrainings without an improvement of the validation AUC of more than ``tol`` after which
        the fit ends.
    tol : float, default=1e-4
        The smallest change that counts: of the validation AUC, and, relatively, of the objective
        in one Newton step.
    max_iter : int, default=100
        Most Newton iterations in one retraining.
    engine : {"auto", "cpu"}, default="auto"
        Where the work is done; "auto" is where the data already are.
    n_jobs : int or None, default=None
        Threads, for BLAS and everything else together; None is 1 unless in a
        `joblib.parallel_config` context, -1 is all. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Draws the candidates and the validation rows.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, the positive one last.
    n_basis_ : int
        Number of basis functions.
    basis_vectors_ : ndarray or CSR array of shape (n_basis_, n_features)
        The centres, in the order in which they were chosen.
    basis_indices_ : ndarray of shape (n_basis_,)
        Their rows in the training data (for k-means landmarks, the nearest row).
    dual_coef_ : ndarray of shape (n_basis_,)
        The coefficients of the basis functions.
    intercept_ : float
        Minus the threshold: added to the scores so that their sign is the prediction of best
        balanced accuracy on the training rows. It has no part in the ranking.
    gamma_ : float
        The kernel's gamma as a number.
    n_iter_ : int
        Newton iterations in all.
    path_ : list of PathRecord
        One record per retraining: ``n_basis``, ``objective``, ``train_auc``, ``validation_auc``
        (None without early stopping), ``seconds`` since the start, ``n_iter``, ``coef``,
        ``intercept``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had names that are all strings.

    See Also
    --------
    skauc.plotting.BasisSizeDisplay : AUC against the number of basis functions.
    sklearn.calibration.CalibratedClassifierCV : Probabilities that agree with the ranking.
    sklearn.model_selection.TunedThresholdClassifierCV : A threshold for a cost or a recall.

    Notes
    -----
    Time is O(l * n_basis * (n_candidates * n_features + n_basis)) for l rows, memory
    4 * l * n_basis bytes (8 up to ten thousand rows) besides X, which is not copied. Scale the
    features first: `StandardScaler` in a pipeline is the usual way.

    With sample weights a row of weight 2 counts as two rows. When there are more rows than
    ``n_candidates`` the random draws differ between weights and repetition, and so do the models.

    References
    ----------
    V. Kakkar, S. K. Shevade, S. Sundararajan, D. Garg. A Sparse Non-linear Classifier Design
    Using AUC Optimization.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skauc import SparseKernelAUC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), SparseKernelAUC(n_basis=16, random_state=0))
    >>> model.fit(X_train, y_train).score(X_test, y_test) > 0.99
    True
    >>> model[-1].basis_vectors_.shape
    (16, 30)
    """

    def __init__(
        self,
        n_basis=64,
        *,
        C=1.0,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=1.0,
        selection="orthogonal",
        n_candidates=100,
        retrain="geometric",
        solver="auto",
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        tol=1e-4,
        max_iter=100,
        engine="auto",
        n_jobs=None,
        random_state=None,
    ):
        self.n_basis = n_basis
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.selection = selection
        self.n_candidates = n_candidates
        self.retrain = retrain
        self.solver = solver
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.max_iter = max_iter
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Grow the basis and fit the coefficients.

        Interrupted from the keyboard, the estimator keeps the model it had reached.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows. float32 and float64 are used as they are, the rest becomes float64.
        y : array-like of shape (n_samples,)
            Labels, two different ones of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : SparseKernelAUC
            The fitted estimator.
        """
        self._check_parameters()
        data = check_training(self, X, y, sample_weight)
        random_state = check_random_state(self.random_state)
        self.classes_ = data.classes
        gamma = resolve_gamma(self.gamma, data.X, data.weights)
        kernel = make_kernel(self.kernel, gamma=gamma, degree=self.degree, coef0=self.coef0)
        train, validation = self._split(data, random_state)
        reporter = self._start_reporting(self.n_basis, X, y, sample_weight)
        growth = _Growth(kernel, gamma, train)

        def report(progress: Progress) -> bool:
            is_wider = growth.add(progress)
            stop = self._has_converged(growth.records)
            if is_wider:
                stop |= reporter.task("centre", growth.attributes)
            return stop

        try:
            self._walk(growth, train, validation, random_state, report)
        finally:
            if growth.records:
                vars(self).update(growth.attributes(self._best_size(growth)))
        reporter.end(growth.attributes)
        return self

    def _walk(self, growth, train: TrainingData, validation, random_state, report) -> None:
        capacity = min(self.n_basis, len(train.weights))
        make = partial(make_engine, self.engine, capacity=capacity, n_jobs=self.n_jobs)
        with make(train) as engine:
            growth.basis = Basis(growth.kernel, capacity, engine.precision)
            optimise = partial(
                minimise,
                step=make_step(self.solver, capacity),
                tol=self.tol,
                max_iter=self.max_iter,
            )
            selector = make_selector(
                self.selection,
                engine,
                n_basis=capacity,
                n_candidates=self.n_candidates,
                minimise=optimise,
                random_state=random_state,
            )
            walker = Walker(
                Objective(engine, pair_weight(self.C, engine)),
                growth.basis,
                selector,
                optimise,
                None if validation is None else make(validation),
            )
            walk(walker, retraining_sizes(self.retrain, capacity), report)

    def _check_parameters(self) -> None:
        check_whole_number(
            "n_basis", self.n_basis, 1, "Set `n_basis` to the size of model you want."
        )
        check_positive("C", self.C, "Larger values fit the training pairs more closely.")
        check_kernel_parameters(self.kernel, self.gamma, self.degree, self.coef0)
        check_choice("selection", self.selection, SELECTIONS)
        check_whole_number("n_candidates", self.n_candidates, 1, "100 is a good choice.")
        check_choice("retrain", self.retrain, SCHEDULES)
        check_choice("solver", self.solver, SOLVERS)
        check_fraction(
            "validation_fraction", self.validation_fraction, "0.1 holds out a tenth of the rows."
        )
        check_whole_number("n_iter_no_change", self.n_iter_no_change, 1, "5 is a good choice.")
        check_positive("tol", self.tol, "1e-4 is a good choice.")
        check_whole_number("max_iter", self.max_iter, 1, "100 is a good choice.")
        check_choice("engine", self.engine, ENGINES)

    def _split(self, data: TrainingData, random_state):
        """Return the rows to learn from and the rows to validate on, or None for the latter."""
        if not self.early_stopping:
            return data, None
        n_fewest = min(data.positive.sum(), (~data.positive).sum())
        if n_fewest < 2 or len(data.positive) * self.validation_fraction < 2:
            raise InvalidDataError(
                f"`early_stopping` needs rows of both classes to hold out; the smaller class has "
                f"{n_fewest} of {len(data.positive)} rows. Set early_stopping=False."
            )
        train, held_out = train_test_split(
            np.arange(len(data.positive)),
            test_size=self.validation_fraction,
            stratify=data.positive,
            random_state=random_state,
        )
        for part in (train, held_out):
            if len(np.unique(data.positive[part])) < 2:
                raise InvalidDataError(
                    f"`early_stopping` with validation_fraction={self.validation_fraction} leaves "
                    "a part without rows of one class. Raise `validation_fraction` or set "
                    "early_stopping=False."
                )
        return data.part(np.sort(train)), data.part(np.sort(held_out))

    def _has_converged(self, records: list[PathRecord]) -> bool:
        """Tell whether the last retrainings brought no significant change."""
        if not self.early_stopping or len(records) <= self.n_iter_no_change:
            return False
        scores = [record.validation_auc for record in records]
        before, after = scores[: -self.n_iter_no_change], scores[-self.n_iter_no_change :]
        return max(after) <= max(before) + self.tol

    def _best_size(self, growth: _Growth) -> int:
        """Return the smallest size that validates as well as the best; the last without one."""
        if not self.early_stopping:
            return len(growth.basis)
        best = max(record.validation_auc for record in growth.records)
        return next(
            record.n_basis for record in growth.records if record.validation_auc >= best - self.tol
        )

    def decision_function(self, X):
        """Return scores that rank the rows; positive ones are predicted positive.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Higher means more likely positive.
        """
        check_is_fitted(self)
        X = check_rows(self, X)
        scores = evaluate_expansion(
            self._kernel, self.basis_vectors_, self.dual_coef_, X, self.n_jobs
        )
        scores += self.intercept_
        return scores

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Yield the scores of each model on the path, one per record of ``path_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Yields
        ------
        scores : ndarray of shape (n_samples,)
            The scores after a retraining.
        """
        check_is_fitted(self)
        X = check_rows(self, X)
        coef = np.zeros((self.n_basis_, len(self.path_)))
        for stage, record in enumerate(self.path_):
            coef[: record.n_basis, stage] = record.coef
        scores = evaluate_expansion(self._kernel, self.basis_vectors_, coef, X, self.n_jobs)
        for stage, record in enumerate(self.path_):
            yield scores[:, stage] + record.intercept

    def predict(self, X):
        """Return the predicted labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Members of ``classes_``.
        """
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def score(self, X, y, sample_weight=None):
        """Return the area under the ROC curve.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.
        y : array-like of shape (n_samples,)
            True labels, of both classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        auc : float
            The AUC of ``decision_function(X)``.
        """
        scores = self.decision_function(X)
        return auc(y, scores, sample_weight=sample_weight, pos_label=self.classes_[1])

    def truncate(self, n_basis):
        """Return a fitted copy that keeps only the first ``n_basis`` basis functions.

        At a size where the path was retrained this is the model that a fit of that size gives.
        Between two of them it is the model that the pursuit had at that size.

        Parameters
        ----------
        n_basis : int
            Size of the copy, at most ``n_basis_``.

        Returns
        -------
        model : SparseKernelAUC
            The smaller model.
        """
        check_is_fitted(self)
        check_whole_number("n_basis", n_basis, 1, "Set it to the size of model you want.")
        if n_basis > self.n_basis_:
            raise InvalidParameterError(
                f"`n_basis` must be at most the model's {self.n_basis_}; got {n_basis}. "
                "Fit with a larger `n_basis` instead."
            )
        smaller = copy.copy(self)
        vars(smaller).update(
            _model(self.basis_vectors_, self.basis_indices_, self.path_, self._coefs, n_basis)
        )
        return smaller.set_params(n_basis=n_basis)


class _Growth:
    """What a fit has found so far."""

    def __init__(self, kernel, gamma: float, train: TrainingData):
        self.kernel = kernel
        self.gamma = gamma
        self.train = train
        self.basis: Basis | None = None
        self.records: list[PathRecord] = []
        self.coefs: list[np.ndarray] = []

    def add(self, progress: Progress) -> bool:
        """Take in one report of the walk; tell whether it was of a new centre."""
        is_wider = len(progress.coef) > len(self.coefs)
        if not is_wider:
            self.coefs.pop()
        self.coefs.append(progress.coef)
        if progress.record is not None:
            self.records.append(progress.record)
        return is_wider

    def attributes(self, size: int | None = None) -> dict:
        """Return the fitted attributes of the model of that size, or as it stands."""
        size = len(self.coefs) if size is None else size
        indices = self.train.original_rows(np.asarray(self.basis.indices))
        model = _model(self.basis.centres, indices, self.records, self.coefs, size)
        return {"_kernel": self.kernel, "gamma_": self.gamma, **model}


def _model(centres, indices, records: list[PathRecord], coefs: list, size: int) -> dict:
    """Return the fitted attributes of the first ``size`` basis functions."""
    path = [record for record in records if record.n_basis <= size]
    return {
        "n_basis_": size,
        "basis_vectors_": centres[:size],
        "basis_indices_": indices[:size],
        "dual_coef_": coefs[size - 1],
        "intercept_": path[-1].intercept,
        "n_iter_": sum(record.n_iter for record in path),
        "path_": path,
        "_coefs": coefs[:size],
    }
