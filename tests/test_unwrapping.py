"""Unwrapping of models, and the scores of binary classifiers."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC, load_model, save_model
from skauc.exceptions import InvalidParameterError
from skauc.unwrapping import first_step, layers_of, positive_probabilities, ranking_scores, unwrap

X = np.arange(12.0).reshape(6, 2)
y = np.array([0, 1, 0, 1, 1, 1])


def test_scores_are_preferred_to_probabilities():
    model = LogisticRegression().fit(X, y)
    assert_array_equal(ranking_scores(model, X), model.decision_function(X))
    assert_array_equal(positive_probabilities(model, X), model.predict_proba(X)[:, 1])


def test_probabilities_rank_if_there_are_no_scores():
    model = GaussianNB().fit(X, y)
    assert_array_equal(ranking_scores(model, X), model.predict_proba(X)[:, 1])


@pytest.mark.parametrize(
    "model", [KMeans(2), LogisticRegression()], ids=["no classifier", "three classes"]
)
def test_only_binary_classifiers_are_accepted(model):
    model.fit(X, [0, 1, 2, 0, 1, 2])
    with pytest.raises(
        InvalidParameterError, match=r"must be a binary classifier with .* got (KMeans|Logistic)"
    ):
        ranking_scores(model, X)


def test_every_wrapper_is_removed():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    frozen = FrozenEstimator(pipeline)
    calibrated = CalibratedClassifierCV(frozen, ensemble=False).fit(
        np.tile(X, (5, 1)), np.tile(y, 5)
    )
    model = FixedThresholdClassifier(FrozenEstimator(calibrated), threshold=0.3).fit(X, y)
    unwrapped = unwrap(model)
    assert unwrapped.classifier is pipeline[-1]
    assert unwrapped.steps == (pipeline[0],)
    assert unwrapped.calibrator is calibrated.calibrated_classifiers_[0].calibrators[0]
    assert unwrapped.threshold == 0.3
    assert first_step(model) is pipeline[0]
    assert list(layers_of(model))[-1] is pipeline[-1]
    assert_array_equal(unwrapped.transform(X), pipeline[0].transform(X))


def test_columns_of_a_pipeline_that_begins_with_passthrough():
    X, y = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 2.0]}), [0, 0, 1, 1]
    model = make_pipeline("passthrough", SparseKernelAUC(1, random_state=0)).fit(X, y)
    assert unwrap(model).input_names(model) == ["a", "b"]
    model.fit(X.to_numpy(), y)
    assert unwrap(model).input_names(model) == ["x0", "x1"]


@pytest.mark.parametrize("nothing", [None, "passthrough"])
def test_a_first_step_that_does_nothing_is_skipped(nothing, tmp_path):
    classifier = SparseKernelAUC(1, random_state=0)
    inner = Pipeline([("nothing", nothing), ("scaler", StandardScaler())])
    for rest in ([("model", classifier)], [("scaler", inner), ("model", classifier)]):
        model = Pipeline([("nothing", nothing), *rest]).fit(X, y)
        expected = classifier if len(rest) == 1 else inner[-1]
        assert first_step(model) is expected
        save_model(model, tmp_path / f"{len(rest)}.skauc")
        loaded = load_model(tmp_path / f"{len(rest)}.skauc")
        assert_array_equal(loaded.decision_function(X), model.decision_function(X))
