"""Signs that rows were prepared in another way than the training rows."""

from __future__ import annotations

import numpy as np

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
    """

    def __init__(self, model):
        step = first_step(model)
        self.rows = NewRows(step) if isinstance(step, TablePreprocessor) else None
        self.n_rows, self.lowest, self.highest = 0, np.inf, -np.inf

    def add(self, X, scores: np.ndarray) -> None:
        """Look at more rows and their scores.

        Parameters
        ----------
        X : DataFrame or ndarray
            The rows, as the model takes them.
        scores : ndarray of shape (n_samples,)
            Their scores.
        """
        if self.rows is not None:
            self.rows.add(X)
        if len(scores):
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
        return messages
