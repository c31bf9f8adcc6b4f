"""Whether the time limit of a search left settings untried."""

from __future__ import annotations

import time


class StepsInTime:
    """A callback that counts the steps of a search until its time limit.

    It is a callback of scikit-learn, or a plain function before 1.9.
    """

    def __init__(self, seconds: float | None):
        self._ends = float("inf") if seconds is None else time.monotonic() + seconds
        self._n_done = self._n_tasks = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know: empty unless the limit ended the search."""
        if self._n_tasks - self._n_done <= 1:  # the last step is the fit to all rows
            return ()
        return (
            f"The search was ended by --time-limit after {self._n_done:,} of {self._n_tasks:,} "
            "steps. A longer time may find a better model.",
        )

    def __call__(self, estimator, n_done: int, n_tasks: int | None) -> None:
        """Count the steps that are done after the time limit, and those that were planned."""
        progress = getattr(estimator, "search_progress_", None)
        if progress is not None and progress.n_done < progress.n_tasks and self._is_late():
            self._n_done, self._n_tasks = progress.n_done, progress.n_tasks

    def _is_late(self) -> bool:
        return time.monotonic() > self._ends

    def setup(self, estimator, context) -> None:
        """Do nothing."""

    def teardown(self, estimator, context) -> None:
        """Do nothing."""

    def on_fit_task_begin(self, estimator, context) -> None:
        """Do nothing."""

    def on_fit_task_end(self, estimator, context) -> None:
        """Count a step."""
        self(estimator, 0, None)
