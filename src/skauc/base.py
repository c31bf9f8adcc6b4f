"""What every ranking classifier shares: scores, callbacks, doc links, all-or-nothing fits."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from skauc.engines import cluster_engine, is_on_cluster
from skauc.exceptions import FitInterruptedError
from skauc.metrics import auc
from skauc.model import Model
from skauc.validation import check_rows

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9
    CallbackSupportMixin = None

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

        def expect(self, n_tasks: int) -> None:
            """Correct the number of tasks."""
            self.root.max_subtasks = n_tasks

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

        def expect(self, n_tasks: int) -> None:
            """Correct the number of tasks."""
            self.n_tasks = n_tasks

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


GUIDE = "methods.md"


class DocLinkMixin:
    """Makes scikit-learn's HTML diagram link to our documentation; put it before BaseEstimator."""

    _doc_link_module = "skauc"

    @property
    def _doc_link_template(self) -> str:
        return f"{docs_url()}/{GUIDE}#{{section}}"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"section": type(self).__name__.lower()}


def docs_url() -> str:
    """Return the address of the guide's folder."""
    given = os.environ.get("SKAUC_DOCS_URL") or _published()
    return given.rstrip("/") if given else _installed().as_uri()


@cache
def _published() -> str | None:
    """Return the address of the documentation in the metadata of the package, if it has one."""
    try:
        addresses = metadata.metadata("skauc").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return None
    by_label = dict(address.split(", ", 1) for address in addresses)
    return by_label.get("Documentation")


@cache
def _installed() -> Path:
    """Return the folder of the guide: inside of the package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent
    places = (package / "guide", package.parents[1] / "docs" / "guide")
    return next((place for place in places if (place / GUIDE).exists()), places[0])


@contextmanager
def unchanged_on_error(estimator) -> Iterator[None]:
    """Give an estimator back the fitted attributes it had, if any, when its fit fails."""
    before = fitted_attributes(estimator)
    try:
        yield
    except FitInterruptedError:
        raise  # the estimator keeps the model that it had reached
    except BaseException:
        for name in fitted_attributes(estimator):
            delattr(estimator, name)
        vars(estimator).update(before)
        raise


def fitted_attributes(estimator) -> dict:
    """Return what a fit has set."""
    hidden = ("_model", "_models", "_state")
    names = (name for name in vars(estimator) if name.endswith("_") or name in hidden)
    return {name: vars(estimator)[name] for name in names}


class RankingClassifier(DocLinkMixin, ClassifierMixin, BaseEstimator):
    """Scores, labels and AUC of a fitted model in ``_model``.

    Everything that reads a fitted classifier, such as a model file, a report or a graph of ONNX,
    finds what it scores by there. The sign of a score is the prediction.
    """

    _model: Model

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    def decision_function(self, X):
        """Return scores that rank the rows; positive ones are predicted positive.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Higher means more likely positive.
        """
        check_is_fitted(self)
        if is_on_cluster(X):
            return cluster_engine().lazily(self, "decision_function", X, np.float64)
        X = check_rows(self, X)
        return self._model.scores(X, getattr(self, "n_jobs", None))

    def make_decision_function(self):
        """Return `decision_function` as a plain function that checks nothing.

        Its centres are prepared once, so that one row takes a few microseconds: for a service
        that scores rows as they come. It keeps the model of now, whatever becomes of the
        estimator, runs in the calling thread alone, and may be called from several.

        Returns
        -------
        score : callable
            ``score(rows)`` takes a finite two-dimensional array of floats, a row a line, with the
            columns in the order of the training rows, and returns the scores of
            ``decision_function(rows)``. What it makes of anything else is not defined.

        Examples
        --------
        >>> import numpy as np
        >>> from skauc import SparseKernelAUC
        >>> X = np.array([[0.0], [0.2], [0.8], [1.0]])
        >>> model = SparseKernelAUC(2, random_state=0).fit(X, [0, 0, 1, 1])
        >>> score = model.make_decision_function()
        >>> bool(score(X[:1])[0] == model.decision_function(X[:1])[0])
        True
        """
        check_is_fitted(self)
        return self._model.scorer(like=np.empty((0, self.n_features_in_)))

    def predict(self, X):
        """Return the predicted labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Members of ``classes_``.
        """
        check_is_fitted(self)
        if is_on_cluster(X):
            return cluster_engine().lazily(self, "predict", X, self.classes_.dtype)
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def score(self, X, y, sample_weight=None):
        """Return the area under the ROC curve.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.
        y : array-like of shape (n_samples,)
            True labels, of both classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        auc : float
            The AUC of ``decision_function(X)``.
        """
        scores = self.decision_function(X)
        return auc(y, scores, sample_weight=sample_weight, pos_label=self.classes_[1])


def support_attributes(model: Model) -> dict:
    """Return the fitted attributes of a classifier that is one model, linear or of rows."""
    common = {
        "intercept_": model.intercept,
        "gamma_": getattr(model.kernel, "gamma", None),
        "_model": model,
    }
    if model.linear_coef is not None:
        return {**common, "coef_": model.linear_coef}
    return {
        **common,
        "dual_coef_": model.coef,
        "support_": model.indices,
        "support_vectors_": model.centres,
    }
