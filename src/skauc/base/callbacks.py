"""Callbacks during a fit.

scikit-learn has a callback API since version 1.9. With older versions, callbacks are plain
functions. Both give estimators the same two names, `CallbackMixin` and `with_callbacks`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9
    CallbackSupportMixin = None

Attributes = Callable[[], dict | None]


class Reporter(Protocol):
    """Tells callbacks about the tasks of one fit."""

    def task(self, name: str, attributes: Attributes) -> bool:
        """Report a finished task; return whether a callback asks to stop the fit."""

    def expect(self, n_tasks: int) -> None:
        """Correct the number of tasks."""

    def end(self, attributes: Attributes) -> None:
        """Report the end of the fit."""


if CallbackSupportMixin is not None:

    @dataclass(frozen=True)
    class _ContextReporter:
        """The root task of one fit, and the data that callbacks may ask for."""

        estimator: object
        root: Any
        data: dict

        def task(self, name: str, attributes: Attributes) -> bool:
            """Report a finished task; return whether a callback asks to stop the fit."""
            task = self.root.subcontext(task_name=name)
            task.call_on_fit_task_begin(estimator=self.estimator, **self.data)
            return task.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes=attributes, **self.data
            )

        def expect(self, n_tasks: int) -> None:
            """Correct the number of tasks."""
            self.root.max_subtasks = n_tasks

        def end(self, attributes: Attributes) -> None:
            """Report the end of the fit."""
            self.root.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes=attributes, **self.data
            )

    class CallbackMixin(CallbackSupportMixin):
        """Callbacks for estimators that fit in steps, such as centres or epochs."""

        def _start_reporting(self, n_tasks: int, X: Any, y: Any, sample_weight: Any) -> Reporter:
            metadata = None if sample_weight is None else {"sample_weight": sample_weight}
            data = {"X": X, "y": y, "metadata": metadata}
            root = self._init_callback_context(max_subtasks=n_tasks)
            root.call_on_fit_task_begin(estimator=self, **data)
            return _ContextReporter(self, root, data)

else:

    def with_callbacks(method: Callable) -> Callable:
        """Return the method unchanged."""
        return method

    class _FunctionReporter:
        """Calls plain functions after each task."""

        def __init__(self, estimator: object, callbacks: tuple[Callable, ...], n_tasks: int):
            self.estimator, self.callbacks, self.n_tasks = estimator, callbacks, n_tasks
            self.n_done = 0
            self._attributes: dict = {}

        def task(self, name: str, attributes: Attributes) -> bool:
            """Report a finished task; return whether a callback asks to stop the fit."""
            self.n_done += 1
            if not self.callbacks:
                return False
            fitted = copy.copy(self.estimator)
            self._attributes = attributes() or self._attributes
            vars(fitted).update(self._attributes)
            answers = [call(fitted, self.n_done, self.n_tasks) for call in self.callbacks]
            return any(answers)

        def expect(self, n_tasks: int) -> None:
            """Correct the number of tasks."""
            self.n_tasks = n_tasks

        def end(self, attributes: Attributes) -> None:
            """Do nothing: plain callbacks hear of tasks only."""

    class CallbackMixin:  # type: ignore[no-redef] # for another version of scikit-learn
        """Plain callbacks, for scikit-learn versions without a callback API."""

        def set_callbacks(self, *callbacks: Callable) -> Self:
            """Set functions ``callback(fitted_estimator, n_done, n_tasks)`` and return self."""
            self._plain_callbacks = callbacks
            return self

        def _start_reporting(self, n_tasks: int, X: Any, y: Any, sample_weight: Any) -> Reporter:
            return _FunctionReporter(self, getattr(self, "_plain_callbacks", ()), n_tasks)
