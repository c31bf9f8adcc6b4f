"""Models taken apart."""

import numpy as np
import pandas as pd
import pytest
from messy import make_messy
from numpy.testing import assert_allclose
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from toys import make_toy

from skauc import OPAUC, KernelRankSVM, SparseKernelAUC, SparseKernelAUCCV, StructuralAUC
from skauc.app.workflow import RowScorer, describe_model
from skauc.exceptions import InvalidParameterError
from skauc.explain import column_relevance
from skauc.preprocessing import TablePreprocessor

PLAIN = {"scaling": None, "refine": False, "linear_term": False}


def test_centres_that_are_rows_come_back_as_these_rows():
    X, y = make_messy(400)
    classifier = SparseKernelAUC(6, **PLAIN, random_state=0)
    model = make_pipeline(TablePreprocessor(), classifier).fit(X, y)
    parts = describe_model(model)
    rows = X.iloc[model[-1].basis_indices_]
    assert np.allclose(parts.centres["age"], rows["age"], equal_nan=True)
    assert parts.centres["town"] == rows["town"].fillna("").tolist()
    assert parts.coef.tolist() == model[-1].dual_coef_.tolist()
    assert parts.n_basis == 6
    assert parts.n_numbers == 6 * (len(parts.features) + 1) + 1
    assert parts.units == "units of the table"


@pytest.mark.parametrize("scaling", [None, "rank"])
def test_scaled_centres_come_back_in_their_units(scaling):
    toy = make_toy()
    classifier = SparseKernelAUC(4, scaling=scaling, refine=False, random_state=0)
    model = make_pipeline(StandardScaler(), classifier)
    parts = describe_model(model.fit(100 * toy.X, toy.positive))
    centres = np.array(list(parts.centres.values())).T
    rows = 100 * toy.X[model[-1].basis_indices_]
    assert np.allclose(centres, rows, atol=1e-6 if scaling is None else 10)


def test_steps_that_cannot_be_undone():
    toy = make_toy()
    model = make_pipeline(PCA(2), SparseKernelAUC(4)).fit(toy.X, toy.positive)
    parts = describe_model(model)
    assert "cannot be undone" in parts.units
    assert len(parts.centres) == 2


def test_models_without_centres_and_of_several_models():
    toy = make_toy()
    linear = describe_model(OPAUC().fit(toy.X, toy.positive))
    assert (linear.estimator, linear.n_basis) == ("OPAUC", 0)
    several = CalibratedClassifierCV(SparseKernelAUC(2), ensemble=True).fit(toy.X, toy.positive)
    assert describe_model(several).estimator == "ensemble"
    rows = RowScorer(several)(toy.X)
    assert np.array_equal(rows.flagged, several.predict(toy.X))
    assert np.array_equal(rows.probabilities, several.predict_proba(toy.X)[:, 1])


@pytest.mark.parametrize("model", [KernelRankSVM(), StructuralAUC(kernel="rbf")])
def test_centres_of_every_kernel_method(model):
    toy = make_toy()
    parts = describe_model(model.fit(toy.X, toy.positive))
    assert parts.n_basis == len(model.dual_coef_) > 0
    centres = np.array(list(parts.centres.values())).T
    assert_allclose(centres, toy.X[model.support_], rtol=1e-6)


def test_columns_have_one_relevance():
    X, y = make_messy(400)
    model = make_pipeline(TablePreprocessor(), SparseKernelAUC(6, random_state=0)).fit(X, y)
    parts = describe_model(model)
    assert [(each.name, each.relevance) for each in parts.columns] == sorted(
        column_relevance(model), key=lambda each: list(X.columns).index(each[0])
    )
    features = np.array(model[0].feature_sources()) == "town"
    linear = (model[-1].feature_spread_ * model[-1].linear_coef_)[features]
    found = {each.name: each.linear for each in parts.columns}
    assert found["town"] == pytest.approx(np.linalg.norm(linear))


def test_parameters_say_what_auto_meant():
    toy = make_toy()
    used = describe_model(SparseKernelAUC(6).fit(toy.X, toy.positive)).parameters
    assert (used["scaling"], used["linear_term"], used["refine"]) == ("normal", True, 10)
    assert isinstance(used["C"], float)
    plain = SparseKernelAUC(6, kernel="laplacian").fit(toy.X, toy.positive)
    used = describe_model(plain).parameters
    assert (used["scaling"], used["linear_term"], used["refine"]) == (None, False, 0)
    chosen = SparseKernelAUC(6, scaling="screened", refine=3).fit(toy.X, toy.positive)
    used = describe_model(chosen).parameters
    assert (used["scaling"], used["refine"]) == ("screened", 3)


def test_models_of_other_libraries_are_refused():
    toy = make_toy()
    model = LogisticRegression().fit(toy.X, toy.positive)
    message = "`model` must end with an estimator of skauc; got LogisticRegression"
    with pytest.raises(InvalidParameterError, match=message):
        describe_model(model)


def test_parts_along_axes_are_told_by_feature():
    toy = make_toy()
    X = toy.X @ np.random.default_rng(0).normal(size=(toy.X.shape[1],) * 2)
    model = SparseKernelAUC(4, scaling=None, rotate=True, refine=3, random_state=0)
    model.fit(X, toy.positive)
    parts = describe_model(model)
    axes = model.scaling_.axes
    step = 1e-3 * np.eye(X.shape[1])
    seen = np.linalg.norm(step @ axes / model.length_scales_, axis=1)
    assert_allclose(1e-3 / parts.length_scales, seen)
    line = model.scaling_.transform(X) @ model.linear_coef_
    assert_allclose(X @ parts.linear_coef, line, rtol=1e-4, atol=1e-6)


def test_ridges_have_values_in_the_columns_that_they_use():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 9, 300), "b": rng.integers(0, 9, 300)})
    frame["colour"] = rng.choice(["red", "green"], 300)
    labels = (frame["a"] == frame["b"]).astype(int)
    classifier = SparseKernelAUC(6, shapes="ridge", random_state=0)
    model = make_pipeline(TablePreprocessor(), classifier).fit(frame, labels)
    parts = describe_model(model)
    assert parts.parameters["shapes"] == "ridge"
    for place in np.flatnonzero(classifier.is_ridge_):
        uses = classifier.metric_[place] != 0
        assert (parts.centres["a"][place] is not None) == uses[0]
        assert (parts.centres["b"][place] is not None) == uses[1]
        assert (parts.centres["colour"][place] is not None) == uses[2:].any()


def test_an_average_has_several_cs():
    X, y = make_classification(240, 5, flip_y=0.2, class_sep=0.5, random_state=0)
    search = SparseKernelAUCCV(n_basis=32, cv=3, shapes="round", random_state=0).fit(X, y)
    parts = describe_model(search)
    assert parts.parameters["gamma"] == [search.best_params_["gamma"]]
    assert parts.parameters["C"] == search.ensemble_[0]["Cs"]
    assert len(search.ensemble_[0]["Cs"]) > 1
    alone = describe_model(search.best_estimator_)
    assert alone.parameters["C"] == search.ensemble_[0]["Cs"]
    assert parts.n_basis == search.n_basis_
