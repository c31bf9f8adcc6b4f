"""What every classifier made of kernel basis functions can do once it is fitted."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from skauc.estimators._callbacks import CallbackMixin
from skauc.exceptions import InvalidParameterError
from skauc.metrics import auc
from skauc.model import Model, PathRecord, scores_of_models
from skauc.validation import check_rows, check_whole_number


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
    hidden = ("_model", "_models")
    names = (name for name in vars(estimator) if name.endswith("_") or name in hidden)
    return {name: vars(estimator)[name] for name in names}


class ExpansionClassifier(ClassifierMixin, BaseEstimator):
    """Scoring and prediction by the kernel expansion in ``_model``."""

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
        X = check_rows(self, X)
        return self._model.scores(X, self.n_jobs)

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


class KernelClassifier(CallbackMixin, ExpansionClassifier):
    """A classifier that grew its basis: the path, its truncation, and what the kernel looks at."""

    @property
    def _model(self) -> Model:
        return self._models[self.n_basis_]

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
        yield from scores_of_models([record.model for record in self.path_], X, self.n_jobs)

    @property
    def feature_relevance_(self) -> np.ndarray:
        """Spread of the training rows along each feature, in length scales of the kernel."""
        check_is_fitted(self)
        return self.feature_spread_ / self.length_scales_

    def rank_features(self) -> list[tuple[str, float]]:
        """Return features and their relevance, the most relevant first.

        The relevance of a feature is the standard deviation of the training rows along it over
        its length scale: how far apart the kernel sees them. It tells by which features the kernel
        part of the model tells rows apart. It says nothing of the direction of an effect, of
        causes, or of the linear part (see ``linear_coef_``), and of two features that carry the
        same information either one may be first. Without refinement all length scales are 1.

        Returns
        -------
        ranking : list of (name, relevance)
            Names are those of the columns, or ``x0``, ``x1`` and so on.
        """
        relevance = self.feature_relevance_
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(len(relevance))])
        order = np.argsort(-relevance, kind="stable")
        return [(str(names[i]), float(relevance[i])) for i in order]

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
        model : estimator instance
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
        vars(smaller).update(model_attributes(self._models, self.path_, n_basis))
        return smaller.set_params(n_basis=n_basis)


def model_attributes(models: dict[int, Model], records: list[PathRecord], size: int) -> dict:
    """Return the fitted attributes of the model of that size."""
    model = models[size]
    path = [record for record in records if record.n_basis <= size]
    n_features = model.centres.shape[1]
    scales = getattr(model.kernel, "scales", None)
    linear_coef = model.linear_coef
    return {
        "n_basis_": size,
        "basis_vectors_": model.centres,
        "basis_indices_": model.indices,
        "dual_coef_": model.coef,
        "linear_coef_": np.zeros(n_features) if linear_coef is None else linear_coef,
        "intercept_": model.intercept,
        "gamma_": getattr(model.kernel, "gamma", None),
        "length_scales_": np.ones(n_features) if scales is None else 1.0 / scales,
        "n_iter_": sum(record.n_iter for record in path),
        "path_": path,
        "_models": {n: models[n] for n in sorted(models) if n <= size},
    }
