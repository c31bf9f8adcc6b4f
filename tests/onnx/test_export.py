"""ONNX: onnxruntime gives the scores, labels and probabilities of the fitted model."""

import sys
from functools import cache

import numpy as np
import onnx
import pandas as pd
import pytest
import skl2onnx
from exported import run_onnx
from messy import make_messy
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, RobustScaler, StandardScaler

from skauc import (
    OAM,
    OILK,
    OPAUC,
    AdaOAM,
    KernelRankSVM,
    SAdaOAM,
    SparseKernelAUC,
    SparseKernelAUCCV,
    StructuralAUC,
    to_onnx,
)
from skauc.exceptions import InvalidParameterError, MissingPackageError
from skauc.onnx import register_converters
from skauc.preprocessing import ArcSinh, DateFeatures, TablePreprocessor

X, Y = make_classification(300, 5, class_sep=0.7, random_state=0)
X[:, 4] = np.maximum(np.exp(X[:, 4]) - 0.5, 0.0)  # skewed, with zeros
X = X.astype(np.float32).astype(np.float64)
WORDS = np.array(["no", "yes"])[Y]


def small(n_basis=12, **parameters):
    return SparseKernelAUC(n_basis, random_state=0, **{"scaling": None, **parameters})


def expected(model, rows):
    if hasattr(model, "predict_proba"):
        return "probabilities", model.predict_proba(rows)
    return "scores", model.decision_function(rows)[:, None]


MODELS = {
    "rbf": small(),
    "laplacian": small(kernel="laplacian"),
    "polynomial": small(kernel="polynomial"),
    "linear": small(kernel="linear"),
    "widths": small(gamma=[0.05, 0.5], linear_term=True),
    "refined": small(20, refine=True),
    "local": small(shapes="local"),
    "ridges": small(shapes="ridge", rotate=True),
    "ranks": small(scaling="rank", linear_term=True),
    "refined ranks": small(20, scaling="rank", refine=True),
    "normal": small(scaling="normal", linear_term=True),
    "screened": small(scaling="screened", linear_term=True),
    "clip": small(scaling="clip", rotate=True),
    "log": small(scaling="log", linear_term=True),
    "normal along axes": small(scaling="normal", rotate=True, refine=5, linear_term=True),
    "axes": small(rotate=True),
    "laplacian over ranks": small(kernel="laplacian", scaling="rank"),
    "cv": SparseKernelAUCCV(n_basis=8, Cs=[1.0], gammas=["scale"], cv=2, random_state=0),
    "averaged": SparseKernelAUCCV(n_basis=32, scaling="normal", cv=3, random_state=0),
    "scaled": make_pipeline(StandardScaler(), small()),
    "pipeline": make_pipeline(RobustScaler(), ArcSinh(), PCA(3), "passthrough", small()),
    "sigmoid": CalibratedClassifierCV(make_pipeline(StandardScaler(), small()), ensemble=False),
    "isotonic": CalibratedClassifierCV(small(), method="isotonic", ensemble=False),
    "after": make_pipeline(StandardScaler(), CalibratedClassifierCV(small(), ensemble=False)),
    "tuned": TunedThresholdClassifierCV(make_pipeline(StandardScaler(), small()), cv=3),
    "tuned probability": TunedThresholdClassifierCV(
        CalibratedClassifierCV(small(), ensemble=False), cv=3
    ),
    "fixed": FixedThresholdClassifier(small(), threshold=0.25),
    "structural": StructuralAUC(C=0.1),
    "structural rbf": StructuralAUC(C=0.1, kernel="rbf"),
    "rank svm": make_pipeline(StandardScaler(), KernelRankSVM()),
    "OAM": OAM(random_state=0),
    "OPAUC": OPAUC(rank=2),
    "AdaOAM": AdaOAM(),
    "SAdaOAM": CalibratedClassifierCV(SAdaOAM(), ensemble=False),
    "OILK": OILK(buffer_size=20, random_state=0),
}


@cache
def fitted(name):
    return MODELS[name].fit(X, WORDS)


@pytest.mark.parametrize("name", MODELS)
def test_scores_and_labels_are_those_of_the_model(name):
    model = fitted(name)
    output, values = expected(model, X)
    for precision, atol in (("float32", 1e-5), ("float64", 1e-10)):
        found = run_onnx(to_onnx(model, precision=precision), {"X": X.astype(precision)})
        assert list(found) == ["label", output]
        assert found[output].dtype == precision
        assert_allclose(found[output], values, atol=atol)
        assert_array_equal(found["label"], model.predict(X))


def test_calibration_of_a_frozen_model():
    model = CalibratedClassifierCV(FrozenEstimator(fitted("rbf")), ensemble=False).fit(X, WORDS)
    found = run_onnx(to_onnx(model, precision="float64"), {"X": X})
    assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-10)
    assert_array_equal(found["label"], model.predict(X))


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
def test_calibrations(method):
    model = CalibratedClassifierCV(small(), method=method, ensemble=False)
    try:
        model.fit(X, WORDS)
    except ValueError:
        pytest.skip(f"this scikit-learn has no method {method!r}")
    found = run_onnx(to_onnx(model, precision="float64"), {"X": X})
    assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-10)
    assert_array_equal(found["label"], model.predict(X))


@pytest.mark.parametrize(
    "labels", [Y, Y.astype(bool), Y.astype(float), 3 - 2 * Y, WORDS, WORDS.astype(object)]
)
def test_labels_of_every_kind(labels):
    model = small().fit(X, labels)
    found = run_onnx(to_onnx(model), {"X": X.astype(np.float32)})["label"]
    assert_array_equal(found, model.predict(X))


def test_float32_is_the_default_and_far_from_zero_nothing_cancels():
    """|x|^2 - 2 x.z + |z|^2 in float32 would lose every digit here."""
    rows = (X + 1000.0).astype(np.float32)
    model = make_pipeline(StandardScaler(), small()).fit(rows.astype(np.float64), Y)
    found = run_onnx(to_onnx(model), {"X": rows})["scores"]
    assert_allclose(found[:, 0], model.decision_function(rows.astype(np.float64)), atol=1e-5)
    bare = small(gamma=0.1).fit(rows.astype(np.float64), Y)
    found = run_onnx(to_onnx(bare), {"X": rows})["scores"]
    assert_allclose(found[:, 0], bare.decision_function(rows.astype(np.float64)), atol=1e-5)


@pytest.mark.parametrize("shapes", ["round", "local", "ridge", "additive"])
def test_rows_whose_squares_overflow(shapes):
    model = small(shapes=shapes, refine=True, linear_term=True).fit(X, WORDS)
    signs = np.vstack((np.eye(X.shape[1]), -np.eye(X.shape[1]), np.ones(X.shape[1])))
    rows = np.vstack([X, *(size * signs for size in (1e10, 1e150, 1e155, 1e200, 1e300))])
    found = run_onnx(to_onnx(model, precision="float64"), {"X": rows})
    assert_allclose(found["scores"][:, 0], model.decision_function(rows), rtol=1e-9, atol=1e-9)
    assert_array_equal(found["label"], model.predict(rows))


def test_sparse_centres():
    model = small().fit(sparse.csr_array(X), Y)
    found = run_onnx(to_onnx(model, precision="float64"), {"X": X})["scores"]
    assert_allclose(found[:, 0], model.decision_function(X), atol=1e-10)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_ranks_at_their_knots_between_and_beyond_them(precision):
    """Heavy tails, ties, a constant, and values that the training rows did not have."""
    rng = np.random.default_rng(0)
    rows = np.column_stack(
        (np.exp(3 * X[:, 0]), -1e9 * X[:, 1], np.round(X[:, 2]), Y, np.full(len(X), 3.0))
    ).astype(np.float32)
    model = small(scaling="rank", linear_term=True).fit(rows.astype(np.float64), Y)
    knots = model.scaling_.by_feature.knots.astype(np.float32)
    between = (knots[1:] + knots[:-1]) / 2
    far = rng.choice([-3e38, -1.0, 0.0, 1e-38, 3e38], (50, rows.shape[1]))
    near = np.nextafter(knots, rng.choice([-np.inf, np.inf], knots.shape).astype(np.float32))
    new = np.vstack((rows, knots, between, far, near)).astype(precision)
    found = run_onnx(to_onnx(model, precision=precision), {"X": new})["scores"][:, 0]
    values = model.decision_function(new.astype(np.float64))
    assert_allclose(found, values, atol=1e-5 if precision == "float32" else 1e-12)


def test_ranks_of_denormal_and_of_huge_values():
    """The slopes between knots overflow in the first column, their distances in the second."""
    rows = np.column_stack((5e-324 * np.round(100 * X[:, 0]), 1.7e308 * np.tanh(X[:, 1]), X[:, 2]))
    model = small(scaling="rank", linear_term=True).fit(rows, Y)
    knots = model.scaling_.by_feature.knots
    new = np.vstack((rows, knots, knots[1:] / 2 + knots[:-1] / 2, [[5e-324, -1.7e308, 0.0]]))
    found = run_onnx(to_onnx(model, precision="float64"), {"X": new})["scores"][:, 0]
    assert_allclose(found, model.decision_function(new), atol=1e-10)


def test_a_graph_over_ranks_holds_nothing_larger_than_the_rows():
    model = small(scaling="rank").fit(X, Y)
    graph = onnx.shape_inference.infer_shapes(to_onnx(model, precision="float64")).graph
    shapes = [value.type.tensor_type.shape.dim for value in graph.value_info]
    assert {shape[-1].dim_value for shape in shapes if len(shape) > 1} == {1, 2, 5, 12}


def test_grades_have_scores_alone():
    model = KernelRankSVM().fit(X, np.arange(300) % 3, qid=np.zeros(300, dtype=int))
    found = run_onnx(to_onnx(model, precision="float64"), {"X": X})
    assert list(found) == ["scores"]
    assert_allclose(found["scores"][:, 0], model.decision_function(X), atol=1e-10)


def table_inputs(step, frame):
    """The columns as the graph takes them: numbers, seconds and strings."""
    return {name: values[:, None] for name, values in step.column_values(frame).items()}


@pytest.mark.parametrize("calibrate", [False, True])
def test_a_messy_table(calibrate):
    frame, y = make_messy()
    frame = frame.rename(columns={"age": "the äge", "town": "scores"})
    model = make_pipeline(TablePreprocessor(), small())
    model = CalibratedClassifierCV(model, ensemble=False) if calibrate else model
    model.fit(frame, y)
    other, _ = make_messy(seed=1)
    other = other.rename(columns={"age": "the äge", "town": "scores"})
    other.loc[::5, "scores"] = "Paris"
    other.loc[::7, "name"] = None
    other.loc[1::7, "name"] = "MRS. jones-Müller,\nmr_smith"
    step = model.calibrated_classifiers_[0].estimator[0] if calibrate else model[0]
    found = run_onnx(to_onnx(model), table_inputs(step, other))
    _, values = expected(model, other)
    assert_allclose(list(found.values())[1], values, atol=1e-9)
    assert_array_equal(found["label"], model.predict(other))
    assert list(found)[1] == ("probabilities" if calibrate else "output scores")


def test_a_column_whose_odds_jump():
    random = np.random.default_rng(0)
    paid = random.integers(0, 60, size=1500).astype(float)
    y = (paid % 5 == 0) ^ (random.random(1500) < 0.1)
    paid[::40] = np.nan
    frame = pd.DataFrame({"paid": paid})
    model = make_pipeline(TablePreprocessor(), small()).fit(frame, y)
    assert model[0].get_feature_names_out().tolist()[-1] == "paid_steps"
    found = run_onnx(to_onnx(model), table_inputs(model[0], frame))
    assert_allclose(found["scores"][:, 0], model.decision_function(frame), atol=1e-9)


def test_a_frame_with_a_column_transformer_of_ones_own():
    frame = pd.DataFrame(X, columns=list("abcde")).assign(
        town=np.where(X[:, 0] > 0, "Oslo", "Bern")
    )
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = ColumnTransformer(
        [("numbers", numbers, list("abcde")), ("town", OneHotEncoder(), ["town"])]
    )
    model = make_pipeline(columns, small()).fit(frame, Y)
    inputs = {name: frame[[name]].to_numpy(dtype=np.float32) for name in "abcde"}
    inputs["town"] = frame[["town"]].to_numpy(dtype=object)
    found = run_onnx(to_onnx(model, frame), inputs)["scores"]
    assert_allclose(found[:, 0], model.decision_function(frame), atol=1e-5)


def test_dates():
    seconds = 1.7e9 + 1e4 * np.arange(300.0)[:, None]
    model = make_pipeline(DateFeatures(), StandardScaler(), small()).fit(seconds, Y)
    found = run_onnx(to_onnx(model, precision="float64"), {"X": seconds})["scores"]
    assert_allclose(found[:, 0], model.decision_function(seconds), atol=1e-7)


@pytest.mark.parametrize("name", ["rbf", "scaled", "sigmoid"])
def test_skl2onnx_itself_converts_pipelines_of_ones_own(name):
    register_converters()
    model = fitted(name)
    rows = X.astype(np.float32)
    graph = skl2onnx.to_onnx(model, rows[:1], options={"zipmap": False}, target_opset=17)
    label, columns = run_onnx(graph, {"X": rows}).values()
    _, values = expected(model, X)
    assert_allclose(columns[:, -1], values[:, -1], atol=1e-5)
    assert_array_equal(label, model.predict(X))


BAD = [
    (small, {}, NotFittedError, "not fitted"),
    (
        lambda: fitted("rbf"),
        {"precision": "half"},
        InvalidParameterError,
        "one of 'float32', 'float64'",
    ),
    (
        lambda: small(2, kernel=rbf_kernel).fit(X[:40], Y[:40]),
        {},
        InvalidParameterError,
        "whose `kernel` is a function cannot",
    ),
    (
        lambda: LogisticRegression().fit(X, Y),
        {},
        InvalidParameterError,
        "LogisticRegression does not hold an estimator of skauc .* Use skl2onnx for models",
    ),
    (
        lambda: CalibratedClassifierCV(small(2), cv=2).fit(X, Y),
        {},
        InvalidParameterError,
        "mean of 2 calibrated models .* with ensemble=False",
    ),
    (
        lambda: FixedThresholdClassifier(small(2), threshold=0.1, pos_label=0).fit(X, Y),
        {},
        InvalidParameterError,
        "pos_label=0 cannot be converted .* Use the larger label, '1'",
    ),
]


@pytest.mark.parametrize(("make_model", "arguments", "error", "message"), BAD)
def test_what_cannot_be_converted(make_model, arguments, error, message):
    with pytest.raises(error, match=message):
        to_onnx(make_model(), **arguments)


def test_tables_that_cannot_be_converted():
    frame, y = make_messy()
    model = make_pipeline(TablePreprocessor(), small()).fit(frame, y)
    with pytest.raises(InvalidParameterError, match=r"Column 'born' holds dates, .*'float64'"):
        to_onnx(model, precision="float32")
    register_converters()
    words = make_pipeline(TablePreprocessor(), small(2)).fit(frame[["name"]], y)
    with pytest.raises(InvalidParameterError, match=r"ONNX 20; got target_opset=17. Set it to 20"):
        skl2onnx.to_onnx(words, frame[["name"]], target_opset=17)


def test_wrappers_around_wrappers():
    inner = FixedThresholdClassifier(small(), threshold=0.3)
    outer = CalibratedClassifierCV(inner, ensemble=False, cv=2).fit(X, Y)
    found = run_onnx(to_onnx(outer, precision="float64"), {"X": X})
    assert_allclose(found["probabilities"], outer.predict_proba(X), atol=1e-9)
    assert_array_equal(found["label"], outer.predict(X))
    twice = CalibratedClassifierCV(FrozenEstimator(outer)).fit(X, Y)
    with pytest.raises(InvalidParameterError, match=r"calibrated scores .* Calibrate once"):
        to_onnx(twice)


def test_skl2onnx_is_not_installed(monkeypatch):
    monkeypatch.delitem(sys.modules, "skauc.onnx.graphs", raising=False)
    monkeypatch.delattr("skauc.onnx.graphs", raising=False)
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(
        MissingPackageError, match=r"package skl2onnx.* pip install 'skauc\[onnx\]'"
    ):
        to_onnx(small().fit(X, Y))
