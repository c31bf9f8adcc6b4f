"""The search on few distinct rows, its progress, and what it tells."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_moons

from skauc import SparseKernelAUC, SparseKernelAUCCV
from skauc.sparse.scoring import Setting
from skauc.sparse.search import Scores

X, y = make_moons(120, noise=0.3, random_state=0)
SMALL = {"Cs": [1.0], "gammas": ["scale"], "n_basis": 4, "linear_term": False, "scaling": None}


def few_distinct_rows():
    rows = np.zeros((60, 2))
    rows[:12, 0] = 1
    rows[[0, 30], 1] = 1
    return rows, np.arange(60) % 2


@pytest.mark.parametrize("refine", [False, "auto", 3])
def test_folds_with_different_numbers_of_distinct_rows(refine):
    """Pursuits end at different sizes, and no setting was scored on all folds."""
    rows, labels = few_distinct_rows()
    model = SparseKernelAUCCV(**SMALL, cv=2, refine=refine, random_state=1).fit(rows, labels)
    assert np.isfinite(model.decision_function(rows)).all()
    assert np.isfinite(model.best_score_)


def test_two_binary_columns():
    """The attack `discrete_searches` runs many more of these."""
    rng = np.random.default_rng(0)
    rows = (rng.random((80, 2)) < rng.uniform(0.02, 0.5, size=2)).astype(float)
    labels = (rng.random(80) < 0.3).astype(int)
    small = {"Cs": [1.0, 10.0], "n_basis": 8, "cv": 3}
    model = SparseKernelAUCCV(**small, random_state=0).fit(rows, labels)
    assert 0 <= model.best_score_ <= 1
    assert model.n_basis_ <= 4


def test_sizes_beyond_the_distinct_rows_have_the_score_of_the_last():
    rows, labels = few_distinct_rows()
    model = SparseKernelAUCCV(**{**SMALL, "n_basis": 16}, cv=2, refine=False, random_state=1)
    results = model.fit(rows, labels).cv_results_
    is_last = results["param_n_basis"] == 16
    assert is_last.sum() == 1
    scores = np.array([results[f"split{fold}_test_score"] for fold in range(2)])
    assert not np.isnan(scores[:, is_last]).any()
    for fold in range(2):
        reached = results["param_n_basis"][~np.isnan(scores[fold])].min()
        is_reached = results["param_n_basis"] == reached
        assert scores[fold][is_reached] == scores[fold][is_last]


def test_scores_are_values():
    setting = Setting(None, 1.0, False, False, 1.0, 4)
    one = Scores({}).plus(0, {setting: 0.5})
    two = one.plus(1, {setting: 0.7})
    assert one.by_setting == {setting: {0: 0.5}}
    assert two.by_setting == {setting: {0: 0.5, 1: 0.7}}
    assert_array_equal(two.on_first(2)[setting], [0.5, 0.7])
    assert two.best_so_far() == (setting, 0.6)
    assert Scores({}).best_so_far() is None


class Watcher:
    """Notes the progress after every task."""

    def __init__(self):
        self.seen = []

    def __call__(self, estimator, n_done, n_tasks):
        self.seen.append(estimator.search_progress_)

    def setup(self, estimator, context):
        pass

    teardown = on_fit_task_begin = setup

    def on_fit_task_end(self, estimator, context):
        if context.parent is not None:
            assert context.parent.max_subtasks == estimator.search_progress_.n_tasks
            self(estimator, None, None)


def test_progress_has_a_total_what_is_tried_and_the_best_auc():
    watcher = Watcher()
    model = SparseKernelAUCCV(n_basis=6, Cs=[1.0, 10.0], cv=3, random_state=0)
    model.set_callbacks(watcher).fit(X, y)
    progress = watcher.seen
    assert [seen.n_done for seen in progress] == list(range(1, len(progress) + 1))
    totals = [seen.n_tasks for seen in progress]
    assert totals == sorted(totals, reverse=True)
    assert totals[-1] == len(progress)
    assert totals[0] < 2 * len(progress)
    assert all(0 < seen.best_auc <= 1 for seen in progress)
    assert "scaling='rank'" in " ".join(seen.trying for seen in progress)
    assert progress[-1].trying == "refit to all rows"
    assert not hasattr(model, "search_progress_")


def test_verbose_prints_a_line_per_fit(capsys):
    SparseKernelAUCCV(**SMALL, cv=2, refine=False, random_state=0).fit(X, y)
    assert capsys.readouterr().out == ""
    SparseKernelAUCCV(**SMALL, cv=2, refine=False, random_state=0, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[SparseKernelAUCCV] 1 of 5 fits: screen: scaling=None, gamma=")
    assert "; best AUC 0." in lines[0]
    assert lines[-1].startswith("[SparseKernelAUCCV] 5 of 5 fits: refit to all rows; best AUC 0.")


def test_verbose_prints_a_line_per_retraining(capsys):
    SparseKernelAUC(4, random_state=0).fit(X, y)
    assert capsys.readouterr().out == ""
    SparseKernelAUC(4, random_state=0, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("[SparseKernelAUC] 1 centre, objective ")
    assert lines[3].startswith("[SparseKernelAUC] 4 centres, objective ")
    assert ", train AUC 0." in lines[3]
