"""What the two sparse classifiers share: the path, truncation, and relevance of features."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skauc.base import CallbackMixin, RankingClassifier
from skauc.exceptions import InvalidParameterError
from skauc.model import Model, scores_of_models
from skauc.sparse.state import path_attributes
from skauc.validation import check_integer, check_rows


class PathClassifier(CallbackMixin, RankingClassifier):
    """A classifier with a path of models of growing size."""

    @property
    def _model(self) -> Model:
        return self._models[self.n_basis_]

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the scores of each model on the path, in the order of ``path_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Yields
        ------
        scores : ndarray of shape (n_samples,)
            The scores of the model after a retraining.
        """
        check_is_fitted(self)
        X = check_rows(self, X)
        yield from scores_of_models([record.model for record in self.path_], X, self.n_jobs)

    @property
    def feature_relevance_(self) -> np.ndarray:
        """Standard deviation of each feature divided by its length scale."""
        check_is_fitted(self)
        inverse = 1.0 / self.length_scales_
        if self.scaling_ is not None:
            inverse = self.scaling_.along_features(inverse)
        return self.feature_spread_ * inverse

    def rank_features(self) -> list[tuple[str, float]]:
        """Return features and their relevance, the most relevant first.

        The relevance of a feature is its standard deviation, after ``scaling``, divided by its
        length scale: the distance, as the kernel sees it, of two rows that differ by one standard
        deviation in this feature only. It shows which features the kernel part of the model uses
        to separate rows. It does not show the direction of an effect or a cause, and it ignores
        the linear part (see ``linear_coef_``). Of two features with the same information either
        may come first. Without refinement all length scales are 1.

        Returns
        -------
        ranking : list of (name, relevance)
            The names of the columns, or ``x0``, ``x1`` and so on, with their relevance.
        """
        relevance = self.feature_relevance_
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(len(relevance))])
        order = np.argsort(-relevance, kind="stable")
        return [(str(names[i]), float(relevance[i])) for i in order]

    def truncate(self, n_basis: int) -> Self:
        """Return a fitted copy of the model that the path had at a size.

        Without refinement and without samples of rows, this is the model of a fit of that size.
        Otherwise it is a model on the way to the larger one: its centres were refined by half as
        many steps, and its coefficients were fitted to a sample if there are many rows. A new fit
        with this ``n_basis`` gives a better model, so use `truncate` to see what a size costs.
        Smaller models of an average of several fits approximate this average. The repr of the copy
        names the size that it was truncated from.

        Parameters
        ----------
        n_basis : int
            Size of the copy: one of the sizes of ``path_``. If centres are added in several parts
            between two retrainings, there are also models in between.

        Returns
        -------
        model : estimator instance
            The smaller model.
        """
        check_is_fitted(self)
        check_integer("n_basis", n_basis, 1, "Set it to the size of model you want.")
        if n_basis > self.n_basis_:
            raise InvalidParameterError(
                f"`n_basis` must be at most the model's {self.n_basis_}; got {n_basis}. "
                "Fit with a larger `n_basis` instead."
            )
        if n_basis not in self._models:
            raise InvalidParameterError(
                f"`n_basis` must be one of the sizes of the path, {sorted(self._models)}; got "
                f"{n_basis}. Fit with Selection(retrain='always') to have every size. A model file "
                "keeps the path if it is saved with history=True."
            )
        smaller = copy.copy(self)
        smaller.__dict__.update(path_attributes(self._models, self.path_, n_basis))
        if n_basis < self.n_basis_:
            smaller._truncated_from = self.n_basis_
        return smaller.set_params(n_basis=n_basis)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text, larger = super().__repr__(N_CHAR_MAX), getattr(self, "_truncated_from", None)
        return text if larger is None else f"{text}  # truncated from {larger} centres"
