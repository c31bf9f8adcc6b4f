"""SparseKernelAUCCV: what it scores, what it chooses, and what it refuses."""

import copy
import pickle

import numpy as np
import pytest
from listeners import Listener
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_circles, make_classification, make_moons
from sklearn.metrics import average_precision_score, make_scorer, roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import Selection, SparseKernelAUC, SparseKernelAUCCV
from skauc.base import LogisticCalibration, calibrate
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.sparse.cv_results import rows_of_choice
from skauc.sparse.search import Search

X, y = make_moons(120, noise=0.3, random_state=0)
X_NEW, Y_NEW = make_moons(500, noise=0.3, random_state=1)
CS = [0.1, 1.0, 10.0]
FOLDS = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))


def make(**parameters):
    grid = {"Cs": CS, "gammas": [1.0, 0.2], "n_basis": 6, "linear_term": "auto"}
    rest = {
        "scaling": None,
        "shapes": "round",
        "refine": False,
        "ensemble": False,
        "cv": StratifiedKFold(3),
        "random_state": 0,
    }
    return SparseKernelAUCCV(**{**grid, **rest, **parameters})


def assert_same_ranking(search, fitted):
    """Compare scores but for a constant: a search has its threshold at a probability of 0.5."""
    first, second = (model.decision_function(X_NEW) for model in (search, fitted))
    assert_allclose(first - first[0], second - second[0], rtol=1e-9, atol=1e-12)


@pytest.fixture(scope="module")
def model():
    return make(refine="auto", cv=FOLDS).fit(X, y)


@pytest.fixture(scope="module")
def plain():
    return make().fit(X, y)


@pytest.fixture(scope="module")
def exact():
    """Every row is a candidate and every optimum is exact: nothing depends on draws or starts."""
    return make(
        selection=Selection(n_candidates=1000), tol=1e-10, linear_term=False, cv=StratifiedKFold(4)
    ).fit(X, y)


def splits(results):
    n_splits = sum(name.startswith("split") for name in results)
    return np.column_stack([results[f"split{i}_test_score"] for i in range(n_splits)])


def settings(results):
    names = ("scaling", "C", "gamma", "linear_term", "refine", "rotate", "shapes", "n_basis")
    return [
        dict(zip(names, values, strict=True))
        for values in zip(*(results[f"param_{name}"] for name in names), strict=True)
    ]


# -- the results and the choice ---------------------------------------------------------------


def test_results_have_a_row_per_setting(model):
    results = model.cv_results_
    scores = splits(results)
    assert scores.shape[1] == model.n_splits_ == 3
    assert {len(column) for column in results.values()} == {len(scores)}
    assert_allclose(results["mean_test_score"], np.nanmean(scores, axis=1))
    assert_allclose(results["std_test_score"], np.nanstd(scores, axis=1))
    assert np.nanmin(scores) >= 0
    assert np.nanmax(scores) <= 1
    tried = settings(results)
    assert all(tried.count(setting) == 1 for setting in tried)
    assert {setting["C"] for setting in tried} <= set(CS)
    assert {setting["gamma"] for setting in tried} <= {1.0, 0.2}
    assert {setting["n_basis"] for setting in tried} <= set(range(1, 7))


def rule(results, size):
    """The chosen entry, and whether it is another setting than the usual one, which comes first.

    Another one has a mean that is better by more than a standard error of the difference by folds,
    or two if it has ridges or no linear term, and by the most beyond that. Then the size at which
    settings were compared, or the smallest size that loses at most a standard error and a twentieth
    of 1 - AUC.
    """
    scores, sizes, tried = splits(results), results["param_n_basis"], settings(results)
    complete = np.flatnonzero(~np.isnan(scores).any(axis=1))
    means, n_folds = scores.mean(axis=1), scores.shape[1]

    def error(i, j):
        return (scores[i] - scores[j]).std(ddof=1) / np.sqrt(n_folds)

    def sizes_of(i):
        return [j for j in complete if {**tried[j], "n_basis": 0} == {**tried[i], "n_basis": 0}]

    usual = max(sizes_of(0), key=lambda i: sizes[i])
    beyond = {usual: 0.0}
    for i in complete:
        if sizes[i] == sizes[usual] and i != usual:
            is_like = tried[i]["linear_term"] and tried[i]["shapes"] != "ridge"
            margin = error(i, usual) * (1 if is_like else 2)
            beyond[i] = means[i] - means[usual] - margin
    chosen = max(beyond, key=lambda i: beyond[i])
    is_other = chosen != usual
    if size == "best":
        return chosen, is_other
    own = sorted(sizes_of(chosen), key=lambda i: -sizes[i])
    best = max(own, key=lambda i: (means[i], -sizes[i]))
    most = [min(error(best, i), 0.05 * (1 - means[best])) for i in own]
    good = [i for i, each in zip(own, most, strict=True) if means[best] - means[i] <= each]
    return min(good, key=lambda i: sizes[i]), is_other


@pytest.mark.parametrize("size", ["best", "small"])
@pytest.mark.parametrize(
    ("seed", "scaling", "refine"),
    [(0, None, "auto"), (3, "auto", False), (4, "auto", "auto"), (21, "auto", False)],
)
def test_the_choice_is_the_one_of_the_documented_rule(seed, scaling, refine, size):
    rows, labels = make_moons(100, noise=0.5, random_state=seed)
    parameters = {"refine": refine, "scaling": scaling, "size": size, "n_basis": 16}
    model = make(**parameters, gammas=[1.0], ensemble=False, random_state=seed).fit(rows, labels)
    results = model.cv_results_
    chosen, is_other = rule(results, size)
    assert is_other == (seed in (4, 21))
    assert model.best_params_ == settings(results)[chosen]
    complete = splits(results)[~np.isnan(splits(results)).any(axis=1)]
    optimism = np.mean(complete.max(axis=0) - splits(results)[chosen]) if is_other else 0.0
    expected = results["mean_test_score"][chosen] - optimism
    assert model.best_score_ == pytest.approx(expected, abs=1e-12)


def test_the_parameters_that_were_chosen_are_those_of_the_model(plain):
    assert plain.best_params_["refine"] is False
    again = SparseKernelAUC(**plain.best_params_, random_state=0).fit(X, y)
    assert_same_ranking(plain, again)


def test_scores_are_those_of_fits_on_the_folds(exact):
    results = exact.cv_results_
    scores = splits(results)
    fixed = {"linear_term": False, "refine": False, "tol": 1e-10}
    for C, gamma in set(zip(results["param_C"], results["param_gamma"], strict=True)):
        own = np.flatnonzero((results["param_C"] == C) & (results["param_gamma"] == gamma))
        for fold, (train, test) in enumerate(StratifiedKFold(4).split(X, y)):
            if np.isnan(scores[own, fold]).all():
                continue
            alone = SparseKernelAUC(
                6, C=C, gamma=gamma, selection=Selection(n_candidates=1000), **fixed
            )
            alone.fit(X[train], y[train])
            by_size = {
                record.n_basis: roc_auc_score(y[test], record.model.scores(X[test]))
                for record in alone.path_
            }
            for i in own:
                size = results["param_n_basis"][i]
                assert_allclose(scores[i, fold], by_size[size], atol=1e-9)


def test_refined_scores_are_those_of_refined_fits_on_the_folds(model):
    results = model.cv_results_
    assert all(results["param_refine"])
    for row, setting in enumerate(settings(results)):
        for score, (train, test) in zip(splits(results)[row], FOLDS, strict=True):
            if not np.isnan(score):
                alone = SparseKernelAUC(**setting, random_state=0).fit(X[train], y[train])
                assert_allclose(score, alone.score(X[test], y[test]), atol=1e-9)


def test_the_chosen_model_is_fitted_to_all_rows(model):
    again = SparseKernelAUC(**model.best_params_, random_state=0).fit(X, y)
    assert_same_ranking(model, again)
    expected = model.decision_function(X_NEW)
    assert_array_equal(model.best_estimator_.decision_function(X_NEW), expected)
    assert model.score(X_NEW, Y_NEW) == again.score(X_NEW, Y_NEW)
    for name in ("basis_vectors_", "dual_coef_", "length_scales_", "linear_coef_", "classes_"):
        assert_array_equal(getattr(model, name), getattr(again, name))
    assert model.n_features_in_ == 2


def test_the_path_of_the_chosen_model_is_there(model):
    stages = list(model.staged_decision_function(X_NEW))
    assert len(stages) == len(model.path_)
    smaller = model.truncate(4)
    assert smaller.n_basis_ == 4
    assert smaller.decision_function(X_NEW).shape == (500,)


def test_several_widths_are_one_gamma():
    model = make(gammas=[(2.0, 0.4, 0.08)]).fit(X, y)
    assert set(model.cv_results_["param_gamma"]) == {(2.0, 0.4, 0.08)}
    assert model.best_params_["gamma"] == [2.0, 0.4, 0.08]
    assert model.gamma_.shape == (model.n_basis_,)


def test_numbers_words_and_widths_can_be_mixed():
    model = make(gammas=["scale", 0.1, [2.0, 0.4, 0.08]], linear_term=False).fit(X, y)
    tried = set(model.cv_results_["param_gamma"])
    scale = SparseKernelAUC(1, scaling=None).fit(X, y).gamma_
    assert tried <= {float(scale), 0.1, (2.0, 0.4, 0.08)}


def test_normal_scores_are_tried_and_scored_like_fits_on_the_folds():
    rows = np.exp(3 * X)
    small = {"gammas": ["scale"], "linear_term": False, "selection": Selection(n_candidates=1000)}
    tried = make(scaling="auto", **small).fit(rows, y)
    assert set(tried.cv_results_["param_scaling"]) == {"normal"}
    results = tried.cv_results_
    chosen = settings(results).index(tried.best_params_)
    train, test = next(StratifiedKFold(3).split(rows, y))
    alone = SparseKernelAUC(**tried.best_params_, selection=small["selection"])
    alone.fit(rows[train], y[train])
    assert splits(results)[chosen, 0] == pytest.approx(alone.score(rows[test], y[test]), abs=1e-9)


@pytest.mark.parametrize(
    ("n_rows", "noise", "parameters", "n_steps"),
    [
        (700, 0.01, {}, 30),
        (700, 1.0, {}, 10),  # C is small
        (500, 0.01, {}, 10),  # few rows of a class
        (700, 0.01, {"refine": 4}, 4),
        (700, 0.01, {"shapes": "local"}, 20),
        (8_400, 0.01, {}, 60),
    ],
)
def test_the_last_fit_takes_more_steps_if_the_classes_can_be_told_apart(
    n_rows, noise, parameters, n_steps
):
    data = make_circles(n_rows, noise=noise, factor=0.5, random_state=0)
    small = {"n_basis": 8, "cv": 2, "scaling": None, "shapes": "round", "linear_term": True}
    search = SparseKernelAUCCV(**{**small, **parameters}, effort="quick", random_state=0).fit(*data)
    assert search.best_params_["refine"] == n_steps


@pytest.mark.parametrize(("effort", "n_rows"), [("default", 32_000), ("thorough", 100_000)])
def test_the_last_fit_refines_on_more_rows(effort, n_rows):
    data = make_circles(34_000, noise=0.3, factor=0.5, random_state=0)
    one = {"Cs": [1.0], "gammas": [1.0], "scaling": None, "rotate": False, "shapes": "round"}
    small = {"n_basis": 2, "cv": 2, "refine": 2, "linear_term": True, "ensemble": False}
    search = SparseKernelAUCCV(**one, **small, effort=effort, random_state=0).fit(*data)
    same, other = (
        SparseKernelAUC(**search.best_params_, selection=Selection(n_rows=n), random_state=0)
        for n in (n_rows, 4_000)
    )
    assert_allclose(search.basis_vectors_, same.fit(*data).basis_vectors_)
    assert not np.allclose(search.basis_vectors_, other.fit(*data).basis_vectors_)


def test_axes_are_tried():
    model = make(refine="auto", rotate="auto", scaling="auto", gammas=[1.0]).fit(X, y)
    tried = settings(model.cv_results_)
    assert {setting["scaling"] for setting in tried if setting["rotate"]} == {"clip"}
    alone = make(refine=True, rotate=True, gammas=[1.0]).fit(X, y)
    assert alone.best_params_["rotate"]
    assert alone.scaling_.axes.shape == (2, 2)


def test_axes_are_not_tried_where_they_would_outweigh_the_centres():
    rows = np.random.default_rng(0).normal(size=(120, 5))
    model = make(refine=True, rotate="auto", n_basis=4).fit(rows, y)
    assert set(model.cv_results_["param_rotate"]) == {False}


@pytest.mark.parametrize(
    ("rows", "refine"), [(X, False), (X[:, :1], True), (X * [1.0, 3e153], True)]
)
def test_axes_are_not_tried_where_they_change_nothing_or_overflow(rows, refine):
    model = make(refine=refine, rotate="auto", gammas=[1.0]).fit(rows, y)
    assert set(model.cv_results_["param_rotate"]) == {False}


def test_settings_are_compared_on_two_folds_and_the_best_two_on_all_unless_behind():
    Cs = [0.01, 0.1, 1.0, 10.0]
    results = make(cv=StratifiedKFold(4), Cs=Cs, rotate=False).fit(X, y).cv_results_
    found = {}
    for setting, scores in zip(settings(results), splits(results), strict=True):
        del setting["n_basis"]
        found.setdefault(tuple(setting.items()), []).append(scores)
    n_folds = {key: {(~np.isnan(by)).sum() for by in scores} for key, scores in found.items()}
    assert all(len(each) == 1 for each in n_folds.values())
    # The usual setting, the other Cs with its structure, then another width and no linear term.
    usual, *others = [key for key in found if {("gamma", 1.0), ("linear_term", True)} <= {*key}]
    assert dict(usual)["C"] == 1.0
    assert len(others) == 3
    assert n_folds[usual] == {4}
    means = {key: found[key][-1][:2].mean() for key in (usual, *others)}
    in_order = sorted(others, key=lambda key: -means[key])
    promising = [key for key in in_order if means[key] >= means[usual]]
    assert {key for key in others if n_folds[key] == {4}} == set(promising[:2])


def test_sparse_rows_are_taken_as_they_come():
    model = make(scaling="auto", refine=True).fit(sparse.csr_array(X), y)
    assert model.best_params_["scaling"] is None
    assert not model.best_params_["rotate"]
    with pytest.raises(InvalidDataError, match="needs dense rows; got a sparse matrix"):
        make(scaling="rank").fit(sparse.csr_array(X), y)


def test_defaults_need_no_grid():
    model = SparseKernelAUCCV(random_state=0, n_basis=6, cv=2).fit(X, y)
    assert model.score(X_NEW, Y_NEW) > 0.9


@pytest.mark.parametrize("gammas", [[1.0], [1.0, 0.2]])
def test_refinement_that_was_asked_for_is_not_left_out(gammas):
    model = make(refine=True, gammas=gammas, linear_term=False).fit(X, y)
    assert model.best_params_["refine"]
    assert len(set(model.cv_results_["param_C"])) > 1


def test_the_last_fit_to_many_rows_takes_more_steps_and_the_mean_c_of_the_folds():
    rows, labels = make_classification(8_001, 4, flip_y=0.3, random_state=0)
    small = {"n_basis": 4, "cv": 2, "effort": "quick", "ensemble": False, "random_state": 0}
    model = SparseKernelAUCCV(**small).fit(rows, labels)
    assert model.best_params_["refine"] == 2 * 10
    assert model.best_params_["C"] == model.C_
    assert "auto" in model.cv_results_["param_C"]
    assert model.best_estimator_.selection.n_rows == 32_000
    again = clone(model.best_estimator_).fit(rows, labels)
    difference = again.decision_function(rows) - model.decision_function(rows)
    assert_allclose(difference, difference[0], atol=1e-9)
    # The results of the fits that were compared are found all the same.
    shown = rows_of_choice(model.cv_results_, model.best_params_, ("n_basis",))
    assert_array_equal(model.cv_results_["param_n_basis"][shown], [4])


# -- folds ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cv", "n_rows", "n_splits", "n_repeats"),
    [(2, 120, 2, 1), (None, 120, 5, 2), (None, 700, 5, 1)],
)
def test_stratified_folds_are_drawn_and_by_default_repeated_on_few_rows(
    cv, n_rows, n_splits, n_repeats
):
    rows, labels = make_moons(n_rows, noise=0.3, random_state=0)
    folds = RepeatedStratifiedKFold(n_splits=n_splits, n_repeats=n_repeats, random_state=0)
    small = {"Cs": [1.0], "gammas": [1.0], "linear_term": False, "n_basis": 4}
    expected, actual = (make(cv=each, **small).fit(rows, labels) for each in (folds, cv))
    assert actual.n_splits_ == n_splits * n_repeats
    assert_array_equal(splits(actual.cv_results_), splits(expected.cv_results_))


def test_folds_may_be_any_iterable(plain):
    folds = list(StratifiedKFold(3).split(X, y))
    actual = make(cv=((train, test.tolist()) for train, test in folds)).fit(X, y)
    assert_array_equal(splits(actual.cv_results_), splits(plain.cv_results_))


def test_rows_outside_both_parts_of_a_fold_play_no_part():
    rng = np.random.default_rng(0)
    used = np.arange(len(X)) % 3 > 0
    folds = [
        (train[used[train]], test[used[test]]) for train, test in StratifiedKFold(3).split(X, y)
    ]
    other, labels = X.copy(), y.copy()
    other[~used] = rng.normal(size=(40, 2))
    labels[~used] = rng.permutation(labels[~used])
    one, two = (
        make(cv=folds, selection=Selection(n_candidates=1000), tol=1e-10).fit(rows, targets)
        for rows, targets in ((X, y), (other, labels))
    )
    assert_allclose(splits(one.cv_results_), splits(two.cv_results_), atol=1e-9)


def test_one_fold_is_enough():
    for size in ("best", "small"):
        model = make(cv=ShuffleSplit(1, test_size=0.3, random_state=0), size=size).fit(X, y)
        assert model.n_splits_ == 1
        # The best one of the only fold is the chosen one: no optimism can be seen.
        assert model.best_score_ == model.cv_results_["mean_test_score"].max()


def test_it_says_what_the_other_size_would_have_been():
    rows, labels = make_moons(120, noise=0.3, random_state=7)
    best, small = (make(size=size).fit(rows, labels) for size in ("best", "small"))
    assert best.size_choices_ == small.size_choices_
    for size, model in (("best", best), ("small", small)):
        choice = model.size_choices_[size]
        assert {**choice["params"], "refine": model.best_params_["refine"]} == model.best_params_
        assert choice["mean_test_score"] in model.cv_results_["mean_test_score"]
    n_best, n_small = (best.size_choices_[size]["params"]["n_basis"] for size in ("best", "small"))
    assert n_best >= n_small


# -- sameness ---------------------------------------------------------------------------------


def assert_same(one, other):
    assert one.best_params_ == other.best_params_
    assert one.best_score_ == other.best_score_
    assert_array_equal(one.decision_function(X_NEW), other.decision_function(X_NEW))


def test_jobs_change_nothing():
    one, two = (make(n_jobs=n_jobs, linear_term=False).fit(X, y) for n_jobs in (1, 2))
    assert_same(one, two)
    for results in (one.cv_results_, two.cv_results_):
        assert len(results["param_C"]) > 3
    ordered = [
        sorted(map(str, zip(*model.cv_results_.values(), strict=True))) for model in (one, two)
    ]
    assert ordered[0] == ordered[1]


def test_the_same_random_state_gives_the_same_model():
    parameters = {"cv": 2, "selection": Selection(n_candidates=10), "linear_term": False}
    states = np.random.RandomState(3), np.random.RandomState(3)
    one, two = (make(random_state=state, **parameters).fit(X, y) for state in states)
    assert_array_equal(splits(one.cv_results_), splits(two.cv_results_))
    assert_same(one, two)


def test_sparse_rows_give_what_dense_rows_give():
    dense, other = make(tol=1e-8).fit(X, y), make(tol=1e-8).fit(sparse.csr_array(X), y)
    assert dense.best_params_["n_basis"] == other.best_params_["n_basis"]
    expected = dense.decision_function(X_NEW)
    assert_allclose(other.decision_function(X_NEW), expected, atol=1e-5)


def test_labels_of_any_kind_are_taken(plain):
    words = np.array(["no", "yes"])[y]
    model = make().fit(X, words)
    assert model.classes_.tolist() == ["no", "yes"]
    assert set(model.predict(X_NEW)) == {"no", "yes"}
    assert_array_equal(model.decision_function(X_NEW), plain.decision_function(X_NEW))


def test_weights_reach_the_scores_and_the_fit(plain):
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.1, 3.0, size=len(X))
    weighted = make().fit(X, y, sample_weight=weights)
    ones = make().fit(X, y, sample_weight=np.ones(len(X)))
    assert_same(plain, ones)
    assert np.any(splits(weighted.cv_results_)[0] != splits(plain.cv_results_)[0])
    again = SparseKernelAUC(**weighted.best_params_, random_state=0)
    again.fit(X, y, sample_weight=weights)
    assert_same_ranking(weighted, again)


@pytest.mark.parametrize("by_group", [False, True])
def test_rows_of_weight_zero_count_as_left_out(by_group):
    """A fold whose positive rows all had weight 0 was refused."""
    weights = np.ones(len(X))
    weights[np.flatnonzero(y == 1)[4:]] = 0
    counted = weights > 0
    quick = {"n_basis": 4, "effort": "quick", "random_state": 0}
    groups = {"groups": np.arange(len(X)) // 2} if by_group else {}
    weighted = SparseKernelAUCCV(**quick).fit(X, y, sample_weight=weights, **groups)
    groups = {name: values[counted] for name, values in groups.items()}
    shorter = SparseKernelAUCCV(**quick).fit(X[counted], y[counted], **groups)
    assert_allclose(splits(weighted.cv_results_), splits(shorter.cv_results_), rtol=1e-12)
    assert_allclose(weighted.predict_proba(X_NEW), shorter.predict_proba(X_NEW), atol=1e-9)


# -- among others -----------------------------------------------------------------------------


def test_a_copy_predicts_the_same(model):
    for twin in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
        assert_same(twin, model)


def test_a_clone_is_not_fitted_and_has_the_parameters():
    model = make(Cs=np.array(CS), gammas=[(1.0, 0.1)])
    twin = clone(model)
    assert not hasattr(twin, "best_params_")
    assert twin.get_params()["gammas"] == [(1.0, 0.1)]
    assert_same(twin.fit(X, y), model.fit(X, y))


def test_it_works_at_the_end_of_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), make())
    assert pipeline.fit(100 * X, y).score(100 * X_NEW, Y_NEW) > 0.9
    assert cross_val_score(pipeline, X, y, cv=2, scoring="roc_auc").min() > 0.8


def test_callbacks_hear_of_every_fold():
    listener = Listener(lambda model: False)
    model = make(linear_term=False).set_callbacks(listener).fit(X, y)
    # Three Cs on two folds, one to three of them on the third; one more structure; perhaps the Cs
    # beside the best; and the last fit.
    n_fits = (3 * 2 + 1) + 2 + 1
    assert n_fits <= len(listener.models) <= n_fits + 2 + 1 + 2 * 3
    assert hasattr(model, "best_params_")


def test_callbacks_change_nothing(model):
    again = clone(model).set_callbacks(Listener()).fit(X, y)
    assert_same(again, model)


class Interrupt:
    """Ctrl-C when so many folds are done."""

    def __init__(self, n_folds):
        self.n_left = n_folds

    def __call__(self, model):
        self.n_left -= 1
        if self.n_left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("n_folds", [1, 5, 9])
def test_an_interrupt_keeps_the_best_so_far(n_folds):
    """In each of the rounds. Threads that are not wanted any more end without a warning."""
    model = make(linear_term=False).set_callbacks(Listener(Interrupt(n_folds)))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.score(X_NEW, Y_NEW) > 0.8
    assert 0.5 < model.best_score_ <= 1
    again = SparseKernelAUC(**model.best_estimator_.get_params()).fit(X, y)
    assert_same_ranking(model, again)


def test_after_an_interrupt_many_rows_are_sampled(monkeypatch):
    monkeypatch.setattr("skauc.sparse.search.MOST_ROWS", 40)
    few_rows, samples = Search.few_rows, []

    def sample(search):
        samples.append(few_rows(search))
        return samples[-1]

    monkeypatch.setattr(Search, "few_rows", sample)
    model = make(linear_term=False, scaling=None, refine=False)
    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(Listener(Interrupt(2))).fit(X, y)
    assert model.score(X_NEW, Y_NEW) > 0.8
    assert_array_equal(model.basis_vectors_, X[model.basis_indices_])
    (sampled,) = samples
    assert sampled.n_rows == 40
    assert set(model.basis_indices_) <= set(sampled.row_numbers)


def test_an_interrupt_before_the_first_fold_leaves_the_estimator_as_it_was(monkeypatch):
    monkeypatch.setattr("skauc.sparse.search.score_job", lambda *_, **__: Interrupt(1)(None))
    model = make()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


def test_a_second_interrupt_keeps_the_model_that_was_reached(monkeypatch):
    def interrupt(self, path):
        if path.size == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr("skauc.sparse.progress.PathPrinter.__call__", interrupt)
    model = make(n_basis=6).set_callbacks(Listener(Interrupt(3)))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.n_basis_ == model.best_estimator_.n_basis_ == 4


def test_refinement_that_was_asked_for_survives_an_interrupt():
    model = make(refine=True, cv=2).set_callbacks(Listener(Interrupt(2)))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.best_params_["refine"]


# -- bad input --------------------------------------------------------------------------------


@pytest.fixture
def no_work(monkeypatch):
    """Fail if anything is scored before the error."""

    def fail(*arguments):
        pytest.fail("work was done before the error")

    monkeypatch.setattr("skauc.sparse.search.score_job", fail)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"Cs": []}, "`Cs` must hold at least one value; got an empty sequence. Use None to"),
        ({"Cs": [1.0, 0.0]}, "`Cs` must be a finite number greater than 0; got 0.0. Values from"),
        ({"Cs": [1.0, -1.0]}, "`Cs` must be a finite number greater than 0; got -1.0"),
        ({"Cs": [np.inf]}, "`Cs` must be a finite number greater than 0; got inf"),
        ({"Cs": [np.nan]}, "`Cs` must be a finite number greater than 0; got nan"),
        ({"Cs": "many"}, "`Cs` must be a finite number greater than 0; got 'many'"),
        (
            {"gammas": []},
            r"`gammas` must be a sequence of at least one gamma; got \[\]. Use None, or",
        ),
        ({"gammas": 0.1}, "`gammas` must be a sequence of at least one gamma; got 0.1"),
        ({"gammas": "scale"}, "`gammas` must be a sequence of at least one gamma; got 'scale'"),
        ({"gammas": [0.1, 0.0]}, "`gamma` must be a finite number greater than 0; got 0.0"),
        ({"gammas": [0.1, -2]}, "`gamma` must be a finite number greater than 0; got -2"),
        ({"gammas": ["wide"]}, "`gamma` must be one of 'scale', 'auto'; got 'wide'"),
        ({"gammas": [[]]}, "`gamma` must hold at least one width; got an empty sequence"),
        ({"gammas": [[0.1, 0.0]]}, "`gamma` must be a finite number greater than 0; got 0.0"),
        ({"n_basis": 0}, "`n_basis` must be an integer of at least 1; got 0. Set `n_basis` to"),
        ({"linear_term": ()}, r"`linear_term` must be 'auto', True or False; got \(\)"),
        ({"linear_term": "no"}, "`linear_term` must be 'auto', True or False; got 'no'"),
        ({"refine": 0}, "`refine` must be 'auto', True, False or a number of steps .* got 0"),
        ({"scaling": ("rank",)}, r"`scaling` must be 'auto', None, .*; got \('rank',\)"),
        ({"cv": 1}, "`cv` must be an integer of at least 2; got 1. 5 folds are usual"),
        (
            {"selection": Selection(n_candidates=0)},
            "`n_candidates` must be an integer of at least 1; got 0",
        ),
        ({"tol": 0}, "`tol` must be a finite number greater than 0; got 0"),
        (
            {"selection": Selection(max_iter=0)},
            "`max_iter` must be an integer of at least 1; got 0",
        ),
        ({"engine": "abacus"}, "`engine` must be one of 'auto', 'cpu'"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_a_parameter_that_cannot_be_is_refused(parameters, message):
    with pytest.raises(InvalidParameterError, match=message):
        make(**parameters).fit(X, y)


@pytest.mark.parametrize(
    "parameters",
    [{"Cs": [1.0, None]}, {"Cs": [1.0, "ten"]}, {"gammas": [None, 0.1]}, {"cv": []}],
    ids=str,
)
@pytest.mark.usefixtures("no_work")
def test_other_parameters_that_cannot_be_are_refused(parameters):
    (name,) = parameters
    with pytest.raises(InvalidParameterError, match=f"`{name.rstrip('s')}s?` must"):
        make(**parameters).fit(X, y)


@pytest.mark.usefixtures("no_work")
def test_more_folds_than_rows_of_a_class_are_refused():
    labels = (np.arange(len(X)) < 4).astype(int)
    message = "cv=5 needs 5 rows of each class; the smaller class has 4. Lower `cv` or get more"
    with pytest.raises(InvalidDataError, match=message):
        make(cv=5).fit(X, labels)


@pytest.mark.parametrize(("part", "swap"), [("training", False), ("test", True)])
@pytest.mark.usefixtures("no_work")
def test_a_fold_that_lacks_a_class_is_refused(part, swap):
    good = list(StratifiedKFold(2).split(X, y))
    bad = np.flatnonzero(y == 0)[:30], np.setdiff1d(np.arange(len(X)), np.flatnonzero(y == 0)[:30])
    message = f"The {part} part of fold 2 of `cv` lacks one of the classes. Use stratified folds"
    with pytest.raises(InvalidDataError, match=message):
        make(cv=[*good, bad[::-1] if swap else bad]).fit(X, y)


@pytest.mark.parametrize(
    ("rows", "finding"),
    [
        (np.arange(1, len(X) + 1), f"index {len(X)} is out of bounds"),
        (np.ones(len(X) + 1, dtype=bool), f"boolean index did not match .* is {len(X) + 1}"),
        ([], "arrays used as indices must be of integer"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_a_fold_of_rows_that_do_not_exist_is_refused(rows, finding):
    good = list(StratifiedKFold(2).split(X, y))
    message = (
        f"`cv` must give row numbers from 0 to {len(X) - 1}; got, in fold 2: {finding}.* "
        f"Make the folds from the {len(X)} rows that are passed to `fit`"
    )
    with pytest.raises(InvalidParameterError, match=message):
        make(cv=[*good, (np.arange(len(X)), rows)]).fit(X, y)


@pytest.mark.usefixtures("no_work")
def test_a_fold_whose_class_has_no_weight_is_refused():
    weights = np.ones(len(X))
    folds = list(StratifiedKFold(3).split(X, y))
    weights[[row for row in folds[1][1] if y[row] == 1]] = 0
    with pytest.raises(InvalidDataError, match="The test part of fold 1 of `cv` lacks one of"):
        make(cv=folds).fit(X, y, sample_weight=weights)


@pytest.mark.usefixtures("no_work")
def test_folds_by_groups_need_groups():
    with pytest.raises(ValueError, match="groups"):
        make(cv=GroupKFold(3)).fit(X, y)


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
@pytest.mark.parametrize("cv", [FOLDS, StratifiedKFold(3, shuffle=True, random_state=0)], ids=type)
@pytest.mark.usefixtures("no_work")
def test_a_fold_that_splits_a_group_is_refused(cv):
    trained, tested = FOLDS[0][0][5], FOLDS[0][1][5]
    groups = np.arange(len(X))
    groups[tested] = groups[trained]
    message = (
        f"rows {trained} and {tested} are of one group, but row {trained} is in the training part "
        f"of fold 0 and row {tested} in the test part"
    )
    with pytest.raises(InvalidParameterError, match=message):
        make(cv=cv).fit(X, y, groups=groups)


@pytest.mark.parametrize("cv", [None, 2])
def test_two_positives_are_enough(cv):
    labels = (np.arange(len(X)) < 2).astype(int)
    model = make(cv=cv, refine="auto", gammas=[1.0]).fit(X, labels)
    assert model.n_splits_ == (2 if cv else 4)
    assert np.isfinite(model.decision_function(X_NEW)).all()


@pytest.mark.usefixtures("no_work")
def test_one_positive_is_not_enough():
    labels = (np.arange(len(X)) < 1).astype(int)
    with pytest.raises(InvalidDataError, match="cv=2 needs 2 rows of each class; the smaller"):
        make(cv=None).fit(X, labels)


# Probabilities, scoring and groups


@pytest.fixture(scope="module")
def calibrated():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.where(rng.random(600) < 1 / (1 + np.exp(2 - 2 * X[:, 0])), "yes", "no")
    return SparseKernelAUCCV(n_basis=8, effort="quick", random_state=0).fit(X[:400], y[:400]), X, y


def test_probabilities_rank_as_the_scores_and_are_calibrated(calibrated):
    model, X, _ = calibrated
    probabilities = model.predict_proba(X[400:])
    assert_allclose(probabilities.sum(axis=1), 1.0)
    order = np.argsort(model.decision_function(X[400:]))
    assert (np.diff(probabilities[order, 1]) > 0).all()
    truth = 1 / (1 + np.exp(2 - 2 * X[400:, 0]))
    assert np.abs(probabilities[:, 1] - truth).mean() < 0.06
    assert_allclose(model.predict_log_proba(X[:3]), np.log(model.predict_proba(X[:3])))


def test_probabilities_come_from_the_test_rows_of_the_folds(calibrated):
    """A fit to each fold with the chosen parameters gives the scores that calibrate."""
    _, X, y = calibrated
    X, y = X[:400], y[:400]
    model = SparseKernelAUCCV(Cs=[1.0], n_basis=8, effort="quick", random_state=0).fit(X, y)
    scores = np.empty(400)
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0)
    for train, test in folds.split(X, y):
        chosen = {**model.best_params_, "n_basis": 8}
        fold = SparseKernelAUC(**chosen, random_state=0).fit(X[train], y[train])
        scores[test] = fold.truncate(model.n_basis_).decision_function(X[test])
    expected = calibrate(scores, y == "yes", np.ones(400))
    assert model.calibrator_.a_ == pytest.approx(expected.a_, rel=1e-4)
    assert model.balanced_threshold_ == pytest.approx(expected.predict(np.zeros(1))[0], rel=1e-4)


def test_a_score_of_zero_has_a_probability_of_one_half(calibrated):
    model, X, _ = calibrated
    assert model.calibrator_.predict(np.zeros(1))[0] == 0.5
    assert_array_equal(model.predict(X) == "yes", model.predict_proba(X)[:, 1] > 0.5)
    assert 0.1 < model.balanced_threshold_ < 0.4


def test_a_smaller_model_of_the_path_has_no_probabilities(calibrated):
    model, _, _ = calibrated
    assert not hasattr(model.truncate(min(model._models)), "predict_proba")
    assert hasattr(model.truncate(model.n_basis_), "predict_proba")
    assert hasattr(SparseKernelAUCCV(), "predict_proba")


def test_another_metric_is_maximised(calibrated):
    _, X, y = calibrated
    quick = {"n_basis": 4, "effort": "quick", "cv": 3, "random_state": 0}
    model = SparseKernelAUCCV(**quick, scoring="average_precision").fit(X, y)
    scorer = make_scorer(average_precision_score, response_method="decision_function")
    by_scorer = SparseKernelAUCCV(**quick, scoring=scorer).fit(X, y == "yes")
    assert by_scorer.best_score_ == pytest.approx(model.best_score_, abs=1e-12)
    assert 0.3 < model.best_score_ < SparseKernelAUCCV(**quick).fit(X, y).best_score_
    with pytest.raises(InvalidParameterError, match="`scoring` must be None, a scorer or the name"):
        SparseKernelAUCCV(scoring="area").fit(X, y)


def test_a_metric_of_labels_sees_those_of_predict():
    """A label is positive from a probability of 0.5 on, which is rare if positives are."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = X[:, 0] + rng.normal(size=600) > 2.2
    quick = {"n_basis": 8, "effort": "quick", "cv": 3, "random_state": 0}
    model = SparseKernelAUCCV(**quick, scoring="accuracy").fit(X, y)
    alone = cross_val_score(SparseKernelAUCCV(**quick), X, y, cv=3, scoring="accuracy").mean()
    assert model.best_score_ == pytest.approx(alone, abs=0.02)
    assert alone > 0.9


def test_a_metric_without_weights_is_maximised(calibrated):
    def share_of_the_first(y, scores):
        return y[np.argsort(-scores)[:10]].mean()

    _, X, y = calibrated
    quick = {"n_basis": 4, "effort": "quick", "cv": 3, "random_state": 0}
    scorer = make_scorer(share_of_the_first, response_method="decision_function")
    assert SparseKernelAUCCV(**quick, scoring=scorer).fit(X, y).best_score_ > 0.5


def test_metrics_of_probabilities_are_refused_before_the_search(calibrated):
    _, X, y = calibrated
    message = "`scoring` must be a scorer of scores or labels; got one of probabilities: 'neg_log"
    with pytest.raises(InvalidParameterError, match=message):
        SparseKernelAUCCV(scoring="neg_log_loss").fit(X, y)


def test_probabilities_count_rows_that_are_tested_again_once():
    X, y = make_moons(300, noise=0.4, random_state=0)
    small = {"n_basis": 4, "effort": "quick", "random_state": 0}
    cv = RepeatedStratifiedKFold(n_splits=2, n_repeats=8, random_state=0)
    model = SparseKernelAUCCV(**small, cv=cv).fit(X, y)
    assert isinstance(model.calibrator_, LogisticCalibration)  # 150 positives, not 1,200


def test_groups_are_not_split_between_training_and_test_rows():
    """Copies of a row are in one group, so that noise cannot be learnt by heart."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 3 == 0
    X, y, groups = np.repeat(X, 5, axis=0), np.repeat(y, 5), np.repeat(np.arange(60), 5)
    quick = {"n_basis": 16, "effort": "quick", "random_state": 0}
    apart = SparseKernelAUCCV(**quick).fit(X, y)
    together = SparseKernelAUCCV(**quick).fit(X, y, groups=groups)
    assert apart.best_score_ > 0.9
    assert together.best_score_ < 0.7
    mixed = [group if group % 2 else f"{group}" for group in groups.tolist()]
    mixed = SparseKernelAUCCV(**quick).fit(X, y, groups=np.array(mixed, dtype=object))
    assert mixed.best_score_ == together.best_score_
    with pytest.raises(InvalidDataError, match=r"shape \(300,\); got shape \(10,\)"):
        SparseKernelAUCCV(**quick).fit(X, y, groups=groups[:10])
    with pytest.raises(InvalidDataError, match="at least two different groups"):
        SparseKernelAUCCV(**quick).fit(X, y, groups=np.zeros(300))


@pytest.mark.parametrize(("n_rows", "scaling"), [(900, "normal"), (1_100, "screened")])
def test_irrelevant_features_weigh_less_if_there_are_rows_enough_to_tell(n_rows, scaling):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 12))
    y = rng.permutation(np.arange(n_rows) % 2 == 0)
    X[y, 0] += 1.0
    search = SparseKernelAUCCV(n_basis=8, effort="quick", random_state=0).fit(X, y)
    assert search.best_params_["scaling"] == scaling
    weights = search.feature_spread_ / search.feature_spread_[0]
    expected = 1.0 if scaling == "normal" else np.sqrt(0.3 / 11)
    np.testing.assert_allclose(weights[1:], expected, rtol=0.01)
