"""What every binary classifier of the library can do with its scores: predict, and be judged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.base import BaseEstimator, ClassifierMixin

from skauc.doc_links import DocLinkMixin
from skauc.metrics import auc


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
    """Labels and AUC of a ``decision_function`` that ranks and whose sign is the prediction."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

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
