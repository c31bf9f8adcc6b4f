"""Callbacks: scikit-learn's progress bar and score monitor, or plain functions below 1.9."""

import contextlib
import copy
import importlib.util
import pickle

import numpy as np
import pytest
from listeners import Listener, interrupt_at, stop_at
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import Selection, SparseKernelAUC

X, y = make_classification(200, 5, class_sep=0.5, flip_y=0.2, n_redundant=0, random_state=0)
GEOMETRIC = Selection(retrain="geometric")

without_api = pytest.mark.skipif(
    importlib.util.find_spec("sklearn.callback") is not None, reason="scikit-learn has its own"
)


@pytest.fixture
def callback():
    """scikit-learn's module of callbacks."""
    return pytest.importorskip("sklearn.callback")


def make(n_basis=8, **parameters):
    return SparseKernelAUC(n_basis, random_state=0, **parameters)


# -- either way -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selection", "sizes"),
    [
        ("orthogonal", [4, 8]),
        (GEOMETRIC, [1, 2, 3, 4, 5, 6, 8]),
        ("greedy", [*range(1, 9)]),
    ],
    ids=["orthogonal", "geometric", "greedy"],
)
def test_there_is_one_task_per_size_of_the_basis(selection, sizes):
    listener = Listener()
    make(selection=selection).set_callbacks(listener).fit(X, y)
    assert [model.n_basis_ for model in listener.models] == sizes


@pytest.mark.parametrize("refine", [3, True])
def test_there_is_one_task_per_step_of_refinement(callback, refine):
    """The largest number of tasks is known from the start. Steps come between centres."""

    class Counter(Listener):
        def __init__(self):
            super().__init__()
            self.tasks, self.totals = [], []

        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            if context.parent is not None:
                self.tasks.append(context.task_name)
                self.totals.append(context.parent.max_subtasks)

    counter = Counter()
    model = make(32, refine=refine).set_callbacks(counter).fit(X, y)
    sizes = [4, 8, 16, 32]
    assert counter.tasks.count("centre") == len(sizes)
    n_sizes = sum(record.is_refined for record in model.path_)
    assert n_sizes > 1
    assert counter.tasks[:3] == ["centre"] * 2 + ["refinement step"]
    assert counter.tasks[-1] == "refinement step"
    assert counter.totals == sorted(counter.totals, reverse=True)
    assert counter.totals[0] >= len(counter.tasks)
    assert refine is True or counter.totals[0] == len(sizes) + 2 * (n_sizes - 1) + 3


def test_lines_are_printed_during_refinement(monkeypatch, capsys):
    monkeypatch.setattr("skauc.sparse.progress.STEP_LINE_SECONDS", 0.0)
    make(refine=3, verbose=1).fit(X, y)
    assert "refining 8 centres: step 2 of at most 3\n" in capsys.readouterr().out


def test_a_basis_that_ends_early_has_fewer_tasks():
    listener = Listener()
    model = make(16, kernel="linear").set_callbacks(listener).fit(X, y)
    assert [model.n_basis_ for model in listener.models] == [4, 5]
    assert model.n_basis_ == 5


def test_callbacks_see_a_fitted_model_with_names_and_labels():
    pandas = pytest.importorskip("pandas")
    frame, labels = pandas.DataFrame(X).add_prefix("x"), np.array(["no", "yes"])[y]
    listener = Listener()
    make().set_callbacks(listener).fit(frame, labels)
    for model in listener.models:
        assert model.classes_.tolist() == ["no", "yes"]
        assert model.score(frame, labels) > 0.6
        assert model.truncate(4).n_basis_ == 4


def test_models_seen_earlier_do_not_change_later():
    seen = []
    listener = Listener(lambda model: seen.append(model.decision_function(X)))
    make().set_callbacks(listener).fit(X, y)
    for model, scores in zip(listener.models, seen, strict=True):
        assert_array_equal(model.decision_function(X), scores)


def test_callbacks_do_not_change_the_fit():
    watched = make().set_callbacks(Listener()).fit(X, y)
    assert_array_equal(watched.dual_coef_, make().fit(X, y).dual_coef_)


@pytest.mark.parametrize(
    ("selection", "size"),
    [("orthogonal", 4), (GEOMETRIC, 1), (GEOMETRIC, 5), ("exact", 7)],
    ids=["orthogonal-4", "geometric-1", "geometric-5", "exact-7"],
)
def test_the_answer_true_ends_the_fit_with_a_retrained_model(selection, size):
    listener = Listener(stop_at(size))
    fixed = {"selection": selection, "refine": False}
    model = make(**fixed).set_callbacks(listener).fit(X, y)
    assert listener.models[-1].n_basis_ == model.n_basis_ == model.path_[-1].n_basis == size
    assert_allclose(model.decision_function(X), make(size, **fixed).fit(X, y).decision_function(X))


def test_a_fit_that_was_stopped_is_refined():
    model = make(refine=3).set_callbacks(Listener(stop_at(4))).fit(X, y)
    assert model.n_basis_ == 4
    assert model.path_[-1].is_refined


def test_any_of_several_callbacks_can_end_the_fit():
    first, second = Listener(stop_at(5)), Listener(stop_at(4))
    model = make(selection=GEOMETRIC).set_callbacks(first, second)
    assert model.fit(X, y).n_basis_ == 4
    assert len(first.models) == len(second.models) == 4


def test_an_error_in_a_callback_is_the_user_s():
    def fail(model):
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        make().set_callbacks(Listener(fail)).fit(X, y)


def test_no_callbacks_again():
    listener = Listener()
    make().set_callbacks(listener).set_callbacks().fit(X, y)
    assert not listener.models


# -- scikit-learn 1.9 -------------------------------------------------------------------------


@pytest.mark.parametrize("early_stopping", [False, True])
def test_the_last_model_reported_is_the_fitted_one(callback, early_stopping):
    listener = Listener()
    model = make(32, early_stopping=early_stopping).set_callbacks(listener).fit(X, y)
    assert listener.final.n_basis_ == model.n_basis_
    assert_array_equal(listener.final.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("react", [stop_at(4), interrupt_at(4), stop_at(99)])
def test_callbacks_are_always_torn_down(callback, react):
    listener = Listener(react)
    with contextlib.suppress(KeyboardInterrupt):
        make().set_callbacks(listener).fit(X, y)
    assert listener.n_teardowns == 1


def test_progress_bar(callback, capsys):
    pytest.importorskip("rich")
    make().set_callbacks(callback.ProgressBar()).fit(X, y)
    output = capsys.readouterr().out
    assert "SparseKernelAUC - fit" in output
    assert "100%" in output


def test_progress_bar_of_a_search_over_a_pipeline(callback, capsys):
    pytest.importorskip("rich")
    pipeline = make_pipeline(StandardScaler(), make(3))
    search = GridSearchCV(pipeline, {"sparsekernelauc__C": [0.1, 1.0]}, cv=2)
    search.set_callbacks(callback.ProgressBar(max_propagation_depth=None)).fit(X, y)
    assert capsys.readouterr().out.count("SparseKernelAUC") == 5  # four splits and the refit


@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 2, 200)], ids=["1", "weights"])
def test_score_monitor(callback, weights):
    monitor = callback.ScoringMonitor(scoring=["roc_auc", "balanced_accuracy"])
    model = make(selection=Selection(retrain="always"), refine=False)
    model.set_callbacks(monitor).fit(X, y, weights)
    rows = monitor.get_logs().data
    scores = [row["roc_auc"] for row in rows if row["task_name"] == "centre"]
    stages = model.staged_decision_function(X)
    expected = [roc_auc_score(y, stage, sample_weight=weights) for stage in stages]
    assert_allclose(scores, expected)
    (final,) = (row for row in rows if row["task_name"] == "fit")
    assert_allclose(final["roc_auc"], expected[-1])


def test_score_monitor_inside_a_search_over_a_pipeline(callback):
    monitor = callback.ScoringMonitor(scoring="roc_auc")
    pipeline = make_pipeline(StandardScaler(), make(8).set_callbacks(monitor))
    GridSearchCV(pipeline, {"sparsekernelauc__C": [0.1, 1.0]}, cv=2).fit(X, y)
    names = [row["task_name"] for row in monitor.get_logs().data]
    assert names.count("fit") == 5  # four splits and the refit
    assert names.count("centre") == 5 * 2  # the sizes 4 and 8


# -- below 1.9 --------------------------------------------------------------------------------


@without_api
def test_a_plain_callback_hears_the_model_and_how_far_it_is():
    heard = []
    model = make(3, selection=GEOMETRIC, refine=False)
    model.set_callbacks(lambda *arguments: heard.append(arguments)).fit(X, y)
    assert [(done, of) for _, done, of in heard] == [(1, 3), (2, 3), (3, 3)]
    assert [model.n_basis_ for model, _, _ in heard] == [1, 2, 3]


@without_api
@pytest.mark.parametrize("duplicate", [clone, copy.copy, lambda m: pickle.loads(pickle.dumps(m))])
def test_plain_callbacks_do_not_stand_in_the_way_of_copies(duplicate):
    model = make(3).set_callbacks(print_nothing)
    assert_array_equal(duplicate(model).fit(X, y).dual_coef_, make(3).fit(X, y).dual_coef_)


def print_nothing(model, n_done, n_tasks):
    """A callback that can be pickled."""
