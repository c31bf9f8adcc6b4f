"""The description of the model, also for classifiers of other libraries."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from skauc.report import make_report
from skauc.report.model_summary import summarise_model
from skauc.unwrapping import unwrap


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no text")


class OddParameters(ClassifierMixin, BaseEstimator):
    """Takes any keyword as a parameter, like LightGBM."""

    def __init__(self, C=1.0, **others):
        self.C = C
        self.others = others

    def get_params(self, deep=True):
        return {"C": self.C, **self.others}

    def fit(self, X, y):
        self.inner_ = LogisticRegression(C=self.C, max_iter=10_000).fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)

    def predict(self, X):
        return self.inner_.predict(X)


def test_parameters_without_a_default_are_shown(tumours, tmp_path):
    model = OddParameters(C=0.5, verbose=-1, odd=Unprintable())
    model.fit(np.asarray(tumours.X_train)[:, :4], tumours.y_train)
    path = make_report(
        tmp_path / "odd.html", model, np.asarray(tumours.X_test)[:, :4], tumours.y_test
    )
    assert "verbose" in path.read_text()
    summary = summarise_model(unwrap(model))
    assert summary.parameters == (("C", "0.5"), ("verbose", "-1"), ("odd", "<Unprintable>"))


def test_lightgbm_has_a_report(tumours, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1)
    model.fit(tumours.X_train, tumours.y_train)
    path = make_report(tmp_path / "trees.html", model, tumours.X_test, tumours.y_test)
    assert "LGBMClassifier has no centres." in path.read_text()
    assert ("verbose", "-1") in summarise_model(unwrap(model)).parameters


def test_long_values_are_shortened():
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    model = OddParameters(long=[0.123456789] * 60, text="x" * 200).fit(X, y)
    parameters = dict(summarise_model(unwrap(model)).parameters)
    assert parameters["long"].startswith("0.1235, 0.1235")
    assert all(len(value) == 80 and value.endswith("…") for value in parameters.values())
