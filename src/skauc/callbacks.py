"""Progress of a fit, told to callbacks.

scikit-learn 1.9 has a callback API with progress bars and score monitors; there, one task is
reported per added centre, or per epoch. Below 1.9 a callback is a plain function, called as
``callback(estimator, n_done, n_tasks)`` with the estimator fitted so far; a true result ends the
fit.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9
    CallbackSupportMixin = None

__all__ = ["CallbackMixin", "with_callbacks"]

Attributes = Callable[[], dict]


if CallbackSupportMixin is not None:

    @dataclass(frozen=True)
    class _Reporter:
        """One fit's root task and the data that its callbacks may ask for."""

        estimator: object
        root: object
        data: dict

        def task(self, name: str, attributes: Attributes) -> bool:
            """Report a finished task; return whether a callback wants the fit to end."""
            task = self.root.subcontext(task_name=name)
            task.call_on_fit_task_begin(estimator=self.estimator, **self.data)
            return task.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes=attributes, **self.data
            )

        def end(self, attributes: Attributes) -> None:
            """Report the end of the fit."""
            self.root.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes=attributes, **self.data
            )

    class CallbackMixin(CallbackSupportMixin):
        """Callback support for estimators that fit in steps: a centre, or an epoch, at a time."""

        def _start_reporting(self, n_tasks: int, X, y, sample_weight) -> _Reporter:
            metadata = None if sample_weight is None else {"sample_weight": sample_weight}
            data = {"X": X, "y": y, "metadata": metadata}
            root = self._init_callback_context(max_subtasks=n_tasks)
            root.call_on_fit_task_begin(estimator=self, **data)
            return _Reporter(self, root, data)

else:

    def with_callbacks(method):
        """Return the method as it is."""
        return method

    class _Reporter:
        """Calls plain functions after each task."""

        def __init__(self, estimator, callbacks, n_tasks):
            self.estimator, self.callbacks, self.n_tasks = estimator, callbacks, n_tasks
            self.n_done = 0

        def task(self, name: str, attributes: Attributes) -> bool:
            """Report a finished task; return whether a callback wants the fit to end."""
            self.n_done += 1
            if not self.callbacks:
                return False
            fitted = copy.copy(self.estimator)
            vars(fitted).update(attributes())
            answers = [call(fitted, self.n_done, self.n_tasks) for call in self.callbacks]
            return any(answers)

        def end(self, attributes: Attributes) -> None:
            """Report nothing: the last task said it all."""

    class CallbackMixin:
        """Plain callbacks for scikit-learn versions without a callback API."""

        def set_callbacks(self, *callbacks):
            """Set functions ``callback(fitted_estimator, n_done, n_tasks)`` and return self."""
            self._plain_callbacks = callbacks
            return self

        def _start_reporting(self, n_tasks: int, X, y, sample_weight) -> _Reporter:
            return _Reporter(self, getattr(self, "_plain_callbacks", ()), n_tasks)
