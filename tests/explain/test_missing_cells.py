"""Missing cells of every type that tables have are shown as missing."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from skauc import SparseKernelAUC, TablePreprocessor, make_report
from skauc.explain import partial_dependence, shapley_values
from skauc.plotting import InteractionDisplay, ShapeDisplay, WaterfallDisplay
from skauc.support import is_missing

matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

N_ROWS = 150
TEXTS = [f"word{row % 50} other{row % 7} thing" if row % 3 < 2 else None for row in range(N_ROWS)]
COLUMNS = {
    "Int64": pd.array([1, 2, None] * 50, dtype="Int64"),
    "Float64": pd.array([1.5, 2.5, None] * 50, dtype="Float64"),
    "boolean": pd.array([True, False, None] * 50, dtype="boolean"),
    "bool[pyarrow]": pd.array([True, False, None] * 50, dtype="bool[pyarrow]"),
    "string": pd.array(["a", "b", None] * 50, dtype="string"),
    "string[pyarrow]": pd.array(["a", "b", None] * 50, dtype="string[pyarrow]"),
    "category": pd.array(["a", "b", None] * 50, dtype="string").astype("category"),
    "object": np.array(["a", "b", pd.NA] * 50, dtype=object),
    "percent": pd.array(["10%", "20.5%", None] * 50, dtype="string"),
    "date": pd.to_datetime(["2020-01-01", "2021-05-06", None] * 50),
    "text": pd.array(TEXTS, dtype="string"),
}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(name="case", params=COLUMNS)
def model_and_table(request):
    random = np.random.default_rng(0)
    table = pd.DataFrame({"a": COLUMNS[request.param], "b": random.normal(size=N_ROWS)})
    y = table["b"] + random.normal(size=N_ROWS) > 0.5
    model = make_pipeline(TablePreprocessor(), SparseKernelAUC(8, refine=False, random_state=0))
    return model.fit(table, y), table, y


def test_explanations_and_plots_accept_missing_cells(case):
    model, table, _ = case
    assert np.isfinite(partial_dependence(model, table, "a").average).all()
    assert np.isfinite(shapley_values(model, table[:3], table[:20]).values).all()
    ShapeDisplay.from_estimator(model, table, "a")
    InteractionDisplay.from_estimator(model, table, ("a", "b"))


def test_plots_of_a_row_say_that_a_cell_is_missing(case):
    model, table, _ = case
    display = WaterfallDisplay.from_estimator(model, table[2:3])
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert "a = missing" in labels


def test_a_report_accepts_missing_cells(case, tmp_path):
    make_report(tmp_path / "report.html", *case)


@pytest.mark.parametrize("cell", [None, np.nan, pd.NA, pd.NaT, np.datetime64("NaT"), ""], ids=repr)
def test_missing_cells_are_recognised(cell):
    assert is_missing(cell)


@pytest.mark.parametrize("cell", [0, 0.0, False, "a", "nan", np.datetime64("2020-01-01")], ids=repr)
def test_other_cells_are_not_missing(cell):
    assert not is_missing(cell)
