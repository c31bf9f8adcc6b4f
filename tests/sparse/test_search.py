"""The search on few distinct rows, its progress, and what it tells."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_classification, make_moons

from skauc import SparseKernelAUC, SparseKernelAUCCV
from skauc.exceptions import InvalidParameterError
from skauc.sparse.grid import effort_of
from skauc.sparse.scoring import Tested as Found
from skauc.sparse.scoring import score_job
from skauc.sparse.search import (
    CLEAR_LEAD,
    Scores,
    Search,
    best_mean,
    choose,
    corrected_mean,
    smallest,
)
from skauc.sparse.settings import SearchGrid, Setting

X, y = make_moons(120, noise=0.3, random_state=0)
SMALL = {
    "Cs": [1.0],
    "gammas": ["scale"],
    "n_basis": 4,
    "linear_term": False,
    "scaling": None,
    "shapes": "round",
}


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


@pytest.mark.parametrize(("refine", "n_most"), [("auto", 8), (False, 4)])
def test_two_binary_columns(refine, n_most):
    """The attack `discrete_searches` runs many more of these."""
    rng = np.random.default_rng(0)
    rows = (rng.random((80, 2)) < rng.uniform(0.02, 0.5, size=2)).astype(float)
    labels = (rng.random(80) < 0.3).astype(int)
    small = {"Cs": [1.0, 10.0], "n_basis": 8, "cv": 3}
    model = SparseKernelAUCCV(**small, refine=refine, ensemble=False, random_state=0)
    model.fit(rows, labels)
    assert 0 <= model.best_score_ <= 1
    assert model.n_basis_ <= n_most


def test_sizes_beyond_the_distinct_rows_have_the_score_of_the_last():
    rows, labels = few_distinct_rows()
    small = {**SMALL, "n_basis": 16, "rotate": False}
    model = SparseKernelAUCCV(**small, cv=2, refine=False, random_state=1)
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
    setting = Setting(None, 1.0, False, 0, 1.0, 4)
    first, second = (Found(auc, np.zeros(3)) for auc in (0.5, 0.7))
    one = Scores({}).plus(0, {setting: first})
    two = one.plus(1, {setting: second})
    assert one.by_setting == {setting: {0: first}}
    assert two.by_setting == {setting: {0: first, 1: second}}
    assert_array_equal(two.on_first(2)[setting], [0.5, 0.7])
    assert two.best_so_far() == (setting, 0.6)
    assert Scores({}).best_so_far() is None


@pytest.mark.parametrize(("auc", "is_eligible"), [(0.903, False), (0.905, True)])
def test_with_few_rows_another_structure_must_be_clearly_better(auc, is_eligible):
    usual = Setting("normal", 1.0, False, 0, 1.0, 4)
    same, other = replace(usual, C=2.0, n_basis=8), replace(usual, scaling=None)
    aucs = {usual: 0.9, same: 0.89, other: auc}
    scores = Scores({s: {0: Found(aucs[s], np.zeros(3))} for s in aucs})
    unused = dict.fromkeys(("base", "rows", "folds", "seed", "n_jobs", "n_kept", "metric"))
    search = Search(**unused, usual=usual, watch=None, expect=None)
    assert set(search.eligible(scores)) == {usual, same, *([other] if is_eligible else [])}
    assert set(replace(search, usual=None).eligible(scores)) == set(aucs)
    assert set(replace(search, usual=replace(usual, gamma=2.0)).eligible(scores)) == set(aucs)
    chosen, _ = choose(search, scores, "best")
    assert chosen == (other if is_eligible else usual)


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
    tried = " ".join(seen.trying for seen in progress)
    assert "C: scaling='normal', gamma=0.5, linear term, refine=10" in tried
    assert "structure: scaling=None" in tried
    assert progress[-1].trying == "refit to all rows"
    assert not hasattr(model, "search_progress_")


def test_verbose_prints_a_line_per_fit(capsys):
    small = {**SMALL, "cv": 2, "refine": False, "random_state": 0}
    SparseKernelAUCCV(**small).fit(X, y)
    assert capsys.readouterr().out == ""
    SparseKernelAUCCV(**small, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[SparseKernelAUCCV] 1 of 3 fits: C: scaling=None, gamma=")
    assert "; best AUC 0." in lines[0]
    assert lines[-1].startswith("[SparseKernelAUCCV] 3 of 3 fits: refit to all rows; best AUC 0.")


@pytest.mark.parametrize(("refine", "sizes"), [(False, [1, 2, 4]), (3, [1, 2, 4, 4])])
def test_verbose_prints_a_line_per_retraining(capsys, refine, sizes):
    SparseKernelAUC(4, refine=refine, random_state=0).fit(X, y)
    assert capsys.readouterr().out == ""
    SparseKernelAUC(4, refine=refine, random_state=0, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    words = ["1 centre", *(f"{size} centres" for size in sizes[1:])]
    for line, word in zip(lines, words, strict=True):
        assert line.startswith(f"[SparseKernelAUC] {word}, objective ")
        assert ", train AUC 0." in line


# -- the choice -------------------------------------------------------------------------------


def make_scores(by_size):
    """Scores of settings that differ in their size."""
    return {Setting(None, 1.0, False, 0, 1.0, n): np.array(auc) for n, auc in by_size.items()}


def test_small_loses_no_more_than_noise_and_no_more_than_a_twentieth_of_the_loss():
    # The loss of the best is 0.1; the standard errors of the differences are given by the folds.
    best = [0.9, 0.9, 0.9]
    within_noise = {4: [0.89, 0.905, 0.9], 8: best}
    beyond_noise = {4: [0.896, 0.896, 0.896], 8: best}
    beyond_the_loss = {4: [0.88, 0.9, 0.9], 8: best}
    for by_size, expected in ((within_noise, 4), (beyond_noise, 8), (beyond_the_loss, 8)):
        assert smallest(make_scores(by_size)).n_basis == expected
        assert best_mean(make_scores(by_size)).n_basis == 8


def test_the_score_is_corrected_by_what_the_best_of_each_fold_gains():
    scores = make_scores({4: [0.8, 0.6], 8: [0.7, 0.9]})
    chosen = best_mean(scores)
    assert chosen.n_basis == 8
    assert corrected_mean(scores, scores[chosen]) == pytest.approx(0.8 - 0.05)
    alone = {chosen: scores[chosen]}
    assert corrected_mean(alone, scores[chosen]) == pytest.approx(0.8)


def test_random_labels_are_not_ranked():
    """The best of 40 mean AUCs is above 0.5 by chance; the corrected one is not."""
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(600, 4)), rng.integers(2, size=600)
    model = SparseKernelAUCCV(n_basis=8, cv=5, random_state=0).fit(rows, labels)
    assert model.best_score_ == pytest.approx(0.5, abs=0.05)
    assert model.cv_results_["mean_test_score"].max() > model.best_score_


# -- effort and time --------------------------------------------------------------------------


def test_a_quick_search_tries_three_cs_and_nothing_else():
    model = SparseKernelAUCCV(n_basis=4, effort="quick", random_state=0).fit(X, y)
    results = model.cv_results_
    assert model.n_splits_ == 3
    assert set(results["param_C"]) == {0.1, 0.5, 5.0}
    for name in ("scaling", "gamma", "linear_term", "rotate", "refine"):
        assert len(set(results[f"param_{name}"])) == 1
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_tiny_time_limit_gives_the_model_of_the_first_fit(n_jobs):
    model = SparseKernelAUCCV(n_basis=4, time_limit=1e-9, n_jobs=n_jobs, random_state=0).fit(X, y)
    scores = [model.cv_results_[f"split{fold}_test_score"] for fold in range(model.n_splits_)]
    assert_array_equal((~np.isnan(scores)).sum(axis=0), 1)
    assert model.best_params_["C"] == 0.02
    assert model.n_basis_ == 4
    assert model.score(X, y) > 0.9


def test_no_fit_begins_after_the_time_limit(monkeypatch):
    """The time is up in the second round, which is then not finished."""
    begun = []

    def score(base, rows, fold, job, *others):
        begun.append(job)
        if len(begun) == 7:
            monkeypatch.setattr(Search, "is_over", lambda search: True)
        return score_job(base, rows, fold, job, *others)

    monkeypatch.setattr("skauc.sparse.search.score_job", score)
    watcher = Watcher()
    small = {"Cs": [1.0, 2.0], "n_basis": 4, "cv": 3, "refine": False, "n_jobs": 1}
    model = SparseKernelAUCCV(**small, random_state=0).set_callbacks(watcher).fit(X, y)
    # Two Cs on three folds, one structure on a fold, and the last fit.
    assert len(begun) == 7
    assert [seen.n_done for seen in watcher.seen] == list(range(1, 9))
    assert watcher.seen[-1].n_tasks == 8
    assert model.best_params_["scaling"] == "normal"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"size": "tiny"}, "`size` must be one of 'best', 'small'; got 'tiny'"),
        ({"effort": "heroic"}, "`effort` must be one of 'quick', 'default', 'thorough'; got"),
        ({"time_limit": 0}, "`time_limit` must be a finite number greater than 0; got 0. Use None"),
    ],
)
def test_bad_size_effort_and_time(parameters, message):
    with pytest.raises(InvalidParameterError, match=message):
        SparseKernelAUCCV(**parameters).fit(X, y)


def test_shapes_are_tried_if_both_classes_have_rows_enough():
    few, many = (
        make_moons(300, noise=0.3, random_state=0),
        make_moons(400, noise=0.3, random_state=0),
    )
    small = {**SMALL, "n_basis": 2, "cv": 2, "shapes": "auto", "random_state": 0}
    tried = (
        SparseKernelAUCCV(**small).fit(*rows).cv_results_["param_shapes"] for rows in (few, many)
    )
    assert [set(shapes) for shapes in tried] == [{"round"}, {"round", "local", "ridge"}]


def test_cs_beyond_the_usual_ones_are_tried_while_the_best_is_at_an_end():
    """Scales in balance are a rule without noise, which asks for a large C."""
    rows = np.array(list(product(range(1, 6), repeat=4)))
    in_balance = rows[:, 0] * rows[:, 1] == rows[:, 2] * rows[:, 3]
    small = {"n_basis": 8, "cv": 2, "scaling": None, "linear_term": True, "random_state": 0}
    results = SparseKernelAUCCV(**small).fit(rows, in_balance).cv_results_
    usual, Cs = effort_of("default", (49, 576)).Cs, results["param_C"]
    assert {62.5, 312.5} <= set(Cs) - set(usual)
    aucs = [results["mean_test_score"][Cs == C].max() for C in (2.5, 12.5)]
    assert aucs[1] - aucs[0] > CLEAR_LEAD * (1 - aucs[0])


def test_with_few_rows_no_c_is_tried_beyond_an_end_that_is_not_clearly_the_best():
    rows, labels = make_classification(200, 4, flip_y=0.4, random_state=0)
    search = SparseKernelAUCCV(n_basis=8, cv=2, random_state=0).fit(rows, labels)
    assert set(search.cv_results_["param_C"]) == set(effort_of("default", (100, 100)).Cs)


def test_given_cs_are_not_extended():
    grid = SearchGrid((), (1.0, 2.0), (1.0, 2.0))
    assert grid.beyond(2.0, {1.0, 2.0}) is None
    assert grid.near(2.0) == [1.0]
