"""Warnings point to the line of the user, however deep they arise."""

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from skauc import KernelRankSVM, SparseKernelAUC, SparseKernelAUCCV, StructuralAUC
from skauc.exceptions import FewCentresWarning, UnscaledFeaturesWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * [1, 1, 10_000]
y = X[:, 0] > 0
SMALL = {"n_basis": 2, "scaling": None, "random_state": 0}


@pytest.mark.parametrize(
    "model",
    [
        SparseKernelAUC(**SMALL),
        SparseKernelAUCCV(**SMALL, effort="quick", cv=2),
        KernelRankSVM(),
        StructuralAUC(kernel="rbf"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_warnings_of_a_fit_point_to_its_caller(model):
    with pytest.warns(UnscaledFeaturesWarning) as caught:
        model.fit(X, y)
    assert {warning.filename for warning in caught} == {__file__}


def test_warnings_below_scikit_learn_point_to_its_caller():
    repeated = np.repeat(X[:5], 12, axis=0)
    model = make_pipeline(MinMaxScaler(), SparseKernelAUC(20, random_state=0))
    with pytest.warns(FewCentresWarning) as caught:
        model.fit(repeated, y)
    assert {warning.filename for warning in caught} == {__file__}


def test_warnings_of_scores_point_to_their_caller():
    model = SparseKernelAUC(2, scaling=None, linear_term=False, random_state=0)
    model.fit(X / [1, 1, 10_000], y)
    for ask in (model.decision_function, model.predict):
        with warnings.catch_warnings(record=True, action="always") as caught:
            ask(X + 1e6)
        assert [warning.filename for warning in caught] == [__file__]
