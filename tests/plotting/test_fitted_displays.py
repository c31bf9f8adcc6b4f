"""Displays of a fitted model, alone and inside pipelines and other wrappers."""

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC, SparseKernelAUCCV
from skauc.exceptions import InvalidParameterError
from skauc.plotting import (
    BasisSizeDisplay,
    FeatureRelevanceDisplay,
    RocBandDisplay,
    ScoreDistributionDisplay,
    ThresholdDisplay,
    TuningDisplay,
)
from skauc.preprocessing import TablePreprocessor

matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

data = load_breast_cancer(as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(data.data)
y = data.target


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def refined():
    """A refined model of the raw columns, in the pipeline of the README."""
    model = make_pipeline(StandardScaler(), SparseKernelAUC(8, refine=True, random_state=0))
    return model.fit(data.data, y)


@pytest.fixture(scope="module")
def searched():
    search = SparseKernelAUCCV(
        Cs=[1, 10], gammas=["scale"], n_basis=8, refine=False, cv=2, random_state=0
    )
    return make_pipeline(StandardScaler(), search).fit(data.data, y)


def test_auc_by_size_of_a_real_model():
    model = SparseKernelAUC(8, random_state=0).fit(X, y)
    display = BasisSizeDisplay.from_estimator(model, X, y)
    assert_allclose(display.n_basis, [record.n_basis for record in model.path_])
    assert_allclose(display.auc, [record.train_auc for record in model.path_])
    assert display.chosen == 8


def wrap(name, model):
    if name == "pipeline":
        return model
    if name == "frozen":
        return FrozenEstimator(model)
    return CalibratedClassifierCV(FrozenEstimator(model), ensemble=False).fit(data.data, y)


@pytest.mark.parametrize("name", ["pipeline", "frozen", "calibrated"])
def test_auc_by_size_of_a_wrapped_model(refined, name):
    display = BasisSizeDisplay.from_estimator(wrap(name, refined), data.data, y)
    alone = BasisSizeDisplay.from_estimator(refined[-1], refined[0].transform(data.data), y)
    assert_allclose(display.auc, alone.auc)
    assert (display.chosen, display.estimator_name) == (8, "SparseKernelAUC")


@pytest.mark.parametrize("name", ["pipeline", "frozen", "calibrated"])
def test_features_of_a_wrapped_model_have_the_names_of_the_table(refined, name):
    display = FeatureRelevanceDisplay.from_estimator(wrap(name, refined), max_features=5)
    relevance = refined[-1].feature_relevance_
    order = np.argsort(-relevance)[:5]
    assert display.names == tuple(data.data.columns[order])
    assert_allclose(display.relevance, relevance[order])


def test_columns_of_a_table_preprocessor():
    table = data.data.iloc[:, :3].assign(town=np.where(y, "Oslo", "Bern"))
    model = make_pipeline(TablePreprocessor(), SparseKernelAUC(4, refine=True, random_state=0))
    display = FeatureRelevanceDisplay.from_estimator(model.fit(table, y))
    assert set(display.names) == set(table.columns)
    assert BasisSizeDisplay.from_estimator(model, table, y).auc[-1] > 0.99


def test_features_are_drawn_by_relevance():
    model = SparseKernelAUC(8, refine=True, random_state=0).fit(X, y)
    display = FeatureRelevanceDisplay.from_estimator(model, max_features=5)
    assert list(zip(display.names, display.relevance, strict=True)) == model.rank_features()[:5]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == list(display.names)
    assert_allclose([bar.get_width() for bar in display.bars_], display.relevance)


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_the_results_of_a_search_mark_the_choice(searched, is_wrapped):
    search = searched[-1]
    display = TuningDisplay.from_estimator(searched if is_wrapped else search)
    row = list(display.Cs).index(search.best_params_["C"])
    column = list(display.n_basis).index(search.best_params_["n_basis"])
    own = search.cv_results_["params"].index(search.best_params_)
    assert_allclose(display.auc[row, column], search.cv_results_["mean_test_score"][own])
    assert np.nanmax(display.auc) >= search.best_score_


def test_the_results_of_a_search_are_compared_on_the_same_folds():
    """Cs that are behind on the first two folds are not tried on the others."""
    search = SparseKernelAUCCV(
        Cs=[1e-3, 1.0, 1e3], n_basis=8, cv=4, refine=False, scaling=None, ensemble=False
    )
    search.set_params(linear_term=False, gammas=[0.1], random_state=0).fit(X, y)
    results = search.cv_results_
    assert np.isnan(results["split3_test_score"]).any()
    display = TuningDisplay.from_estimator(search)
    row, column = display.Cs.index(1.0), list(display.n_basis).index(8)
    (own,) = np.flatnonzero((results["param_C"] == 1.0) & (results["param_n_basis"] == 8))
    first = [results[f"split{fold}_test_score"][own] for fold in range(2)]
    assert display.auc[row, column] == pytest.approx(np.mean(first))


def test_a_classifier_without_what_is_drawn_is_rejected():
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    with pytest.raises(
        InvalidParameterError,
        match="with path_ and staged_decision_function, such as SparseKernelAUC; got LogisticRegr",
    ):
        BasisSizeDisplay.from_estimator(model, X, y)
    with pytest.raises(InvalidParameterError, match="with feature_relevance_, such as SparseKerne"):
        FeatureRelevanceDisplay.from_estimator(model)
    with pytest.raises(InvalidParameterError, match="with cv_results_ and best_params_, such as"):
        TuningDisplay.from_estimator(model)
    several = CalibratedClassifierCV(model, cv=2).fit(X, y)
    with pytest.raises(InvalidParameterError, match="a single classifier; CalibratedClassifierCV"):
        BasisSizeDisplay.from_estimator(several, X, y)
    with pytest.raises(NotFittedError):
        FeatureRelevanceDisplay.from_estimator(make_pipeline(StandardScaler(), SparseKernelAUC()))


@pytest.mark.parametrize("display", [RocBandDisplay, ScoreDistributionDisplay, ThresholdDisplay])
def test_other_displays_take_wrapped_models(refined, display):
    calibrated = wrap("calibrated", refined)
    drawn = display.from_estimator(calibrated, data.data, y)
    drawn.figure_.canvas.draw()
