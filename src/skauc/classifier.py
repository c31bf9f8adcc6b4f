"""What every classifier of the library can do with its model: score, predict, and be judged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from skauc.doc_links import DocLinkMixin
from skauc.engines import cluster_engine, is_on_cluster
from skauc.metrics import auc
from skauc.model import Model
from skauc.validation import check_rows


@contextmanager
def unchanged_on_error(estimator) -> Iterator[None]:
    """Give an estimator back the fitted attributes it had, if any, when its fit fails."""
    before = fitted_attributes(estimator)
    try:
        yield
    except BaseException:
        for name in fitted_attributes(estimator):
            delattr(estimator, name)
        vars(estimator).update(before)
        raise


def fitted_attributes(estimator) -> dict:
    """Return what a fit has set."""
    hidden = ("_model", "_models", "_state")
    names = (name for name in vars(estimator) if name.endswith("_") or name in hidden)
    return {name: vars(estimator)[name] for name in names}


class RankingClassifier(DocLinkMixin, ClassifierMixin, BaseEstimator):
    """Scores, labels and AUC of a fitted model in ``_model``.

    Everything that reads a fitted classifier, such as a model file, a report or a graph of ONNX,
    finds what it scores by there. The sign of a score is the prediction.
    """

    _model: Model

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

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
        if is_on_cluster(X):
            return cluster_engine().lazily(self, "decision_function", X, np.float64)
        X = check_rows(self, X)
        return self._model.scores(X, getattr(self, "n_jobs", None))

    def make_decision_function(self):
        """Return `decision_function` as a plain function that checks nothing.

        Its centres are prepared once, so that one row takes a few microseconds: for a service
        that scores rows as they come. It keeps the model of now, whatever becomes of the
        estimator, runs in the calling thread alone, and may be called from several.

        Returns
        -------
        score : callable
            ``score(rows)`` takes a finite two-dimensional array of floats, a row a line, with the
            columns in the order of the training rows, and returns the scores of
            ``decision_function(rows)``. What it makes of anything else is not defined.

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
        check_is_fitted(self)
        if is_on_cluster(X):
            return cluster_engine().lazily(self, "predict", X, self.classes_.dtype)
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
