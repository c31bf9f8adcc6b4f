"""The search on few distinct rows, its progress, and what it tells."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification, make_moons

from skauc import Selection, SparseKernelAUC, SparseKernelAUCCV
from skauc.exceptions import InvalidParameterError
from skauc.sparse.comparison import FoldComparison
from skauc.sparse.decision import best_size, make_decision, smallest
from skauc.sparse.grid import LADDER
from skauc.sparse.scores import Scores, corrected_mean
from skauc.sparse.scoring import Tested as Found
from skauc.sparse.scoring import score_job
from skauc.sparse.search import Search, threads_pay
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
    first, second = (Found(auc, np.zeros(3), 1.0) for auc in (0.5, 0.7))
    one = Scores({}).plus(0, {setting: first})
    two = one.plus(1, {setting: second})
    assert one.by_setting == {setting: {0: first}}
    assert two.by_setting == {setting: {0: first, 1: second}}
    assert_array_equal(two.on_first(2)[setting], [0.5, 0.7])
    assert two.best_so_far() == (setting, 0.6)
    assert Scores({}).best_so_far() is None


def make_comparison(usual, n_folds=2, n_repeats=1, are_few=True):
    """A comparison on distinct folds, every one of them ``n_repeats`` times."""
    return FoldComparison(usual, n_folds * n_repeats, n_repeats, are_few)


def on_folds(aucs):
    """Scores of settings with their AUCs on the first folds."""
    return Scores(
        {
            setting: {fold: Found(auc, np.zeros(3), 1.0) for fold, auc in enumerate(each)}
            for setting, each in aucs.items()
        }
    )


@pytest.mark.parametrize(("aucs", "is_better"), [((0.89, 0.93), False), ((0.91, 0.93), True)])
def test_another_setting_must_be_better_by_a_standard_error(aucs, is_better):
    """The differences to the usual setting are -.01 and .03, or .01 and .03."""
    usual = Setting("normal", 1.0, False, 0, "auto", 8)
    other = replace(usual, scaling=None)
    luckiest_size = usual.of_size(4)
    scores = on_folds({usual: (0.9, 0.9), luckiest_size: (1.0, 1.0), other: aucs})
    comparison = make_comparison(usual)
    assert comparison.best(scores) == (other if is_better else usual)
    decision = make_decision(comparison, scores, "best")
    chosen, score = decision.setting, decision.score
    assert chosen == (other if is_better else usual)
    # Only a choice among settings is optimistic: the best of each fold has an AUC of 1 here.
    mean = np.mean(aucs)
    assert score == pytest.approx(mean - (1 - mean) if is_better else 0.9)


@pytest.mark.parametrize("change", [{"linear_term": False}, {"shapes": "ridge"}])
@pytest.mark.parametrize(("aucs", "is_better"), [((0.91, 0.95), False), ((0.92, 0.94), True)])
def test_another_kind_of_model_must_be_better_by_two_standard_errors(change, aucs, is_better):
    """The mean difference is .03, with a standard error of .02 or .01."""
    usual = Setting("normal", 1.0, True, 0, "auto", 8)
    other = replace(usual, **change)
    scores = on_folds({usual: (0.9, 0.9), other: aucs})
    assert make_comparison(usual).best(scores) == (other if is_better else usual)


def test_of_two_better_settings_the_less_noisy_one_is_chosen():
    usual = Setting("normal", 1.0, True, 0, "auto", 8)
    steady, noisy = replace(usual, scaling=None), replace(usual, gamma=2.0)
    scores = on_folds({usual: (0.9, 0.9), steady: (0.92, 0.92), noisy: (0.9, 0.96)})
    assert make_comparison(usual).best(scores) == steady


def test_a_setting_on_fewer_folds_is_not_chosen():
    usual = Setting("normal", 1.0, False, 0, "auto", 8)
    scores = on_folds({usual: (0.9, 0.9), replace(usual, scaling=None): (1.0,)})
    assert make_comparison(usual).best(scores) == usual


def test_the_c_of_a_setting_is_the_geometric_mean_of_the_estimates():
    usual = Setting("normal", 1.0, False, 0, "auto", 8)
    found = {fold: Found(0.5, np.zeros(3), C) for fold, C in enumerate((0.1, 10.0))}
    scores = Scores({usual: found})
    assert make_comparison(usual).estimated_c(usual, scores) == pytest.approx(1.0)


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
    gamma = format(model.cv_results_["param_gamma"][0], ".3g")
    assert f"usual: scaling='normal', gamma={gamma}, C=10.0, linear term, refine=10" in tried
    assert f"C: scaling='normal', gamma={gamma}, C=1.0, linear term, refine=10" in tried
    assert "structure: scaling='rank'" in tried
    assert progress[-1].trying == "refit to all rows"
    assert not hasattr(model, "search_progress_")


@pytest.mark.parametrize(
    "parameters",
    [{"Cs": [1.0]}, {"Cs": [1.0], "effort": "quick"}, {"Cs": [0.1, 1.0], "scaling": None}],
)
def test_stages_without_a_fit_do_not_change_the_total(parameters):
    watcher = Watcher()
    small = {"n_basis": 6, "cv": 3, "refine": False, "linear_term": True, "random_state": 0}
    SparseKernelAUCCV(**small, **parameters).set_callbacks(watcher).fit(X, y)
    totals = [seen.n_tasks for seen in watcher.seen]
    assert totals == sorted(totals, reverse=True)
    assert totals[-1] == len(totals)


def test_verbose_prints_a_line_per_fit(capsys):
    small = {**SMALL, "cv": 2, "refine": False, "random_state": 0}
    SparseKernelAUCCV(**small).fit(X, y)
    assert capsys.readouterr().out == ""
    SparseKernelAUCCV(**small, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[SparseKernelAUCCV] 1 of 3 fits: usual: scaling=None, gamma=")
    assert "; best AUC 0." in lines[0]
    assert lines[-1].startswith("[SparseKernelAUCCV] 3 of 3 fits: refit to all rows; best AUC 0.")


@pytest.mark.parametrize(("refine", "sizes"), [(False, [1, 2, 3, 4]), (3, [1, 2, 3, 4, 4])])
def test_verbose_prints_a_line_per_retraining(capsys, refine, sizes):
    small = {"n_basis": 4, "selection": Selection(retrain="geometric"), "random_state": 0}
    SparseKernelAUC(**small, refine=refine).fit(X, y)
    assert capsys.readouterr().out == ""
    SparseKernelAUC(**small, refine=refine, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    words = ["1 centre", *(f"{size} centres" for size in sizes[1:])]
    for line, word in zip(lines, words, strict=True):
        assert line.startswith(f"[SparseKernelAUC] {word}, objective ")
        assert ", train AUC 0." in line


# -- the choice -------------------------------------------------------------------------------


def of_size(n_basis):
    return Setting(None, 1.0, False, 0, 1.0, n_basis)


def make_scores(by_size):
    """Scores of settings that differ in their size."""
    return on_folds({of_size(n_basis): aucs for n_basis, aucs in by_size.items()})


def test_small_loses_no_more_than_noise_and_no_more_than_a_twentieth_of_the_loss():
    # The loss of the best is 0.1; the standard errors of the differences are given by the folds.
    best = [0.9, 0.9, 0.9]
    within_noise = {4: [0.89, 0.905, 0.9], 8: best}
    beyond_noise = {4: [0.896, 0.896, 0.896], 8: best}
    beyond_the_loss = {4: [0.88, 0.9, 0.9], 8: best}
    for by_size, expected in ((within_noise, 4), (beyond_noise, 8), (beyond_the_loss, 8)):
        assert smallest(make_comparison(of_size(8), 3), make_scores(by_size)).n_basis == expected


@pytest.mark.parametrize(
    ("largest", "expected"),
    [((0.9, 0.9), 16), ((0.855, 0.851), 16), ((0.8, 0.91), 8), ((0.8, 0.94), 16)],
)
def test_the_best_size_is_the_usual_one_if_it_loses_little(largest, expected):
    """The usual size loses more than noise twice, next to nothing, and a seventh of the loss."""
    scores = make_scores({4: [0.95] * 2, 8: [0.85] * 2, 11: [0.95] * 2, 16: largest})
    comparison = make_comparison(of_size(8))
    assert best_size(comparison, scores).n_basis == expected
    assert best_size(comparison, make_scores({4: [0.8] * 2, 8: [0.7] * 2})).n_basis == 8


@pytest.mark.parametrize(("largest", "expected"), [((0.9, 0.9), 16), ((0.7, 0.9), 8)])
def test_with_many_rows_the_largest_size_needs_the_first_folds_only(largest, expected):
    scores = make_scores({4: [0.7] * 5, 8: [0.8, 0.8, 0.7, 0.7, 0.7], 16: largest})
    comparison = make_comparison(of_size(8), 5, are_few=False)
    decision = make_decision(comparison, scores, "best")
    assert decision.setting.n_basis == expected
    assert make_decision(comparison, scores, "small").setting.n_basis == expected
    # The first folds are easier by 0.06.
    assert decision.score == pytest.approx(0.84 if expected == 16 else 0.74)
    with_all_folds = make_comparison(of_size(8), 5)
    assert make_decision(with_all_folds, scores, "best").setting.n_basis == 8


def test_means_over_some_folds_are_made_comparable():
    usual = of_size(8)
    comparison, scores = make_comparison(usual, 4), make_scores({8: [0.8, 0.8, 0.9, 0.9]})
    # The other folds have half of the loss.
    assert comparison.level(0.9, [0, 1], scores) == pytest.approx(0.9 + 0.1 * 0.05 / 0.2)
    assert comparison.level(1.0, [0, 1], scores) == 1.0
    assert comparison.level(0.9, [2, 3], scores) == pytest.approx(0.85)
    assert comparison.level(0.9, range(4), scores) == 0.9
    # Folds that the usual setting does not know tell nothing.
    assert comparison.level(0.9, [0, 5], scores) == 0.9
    # Metrics beyond 1 are shifted, and a mean that was positive stays so.
    above = make_scores({8: [1.0, 1.0, 1.2, 1.2]})
    assert comparison.level(1.1, [0, 1], above) == pytest.approx(1.2)
    assert comparison.level(0.0, [2, 3], scores) == 0.0
    assert comparison.level(-0.4, [2, 3], scores) == pytest.approx(-0.45)


def test_a_metric_above_one_ends_the_search():
    """Rounding makes the average precision of a perfect ranking larger than 1."""
    rng = np.random.default_rng(0)
    labels = np.arange(258) < 129  # 43 positives in each of three folds
    rows = rng.normal(size=(258, 2)) + 9.0 * labels[:, None]
    model = SparseKernelAUCCV(n_basis=4, cv=3, scoring="average_precision", random_state=0)
    assert model.fit(rows, labels).best_score_ == pytest.approx(1.0)
    assert model.cv_results_["mean_test_score"].max() > 1.0


def test_sizes_that_some_folds_do_not_know_do_not_compete():
    usual, other = of_size(8), replace(of_size(8), scaling="normal")
    scores = on_folds({usual: [0.5] * 4, other: [0.9] * 4})
    small, large = other.of_size(4), other.of_size(6)
    scores.by_setting[small] = {fold: scores.by_setting[other][fold] for fold in (0, 1, 3)}
    scores.by_setting[large] = {fold: scores.by_setting[other][fold] for fold in (0, 1)}
    comparison = make_comparison(usual, 4, are_few=False)
    assert make_decision(comparison, scores, "small").setting == small


def test_folds_that_are_drawn_again_add_nothing_to_the_standard_error():
    values = np.array([0.1, 0.2, 0.4])
    once, twice = (make_comparison(None, 3, n_repeats) for n_repeats in (1, 2))
    assert once.standard_error(values) == pytest.approx(values.std(ddof=1) / np.sqrt(3))
    # The first folds are distinct ones.
    assert twice.standard_error(values) == once.standard_error(values)
    again = np.tile(values, 2)
    assert twice.standard_error(again) == pytest.approx(again.std(ddof=1) / np.sqrt(3))
    assert once.standard_error(values[:1]) == 0.0


def test_the_score_is_corrected_by_what_the_best_of_each_fold_gains():
    scores = {4: np.array([0.8, 0.6]), 8: np.array([0.7, 0.9])}
    assert corrected_mean(scores.values(), scores[8]) == pytest.approx(0.8 - 0.05)
    assert corrected_mean([], scores[8]) == pytest.approx(0.8)
    # With few rows the correction can be larger than the mean.
    assert corrected_mean([np.array([1.0, 1.0])], np.array([0.2, 0.4])) == 0.0
    # Scorers whose scores are negative keep them.
    assert corrected_mean([np.array([0.0])], np.array([-1.0])) == pytest.approx(-2.0)


def test_random_labels_are_not_ranked():
    """The best of 40 mean AUCs is above 0.5 by chance; the corrected one is not."""
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(600, 4)), rng.integers(2, size=600)
    model = SparseKernelAUCCV(n_basis=8, cv=5, random_state=0).fit(rows, labels)
    assert model.best_score_ == pytest.approx(0.5, abs=0.05)
    assert model.cv_results_["mean_test_score"].max() > model.best_score_


# -- effort and time --------------------------------------------------------------------------


def test_a_quick_search_tries_cs_with_the_usual_structure_and_nothing_else():
    model = SparseKernelAUCCV(n_basis=4, effort="quick", random_state=0).fit(X, y)
    results = model.cv_results_
    assert model.n_splits_ == 3
    assert "auto" in results["param_C"]
    assert len(set(results["param_C"])) > 1
    for name in ("scaling", "gamma", "linear_term", "rotate", "refine", "shapes"):
        assert len(set(results[f"param_{name}"])) == 1
    assert len(model.ensemble_) <= 1  # averages of Cs, of one structure
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_tiny_time_limit_gives_the_model_of_the_first_fit(n_jobs):
    model = SparseKernelAUCCV(n_basis=4, time_limit=1e-9, n_jobs=n_jobs, random_state=0).fit(X, y)
    scores = [model.cv_results_[f"split{fold}_test_score"] for fold in range(model.n_splits_)]
    assert_array_equal((~np.isnan(scores)).sum(axis=0), 1)
    assert model.best_params_["C"] == "auto"
    assert model.n_basis_ == 4
    assert model.score(X, y) > 0.9


def test_no_fit_begins_after_the_time_limit(monkeypatch):
    """The time is up in the second round, which is then not finished."""
    begun = []

    def score(base, rows, fold, job, *others, **more):
        begun.append(job)
        if len(begun) == 7:  # the usual setting and another C on three folds each, and one more
            monkeypatch.setattr(Search, "is_over", lambda search: True)
        return score_job(base, rows, fold, job, *others, **more)

    monkeypatch.setattr("skauc.sparse.search.score_job", score)
    watcher = Watcher()
    small = {"Cs": [1.0, 2.0], "n_basis": 4, "cv": 3, "refine": False, "n_jobs": 1}
    model = SparseKernelAUCCV(**small, random_state=0).set_callbacks(watcher).fit(X, y)
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
    small = {**SMALL, "n_basis": 2, "cv": 2, "shapes": "auto", "ensemble": False}
    tried = (
        SparseKernelAUCCV(**small, random_state=0)
        .fit(*make_moons(n_rows, noise=0.3, random_state=0))
        .cv_results_["param_shapes"]
        for n_rows in (38, 300, 400)
    )
    expected = [{"round"}, {"round", "ridge"}, {"round", "local", "ridge"}]
    assert [set(shapes) for shapes in tried] == expected


@pytest.mark.parametrize(
    ("n_rows", "expected", "n_folds"),
    [(60, {"round", "additive"}, 4), (640, {"round", "local", "additive"}, 2)],
)
def test_shapes_that_are_averaged_are_tried_on_the_folds(n_rows, expected, n_folds):
    """On all of them if the rarer class has few rows, on the first two otherwise."""
    small = {**SMALL, "n_basis": 2, "cv": 4, "shapes": "auto", "random_state": 0}
    rows, labels = make_moons(n_rows, noise=0.3, random_state=0)
    results = SparseKernelAUCCV(**small).fit(rows, labels).cv_results_
    tried = results["param_shapes"][np.isfinite(results[f"split{n_folds - 1}_test_score"])]
    assert expected <= set(tried)


@pytest.mark.parametrize("n_rows", [60, 640])
def test_a_thorough_search_averages_all_shapes_and_draws_the_folds_four_times(n_rows):
    small = {**SMALL, "n_basis": 2, "cv": None, "shapes": "auto", "random_state": 0}
    rows, labels = make_moons(n_rows, noise=0.3, random_state=0)
    search = SparseKernelAUCCV(**small, effort="thorough").fit(rows, labels)
    assert set(search.cv_results_["param_shapes"]) == {"round", "local", "additive", "ridge"}
    assert "split19_test_score" in search.cv_results_  # five folds, four times


@pytest.mark.parametrize(
    ("parameters", "n_rows", "expected"),
    [
        ({}, 60, {(True, "normal"), (False, "rank")}),
        ({}, 700, {(True, "normal")}),
        ({"scaling": "clip"}, 60, {(True, "clip"), (False, "clip")}),
        ({"linear_term": False}, 60, {(False, "normal")}),
    ],
)
def test_models_without_a_linear_term_have_ranks_and_are_tried_on_few_rows(
    parameters, n_rows, expected
):
    small = {"n_basis": 2, "cv": 2, "shapes": "round", "refine": False, "Cs": [1.0]}
    data = make_moons(n_rows, noise=0.3, random_state=0)
    tried = SparseKernelAUCCV(**small, **parameters, random_state=0).fit(*data).cv_results_
    pairs = zip(tried["param_linear_term"], tried["param_scaling"], strict=True)
    assert set(pairs) == expected


@pytest.mark.parametrize(
    ("parameters", "n_rows", "expected"),
    [
        ({}, 60, {(False, "normal"), (True, "clip")}),
        ({}, 700, {(False, "normal"), (True, "normal")}),
        ({"scaling": "rank"}, 60, {(False, "rank"), (True, "rank")}),
    ],
)
def test_axes_have_another_scaling_on_few_rows(parameters, n_rows, expected):
    data = make_moons(n_rows, noise=0.3, random_state=0)
    small = {"n_basis": 4, "cv": 2, "Cs": [1.0], "linear_term": True, "random_state": 0}
    results = SparseKernelAUCCV(**small, **parameters).fit(*data).cv_results_
    pairs = zip(results["param_rotate"], results["param_scaling"], strict=True)
    assert set(pairs) == expected


@pytest.mark.parametrize(("gammas", "expected"), [(None, [0.5, 1.5]), ([2.0, 4.0], [2.0])])
def test_widths_without_a_linear_term(gammas, expected):
    small = {"n_basis": 2, "cv": 2, "shapes": "round", "refine": False, "Cs": [1.0]}
    data = make_moons(60, noise=0.3, random_state=0)
    tried = SparseKernelAUCCV(**small, gammas=gammas, random_state=0).fit(*data).cv_results_
    pairs = zip(tried["param_gamma"], tried["param_linear_term"], strict=True)
    found = sorted({gamma for gamma, is_linear in pairs if not is_linear})
    # Variances of ranks are 1 up to ties and the number of knots.
    assert_allclose(found, expected, rtol=0.01)


def sums_in_balance():
    """Scales in balance: a rule without noise, for which a product is compared with another."""
    rows = np.array(list(product(range(1, 6), repeat=4)))
    return rows, rows[:, 0] * rows[:, 1] == rows[:, 2] * rows[:, 3]


def test_cs_are_tried_while_they_get_better():
    """A small difference between two features that vary together asks for a large C."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(400, 1)) + 0.1 * rng.normal(size=(400, 4))
    small = {"n_basis": 4, "cv": 2, "scaling": None, "shapes": "round", "ensemble": False}
    search = SparseKernelAUCCV(**small, random_state=0).fit(rows, rows[:, 0] > rows[:, 1])
    # The estimate is at its upper limit, 10. The next C comes first, or one that is better with the
    # same centres.
    assert set(search.cv_results_["param_C"]) == {"auto", *LADDER[6:]}
    assert search.best_params_["C"] == LADDER[-1]


def test_all_centres_are_tried_only_if_half_of_them_are_clearly_better_than_a_quarter():
    """Stripes without noise need many centres, random labels need none."""
    rng = np.random.default_rng(3)
    rows = rng.uniform(-3, 3, size=(600, 2))
    labels = np.sin(4 * rows[:, 0]) > 0, rng.random(600) < 0.5
    small = {"n_basis": 64, "cv": 3, "refine": False, "scaling": None, "gammas": [1.0, 2.0]}
    sizes = [
        SparseKernelAUCCV(**small, Cs=[1.0], random_state=0)
        .fit(rows, each)
        .cv_results_["param_n_basis"]
        .max()
        for each in labels
    ]
    assert sizes == [64, 32]


def test_ridges_go_on_only_if_a_small_model_is_better_than_the_usual_one():
    small = {"n_basis": 16, "cv": 3, "linear_term": True, "ensemble": False, "random_state": 0}
    searches = [
        SparseKernelAUCCV(**small).fit(*data)
        for data in (sums_in_balance(), make_classification(300, 4, flip_y=0.3, random_state=1))
    ]
    sizes = [
        set(search.cv_results_["param_n_basis"][search.cv_results_["param_shapes"] == "ridge"])
        for search in searches
    ]
    assert [max(each) for each in sizes] == [16, 4]
    assert searches[0].best_params_["shapes"] == "ridge"
    assert searches[1].best_params_["shapes"] == "round"


def test_rules_that_know_no_ridges_do_not_try_them():
    small = {"n_basis": 4, "cv": 2, "selection": "greedy", "scaling": None, "linear_term": True}
    results = SparseKernelAUCCV(**small, random_state=0).fit(X, y).cv_results_
    assert set(results["param_shapes"]) == {"round"}


def test_neighbours_on_the_ladder():
    grid = SearchGrid((), (0.1, 0.5, 2.5, 12.5))
    assert grid.nearest(0.7) == 0.5
    assert grid.around(0.7, 2) == (0.1, 0.5, 2.5, 12.5)
    assert grid.around(100.0, 1) == (2.5, 12.5)
    assert grid.above(0.7) == (2.5,)
    assert grid.above(100.0) == ()
    assert SearchGrid((), ()).around(1.0, 2) == ()


@pytest.mark.parametrize(
    ("n_rows", "n_features", "expected"),
    [(300, 20, False), (208, 60, False), (600, 20, True), (100, 2_000, True), (5_000, 4, True)],
)
def test_threads_are_used_by_the_numbers_of_a_fit(n_rows, n_features, expected):
    assert threads_pay(n_rows, n_features) == expected
