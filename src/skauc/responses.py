"""What a fitted classifier says of rows: scores that rank them, and probabilities."""

from __future__ import annotations

import numpy as np

from skauc.exceptions import InvalidParameterError


def ranking_scores(model, X) -> np.ndarray:
    """Return `decision_function` or, where there is none, the probability of the second class."""
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X))
    else:
        scores = positive_probabilities(model, X)
    if scores is None or scores.ndim != 1:
        raise InvalidParameterError(
            f"`model` must be a binary classifier with `decision_function` or `predict_proba`; got "
            f"{type(model).__name__}. Pass a fitted classifier of two classes."
        )
    return scores


def positive_probabilities(model, X) -> np.ndarray | None:
    """Return the probability of the second class, or None where the model gives none."""
    if not hasattr(model, "predict_proba"):
        return None
    return np.asarray(model.predict_proba(X))[:, 1]
