"""Averages of the coefficients for several Cs, and of models of several shapes, as one model."""

import threading
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score

from skauc import SparseKernelAUC, SparseKernelAUCCV, load_model, save_model
from skauc.base import calibrate
from skauc.data.training import TrainingData
from skauc.engines import make_engine
from skauc.exceptions import InvalidParameterError
from skauc.report import make_report_content, render_report
from skauc.sparse import last_fits
from skauc.sparse.averaging import N_NEAR, average_of, averaged_path, joined_path, shares
from skauc.sparse.comparison import FoldComparison
from skauc.sparse.folds import RowFold
from skauc.sparse.grid import LADDER
from skauc.sparse.parameters import Parameters
from skauc.sparse.path import fit_path
from skauc.sparse.plan import make_plan
from skauc.sparse.scores import DECAY, LEAST_WEIGHT, Scores, fading_weights
from skauc.sparse.scoring import Tested as Found
from skauc.sparse.scoring import no_others
from skauc.sparse.search import Search
from skauc.sparse.settings import SearchGrid, Setting
from skauc.sparse.stages import TryCs

X, y = make_classification(240, 5, flip_y=0.2, class_sep=0.5, random_state=0)
# Given shapes are not averaged, only Cs are.
SMALL = {"n_basis": 32, "cv": 3, "shapes": "round", "random_state": 0}
SETTING = Setting(None, 1.0, False, 0, "auto", 4)


@pytest.fixture(name="averaged", scope="module")
def averaged_search():
    return SparseKernelAUCCV(**SMALL).fit(X, y)


def fit_cs(rows, Cs, **parameters):
    """Fit a path, and coefficients for other Cs with its last centres."""
    data = TrainingData(rows, y == 1, np.ones(len(y)), np.array([0, 1]))
    plan, mapped = make_plan(Parameters(**{"n_basis": 6, **parameters}), data)
    engine = partial(make_engine, n_jobs=1)
    then = (TryCs(lambda C: Cs),)
    return fit_path(mapped, plan, open_engine=engine, random_state=0, then=then)


def Cs_of(model):  # noqa: N802 - named like C
    """The Cs that were averaged, of a model that is no average of several ones."""
    assert len(model.ensemble_) <= 1
    return [C for member in model.ensemble_ for C in member["Cs"]]


# -- other Cs with the same centres -----------------------------------------------------------

KINDS = [
    {"refine": 0},
    {"refine": 0, "linear_term": True, "gamma": [0.1, 1.0]},
    {"refine": 3, "C": "auto"},
    {"refine": 3, "linear_term": True, "shapes": "local"},
    {"refine": 3, "shapes": "ridge"},
    {"refine": 3, "max_fpr": 0.3},
]


def objective(model, C, rows):
    """C/2 times the mean squared hinge of pairs times p n / (p + n), plus half the squared norm.

    The norm is that of the kernel: coef^T K coef. It is for models without a linear part.
    """
    scores = model.scores(rows)
    hinges = np.maximum(1 - scores[y == 1][:, None] + scores[y == 0], 0) ** 2
    gram = model.kernel.gram(model.centres, model.kernel, model.centres)
    return 0.5 * model.coef @ gram @ model.coef + 0.5 * C / len(y) * hinges.sum()


@pytest.mark.parametrize("parameters", KINDS)
def test_models_of_other_cs_have_the_centres_of_the_fit(parameters):
    path = fit_cs(X, (0.5, 50.0), **parameters)
    own = path.models[path.size]
    assert set(path.by_c) == {0.5, 50.0}
    for model in path.by_c.values():
        assert_array_equal(model.centres, own.centres)
        assert (model.coef != own.coef).any()
    # A larger C follows the pairs more closely, so its scores have a larger spread.
    assert path.by_c[50.0].scores(X).std() > path.by_c[0.5].scores(X).std()


def test_coefficients_of_another_c_minimise_its_objective():
    path = fit_cs(X, (0.5, 50.0), refine=3)
    for C, model in path.by_c.items():
        least = objective(model, C, X)
        others = (path.models[path.size], *path.by_c.values())
        assert all(least <= objective(other, C, X) * (1 + 1e-9) for other in others)
        for k in range(len(model.coef)):
            for step in (-0.05, 0.05):
                coef = model.coef.copy()
                coef[k] += step * np.abs(model.coef).max()
                assert objective(replace(model, coef=coef), C, X) > least


def test_the_fit_itself_is_not_changed_by_other_cs():
    first, second = fit_cs(X, (), refine=3), fit_cs(X, (0.1, 10.0), refine=3)
    assert first.by_c == {}
    assert_array_equal(first.models[6].coef, second.models[6].coef)
    assert first.records[-1].objective == second.records[-1].objective


def test_other_cs_for_sparse_rows():
    rows = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    path = fit_cs(rows, (5.0,), refine=0)
    dense = fit_cs(rows.toarray(), (5.0,), refine=0)
    assert_allclose(path.by_c[5.0].scores(rows), dense.by_c[5.0].scores(rows.toarray()), atol=1e-8)


def make_search(usual=SETTING, *, are_few=False):
    """A search with three folds of 20 rows each, whose metric is always 0.85."""
    unused = dict.fromkeys(("base", "seed", "n_jobs", "n_kept", "watch", "expect"))
    positive, weights = np.arange(60) % 2 == 0, np.linspace(0.1, 1, 60)
    rows = TrainingData(np.zeros((60, 1)), positive, weights, np.array([0, 1]))
    folds = [RowFold(np.arange(60), 20 * fold + np.arange(20)) for fold in range(3)]
    comparison = FoldComparison(usual, len(folds), 1.0, are_few)
    more = {"rows": rows, "folds": folds, "comparison": comparison, "near": no_others}
    return Search(**unused, **more, metric=lambda *_: 0.85)


def found_on_folds(*aucs):
    """What three folds say of a setting with an AUC of 0.8, and of the first Cs of the ladder."""
    scores = np.random.default_rng(0).normal(size=(3, 20))
    of_cs = list(zip(LADDER[: len(aucs)], aucs, strict=True))
    by_fold = {
        fold: Found(
            0.8,
            scores[fold],
            1.0,
            {C: Found(auc[fold], C * scores[fold], C) for C, auc in of_cs},
        )
        for fold in range(3)
    }
    return Scores({SETTING: by_fold})


def test_another_c_is_better_by_more_than_a_standard_error():
    search = make_search()
    worse, noisy, better = (0.7, 0.7, 0.7), (0.7, 0.8, 0.99), (0.81, 0.82, 0.83)
    assert search.comparison.better_c(SETTING, found_on_folds(worse, noisy)) == []
    assert search.comparison.better_c(SETTING, found_on_folds(worse, better)) == [LADDER[1]]
    assert search.comparison.better_c(SETTING, found_on_folds()) == []


def test_cs_that_were_not_tried_on_all_folds_do_not_count():
    scores = found_on_folds((0.9, 0.9, 0.9), (0.8, 0.8, 0.8))
    del scores.by_setting[SETTING][2].by_c[LADDER[0]]
    assert list(scores.by_c(SETTING)) == [LADDER[1]]
    assert_array_equal(scores.by_c(SETTING)[LADDER[1]], [0.8, 0.8, 0.8])


# -- which Cs ---------------------------------------------------------------------------------


def test_the_choice_of_another_structure_is_corrected_for():
    """The usual setting has 0.95 on one fold, where the average of the other one has 0.85."""
    other = replace(SETTING, scaling="normal")
    scores = found_on_folds((0.78,) * 3, (0.8,) * 3)
    usual = {fold: Found(auc, np.zeros(20), 1.0) for fold, auc in enumerate((0.95, 0.5, 0.5))}
    scores = Scores({other: scores.by_setting[SETTING], SETTING: usual})
    found = average_of(make_search(are_few=True), other, [], scores)
    assert found.mean == pytest.approx(0.85)
    assert found.corrected == pytest.approx(0.85 - 0.1 / 3)


def test_weights_fall_with_the_distance_from_the_best():
    good, best, bad = (0.78,) * 3, (0.8,) * 3, (0.7,) * 3
    found = average_of(make_search(are_few=True), SETTING, [], found_on_folds(good, best, bad))
    assert list(found.factors[SETTING]) == [LADDER[1], LADDER[0]]
    assert found.weights == {SETTING: 1.0}
    assert found.mean == found.corrected == pytest.approx(0.85)
    # Scores are multiples of each other, and get the spread of the first ones.
    weights = np.exp([0, -0.02 / (DECAY * 0.2)])
    assert weights[1] > LEAST_WEIGHT
    expected = weights / weights.sum() * LADDER[1] / np.array([LADDER[1], LADDER[0]])
    assert_allclose(list(found.factors[SETTING].values()), expected)


def test_with_many_rows_only_a_clearly_better_c_is_used():
    scores = found_on_folds((0.78,) * 3, (0.81, 0.82, 0.83))
    found = average_of(make_search(), SETTING, [], scores)
    assert found.factors == {SETTING: {LADDER[1]: 1.0}}
    level = found_on_folds((0.8,) * 3)
    assert average_of(make_search(), SETTING, [], level) is None
    assert average_of(make_search(are_few=True), SETTING, [], found_on_folds()) is None


def test_cs_of_constant_scores_have_no_share():
    """The weighted mean of equal numbers can differ from them by rounding."""
    scores = found_on_folds((0.8,) * 3, (0.8,) * 3)
    for each in scores.by_setting[SETTING].values():
        each.by_c[LADDER[1]].scores[:] = 0.1
    parts = {C: {SETTING: {C: 1.0}} for C in LADDER[:2]}
    for Cs in (LADDER[:2], LADDER[1::-1]):
        found = shares(make_search(), parts, dict.fromkeys(Cs, 1.0), scores)
        assert found == {LADDER[0]: 1.0}
    assert shares(make_search(), parts, {LADDER[1]: 1.0}, scores) == {}


# -- the search -------------------------------------------------------------------------------


def test_few_rows_of_a_class_average_cs_around_the_best_one(averaged):
    assert len(Cs_of(averaged)) > 1
    places = [LADDER.index(C) for C in Cs_of(averaged)]
    assert len(set(places)) == len(places)
    assert max(places) - min(places) <= 2 * N_NEAR
    assert averaged.n_basis_ == averaged.best_params_["n_basis"]
    assert averaged.C_ is None


def test_more_rows_of_a_class_are_not_averaged():
    rows, labels = make_classification(640, 5, flip_y=0.3, class_sep=0.5, random_state=2)
    model = SparseKernelAUCCV(cv=2, shapes="round", random_state=0).fit(rows, labels)
    assert len(Cs_of(model)) <= 1


@pytest.mark.parametrize("parameters", [{"Cs": [0.5]}, {"Cs": [0.5], "ensemble": False}])
def test_a_single_c_has_no_neighbours(parameters):
    model = SparseKernelAUCCV(**SMALL, **parameters).fit(X, y)
    assert model.best_params_["C"] == 0.5
    assert Cs_of(model) == []


def test_the_coefficients_are_the_mean_of_those_of_the_cs(averaged):
    alone = SparseKernelAUC(**averaged.best_params_, random_state=0).fit(X, y)
    assert_array_equal(averaged.basis_vectors_, alone.basis_vectors_)
    assert averaged.length_scales_ == pytest.approx(alone.length_scales_)
    path = fit_cs(X, Cs_of(averaged), **averaged.best_params_)
    parts = np.column_stack([path.by_c[C].coef for C in Cs_of(averaged)])
    factors, *_ = np.linalg.lstsq(parts, averaged.dual_coef_, rcond=None)
    assert_allclose(parts @ factors, averaged.dual_coef_, atol=1e-6)
    assert (factors > 0).all()


def test_the_average_is_the_last_model_of_the_path(averaged):
    assert averaged.path_[-1].train_auc == pytest.approx(averaged.score(X, y))
    *_, last = averaged.staged_decision_function(X)
    assert_array_equal(last, averaged.decision_function(X))
    assert_array_equal(averaged.best_estimator_.decision_function(X), last)
    smaller = averaged.truncate(averaged.path_[0].n_basis)
    assert smaller.ensemble_ == []
    assert averaged.truncate(averaged.n_basis_).ensemble_ == averaged.ensemble_


def test_the_report_says_that_it_shows_an_average(averaged):
    page = render_report(make_report_content(averaged, X, y))
    n_averaged = len(Cs_of(averaged))
    assert f"The ring marks this model, the average of {n_averaged} values of C." in page
    alone = averaged.truncate(8)
    assert "The ring marks this model. " in render_report(make_report_content(alone, X, y))


def test_probabilities_are_calibrated_on_the_average(averaged):
    probabilities = averaged.predict_proba(X)[:, 1]
    order = np.argsort(averaged.decision_function(X))
    assert (np.diff(probabilities[order]) >= 0).all()
    assert probabilities.mean() == pytest.approx(y.mean(), abs=0.1)
    assert 0.5 < averaged.best_score_ <= averaged.size_choices_["best"]["mean_test_score"]


def test_a_clearly_better_c_of_many_rows_is_that_of_the_last_coefficients(monkeypatch):
    rows, labels = make_classification(640, 5, flip_y=0.3, class_sep=0.5, random_state=2)
    monkeypatch.setattr(FoldComparison, "better_c", lambda comparison, setting, scores: [2.5])
    small = {"n_basis": 4, "cv": 2, "shapes": "round", "scaling": None, "random_state": 0}
    model = SparseKernelAUCCV(**small).fit(rows, labels)
    alone = SparseKernelAUC(**model.best_params_, random_state=0).fit(rows, labels)
    assert model.best_params_["C"] == "auto"
    assert (Cs_of(model), model.C_) == ([2.5], 2.5)
    assert_array_equal(model.basis_vectors_, alone.basis_vectors_)
    assert (model.dual_coef_ != alone.dual_coef_).any()


def test_calibration_is_that_of_the_average(averaged, monkeypatch):
    calls = []

    def record(scores, labels, weights, **known):
        calls.append(scores)
        return calibrate(scores, labels, weights, **known)

    monkeypatch.setattr("skauc.sparse.estimator_cv.calibrate", record)
    SparseKernelAUCCV(**SMALL).fit(X, y)
    SparseKernelAUCCV(**SMALL, ensemble=False).fit(X, y)
    with_average, without = calls
    assert len(with_average) == len(without) == len(y)
    assert not np.allclose(np.corrcoef(with_average, without)[0, 1], 1.0, atol=1e-9)


def test_an_average_has_the_weighted_sum_of_the_scores():
    data = TrainingData(X, y == 1, np.ones(len(y)), np.array([0, 1]))
    for linear_term in (True, False):
        path = fit_cs(X, (0.5, 50.0), refine=3, linear_term=linear_term)
        factors = {50.0: 0.7, 0.5: 2.0}
        joined = averaged_path(path, factors, data)
        assert joined.records[-1].objective is None
        expected = sum(factor * path.by_c[C].scores(X) for C, factor in factors.items())
        assert_allclose(joined.models[joined.size].scores(X), expected, atol=1e-10)
        assert joined.records[-1].train_auc == pytest.approx(roc_auc_score(y, expected))
        assert joined.records[-1].C is None
        alone = averaged_path(path, {50.0: 1.0}, data)
        assert alone.records[-1].C == 50.0


def test_samples_are_scored_like_single_models(monkeypatch):
    """Samples of folds are balanced, and the precision depends on that."""
    monkeypatch.setattr("skauc.sparse.search.MOST_ROWS", 300)
    rows, labels = make_classification(3_000, 4, weights=[0.95], flip_y=0.1, random_state=0)
    small = {"n_basis": 4, "cv": 2, "scoring": "average_precision", "random_state": 0}
    model = SparseKernelAUCCV(**small, shapes="round").fit(rows, labels)
    assert len(Cs_of(model)) > 1
    means = model.cv_results_["mean_test_score"]
    assert means.min() - 0.1 < model.best_score_ <= means.max() + 0.1


def test_thresholds_of_other_cs_are_their_own():
    path = fit_cs(X, (0.02, 50.0), refine=3)
    for model in path.by_c.values():
        above = model.scores(X) > 0
        balanced = [(above[y == label] == bool(label)).mean() for label in (0, 1)]
        assert np.mean(balanced) > 0.6


def test_one_fold_cannot_tell_which_c_is_better():
    scores = found_on_folds((0.7,) * 3, (0.9,) * 3)
    del scores.by_setting[SETTING][1], scores.by_setting[SETTING][2]
    assert make_search().comparison.better_c(SETTING, scores) == []


def test_an_average_can_be_left_out():
    model = SparseKernelAUCCV(**SMALL, ensemble=False).fit(X, y)
    assert Cs_of(model) == []
    alone = SparseKernelAUC(**model.best_params_, random_state=0).fit(X, y)
    difference = model.decision_function(X) - alone.decision_function(X)
    assert_allclose(difference, difference[0], atol=1e-9)
    with pytest.raises(InvalidParameterError, match="ensemble"):
        SparseKernelAUCCV(ensemble="yes").fit(X, y)


def test_a_small_model_is_not_averaged():
    assert SparseKernelAUCCV(**SMALL, size="small").fit(X, y).ensemble_ == []


@pytest.mark.parametrize("history", [False, True])
def test_files_hold_an_average(averaged, tmp_path, history):
    save_model(averaged, tmp_path / "model.skauc", history=history)
    loaded = load_model(tmp_path / "model.skauc")
    assert_array_equal(loaded.decision_function(X), averaged.decision_function(X))
    assert_array_equal(loaded.predict_proba(X), averaged.predict_proba(X))
    assert loaded.ensemble_ == averaged.ensemble_


# -- several shapes ---------------------------------------------------------------------------

ROUND = Setting(None, 1.0, True, 3, 1.0, 8)
MORE_X, MORE_Y = make_classification(700, 5, flip_y=0.2, class_sep=0.5, random_state=3)
MORE = {"n_basis": 16, "cv": 2, "Cs": [1.0], "scaling": "normal", "rotate": False}


def test_members_have_other_shapes_and_few_ridges():
    grid = SearchGrid((ROUND,), (), averaged={"round": 3, "local": 6, "ridge": 6, "additive": 0})
    local = replace(ROUND, shapes="local", refine=6)
    assert grid.members(ROUND) == [
        local,
        replace(local, shapes="ridge", n_basis=4),
        replace(ROUND, shapes="additive", refine=0, n_basis=4),
    ]
    assert [member.shapes for member in grid.members(local)] == ["round", "ridge", "additive"]


def found_for(aucs):
    """What three folds say of settings with these AUCs, whose scores are multiples."""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(3, 20))
    return Scores(
        {
            setting: {fold: Found(auc, (n + 1) * scores[fold], 1.0) for fold in range(3)}
            for n, (setting, auc) in enumerate(aucs.items())
        }
    )


def test_models_of_other_shapes_are_weighted_by_their_scores():
    local, ridge = replace(ROUND, shapes="local"), replace(ROUND, shapes="ridge")
    scores = found_for({ROUND: 0.80, local: 0.82, ridge: 0.70})
    found = average_of(make_search(ROUND), ROUND, [local, ridge], scores)
    # Ridges are too far behind. The best one comes first and gives the spread, twice the other one.
    assert list(found.factors) == list(found.weights) == [local, ROUND]
    weight = np.exp(-0.02 / (DECAY * 0.18))
    assert found.weights[ROUND] == pytest.approx(weight / (1 + weight))
    assert found.factors[ROUND][None] == pytest.approx(2 * found.weights[ROUND])
    assert found.factors[local][None] == pytest.approx(found.weights[local])
    assert [each["params"]["shapes"] for each in found.description()] == ["local", "round"]


def test_settings_are_compared_on_their_common_folds():
    """The metric of any sum is 0.85, and the setting is better on the last fold by 0.1."""
    local = replace(ROUND, shapes="local")
    scores = found_for({ROUND: 0.80, local: 0.80})
    scores.by_setting[ROUND][2] = replace(scores.by_setting[ROUND][2], metric=0.90)
    del scores.by_setting[local][2]
    found = average_of(make_search(ROUND), ROUND, [local], scores)
    assert found.weights == {ROUND: 0.5, local: 0.5}
    assert 1 - found.mean == pytest.approx(0.15 / 0.2 * (0.2 - 0.1 / 3))
    assert found.corrected == pytest.approx(found.mean)


def test_weights_fade_and_the_least_are_left_out():
    weights = fading_weights({"a": np.array([0.8]), "b": np.array([0.9]), "c": np.array([0.85])})
    assert list(weights) == ["b"]
    assert fading_weights({}) == {}
    assert fading_weights({"a": np.ones(2), "b": np.ones(2)}) == {"a": 1.0, "b": 1.0}
    assert LEAST_WEIGHT < fading_weights({"a": np.array([0.8]), "b": np.array([0.78])})["b"] < 1


@pytest.fixture(name="team", scope="module")
def averaged_shapes():
    return SparseKernelAUCCV(**MORE, random_state=0).fit(MORE_X, MORE_Y)


def test_models_of_several_shapes_are_averaged(team):
    assert len(team.ensemble_) > 1
    assert sum(member["weight"] for member in team.ensemble_) == pytest.approx(1.0)
    weights = [member["weight"] for member in team.ensemble_]
    assert weights == sorted(weights, reverse=True)
    assert team.best_params_["shapes"] == team.ensemble_[0]["params"]["shapes"]
    assert team.n_basis_ <= 16
    assert team.path_[-1].n_basis == team.n_basis_
    assert team.path_[-1].train_auc == pytest.approx(team.score(MORE_X, MORE_Y))
    assert [record.objective for record in team.path_] == [None] * len(team.path_)


def test_an_average_of_shapes_is_close_to_the_mean_of_its_models(team):
    """The factors are not attributes, so they are those that fit best."""
    parts = np.column_stack(
        [
            SparseKernelAUC(**member["params"], random_state=0)
            .fit(MORE_X, MORE_Y)
            .decision_function(MORE_X)
            for member in team.ensemble_
        ]
    )
    columns = np.column_stack((np.ones(len(parts)), parts))
    scores = team.decision_function(MORE_X)
    factors, *_ = np.linalg.lstsq(columns, scores, rcond=None)
    assert (factors[1:] > 0).all()
    assert np.corrcoef(columns @ factors, scores)[0, 1] > 0.99


def test_an_average_of_shapes_is_one_model(team, tmp_path):
    save_model(team, tmp_path / "model.skauc")
    loaded = load_model(tmp_path / "model.skauc")
    assert_array_equal(loaded.predict_proba(MORE_X), team.predict_proba(MORE_X))
    assert loaded.ensemble_ == team.ensemble_
    smaller = team.truncate(4)
    assert smaller.ensemble_ == []
    assert smaller.n_basis_ == 4
    assert smaller.score(MORE_X, MORE_Y) > 0.6
    page = render_report(make_report_content(team, MORE_X, MORE_Y))
    assert f"The ring marks this model, the average of {len(team.ensemble_)} models." in page
    assert "The other points approximate this average with fewer centres." in page


def test_the_same_average_for_any_number_of_threads(team):
    again = SparseKernelAUCCV(**MORE, random_state=0, n_jobs=1).fit(MORE_X, MORE_Y)
    assert_array_equal(again.decision_function(MORE_X), team.decision_function(MORE_X))


def test_given_shapes_are_not_averaged():
    model = SparseKernelAUCCV(**MORE, shapes="local", random_state=0).fit(MORE_X, MORE_Y)
    assert model.ensemble_ == []
    assert set(model.cv_results_["param_shapes"]) == {"local"}


def test_a_joined_path_has_the_sum_of_the_last_models():
    data = TrainingData(X, y == 1, np.ones(len(y)), np.array([0, 1]))
    settings = [ROUND, replace(ROUND, shapes="additive", refine=0)]
    paths = {each: fit_cs(X, (5.0,), **each.parameters()) for each in settings}
    factors = {settings[0]: {None: 1.0}, settings[1]: {5.0: 0.5}}
    path = joined_path(paths, factors, data, 16, np.random.RandomState(0))
    expected = paths[settings[0]].models[8].scores(X) + 0.5 * paths[settings[1]].by_c[5.0].scores(X)
    found = path.models[path.size].scores(X)
    assert np.var(found - expected) < 5e-3 * np.var(expected)
    assert path.records[-1].train_auc == pytest.approx(roc_auc_score(y, found))


def test_few_centres_that_cannot_hold_the_average_are_those_of_one_model(team, monkeypatch):
    monkeypatch.setattr("skauc.sparse.compression.MOST_LEFT", 0.0)
    model = SparseKernelAUCCV(**MORE, random_state=0).fit(MORE_X, MORE_Y)
    assert len(model.ensemble_) <= 1
    alone = SparseKernelAUC(**model.best_params_, random_state=0).fit(MORE_X, MORE_Y)
    assert_array_equal(model.basis_vectors_, alone.basis_vectors_)
    assert model.best_score_ <= team.cv_results_["mean_test_score"].max() + 1e-9


@pytest.mark.parametrize("where", ["fit_path", "joined_path"])
def test_an_interrupt_after_the_first_of_the_last_fits_keeps_it(monkeypatch, where):
    """The fit, or the approximation of the average, is interrupted before it has found anything."""
    original, calls = getattr(last_fits, where), []

    def interrupted(*arguments, **keywords):
        calls.append(where)
        if where == "joined_path" or len(calls) == 2:
            raise KeyboardInterrupt
        return original(*arguments, **keywords)

    monkeypatch.setattr(last_fits, where, interrupted)
    model = SparseKernelAUCCV(**MORE, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(MORE_X, MORE_Y)
    assert model.ensemble_ == []
    assert model.score(MORE_X, MORE_Y) > 0.7
    assert 0.5 < model.best_score_ <= 1
    assert (model.predict_proba(MORE_X) >= 0).all()


def test_no_mean_is_above_one():
    local = replace(ROUND, shapes="local")
    scores = found_for({ROUND: 0.98, local: 0.98})
    scores.by_setting[ROUND][2] = replace(scores.by_setting[ROUND][2], metric=1.0)
    del scores.by_setting[local][2]
    search = replace(make_search(ROUND), metric=lambda *_: 1.0)
    found = average_of(search, ROUND, [local], scores)
    assert found.mean == found.corrected == 1.0


# Fits to 1,000 rows and more run at the same time.
MANY_X, MANY_Y = make_classification(1_100, 5, flip_y=0.2, class_sep=0.5, random_state=3)


def test_last_fits_that_run_at_the_same_time_give_the_same_model():
    one, two = (
        SparseKernelAUCCV(**MORE, n_jobs=n_jobs, random_state=0).fit(MANY_X, MANY_Y)
        for n_jobs in (1, 2)
    )
    assert len(one.ensemble_) > 1
    assert one.ensemble_ == two.ensemble_
    assert_array_equal(one.decision_function(MANY_X), two.decision_function(MANY_X))


def test_an_interrupt_ends_all_last_fits_and_keeps_one_that_is_done(monkeypatch):
    """Of two fits at the same time one is done and the other one is interrupted."""
    is_done, original = threading.Event(), last_fits.fit_path
    shapes = []

    def interrupted(rows, plan, **keywords):
        shapes.append(plan.parameters.shapes)
        if len(shapes) > 1:
            is_done.wait(timeout=60)
            raise KeyboardInterrupt
        path = original(rows, plan, **keywords)
        is_done.set()
        return path

    monkeypatch.setattr(last_fits, "fit_path", interrupted)
    model = SparseKernelAUCCV(**MORE, n_jobs=2, random_state=0)
    n_before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        model.fit(MANY_X, MANY_Y)
    assert threading.active_count() == n_before
    assert model.ensemble_ == []
    assert model.best_params_["shapes"] == shapes[0]
    assert model.score(MANY_X, MANY_Y) > 0.6


def test_a_fit_that_was_cut_off_is_kept_if_none_is_done(monkeypatch):
    """All fits are interrupted at their second centre."""

    def interrupt(self, path):
        raise KeyboardInterrupt

    monkeypatch.setattr("skauc.sparse.progress.PathPrinter.__call__", interrupt)
    model = SparseKernelAUCCV(**MORE, n_jobs=2, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(MANY_X, MANY_Y)
    assert model.ensemble_ == []
    assert model.n_basis_ < 16
    assert model.score(MANY_X, MANY_Y) > 0.5
