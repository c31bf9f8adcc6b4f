"""Scores, probabilities and labels of rows, in one pass over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skauc.exceptions import InvalidParameterError
from skauc.unwrapping import positive_probabilities, ranking_scores, unwrap

# Number of rows that are prepared and scored at once.
BLOCK_ROWS = 100_000


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """The output of a model for some rows.

    Attributes
    ----------
    scores : ndarray of shape (n_samples,)
        Scores that rank the rows. Higher means more likely positive.
    probabilities : ndarray of shape (n_samples,) or None
        Probabilities of the positive class. None for a model without probabilities.
    flagged : ndarray of shape (n_samples,), bool
        Whether each row is predicted positive.
    """

    scores: np.ndarray
    probabilities: np.ndarray | None
    flagged: np.ndarray

    @property
    def ranking(self) -> np.ndarray:
        """What a threshold is compared with: the probabilities, or the scores without them."""
        return self.scores if self.probabilities is None else self.probabilities


class RowScorer:
    """Scores rows with a fitted model.

    Parameters
    ----------
    model : estimator
        A fitted binary classifier. Wrappers around a classifier of skauc are unwrapped, so that
        each row is prepared and scored once.
    threshold : float, default=None
        Rows with at least this probability are flagged. For a model without probabilities it is
        a score. None uses the threshold of the model.
    """

    def __init__(self, model, threshold: float | None = None):
        self.model, self.opened = model, unwrap(model)
        has_probabilities = hasattr(model, "predict_proba")
        if threshold is not None:
            check_threshold(threshold, has_probabilities)
        wanted = self.opened.threshold if threshold is None else threshold
        # Classifiers flag scores above their middle, wrappers scores of at least their threshold.
        self.is_flagged = np.greater if wanted is None else np.greater_equal
        middle = 0.5 if has_probabilities else 0.0
        self.threshold = middle if wanted is None else float(wanted)

    def __call__(self, X) -> ScoredRows:
        """Score the rows of a table.

        Parameters
        ----------
        X : DataFrame or ndarray
            The rows.

        Returns
        -------
        rows : ScoredRows
            Scores, probabilities and predictions.
        """
        parts = [self._score(X[i : i + BLOCK_ROWS]) for i in range(0, len(X), BLOCK_ROWS)]
        if len(parts) == 1:
            return parts[0]
        has_probabilities = parts[0].probabilities is not None
        return ScoredRows(
            np.concatenate([part.scores for part in parts]),
            np.concatenate([part.probabilities for part in parts]) if has_probabilities else None,
            np.concatenate([part.flagged for part in parts]),
        )

    def _score(self, X) -> ScoredRows:
        scores, probabilities = self._responses(X)
        ranking = scores if probabilities is None else probabilities
        return ScoredRows(scores, probabilities, self.is_flagged(ranking, self.threshold))

    def _responses(self, X) -> tuple[np.ndarray, np.ndarray | None]:
        classifier: Any = self.opened.classifier
        calibrator: Any = self.opened.calibrator
        if classifier is None or hasattr(calibrator, "beta_"):  # several, or a softmax
            return ranking_scores(self.model, X), positive_probabilities(self.model, X)
        scores = ranking_scores(classifier, self.opened.transform(X))
        return scores, None if calibrator is None else calibrator.predict(scores)


def check_threshold(threshold: float, has_probabilities: bool) -> None:
    """Raise an error if a threshold is neither a probability nor a finite score."""
    if has_probabilities and not 0 <= threshold <= 1:
        hint = f" Did you mean {threshold / 100:g}?" if 1 < threshold <= 100 else ""
        raise InvalidParameterError(
            "`threshold` must be from 0 to 1, because the model gives probabilities; got "
            f"{threshold:g}.{hint}"
        )
    if not np.isfinite(threshold):
        raise InvalidParameterError(f"`threshold` must be a finite number; got {threshold:g}.")
