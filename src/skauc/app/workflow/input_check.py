"""Signs that rows were prepared in another way than the training rows."""

from __future__ import annotations

import numpy as np

from skauc.app.workflow.scoring import RowScorer
from skauc.preprocessing import NewRows, TablePreprocessor
from skauc.unwrapping import first_step


class InputCheck:
    """Looks at rows and their scores, and says what looks wrong.

    Rows can be added in several pieces. The messages are about all of them.

    Parameters
    ----------
    model : estimator
        The fitted model. Its first step remembers the training table if it is a
        `TablePreprocessor`.
    threshold : float, default=None
        The threshold that the user chose.
    """

    def __init__(self, model, threshold: float | None = None):
        looks_like_probability = threshold is not None and 0 < threshold <= 1
        is_doubtful = looks_like_probability and not hasattr(model, "predict_proba")
        self.doubtful_threshold = threshold if is_doubtful else None
        self.own_threshold = RowScorer(model).threshold
        step = first_step(model)
        self.rows = NewRows(step) if isinstance(step, TablePreprocessor) else None
        self.n_rows, self.lowest, self.highest = 0, np.inf, -np.inf

    def add(self, X, scores: np.ndarray | None = None) -> None:
        """Look at more rows and, if they are known, their scores.

        Parameters
        ----------
        X : DataFrame or ndarray
            The rows, as the model takes them.
        scores : ndarray of shape (n_samples,), default=None
            Their scores.
        """
        if self.rows is not None:
            self.rows.add(X)
        if scores is not None and len(scores):
            self.n_rows += len(scores)
            self.lowest = min(self.lowest, float(scores.min()))
            self.highest = max(self.highest, float(scores.max()))

    def messages(self) -> list[str]:
        """Return one message per sign.

        Returns
        -------
        messages : list of str
            Empty if nothing looks wrong.
        """
        messages = [] if self.rows is None else self.rows.notes()
        if self.n_rows > 1 and self.lowest == self.highest:
            messages.append(
                f"All {self.n_rows:,} rows have the same score, {self.lowest:.6g}. Check that the "
                "columns are prepared in the same way as for the training."
            )
        if self.n_rows and self.doubtful_threshold is not None:
            messages.append(
                f"--threshold {self.doubtful_threshold:g} is a score here and not a probability: "
                "the model was fitted without calibration. The scores of these rows are from "
                f"{self.lowest:.4g} to {self.highest:.4g}. The model's own threshold is "
                f"{self.own_threshold:.4g}."
            )
        return messages
