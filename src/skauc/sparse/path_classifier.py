"""What classifiers can do that are a model with centres, or a path of them."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skauc.base import CallbackMixin, RankingClassifier
from skauc.exceptions import InvalidParameterError
from skauc.model import Model, scores_of_models
from skauc.sparse.state import path_attributes
from skauc.validation import check_rows, check_whole_number


class PathClassifier(CallbackMixin, RankingClassifier):
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
        inverse = 1.0 / self.length_scales_
        if self.scaling_ is not None:
            inverse = self.scaling_.along_features(inverse)
        return self.feature_spread_ * inverse

    def rank_features(self) -> list[tuple[str, float]]:
        """Return features and their relevance, the most relevant first.

        The relevance of a feature is the standard deviation of the training rows along it, after
        scaling by ranks where there is one, over its length scale: how far apart the kernel sees
        two rows that differ by so much in this feature alone. It tells by which features the kernel
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
        if n_basis not in self._models:
            raise InvalidParameterError(
                f"`n_basis` must be one of the sizes that the model was saved with, "
                f"{sorted(self._models)}; got {n_basis}. Save it with history=True to keep all."
            )
        smaller = copy.copy(self)
        vars(smaller).update(path_attributes(self._models, self.path_, n_basis))
        return smaller.set_params(n_basis=n_basis)
