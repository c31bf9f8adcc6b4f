import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC, SparseKernelAUCCV
from skauc.plotting import BasisSizeDisplay, FeatureRelevanceDisplay, TuningDisplay

matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

data = load_breast_cancer(as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(data.data)
y = data.target


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_auc_against_size_of_a_real_model():
    model = SparseKernelAUC(8, random_state=0).fit(X, y)
    display = BasisSizeDisplay.from_estimator(model, X, y)
    assert_allclose(display.n_basis, [record.n_basis for record in model.path_])
    assert_allclose(display.auc, [record.train_auc for record in model.path_])
    assert display.chosen == 8


def test_features_are_drawn_by_relevance():
    model = SparseKernelAUC(8, refine=True, random_state=0).fit(X, y)
    display = FeatureRelevanceDisplay.from_estimator(model, max_features=5)
    assert list(display.relevance) == sorted(model.feature_relevance_, reverse=True)[:5]
    assert set(display.names) <= set(X.columns)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == list(display.names)
    assert_allclose([bar.get_width() for bar in display.bars_], display.relevance)


def test_the_tuned_surface_marks_the_choice():
    model = SparseKernelAUCCV(
        Cs=[1, 10], gammas=["scale"], n_basis=8, refine=False, cv=2, random_state=0
    ).fit(X, y)
    display = TuningDisplay.from_estimator(model)
    row = list(display.Cs).index(model.best_params_["C"])
    column = list(display.n_basis).index(model.best_params_["n_basis"])
    assert_allclose(display.auc[row, column], model.best_score_)
    assert np.nanmax(display.auc) >= model.best_score_
