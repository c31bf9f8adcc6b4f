"""The classifier that all estimators extend: scores, labels, AUC and all-or-nothing fits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from skauc.base.doc_links import DocLinkMixin
from skauc.engines import cluster_engine, is_on_cluster
from skauc.engines.expansion import Scorer
from skauc.exceptions import ConstantScoresWarning, FitInterruptedError, warn_user
from skauc.kernels import RBF, Laplacian, Rows, same_format
from skauc.metrics import auc
from skauc.model import Model
from skauc.shaped_rbf import ShapedRBF
from skauc.support import quiet_overflow
from skauc.threads import SERIAL_BLAS
from skauc.validation import check_rows

if TYPE_CHECKING:
    from skauc.explain import Explanation

# If this many different rows have the same score, a user has probably made a mistake.
_MANY_ROWS = 20
# A kernel value below this adds nothing to a score.
_FAR = 1e-12

# An array of NumPy, or of dask if the rows are on a cluster.
LazyArray: TypeAlias = np.ndarray | Any


class RankingClassifier(DocLinkMixin, ClassifierMixin, BaseEstimator):
    """Scores, labels and AUC of the fitted model in ``_model``.

    Model files, reports and ONNX graphs read ``_model`` as well. A row with a positive score is
    predicted positive.
    """

    if TYPE_CHECKING:
        # A fit stores the model in the instance, or a subclass computes it.
        @property
        def _model(self) -> Model: ...

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    def decision_function(self, X: Any) -> LazyArray:
        """Return scores that rank the rows. Rows with positive scores are predicted positive.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            A higher score means that the row is more likely positive. Scores are finite: a row
            whose score would overflow raises an `InvalidDataError`.
        """
        check_is_fitted(self)
        if is_on_cluster(X):
            return cluster_engine().lazily(self, "decision_function", X, np.float64)
        X = check_rows(self, X)
        model = self._model
        scores = model.scores(X, getattr(self, "n_jobs", None))
        if len(scores) >= _MANY_ROWS and (model.linear_coef is not None or _are_equal(scores)):
            _warn_if_far_from_centres(self, model, X, scores)
        return scores

    def make_decision_function(self) -> Scorer:
        """Return `decision_function` as a plain function without any checks.

        The centres are prepared once, so that a single row takes a few microseconds. Use it in a
        service that scores rows one by one. The function keeps the current model even if the
        estimator is fitted again. It runs in the calling thread and may be called from several.

        Returns
        -------
        score : callable
            ``score(rows)`` takes a finite two-dimensional array of floats, one row per sample, with
            the columns in the order of the training data. It returns the scores of
            ``decision_function(rows)`` up to rounding. The result for any other input is undefined.

        Examples
        --------
        >>> import numpy as np
        >>> from skauc import SparseKernelAUC
        >>> X = np.array([[0.0], [0.2], [0.8], [1.0]])
        >>> model = SparseKernelAUC(2, random_state=0).fit(X, [0, 0, 1, 1])
        >>> score = model.make_decision_function()
        >>> bool(score(X[:1])[0] == model.decision_function(X[:1])[0])
        True
        """
        check_is_fitted(self)
        return self._model.scorer(like=np.empty((0, self.n_features_in_)))

    def predict(self, X: Any) -> LazyArray:
        """Return the predicted labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            One of ``classes_`` per row.
        """
        check_is_fitted(self)
        if is_on_cluster(X):
            return cluster_engine().lazily(self, "predict", X, self.classes_.dtype)
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    @property
    def predict_proba(self) -> NoReturn:
        """Not available: scores rank rows and are not probabilities."""
        raise AttributeError(
            f"{type(self).__name__} has no `predict_proba`: its scores rank rows and are not "
            "probabilities. Wrap it in sklearn.calibration.CalibratedClassifierCV(model, "
            "ensemble=False) for calibrated probabilities, or rank by `decision_function`."
        )

    def shapley_values(
        self,
        X: Any,
        background: Any = None,
        *,
        background_weight: ArrayLike | None = None,
        method: str = "auto",
        n_permutations: int = 400,
        random_state: int | np.random.RandomState | None = 0,
    ) -> Explanation:
        """Explain scores by the contributions of the features.

        Use `skauc.explain.shapley_values` for a model inside a pipeline or a wrapper.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to explain.
        background : {array-like, sparse matrix} of shape (n_background, n_features), default=None
            Rows to compare with. None is the summary of the training rows in ``background_``.
        background_weight : array-like of shape (n_background,), default=None
            Weights of the background rows.
        method : {"auto", "exact", "sampling"}, default="auto"
            As in `skauc.explain.shapley_values`.
        n_permutations : int, default=400
            Number of permutations per row for "sampling".
        random_state : int, RandomState instance or None, default=0
            Seed of the permutations.

        Returns
        -------
        explanation : skauc.explain.Explanation
            Contributions, base values, data and feature names. The contributions of a row and its
            base value add up to its score.
        """
        check_is_fitted(self)
        from skauc.explain import shapley_values

        return shapley_values(
            self,
            X,
            background,
            background_weight=background_weight,
            method=method,
            n_permutations=n_permutations,
            n_jobs=getattr(self, "n_jobs", None),
            random_state=random_state,
        )

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the area under the ROC curve.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.
        y : array-like of shape (n_samples,)
            True labels. Both classes must occur.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        auc : float
            The AUC of ``decision_function(X)``.
        """
        scores = self.decision_function(X)
        return auc(y, scores, sample_weight=sample_weight, pos_label=self.classes_[1])


def _are_equal(scores: np.ndarray) -> bool:
    return scores[0] == scores[-1] and bool((scores == scores[0]).all())


def _warn_if_far_from_centres(
    estimator: RankingClassifier, model: Model, X: Rows, scores: np.ndarray
) -> None:
    """Warn that the centres do not rank the rows, if the kernel is zero at all of them."""
    if not isinstance(model.kernel, RBF | Laplacian | ShapedRBF) or not model.coef.any():
        return
    with quiet_overflow():
        some = model.scaled(X[:_MANY_ROWS])
        values = model.kernel.columns(same_format(model.centres, some), np.float64)(some)
    if values.max() > _FAR:
        return
    if _are_equal(scores):
        finding = f"All {len(scores)} rows have the same score"
    else:
        without = replace(model, coef=np.zeros_like(model.coef)).scores(X)
        if not np.allclose(without, scores, rtol=_FAR, atol=_FAR):
            return
        finding = f"Only the linear part of the model ranks these {len(scores)} rows"
    lows, highs = _ranges(X)
    if np.array_equal(lows, highs):
        return
    centres = model.centres if model.scaling is None else model.scaling.inverse(model.centres)
    centre_lows, centre_highs = _ranges(centres)
    with np.errstate(over="ignore"):
        column = int(np.argmax(np.maximum(lows - centre_highs, centre_lows - highs)))
    names = getattr(estimator, "feature_names_in_", range(X.shape[1]))
    warn_user(
        f"{finding}: each of them is far from every centre of the model. Column "
        f"{names[column]!r} is between {lows[column]:.4g} and {highs[column]:.4g} in these rows, "
        f"and between {centre_lows[column]:.4g} and {centre_highs[column]:.4g} in the centres. "
        "Scale the rows like the training rows: put the scaler and the model into one "
        "pipeline. If they are scaled alike, lower `gamma`.",
        ConstantScoresWarning,
    )


def _ranges(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest value of each column."""
    if sparse.issparse(rows):
        return rows.min(axis=0).toarray().ravel(), rows.max(axis=0).toarray().ravel()
    return rows.min(axis=0), rows.max(axis=0)


@contextmanager
def fitting(estimator: RankingClassifier) -> Iterator[None]:
    """Hold BLAS to one thread during a fit, and restore the estimator if the fit fails.

    OpenBLAS can wait for ever in a process that forks while a product is shared between threads,
    and the last bits of such a product depend on the number of cores.
    """
    before = fitted_attributes(estimator)
    try:
        with SERIAL_BLAS:
            yield
    except FitInterruptedError:
        raise  # the estimator keeps the model that it has reached
    except BaseException:
        for name in fitted_attributes(estimator):
            delattr(estimator, name)
        estimator.__dict__.update(before)
        raise


def fitted_attributes(estimator: RankingClassifier) -> dict:
    """Return the attributes that a fit has set."""
    hidden = ("_model", "_models", "_state")
    names = (name for name in vars(estimator) if name.endswith("_") or name in hidden)
    return {name: vars(estimator)[name] for name in names}


def support_attributes(model: Model) -> dict:
    """Return the fitted attributes of a linear classifier, or of one with support vectors."""
    common = {
        "intercept_": model.intercept,
        "gamma_": getattr(model.kernel, "gamma", None),
        "_model": model,
    }
    if model.linear_coef is not None:
        return {**common, "coef_": model.linear_coef}
    return {
        **common,
        "dual_coef_": model.coef,
        "support_": model.indices,
        "support_vectors_": model.centres,
    }
