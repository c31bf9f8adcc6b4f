"""Shapley values against the enumeration of all subsets of columns."""

import pickle
import warnings
from itertools import combinations
from math import comb

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.ndimage import zoom
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from reproduction.data_sets import load_dataset
from skauc import OAM, KernelRankSVM, SparseKernelAUC, StructuralAUC
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.explain import shapley_values


def enumerated(score, row, background, shares):
    """Return the Shapley values of one row by definition."""
    n = len(row)

    def value(subset):
        rows = background.copy()
        rows[:, list(subset)] = row[list(subset)]
        return float(shares @ score(rows))

    values = np.zeros(n)
    for column in range(n):
        others = [j for j in range(n) if j != column]
        for size in range(n):
            for subset in combinations(others, size):
                gain = value((*subset, column)) - value(subset)
                values[column] += gain / (n * comb(n - 1, size))
    return values


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5)) * [1, 2, 0.5, 1, 3]
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=120) > 0.8
    return X, y


MODELS = {
    "rbf": SparseKernelAUC(6, random_state=0),
    "laplacian": SparseKernelAUC(6, kernel="laplacian", random_state=0),
    "linear kernel": SparseKernelAUC(3, kernel="linear", random_state=0),
    "widths": SparseKernelAUC(6, gamma=[0.02, 0.1, 0.5], random_state=0),
    "linear term": SparseKernelAUC(6, linear_term=True, random_state=0),
    "refined": SparseKernelAUC(6, refine=3, random_state=0),
    "local": SparseKernelAUC(6, shapes="local", random_state=0),
    "ridges": SparseKernelAUC(12, shapes="ridge", scaling="rank", random_state=0),
    "rank": SparseKernelAUC(6, scaling="rank", random_state=0),
    "normal": SparseKernelAUC(6, scaling="normal", linear_term=True, refine=3, random_state=0),
    "log": SparseKernelAUC(6, scaling="log", random_state=0),
    "clip": SparseKernelAUC(6, scaling="clip", shapes="local", random_state=0),
    "all rows": KernelRankSVM(),
    "structural": StructuralAUC(kernel="rbf"),
}


@pytest.mark.parametrize("name", MODELS)
def test_values_equal_the_enumeration_of_subsets(rows, name):
    X, y = rows
    model = MODELS[name].fit(X, y)
    background, weight = X[40:47], np.arange(1.0, 8.0)
    explanation = shapley_values(model, X[:3], background, background_weight=weight, method="exact")
    for row, values in zip(X[:3], explanation.values, strict=True):
        expected = enumerated(model.decision_function, row, background, weight / weight.sum())
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-10)


def test_only_the_ratios_of_background_weights_matter(rows):
    """The sum of the huge ones is infinite."""
    X, y = rows
    model, weights = MODELS["rbf"].fit(X, y), np.arange(1.0, 8.0)
    usual, huge = (
        shapley_values(model, X[:3], X[40:47], background_weight=weights * unit)
        for unit in (1.0, 1e307)
    )
    np.testing.assert_allclose(huge.values, usual.values, rtol=1e-12)
    np.testing.assert_allclose(huge.base_values, usual.base_values, rtol=1e-12)


def test_values_of_ten_columns_equal_the_enumeration_of_subsets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10))
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=200) > 0.8
    model = SparseKernelAUC(16, shapes="ridge", random_state=0).fit(X, y)
    explanation = shapley_values(model, X[:1], X[40:45], method="exact")
    expected = enumerated(model.decision_function, X[0], X[40:45], np.full(5, 0.2))
    np.testing.assert_allclose(explanation.values[0], expected, rtol=0, atol=1e-10)


def check_additive(model, rows, background):
    found = shapley_values(model, rows, background, method="exact")
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, model.decision_function(rows), rtol=0, atol=1e-10)
    expected = model.decision_function(background).mean()
    np.testing.assert_allclose(found.base_values, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("name", "n_features"), [("ijcnn1", 22), ("sonar", 60)])
def test_values_of_real_models_add_up_to_the_scores(data_folder, name, n_features):
    data = load_dataset(name)
    X, y = data.X_train[:2000], data.y_train[:2000]
    assert X.shape[1] == n_features
    check_additive(SparseKernelAUC(32, random_state=0).fit(X, y), X[:50], X[50:150])


def test_values_of_a_model_of_784_pixels_add_up_to_the_scores():
    images, digit = load_digits(return_X_y=True)
    X = zoom(images.reshape(-1, 8, 8), (1, 3.5, 3.5), order=1).reshape(-1, 784)[:600]
    model = make_pipeline(StandardScaler(), SparseKernelAUC(16, random_state=0))
    check_additive(model.fit(X, digit[:600] == 8), X[:4], X[50:90])


def test_the_result_does_not_depend_on_threads(rows):
    X, y = rows
    model = MODELS["rbf"].fit(X, y)
    one, two = (shapley_values(model, X, X[:9], n_jobs=n).values for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("make", [pd.DataFrame, pytest.param("polars", id="polars")])
def test_categories_are_explained_as_one_column(make):
    rng = np.random.default_rng(2)
    columns = {
        "size": rng.normal(size=150),
        "colour": rng.choice(["red", "green", "blue"], 150),
        "age": rng.normal(size=150),
    }
    y = columns["size"] * (columns["colour"] == "red") + rng.normal(size=150) > 0.7
    frame = pd.DataFrame(columns)
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["colour"]), remainder=StandardScaler()
    )
    classifier = SparseKernelAUC(8, shapes="ridge", random_state=0)
    model = make_pipeline(encode, classifier).fit(frame, y)
    assert classifier.is_ridge_.any()
    if make == "polars":
        frame = pytest.importorskip("polars").DataFrame(columns)
    explanation = shapley_values(model, frame[:5], frame[60:70])
    assert explanation.feature_names == ["size", "colour", "age"]
    assert explanation.data[0, 1] in ("red", "green", "blue")
    assert explanation.is_exact
    values = np.array([list(row) for row in zip(*columns.values(), strict=True)], dtype=object)

    def score(rows):
        return model.decision_function(pd.DataFrame(rows, columns=list(columns)).infer_objects())

    expected = enumerated(score, values[0], values[60:70], np.full(10, 0.1))
    np.testing.assert_allclose(explanation.values[0], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (SparseKernelAUC(6, rotate=True, refine=3, random_state=0), "mixes the columns"),
        (SparseKernelAUC(6, kernel="polynomial", random_state=0), "the kernel is polynomial"),
        (make_pipeline(PCA(3), SparseKernelAUC(6, random_state=0)), "from several columns"),
    ],
)
def test_models_without_products_are_sampled(rows, model, problem):
    X, y = rows
    model.fit(X, y)
    with pytest.raises(InvalidParameterError, match=f"method='exact' is not possible: .*{problem}"):
        shapley_values(model, X[:2], X[:9], method="exact")
    explanation = shapley_values(model, X[:2], X[40:49], n_permutations=2000)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.decision_function(X[:2]), rtol=0, atol=1e-10)
    expected = enumerated(model.decision_function, X[0], X[40:49], np.full(9, 1 / 9))
    errors = explanation.standard_errors[0]
    assert (np.abs(explanation.values[0] - expected) < 5 * errors + 1e-12).all()
    assert not explanation[:1].is_exact


def test_rows_are_explained_in_blocks(rows, monkeypatch):
    X, y = rows
    model = MODELS["linear term"].fit(X, y)
    at_once = shapley_values(model, X, X[:30])
    monkeypatch.setattr("skauc.explain.shapley._BLOCK", 120)
    in_blocks = shapley_values(model, X, X[:30])
    np.testing.assert_allclose(in_blocks.values, at_once.values, rtol=0, atol=1e-12)


def test_values_of_one_feature_and_of_constant_features():
    X = np.column_stack([np.linspace(-1, 1, 40), np.full(40, 3.0)])
    y = X[:, 0] > 0.2
    alone = SparseKernelAUC(4, random_state=0).fit(X[:, :1], y).shapley_values(X[:3, :1])
    assert alone.values.shape == (3, 1)
    both = SparseKernelAUC(4, random_state=0).fit(X, y).shapley_values(X[:3])
    assert (both.values[:, 1] == 0).all()
    assert np.isfinite(both.values).all()


def test_bad_input_says_what_is_wrong(rows):
    X, y = rows
    model = MODELS["rbf"].fit(X, y)
    with pytest.raises(InvalidParameterError, match="`background_weight` needs `background`"):
        shapley_values(model, X[:2], background_weight=[1.0])
    with pytest.raises(InvalidParameterError, match="this OAM keeps no summary"):
        shapley_values(OAM(random_state=0).fit(X, y), X[:2])
    mixed = make_pipeline(PCA(3), SparseKernelAUC(6, random_state=0)).fit(X, y)
    with pytest.raises(InvalidParameterError, match="a step of the pipeline does not say"):
        shapley_values(mixed, X[:2])
    with pytest.raises(InvalidDataError, match=r"the 5 columns of `X`; got shape \(9, 4\)"):
        shapley_values(model, X[:2], X[:9, :4])
    with pytest.raises(InvalidDataError, match=r"`X` must have two dimensions.* shape \(5,\)"):
        shapley_values(model, X[0])
    with pytest.raises(InvalidDataError, match=r"`background` must have two dimensions"):
        shapley_values(model, X[:2], y)
    with pytest.raises(InvalidDataError, match=r"`X` must be a dataframe if .*: 'red'"):
        shapley_values(model, np.array([[1.0, 2.0, 3.0, 4.0, "red"]], dtype=object))
    with pytest.raises(InvalidDataError, match="`background_weight` must have one finite weight"):
        shapley_values(model, X[:2], X[:9], background_weight=[1.0])
    with pytest.raises(ValueError, match="NaN"):
        shapley_values(model, X[:2], np.full((2, 5), np.nan))
    with pytest.raises(InvalidParameterError, match="`method` must be"):
        shapley_values(model, X[:2], X[:9], method="fast")
    with pytest.raises(InvalidParameterError, match="one fitted skauc classifier; got Logistic"):
        shapley_values(LogisticRegression().fit(X, y), X[:2], X[:9])


def test_values_and_plots_of_shap():
    """The plots take the object as it is; the values are those of shap, for all coalitions."""
    shap = pytest.importorskip("shap")
    data = load_breast_cancer(as_frame=True)
    X = data.data.iloc[:, :7]
    model = make_pipeline(StandardScaler(), SparseKernelAUC(8, random_state=0)).fit(X, data.target)
    found = shapley_values(model, X[:20], X[100:110])
    # Seven columns have few coalitions: it takes them all. The exact explainer compiles for 9 s.
    explainer = shap.KernelExplainer(
        lambda rows: model.decision_function(pd.DataFrame(rows, columns=X.columns)),
        X[100:110].to_numpy(),
    )
    expected = explainer.shap_values(X[:20].to_numpy(), silent=True, l1_reg=False)
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-10)
    plots = shap.plots
    with plt.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of shap itself
        for plot in (plots.beeswarm, plots.bar, plots.heatmap, plots.violin):
            plot(found, show=False)
        plots.waterfall(found[0], show=False)
        plots.force(found[0], matplotlib=True, show=False)
        plots.scatter(found[:, "mean radius"], color=found, show=False)
    plt.close("all")
    copy = pickle.loads(pickle.dumps(found))
    assert type(copy) is type(found)
    np.testing.assert_array_equal(copy.values, found.values)
