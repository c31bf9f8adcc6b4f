"""The output ``contributions`` of ONNX graphs against `shapley_values`."""

import numpy as np
import pandas as pd
import pytest
from exported import run_onnx
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import SparseKernelAUC, TablePreprocessor, to_onnx
from skauc.exceptions import InvalidDataError, InvalidParameterError
from skauc.explain import shapley_values

X, Y = make_classification(200, 6, class_sep=0.7, random_state=0)


MODELS = {
    "rbf": SparseKernelAUC(8, gamma=[0.05, 0.5], random_state=0),
    "local": SparseKernelAUC(8, shapes="local", random_state=0),
    "ridges": SparseKernelAUC(12, shapes="ridge", random_state=0),
    "ridges of ranks": SparseKernelAUC(12, shapes="ridge", scaling="rank", random_state=0),
    "laplacian": SparseKernelAUC(8, kernel="laplacian", random_state=0),
    "linear": SparseKernelAUC(3, kernel="linear", random_state=0),
    "ranks": SparseKernelAUC(8, scaling="rank", linear_term=True, refine=2, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_values_are_exact(name):
    model = make_pipeline(StandardScaler(), MODELS[name]).fit(X, Y)
    graph = to_onnx(model, precision="float64", contributions=X[7:8])
    out = run_onnx(graph, {"X": np.vstack((X[:20], 50 * X[:1]))})
    expected = shapley_values(model, np.vstack((X[:20], 50 * X[:1])), X[7:8])
    np.testing.assert_allclose(out["contributions"], expected.values, rtol=0, atol=1e-10)
    facts = {each.key: each.value for each in graph.metadata_props}
    assert float(facts["base_value"]) == pytest.approx(expected.base_values[0], abs=1e-12)


@pytest.mark.parametrize("shapes", ["round", "ridge"])
def test_tables_have_one_value_per_column(shapes):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"colour": rng.choice(["red", "green"], 150), "size": rng.normal(size=150)}
    )
    y = (frame["colour"] == "red") + frame["size"] > 0.7
    classifier = SparseKernelAUC(6, shapes=shapes, random_state=0)
    model = make_pipeline(TablePreprocessor(), classifier).fit(frame, y)
    assert classifier.is_ridge_.any() == (shapes == "ridge")
    graph = to_onnx(model, contributions=True)
    inputs = {
        "colour": frame[["colour"]].to_numpy().astype(object)[:9],
        "size": frame[["size"]].to_numpy()[:9],
    }
    out = run_onnx(graph, inputs)
    facts = {each.key: each.value for each in graph.metadata_props}
    assert facts["columns"].split("\n") == ["colour", "size"]
    total = out["contributions"].sum(axis=1) + float(facts["base_value"])
    np.testing.assert_allclose(total, out["scores"].ravel(), rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("model", "row", "message"),
    [
        (SparseKernelAUC(4, random_state=0), X[:2], "must be one row; got 2"),
        (SparseKernelAUC(4, kernel="polynomial", random_state=0), True, "are exact: the kernel is"),
        (make_pipeline(PCA(3), SparseKernelAUC(4, random_state=0)), X[:1], "such as PCA"),
    ],
)
def test_what_has_no_contributions(model, row, message):
    with pytest.raises((InvalidDataError, InvalidParameterError), match=message):
        to_onnx(model.fit(X, Y), contributions=row)
