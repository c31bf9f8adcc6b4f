"""The average of the best settings of a search: which ones, and that it is one model."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_classification

import skauc.sparse.averaging as averaging
import skauc.sparse.estimator_cv as estimator_cv
from skauc import SparseKernelAUC, SparseKernelAUCCV, load_model, save_model
from skauc.exceptions import InvalidParameterError
from skauc.model import weighted_sum
from skauc.report import make_report_content, render_report
from skauc.sparse.averaging import DECAY, LEAST_WEIGHT, N_NEAR, shares
from skauc.sparse.cv_results import rows_of_choice
from skauc.sparse.search import Search
from skauc.sparse.settings import Setting

X, y = make_classification(240, 5, flip_y=0.2, class_sep=0.5, random_state=0)
SMALL = {"n_basis": 32, "cv": 3, "random_state": 0}


@pytest.fixture(name="averaged", scope="module")
def averaged_search():
    return SparseKernelAUCCV(**SMALL).fit(X, y)


# -- the sum of models ------------------------------------------------------------------------

KINDS = [
    {"refine": False},
    {"refine": False, "gamma": [0.1, 1.0]},
    {"refine": 3, "linear_term": True},
    {"refine": 3, "shapes": "ridge"},
    {"refine": 3, "shapes": "local", "linear_term": True},
]


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_a_weighted_sum_has_the_weighted_sum_of_the_scores(first, second):
    models = [
        SparseKernelAUC(4, **kind, random_state=0).fit(X, y)._model for kind in (first, second)
    ]
    total = weighted_sum(models, [0.7, -2.0])
    expected = 0.7 * models[0].scores(X) - 2.0 * models[1].scores(X)
    assert_allclose(total.scores(X), expected, atol=1e-10)
    assert len(total.coef) == len(total.indices) == (4 if first == second else 8)


def test_centres_that_models_share_are_in_their_sum_once():
    rows = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    for given in (X, rows):
        model = SparseKernelAUC(8, refine=False, random_state=0).fit(given, y)
        parts = [model.truncate(size)._model for size in (4, 8)]
        total = weighted_sum(parts, [1.0, 0.5])
        assert_array_equal(total.indices, model.basis_indices_)
        expected = parts[0].scores(given) + 0.5 * parts[1].scores(given)
        assert_allclose(total.scores(given), expected, atol=1e-10)


@pytest.mark.parametrize("refine", [False, 3])
def test_a_sum_of_models_of_sparse_rows(refine):
    rows = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    model = SparseKernelAUC(4, refine=refine, linear_term=False, random_state=0)
    models = [model.set_params(C=C).fit(rows, y)._model for C in (0.1, 10.0)]
    total = weighted_sum(models, [1.0, 1.0])
    assert sparse.issparse(total.centres)
    assert_allclose(total.scores(rows), sum(m.scores(rows) for m in models), atol=1e-10)


# -- which settings ---------------------------------------------------------------------------


def test_settings_of_constant_scores_have_no_share():
    """The weighted mean of equal numbers can differ from them by rounding."""
    weights = np.random.default_rng(0).random(len(y)) + 0.1
    settings = [Setting(None, 1.0, False, 0, C, 4) for C in (1.0, 2.0)]
    of_settings = X[:, 0], np.full(len(y), 0.1)
    search = SimpleNamespace(
        tested=lambda factors, scores: (of_settings[settings.index(*factors)], y, weights)
    )
    assert shares(search, None, dict.fromkeys(settings, 1.0)) == {settings[0]: 1.0}
    assert shares(search, None, dict.fromkeys(settings[::-1], 1.0)) == {settings[1]: 1.0}


# -- the search -------------------------------------------------------------------------------


def mean_scores(search):
    """The mean test scores of the averaged settings."""
    means = zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True)
    found = {repr(params): mean for params, mean in means}
    return np.array([found[repr(params)] for params in search.averaged_params_])


def test_few_rows_of_a_class_average_cs_around_the_best_one(averaged):
    first, *others = averaged.averaged_params_
    assert len(others) > 0
    ladder = [0.004, 0.02, 0.1, 0.5, 2.5, 12.5, 62.5]
    places = [ladder.index(params["C"]) for params in averaged.averaged_params_]
    assert len(set(places)) == len(places)
    assert max(places) - min(places) <= 2 * N_NEAR
    assert all({**params, "C": first["C"]} == first for params in others)
    assert first["n_basis"] in (4, 8)
    means = mean_scores(averaged)
    assert (np.diff(means) <= 0).all()
    assert means[-1] >= means[0] - np.log(1 / LEAST_WEIGHT) * DECAY * (1 - means[0])


@pytest.mark.parametrize("n_basis", [24, 36])
def test_small_models_have_a_size_on_the_path(n_basis):
    model = SparseKernelAUCCV(n_basis=n_basis, cv=2, random_state=0).fit(X, y)
    assert len(model.averaged_params_) > 1
    assert model.n_basis_ <= n_basis // 2
    assert model.size_choices_["best"]["params"] == model.best_params_


def test_time_that_is_up_after_the_choice_of_an_average_keeps_the_best_setting(monkeypatch):
    """The best setting alone has more centres than the small models that were to be averaged."""
    is_late = []
    by_weight = averaging._by_weight

    def late(*arguments):
        is_late.append(True)
        return by_weight(*arguments)

    monkeypatch.setattr(averaging, "_by_weight", late)
    monkeypatch.setattr(Search, "is_over", lambda search: len(is_late) == 2)
    model = SparseKernelAUCCV(**SMALL).fit(X, y)
    assert model.averaged_params_ == [model.best_params_]
    assert model.n_basis_ > 4
    (shown,) = rows_of_choice(model.cv_results_, model.best_params_, ())
    mean = model.cv_results_["mean_test_score"][shown]
    assert mean - 0.05 < model.best_score_ <= mean


def test_more_rows_of_a_class_are_not_averaged():
    rows, labels = make_classification(640, 5, flip_y=0.3, class_sep=0.5, random_state=1)
    model = SparseKernelAUCCV(cv=2, shapes="round", random_state=0).fit(rows, labels)
    assert model.averaged_params_ == [model.best_params_]


@pytest.mark.parametrize("parameters", [{"Cs": [0.5]}, {"Cs": [0.5], "ensemble": False}])
def test_a_single_c_has_no_neighbours(parameters):
    model = SparseKernelAUCCV(**SMALL, **parameters).fit(X, y)
    assert {params["C"] for params in model.averaged_params_} == {0.5}


def test_cs_are_not_averaged_if_small_models_are_far_behind():
    """Stripes without noise need more than four centres."""
    rows = np.random.default_rng(0).uniform(-3, 3, size=(300, 2))
    small = {"n_basis": 16, "cv": 2, "refine": False, "scaling": None, "linear_term": False}
    model = SparseKernelAUCCV(**small, gammas=[1.0], random_state=0)
    model.fit(rows, np.sin(3 * rows[:, 0]) > 0)
    assert [params["n_basis"] for params in model.averaged_params_] == [16]


def test_the_model_is_the_mean_of_its_members_with_equal_spreads(averaged):
    members = [
        SparseKernelAUC(**params, random_state=0).fit(X, y) for params in averaged.averaged_params_
    ]
    assert len(members) > 1
    assert averaged.n_basis_ == sum(member.n_basis_ for member in members) <= 16
    scores = np.column_stack([member.decision_function(X) for member in members])
    design = np.column_stack((scores, np.ones(len(X))))
    factors, *_ = np.linalg.lstsq(design, averaged.decision_function(X), rcond=None)
    assert_allclose(design @ factors, averaged.decision_function(X), atol=1e-6)
    # Spreads over the test rows of the folds are about those over the training rows.
    means = mean_scores(averaged)
    weights = np.exp((means - means[0]) / DECAY / (1 - means[0]))
    spreads = factors[:-1] * scores.std(axis=0) / weights
    assert (spreads > 0).all()
    assert spreads.max() < 2 * spreads.min()


def test_the_best_setting_comes_first_and_its_path_is_kept(averaged):
    assert averaged.averaged_params_[0] == averaged.best_params_
    assert averaged.path_[-1].train_auc == pytest.approx(averaged.score(X, y))
    best = averaged.best_params_["n_basis"]
    assert [record.n_basis for record in averaged.path_][-2:] == [best, averaged.n_basis_]
    smaller = averaged.truncate(best)
    assert smaller.averaged_params_ == [averaged.best_params_]
    alone = SparseKernelAUC(**averaged.best_params_, random_state=0).fit(X, y)
    difference = smaller.decision_function(X) - alone.decision_function(X)
    assert_allclose(difference, difference[0], atol=1e-9)
    *_, last = averaged.staged_decision_function(X)
    assert_array_equal(last, averaged.decision_function(X))
    assert_array_equal(averaged.best_estimator_.decision_function(X), last)


def test_the_report_says_which_of_its_sizes_is_an_average(averaged):
    page = render_report(make_report_content(averaged, X, y))
    n_averaged = len(averaged.averaged_params_)
    assert f"The ring marks this model, the average of {n_averaged} settings." in page
    alone = averaged.truncate(averaged.best_params_["n_basis"])
    assert "The ring marks this model. " in render_report(make_report_content(alone, X, y))


def test_probabilities_are_calibrated_on_the_average(averaged):
    probabilities = averaged.predict_proba(X)[:, 1]
    order = np.argsort(averaged.decision_function(X))
    assert (np.diff(probabilities[order]) >= 0).all()
    assert probabilities.mean() == pytest.approx(y.mean(), abs=0.1)
    assert 0.5 < averaged.best_score_ <= averaged.size_choices_["best"]["mean_test_score"]


def test_an_average_can_be_left_out():
    model = SparseKernelAUCCV(**SMALL, ensemble=False).fit(X, y)
    assert model.averaged_params_ == [model.best_params_]
    assert model.n_basis_ == model.best_params_["n_basis"]
    with pytest.raises(InvalidParameterError, match="ensemble"):
        SparseKernelAUCCV(ensemble="yes").fit(X, y)


@pytest.mark.parametrize("parameters", [{"size": "small"}, {"time_limit": 1e-9}])
def test_a_small_model_or_one_in_a_hurry_is_not_averaged(parameters):
    model = SparseKernelAUCCV(**SMALL, **parameters).fit(X, y)
    assert model.averaged_params_ == [model.best_params_]


@pytest.mark.parametrize("history", [False, True])
def test_files_hold_an_average(averaged, tmp_path, history):
    save_model(averaged, tmp_path / "model.skauc", history=history)
    loaded = load_model(tmp_path / "model.skauc")
    assert_array_equal(loaded.decision_function(X), averaged.decision_function(X))
    assert_array_equal(loaded.predict_proba(X), averaged.predict_proba(X))
    assert loaded.averaged_params_ == averaged.averaged_params_


def test_an_interrupt_while_others_are_fitted_keeps_the_best_setting(monkeypatch):
    fit_path, calls = estimator_cv.fit_path, []

    def interrupted(*args, **options):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return fit_path(*args, **options)

    monkeypatch.setattr(estimator_cv, "fit_path", interrupted)
    model = SparseKernelAUCCV(**SMALL)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.averaged_params_ == [model.best_params_]
    assert model.n_basis_ == model.best_params_["n_basis"]
    assert model.predict_proba(X).shape == (len(X), 2)
