"""SparseKernelAUC among scikit-learn's tools: copies, pipelines, searches, calibration."""

import copy
import pickle

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import balanced_accuracy_score, recall_score, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import Selection, SparseKernelAUC

X, y = make_classification(
    240, 6, weights=[0.7], class_sep=0.7, flip_y=0.1, n_redundant=0, random_state=0
)
X_NEW = np.random.default_rng(1).normal(size=(60, 6))


def make(n_basis=8, **parameters):
    return SparseKernelAUC(n_basis, random_state=0, **parameters)


@pytest.fixture(scope="module")
def model():
    selection = Selection(retrain="geometric")
    return make(early_stopping=True, selection=selection).fit(X, y)


# -- copies -----------------------------------------------------------------------------------


def by_pickle(model):
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("duplicate", [by_pickle, copy.copy, copy.deepcopy])
def test_a_copy_predicts_the_same(model, duplicate):
    twin = duplicate(model)
    assert_array_equal(twin.decision_function(X_NEW), model.decision_function(X_NEW))
    assert_array_equal(twin.truncate(1).predict(X_NEW), model.truncate(1).predict(X_NEW))
    assert twin.path_[-1].validation_auc == model.path_[-1].validation_auc


def test_fitting_a_copy_leaves_the_original_alone(model):
    before = model.decision_function(X_NEW)
    copy.copy(model).set_params(n_basis=2).fit(X[:100], y[:100])
    assert_array_equal(model.decision_function(X_NEW), before)


def test_a_clone_is_unfitted_and_has_the_parameters(model):
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert not [name for name in vars(twin) if name.endswith("_")]


def test_a_pickle_does_not_carry_the_training_rows():
    rows = np.random.default_rng(0).normal(size=(2000, 50))
    model = make(4, scaling=None).fit(rows, rows[:, 0] > 0)
    assert len(pickle.dumps(model)) < rows.nbytes / 50


# -- how it presents itself -------------------------------------------------------------------


def test_it_is_a_binary_classifier_that_takes_sparse_rows():
    assert is_classifier(make())
    tags = sklearn.utils.get_tags(make())
    assert tags.input_tags.sparse
    assert not tags.classifier_tags.multi_class
    assert not hasattr(make(), "predict_proba")


def test_its_text_names_what_was_changed():
    assert repr(SparseKernelAUC(16, C=2.0)) == "SparseKernelAUC(C=2.0, n_basis=16)"


def test_its_html_shows_it_fitted_and_not(model):
    for estimator in (make(), model, make_pipeline(StandardScaler(), model)):
        assert "SparseKernelAUC" in estimator._repr_html_()


# -- pipelines and searches -------------------------------------------------------------------


def test_a_pipeline_with_scaled_features():
    rows = X * np.logspace(-6, 6, 6)
    pipeline = make_pipeline(StandardScaler(), make()).fit(rows, y)
    scaled = StandardScaler().fit_transform(rows)
    assert_array_equal(
        pipeline.decision_function(rows), make().fit(scaled, y).decision_function(scaled)
    )


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_set_output_hands_it_named_columns(output):
    pytest.importorskip(output)
    if output == "polars":
        pytest.importorskip("sklearn", "1.9", reason="reads no names from the polars of today")
    pipeline = make_pipeline(StandardScaler(), make()).set_output(transform=output).fit(X, y)
    assert pipeline[-1].feature_names_in_.tolist() == [f"x{i}" for i in range(6)]
    plain = make_pipeline(StandardScaler(), make()).fit(X, y)
    assert_allclose(pipeline.decision_function(X_NEW), plain.decision_function(X_NEW))


def test_the_default_score_of_a_search_is_the_auc():
    grid = {"C": [0.1, 10.0], "gamma": ["scale", 0.05], "n_basis": [2, 8]}
    search = GridSearchCV(make(), grid, cv=3).fit(X, y)
    by_name = GridSearchCV(make(), grid, cv=3, scoring="roc_auc").fit(X, y)
    key = "mean_test_score"
    assert_allclose(search.cv_results_[key], by_name.cv_results_[key])
    assert search.best_params_ == by_name.best_params_
    assert search.score(X, y) == search.best_estimator_.score(X, y)


def test_cross_val_score_is_the_same_in_several_threads():
    scores = cross_val_score(make(), X, y, cv=3)
    assert scores.min() > 0.75
    with parallel_config("threading", n_jobs=2):
        assert_allclose(cross_val_score(make(), X, y, cv=3), scores)


def test_cross_val_predict_ranks():
    scores = cross_val_predict(make(), X, y, cv=3, method="decision_function")
    assert roc_auc_score(y, scores) > 0.75


# -- probabilities, thresholds, several classes -----------------------------------------------


def test_calibrated_probabilities_rank_as_the_model_does():
    calibrated = CalibratedClassifierCV(make(), ensemble=False, cv=3).fit(X, y)
    probabilities = calibrated.predict_proba(X_NEW)[:, 1]
    assert_array_equal(
        np.argsort(probabilities), np.argsort(make().fit(X, y).decision_function(X_NEW))
    )
    assert_allclose(calibrated.predict_proba(X)[:, 1].mean(), y.mean(), atol=0.05)


def test_every_member_of_a_calibrated_ensemble_ranks_as_its_model_does():
    calibrated = CalibratedClassifierCV(make(), ensemble=True, cv=3).fit(X, y)
    assert len(calibrated.calibrated_classifiers_) == 3
    for member in calibrated.calibrated_classifiers_:
        scores = member.estimator.decision_function(X_NEW)
        assert_array_equal(np.argsort(member.predict_proba(X_NEW)[:, 1]), np.argsort(scores))
    assert roc_auc_score(y, calibrated.predict_proba(X)[:, 1]) > 0.8


def test_isotonic_calibration_never_reverses_the_ranking():
    calibrated = CalibratedClassifierCV(make(), method="isotonic", ensemble=False).fit(X, y)
    order = np.argsort(make().fit(X, y).decision_function(X_NEW))
    assert np.all(np.diff(calibrated.predict_proba(X_NEW)[order, 1]) >= 0)


def test_a_tuned_threshold():
    tuned = TunedThresholdClassifierCV(make(), scoring="recall", cv=3).fit(X, y)
    assert recall_score(y, tuned.predict(X)) > recall_score(y, make().fit(X, y).predict(X))
    balanced = TunedThresholdClassifierCV(make(), scoring="balanced_accuracy", cv=3).fit(X, y)
    assert balanced_accuracy_score(y, balanced.predict(X)) > 0.75


def test_one_against_the_rest_on_iris():
    rows, species = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[species]
    model = OneVsRestClassifier(make()).fit(rows.to_numpy(), names)
    scores = model.decision_function(rows.to_numpy())
    assert scores.shape == (150, 3)
    for column, name in zip(scores.T, model.classes_, strict=True):
        assert roc_auc_score(names == name, column) > 0.97
    assert model.score(rows.to_numpy(), names) > 0.9


# -- metadata ---------------------------------------------------------------------------------


WEIGHTS = np.random.default_rng(0).uniform(0.1, 3, size=240)


def test_weights_are_routed_to_fit_and_score():
    folds, params = StratifiedKFold(3), {"sample_weight": WEIGHTS}
    with sklearn.config_context(enable_metadata_routing=True):
        asked = make().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        routed = cross_validate(asked, X, y, cv=folds, params=params)["test_score"]
    for (train, test), score in zip(folds.split(X, y), routed, strict=True):
        model = make().fit(X[train], y[train], WEIGHTS[train])
        assert_allclose(score, model.score(X[test], y[test], WEIGHTS[test]))


def test_weights_are_routed_through_a_pipeline():
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        asked = make().set_fit_request(sample_weight=True)
        routed = make_pipeline(scaler, asked).fit(X, y, sample_weight=WEIGHTS)
    plain = make_pipeline(StandardScaler(), make())
    plain.fit(X, y, sparsekernelauc__sample_weight=WEIGHTS)
    assert_array_equal(routed.decision_function(X_NEW), plain.decision_function(X_NEW))


def test_weights_nobody_asked_for_are_an_error():
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(make(), {"C": [1.0]}, cv=2)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="set_fit_request"):
            search.fit(X, y, sample_weight=WEIGHTS)


def test_weights_pass_through_a_search():
    search = GridSearchCV(make(), {"C": [1.0]}, cv=2).fit(X, y, sample_weight=WEIGHTS)
    expected = make(C=1.0).fit(X, y, WEIGHTS).decision_function(X_NEW)
    assert_array_equal(search.decision_function(X_NEW), expected)
