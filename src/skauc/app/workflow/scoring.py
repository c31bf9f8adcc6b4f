"""What a model says of rows, in one pass over them: score, probability, label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skauc.unwrapping import positive_probabilities, ranking_scores, unwrap

# Rows that are prepared and scored at a time.
CHUNK_ROWS = 100_000


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """What a model says of rows.

    Attributes
    ----------
    scores : ndarray of shape (n_samples,)
        Higher for rows that look more positive.
    probabilities : ndarray of shape (n_samples,) or None
        Of the positive class; None for a model without.
    flagged : ndarray of shape (n_samples,), bool
        Which rows are predicted positive.
    """

    scores: np.ndarray
    probabilities: np.ndarray | None
    flagged: np.ndarray

    @property
    def ranking(self) -> np.ndarray:
        """What thresholds are for: probabilities, or scores where there are none."""
        return self.scores if self.probabilities is None else self.probabilities


class RowScorer:
    """Scores rows with a fitted model.

    Parameters
    ----------
    model : estimator
        A fitted binary classifier; wrappers around one of skauc's are taken apart, so that each
        row is prepared and scored once.
    threshold : float, default=None
        The probability (the score, for a model without) from which on a row is flagged. None is
        the model's own.
    """

    def __init__(self, model, threshold: float | None = None):
        self.model, self.opened = model, unwrap(model)
        wanted = self.opened.threshold if threshold is None else threshold
        # Classifiers flag what is above their middle, wrappers what is at least their threshold.
        self.is_flagged = np.greater if wanted is None else np.greater_equal
        middle = 0.5 if hasattr(model, "predict_proba") else 0.0
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
            What the model says of them.
        """
        parts = [self._score(X[i : i + CHUNK_ROWS]) for i in range(0, len(X), CHUNK_ROWS)]
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
        classifier, calibrator = self.opened.classifier, self.opened.calibrator
        if classifier is None or hasattr(calibrator, "beta_"):  # several, or a softmax
            return ranking_scores(self.model, X), positive_probabilities(self.model, X)
        scores = ranking_scores(classifier, self.opened.transform(X))
        return scores, None if calibrator is None else calibrator.predict(scores)
