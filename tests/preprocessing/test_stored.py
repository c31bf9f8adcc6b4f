"""A fitted preprocessor is arrays and plain values: it can be stored and exported."""

import json

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from messy import make_written
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

from skauc import SparseKernelAUC, load_model, save_model, to_onnx
from skauc.preprocessing import TablePreprocessor

FRAME, WRITTEN, Y = make_written(600)
CHOICES = {"category": ["visits"], "drop": ["id"]}


@pytest.fixture(scope="module")
def model():
    step = TablePreprocessor(**CHOICES)
    return make_pipeline(step, SparseKernelAUC(4, random_state=0)).fit(WRITTEN, Y)


def plain(value):
    """Return a value as JSON has it, or raise an error if it is anything else."""
    if isinstance(value, np.ndarray):
        assert value.dtype == object or value.dtype.kind == "f"
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def test_fitted_attributes_are_plain(model):
    step = model[0]
    fitted = {name: value for name, value in vars(step).items() if name.endswith("_")}
    assert {"columns_", "forms_", "column_report_", "parts_"} <= set(fitted)
    assert json.loads(json.dumps(plain(fitted))) == plain(fitted)


def test_a_stored_model_reads_the_same_forms(model, tmp_path):
    path = save_model(model, tmp_path / "model.skauc")
    loaded = load_model(path)
    assert loaded[0].forms_ == model[0].forms_
    assert loaded[0].column_report_ == model[0].column_report_
    assert_array_equal(loaded.decision_function(WRITTEN), model.decision_function(WRITTEN))


def test_an_exported_model_takes_the_parsed_columns(model):
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    columns = model[0].column_values(WRITTEN)
    scores = session.run(["scores"], {name: v[:, None] for name, v in columns.items()})[0]
    assert_allclose(scores[:, 0], model.decision_function(WRITTEN), atol=1e-8)


def test_a_written_table_gives_the_numbers_of_the_table(model):
    step = TablePreprocessor(**CHOICES).fit(FRAME, Y)
    assert model[0].columns_ == step.columns_
    assert_allclose(model[0].transform(WRITTEN), step.transform(FRAME), atol=1e-12)


@pytest.mark.parametrize("n_columns", [600])
def test_wide_tables_are_stored(tmp_path, n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, n_columns))
    X[rng.random(X.shape) < 0.05] = np.nan
    frame = pd.DataFrame(X, columns=[f"a rather long name {i}" for i in range(n_columns)])
    model = make_pipeline(TablePreprocessor(), SparseKernelAUC(2, random_state=0))
    model.fit(frame, rng.random(120) < 0.3)
    path = save_model(model, tmp_path / "wide.skauc")
    assert path.stat().st_size < 400_000
    assert_array_equal(load_model(path).decision_function(frame), model.decision_function(frame))
